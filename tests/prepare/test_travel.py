# SPDX-License-Identifier: GPL-3.0-or-later
"""In-place clips are noticed and travel as their feet tell. The truth: the demo motion that had travel."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.evaluate import feet
from mm_blender.motion.character import Character
from mm_blender.motion.roles import find_character
from mm_blender.prepare.clean import clean
from mm_blender.prepare.recipe import Recipe
from mm_blender.prepare.resample import resample
from mm_blender.prepare.travel import find_travel, give_travel
from tests.databases import demo_clips

STEADY = ("walk slow", "walk", "walk fast", "jog", "run", "run fast", "backward", "crouch walk")


@pytest.fixture(scope="module")
def demo():
    return {clip.name: clip for clip in demo_clips()}


@pytest.fixture(scope="module")
def character(demo):
    return find_character(demo["walk"].skeleton)


def in_place(clip):
    """A clip without its travel, as an asset pack has it."""
    positions = clip.positions.copy()
    positions[:, 0, :2] = positions[0, 0, :2]
    return clip.with_changes(positions=positions, contacts=None)


def speed_of(clip):
    return np.linalg.norm(clip.positions[-1, 0, :2] - clip.positions[0, 0, :2]) / clip.duration


def slide(clip, character, like):
    toes = character.contact_places(*clip.globals())
    stands = character.contact_places(*like.globals())[..., 2]
    heights = np.array([np.median(stands[like.contacts[:, side], side]) for side in (0, 1)])
    return feet.over_the_ground(toes, heights, clip.rate)["slide"]


def test_the_speed_of_a_cycle_is_that_of_its_standing_feet(demo, character, subtests):
    for name in STEADY:
        with subtests.test(name):
            found = find_travel(in_place(demo[name]), character)
            assert found.speed == pytest.approx(speed_of(demo[name]), rel=0.01)
            assert np.sign(found.velocity[1]) == (-1 if name == "backward" else 1)


def test_given_travel_plants_the_feet_as_the_true_one_does(demo, character, subtests):
    for name in STEADY:
        with subtests.test(name):
            clip = in_place(demo[name])
            made = give_travel(clip, character, find_travel(clip, character))
            assert speed_of(made) == pytest.approx(speed_of(demo[name]), rel=0.01)
            assert slide(made, character, demo[name]) < 1.1 * slide(demo[name], character, demo[name])


def test_a_loop_goes_on_over_its_seam_as_within(demo, character):
    clip = in_place(demo["run"])
    made = give_travel(clip, character, find_travel(clip, character))
    steps = np.linalg.norm(np.diff(made.positions[:, 0, :2], axis=0), axis=-1)
    assert abs(steps[0] - steps[-1]) <= 2 * np.abs(np.diff(steps)).max()


def test_who_travels_already_stands_or_turns_on_the_spot_gets_none(demo, character):
    assert not [name for name, clip in demo.items() if find_travel(clip, character) is not None]
    still = [name for name, clip in demo.items() if name.startswith(("idle", "turn", "crouch idle", "crouch turn"))]
    assert still and not [name for name in still if find_travel(in_place(demo[name]), character) is not None]


def test_mocap_gets_none(lafan1, subtests):
    from mm_blender.motion import bvh

    for path in sorted(lafan1.glob("*.bvh"))[::12]:
        with subtests.test(path.stem):
            clip = bvh.read(path, 0.01)
            assert find_travel(clip.slice(0, min(3000, len(clip))), find_character(clip.skeleton)) is None


def test_feet_without_toes_tell_as_well(demo, character):
    roles = {role: bone for role, bone in character.roles.items() if not role.endswith("toe")}
    found = find_travel(in_place(demo["walk"]), replace(character, roles=roles))
    assert found.speed == pytest.approx(speed_of(demo["walk"]), rel=0.1)


def test_other_rates_and_sizes_give_the_same(demo, character):
    clip = in_place(demo["walk"])
    large = clip.scaled(40.0)
    assert find_travel(resample(clip, 24.0), character).speed == pytest.approx(speed_of(demo["walk"]), rel=0.03)
    assert find_travel(large, replace(character, skeleton=large.skeleton)).speed == pytest.approx(
        40 * speed_of(demo["walk"]), rel=0.01)


def test_clean_gives_it_and_a_chosen_speed_and_none(demo, character, subtests):
    for given, name, expected in ((None, "walk", 1.35), (2.0, "walk", 2.0), (0.0, "walk", 0.0), (1.0, "idle", 1.0),
                                  (None, "idle", 0.0)):
        with subtests.test(f"{name}, {given}"):
            piece, = clean(in_place(demo[name]), character, Recipe(), travel=given)
            assert speed_of(piece.clip) == pytest.approx(expected, abs=0.02)
            assert piece.travel == pytest.approx(expected, abs=0.02)
    piece, = clean(in_place(demo["walk"]), character, Recipe(), speed=2.0)
    assert speed_of(piece.clip) == pytest.approx(2.7, abs=0.04)


def test_a_character_without_feet_is_left_alone(demo):
    clip = in_place(demo["walk"])
    assert find_travel(clip, Character(clip.skeleton, {"hips": "hips"})) is None
