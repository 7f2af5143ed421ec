# SPDX-License-Identifier: GPL-3.0-or-later
"""When the feet stand on the ground."""

from dataclasses import replace

import numpy as np


def find_contacts(clip, character, recipe):
    """Whether each of character.limbs stands on the ground at each frame: (F, C) bool.

    A toe stands while it is slow and near the lowest height that it has in this clip. A leg that has ranges tagged
    `contact.left` or `contact.right` (fore legs: `contact.left.fore`) stands there and nowhere else: the artist's word
    goes before what is measured.
    """
    character = replace(character, skeleton=clip.skeleton)
    contacts = _measure(clip, character, recipe)
    for column, limb in enumerate(character.limbs):
        tag = f"contact.{limb.tag}"
        if any(one.name == tag for one in clip.tags):
            contacts[:, column] = clip.tag_mask(tag)
    return contacts


def _measure(clip, character, recipe):
    positions = character.contact_places(*clip.globals())
    speed = np.linalg.norm(_velocities(positions, clip.rate), axis=-1)
    # Not the very lowest frame: one bad frame under the floor would lift the feet off everywhere else.
    lowest = np.percentile(positions[..., 2], 2, axis=0)
    size = character.size
    stands = (speed < size * recipe.contact_speed) & (positions[..., 2] < lowest + size * recipe.contact_height)
    return _median(stands, recipe.contact_filter * clip.rate)


def _velocities(positions, rate):
    return np.gradient(positions, 1 / rate, axis=0) if len(positions) > 1 else np.zeros_like(positions)


def _median(flags, width):
    """The majority of the frames around each frame (F, C); the first and last frames count on beyond the ends."""
    half = round(width / 2)
    padded = np.concatenate([flags[:1].repeat(half + 1, axis=0), flags, flags[-1:].repeat(half, axis=0)])
    total = padded.cumsum(axis=0)
    return total[2 * half + 1:] - total[:-(2 * half + 1)] > half
