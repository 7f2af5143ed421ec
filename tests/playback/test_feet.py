# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet stay where they stand, legs reach them, knees do not flip and toes do not sink."""

from itertools import pairwise

import numpy as np
import pytest

from mm_blender.motion import demo, quat
from mm_blender.motion.roles import find_character
from mm_blender.motion.skeleton import forward
from mm_blender.playback.feet import Feet, Legs, Lock, heel_up, two_bones

DT = 1 / 60
GROUND = np.array([0.02, 0.02])


@pytest.fixture(scope="module")
def legs(motion):
    return Legs(motion.database.character, motion.database.fixed, motion.moving)


@pytest.fixture(scope="module")
def feet(legs):
    return Feet(legs, 1)


def lengths(*points):
    return [np.linalg.norm(b - a, axis=-1) for a, b in pairwise(points)]


def some_legs(count=2000, seed=0):
    rng = np.random.default_rng(seed)
    hip = np.tile([0.1, 0.0, 0.9], (count, 1))
    ankle = hip + [0, 0, -0.75] + rng.normal(0, 0.05, (count, 3))
    longest = np.full((count, 1), 0.85)
    knee, ankle = two_bones(hip, hip + [0, 0.1, -0.40], hip + [0, 0.0, -0.80], ankle, longest)
    return hip, knee, ankle, longest, rng


def test_the_leg_reaches_exactly_and_keeps_its_lengths_and_its_bend():
    hip, knee, ankle, longest, rng = some_legs()
    target = ankle + rng.normal(0, 0.03, ankle.shape)
    within = np.linalg.norm(target - hip, axis=-1) < longest[:, 0] * 0.95
    new_knee, new_ankle = two_bones(hip, knee, ankle, target, longest)
    assert within.mean() > 0.7 and np.abs(new_ankle - target)[within].max() < 1e-6
    np.testing.assert_allclose(lengths(hip, new_knee, new_ankle), lengths(hip, knee, ankle), atol=1e-6)
    assert (new_knee[:, 1] > (hip + new_ankle)[:, 1] / 2 - 1e-6).all()  # still bent forward


def test_a_leg_is_not_stretched_towards_what_it_cannot_reach():
    hip, knee, ankle, longest, _ = some_legs(10)
    new_knee, new_ankle = two_bones(hip, knee, ankle, ankle + [0, 0, -1.0], longest)
    np.testing.assert_allclose(lengths(hip, new_knee, new_ankle), lengths(hip, knee, ankle), atol=1e-6)


def test_the_heel_rises_where_the_leg_is_too_short_and_only_there():
    toe, ankle = np.array([[0, 0.15, 0.02]]), np.array([[0, 0, 0.09]])
    hip = np.array([[0, 0.3, 0.92]])
    longest = np.array([[0.84]])
    raised = heel_up(hip, ankle, toe, longest)
    assert lengths(raised, toe)[0] == pytest.approx(lengths(ankle, toe)[0])
    assert lengths(raised, hip)[0] == pytest.approx(0.84) and raised[0, 2] > ankle[0, 2]
    np.testing.assert_array_equal(heel_up(hip, ankle, toe, longest + 1), ankle)


def test_toes_come_to_their_goals_within_a_tenth_of_a_millimetre(motion, legs):
    database, feet = motion.database, Feet(legs, 400)
    frames = np.linspace(0, len(database) - 1, 400).astype(int)
    rotations = database.rotations[frames].copy()
    places, turns = legs.forward(motion.positions[frames], rotations)
    toes = places[:, legs.at[:, 3]].astype(np.float64)
    rng = np.random.default_rng(0)
    goals = toes + rng.normal(0, 0.03, toes.shape) * [1, 1, 0.3]
    before = places.copy()
    feet.reach(places.astype(np.float64), turns.astype(np.float64), rotations, goals)
    after, _ = legs.forward(motion.positions[frames], rotations)
    reachable = np.linalg.norm(goals - before[:, legs.at[:, 0]], axis=-1) < legs.lengths * 0.95
    error = np.linalg.norm(after[:, legs.at[:, 3]] - goals, axis=-1)
    assert reachable.mean() > 0.8 and error[reachable].max() < 1e-4


