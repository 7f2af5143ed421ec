# SPDX-License-Identifier: GPL-3.0-or-later
"""One raw clip through every step of preparation."""

from dataclasses import dataclass

import numpy as np

from ..errors import MotionError
from ..motion.clip import Clip
from .contacts import find_contacts
from .resample import resample
from .root import add_root
from .trim import rest_frames, trim

EXCLUDE = "exclude"


@dataclass(frozen=True, eq=False)
class Piece:
    """A clean clip, and where its first frame lies in the raw one, in seconds of the raw clip."""

    clip: Clip
    source_start: float


def clean(raw, character, recipe, start=None, end=None, speed=1.0):
    """The clean pieces of a raw clip: one, or several where frames tagged "exclude" cut it apart.

    start, end  seconds of the raw clip; None for all of it
    speed       2.0 plays it twice as fast
    """
    clip = raw if start is None and end is None else trim(raw, start, end)
    first = start or 0.0
    if recipe.skip_rest and (skipped := rest_frames(clip)):
        clip, first = clip.slice(skipped, len(clip)), first + skipped / clip.rate
    clip = resample(clip, recipe.rate, speed)
    clip = add_root(clip, character, recipe)
    clip = clip.with_changes(contacts=find_contacts(clip, character, recipe))
    return [Piece(part, first + offset / clip.rate * speed) for offset, part in _without_excluded(clip)]


def _without_excluded(clip):
    excluded = clip.tag_mask(EXCLUDE)
    if not excluded.any():
        return [(0, clip)]
    edges = np.flatnonzero(np.diff(np.concatenate([[True], excluded, [True]]).astype(np.int8)))
    pieces = [(start, clip.slice(start, stop)) for start, stop in edges.reshape(-1, 2) if stop - start > 1]
    if not pieces:
        raise MotionError(f'Clip "{clip.name}" is tagged "exclude" from beginning to end: disable it instead.')
    return pieces
