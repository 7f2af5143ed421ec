# SPDX-License-Identifier: GPL-3.0-or-later
"""A character as large as an ant or as a tower is baked, driven and held as one of a person's size."""

from functools import partial

import numpy as np
import pytest

from mm_blender.matching import bake, schema
from mm_blender.motion.roles import find_character
from mm_blender.playback.library import BakedLibrary
from mm_blender.prepare.recipe import Recipe
from mm_blender.steps import run
from tests.databases import demo_clips
from tests.steering import player_of, step_on

CLIPS = ("idle", "walk", "walk start left", "walk stop left")


@pytest.fixture(scope="module")
def walks():
    """What the same walk is for characters of some sizes, in the lengths of each."""
    return {size: walk(size) for size in (1.0, 0.002, 25.0)}


def walk(size):
    clips = [clip.scaled(size) for clip in demo_clips() if clip.name in CLIPS]
    character = find_character(clips[0].skeleton)
    sources = [bake.Source(clip.name, partial(_ready, clip), clip.name) for clip in clips]
    database = run(bake.bake(sources, character, schema.load("locomotion"), Recipe()))
    library = BakedLibrary(database)
    player = player_of(library.motion, library.choice().search)
    toes, held = [], []
    for frame in range(240):
        step_on(player, [(size * 1.3j * (frame < 170), 0.0)])
        toes.append(player.toes[0] / size)
        held.append(player.feet.locked[0])
    return database, np.array(toes), np.array(held), player.positions[0] / size


def _ready(clip):
    yield 1.0
    return clip


@pytest.mark.parametrize("size", [0.002, 25.0])
def test_contacts_and_features_are_those_of_a_person(walks, size):
    (person, *_), (other, *_) = walks[1.0], walks[size]
    assert other.character.size == pytest.approx(size * person.character.leg / 0.85, rel=1e-3)
    assert (other.contacts == person.contacts).mean() > 0.999
    assert np.array_equal(other.moving, person.moving)
    np.testing.assert_allclose(other.features, person.features, atol=0.02)


@pytest.mark.parametrize("size", [0.002, 25.0])
def test_feet_are_held_as_those_of_a_person(walks, size):
    (_, toes, held, place), (_, other_toes, other_held, other_place) = walks[1.0], walks[size]
    np.testing.assert_allclose(other_place, place, atol=0.001)
    assert (held == other_held).mean() > 0.95 and 0.3 < other_held.mean() < 0.95
    both = other_held[1:] & other_held[:-1]
    assert np.linalg.norm(np.diff(other_toes, axis=0)[..., :2], axis=-1)[both].max() < 1e-5
    assert np.abs(other_toes[..., 2] - toes[..., 2]).mean() < 0.004