def test_full_kinematics_agrees_with_that_of_the_legs(motion, legs):
    database, frames = motion.database, np.arange(0, len(motion.database), 997)
    local = database.local_positions(frames)
    local[:, 0] = 0
    rotations = database.rotations[frames].copy()
    rotations[:, 0] = quat.identity()
    places, _ = legs.forward(motion.positions[frames], rotations)
    np.testing.assert_allclose(forward(database.skeleton, local, rotations)[0][:, legs.order], places, atol=1e-5)


def walk_on(feet, seconds, speed=0.0, contact=True, toe=0.02, start=0.0):
    """Both toes of one character carried along at a speed, as the pose has them; where they are shown, each frame."""
    shown = []
    for frame in range(round(seconds / DT)):
        toes = np.array([[[-0.1, start + speed * frame * DT, toe], [0.1, start + speed * frame * DT, toe]]])
        hips = toes + [0, 0, 0.8]
        contacts = np.full((1, 2), contact)
        rotations = quat.identity((1, 100))
        feet.release(rotations, contacts, DT)
        shown.append(feet.hold(toes, hips, contacts, GROUND, DT)[0])
    return np.array(shown)


def test_a_foot_in_contact_stays_while_the_body_goes_on(legs):
    shown = walk_on(Feet(legs, 1), 0.3, speed=0.5)
    assert np.ptp(shown[1:], axis=0).max() < 1e-9


def test_a_foot_left_behind_too_far_is_let_go_lifted_and_held_again(legs):
    feet = Feet(legs, 1)
    walk_on(feet, 0.5, speed=0.36)  # 0.18 m
    assert feet.locked.all()
    held = []
    for frame in range(40):
        shown = walk_on(feet, DT, start=0.18 + 0.36 * frame * DT)
        held.append(feet.locked.all())
    assert not all(held) and held[-1]
    assert shown[0, 0, 1] > 0.18
    lowest = walk_on(Feet(legs, 1), 0.5, speed=1.5)[-10:, :, 2]  # dragged too fast to be held: lifted off the ground
    assert lowest.min() > GROUND[0] + 0.02


def test_a_foot_that_is_not_in_contact_is_free(legs):
    shown = walk_on(Feet(legs, 1), 0.3, speed=0.5, contact=False)
    np.testing.assert_allclose(np.diff(shown[:, 0, 1]) / DT, 0.5, atol=1e-9)


def test_with_the_lock_off_feet_go_along(legs):
    shown = walk_on(Feet(legs, 1, Lock(on=False)), 0.3, speed=0.5)
    np.testing.assert_allclose(np.diff(shown[:, 0, 1]) / DT, 0.5, atol=1e-9)


def test_toes_do_not_enter_the_ground(legs):
    assert walk_on(Feet(legs, 1), 0.2, contact=False, toe=-0.05)[..., 2].min() >= GROUND[0]


def test_a_foot_that_lands_sinks_to_the_ground_smoothly(legs):
    feet = Feet(legs, 1)
    heights = walk_on(feet, 0.8, toe=0.08)[:, 0, 2]
    assert heights[0] > 0.07 and heights[-1] < 0.0205 and np.abs(np.diff(heights)).max() < 0.012


def test_characters_without_toes_are_held_by_their_feet(motion):
    character = find_character(demo.skeleton())
    bare = type(character)(character.skeleton, {role: name for role, name in character.roles.items()
                                                if not role.endswith("toe")}, character.mirror)
    legs = Legs(bare, motion.database.fixed, motion.moving)
    assert not legs.has_toes and legs.turning.shape == (2, 3)
    assert (legs.joints[:, 3] == legs.joints[:, 2]).all() and (legs.lengths < 0.9).all()
