# SPDX-License-Identifier: GPL-3.0-or-later
"""A limb reaches for its goal: exactly, with bones that keep their lengths and a knee that does not flip."""

import itertools

import numpy as np
import pytest

from mm_blender.motion import quat
from mm_blender.playback.limbs import Posed
from mm_blender.playback.two_bone import reach


def some_legs(count=2000, seed=0):
    """Hips, knees, ankles and toes (count, 4, 3) of bent legs."""
    rng = np.random.default_rng(seed)
    hip = np.tile([0.1, 0.0, 0.9], (count, 1))
    knee, ankle = hip + [0, 0.18, -0.37], hip + [0, 0.0, -0.74]
    turn = quat.from_scaled_angle_axis(rng.normal(0, 0.3, (count, 3)))
    knee, ankle = (hip + quat.rotate(turn, point - hip) for point in (knee, ankle))
    return np.stack([hip, knee, ankle, ankle + [0, 0.15, -0.07]], axis=1), rng


def reached(joints, goals, extension=0.985, has_toes=True):
    """Hips, knees, ankles and toes of legs that reach for their goals (count, 3)."""
    swings = np.array([reach(as_played(leg), goal, extension, 0.0, has_toes)
                       for leg, goal in zip(joints, goals.tolist())])
    bones = quat.rotate(swings, np.diff(joints, axis=1))
    return np.concatenate([joints[:, :1], joints[:, :1] + np.cumsum(bones, axis=1)], axis=1)


def as_played(joints):
    """A leg whose knee bends forward, of its hip, knee, ankle and toe (4, 3)."""
    return Posed(joints[0].tolist(), *np.diff(joints, axis=0).tolist(), (0.0, 1.0, 0.0), joints[3].tolist())


def lengths(joints):
    return np.linalg.norm(np.diff(joints, axis=1), axis=-1)


def test_the_leg_reaches_exactly_and_keeps_its_lengths_and_its_bend():
    joints, rng = some_legs()
    goals = joints[:, 3] + rng.normal(0, 0.03, (len(joints), 3))
    new = reached(joints, goals)
    within = np.linalg.norm(goals - joints[:, 0], axis=-1) < 0.85
    assert within.mean() > 0.7 and np.abs(new[:, 3] - goals)[within].max() < 1e-6
    np.testing.assert_allclose(lengths(new), lengths(joints), atol=1e-6)
    old_bend, new_bend = (np.cross(each[:, 1] - each[:, 0], each[:, 2] - each[:, 1]) for each in (joints, new))
    assert ((old_bend * new_bend).sum(-1) > 0).all()


def test_the_foot_keeps_its_direction_where_the_leg_is_long_enough():
    joints, _ = some_legs()
    new = reached(joints, joints[:, 3] + [0.01, 0.01, 0.1])
    np.testing.assert_allclose(new[:, 3] - new[:, 2], joints[:, 3] - joints[:, 2], atol=1e-9)


def test_a_leg_that_is_where_it_should_be_is_left_alone():
    joints, _ = some_legs()
    np.testing.assert_allclose(reached(joints, joints[:, 3]), joints, atol=1e-4)


@pytest.mark.parametrize("has_toes", [True, False])
def test_a_leg_is_not_stretched_towards_what_it_cannot_reach(has_toes):
    joints, _ = some_legs(10)
    new = reached(joints, joints[:, 3] - [0, 0, 1.0], has_toes=has_toes)
    np.testing.assert_allclose(lengths(new), lengths(joints), atol=1e-6)
    straight = np.linalg.norm(new[:, 2] - new[:, 0], axis=-1) / lengths(joints)[:, :2].sum(-1)
    assert (straight < 0.9851).all()


def test_the_heel_rises_where_the_leg_is_too_short():
    joints = np.array([[[0, 0.3, 0.92], [0, 0.35, 0.49], [0, 0.1, 0.13], [0, 0.25, 0.06]]])
    goal = np.array([[0, 0.15, 0.02]])
    new = reached(joints, goal)
    flat = goal - joints[:, 3] + joints[:, 2]
    assert new[0, 2, 2] > flat[0, 2] + 0.005
    np.testing.assert_allclose(new[:, 3], goal, atol=1e-6)
    np.testing.assert_allclose(lengths(new), lengths(joints), atol=1e-6)


def test_a_straight_leg_bends_forward():
    joints = np.array([[[0, 0, 0.9], [0, 0, 0.5], [0, 0, 0.1], [0, 0.15, 0.03]]])
    new = reached(joints, joints[:, 3] + [0, 0, 0.1])
    assert new[0, 1, 1] > 0.1


def test_a_foot_that_is_held_a_little_off_does_not_throw_the_knee_of_a_straight_leg():
    joints = np.array([[[0, 0, 0.9], [0, 0, 0.5], [0, 0, 0.1], [0, 0.15, 0.03]]])
    knees = np.array([reached(joints, joints[:, 3] + [0, 0, off])[0, 1] for off in (-0.001, 0.0, 0.001, 0.002)])
    assert np.ptp(knees, axis=0).max() < 0.005  # in a leg that stayed straight a millimetre would be two centimetres


def test_a_leg_that_is_bent_back_a_little_reaches_with_its_knee_in_front():
    joints = np.array([[[0, 0, 0.9], [0.004, y, 0.5], [0, 0, 0.1], [0, 0.15, 0.03]] for y in (-0.03, 0.0, 0.01)])
    knees = reached(joints, joints[:, 3] + [0, 0, 0.05])[:, 1]
    assert knees[:, 1].min() > 0.1 and np.ptp(knees, axis=0).max() < 0.06  # no flip, and none to the side


@pytest.mark.parametrize("thigh, shin", [
    ((0, 0, -0.5), (0, 0, 0.5)), ((0, 0, 0), (0, 0, -0.5)), ((0, 0, -0.5), (0, 0, 0)), ((0, 0, 0), (0, 0, 0)),
])
@pytest.mark.parametrize("foot", [(0, 0.1, -0.1), (0, 0, 0)])
def test_a_folded_leg_and_bones_without_length_give_swings_that_are_numbers(thigh, shin, foot):
    hip = (0.0, 0.0, 1.0)
    toe = tuple(np.sum([hip, thigh, shin, foot], axis=0).tolist())
    for goal, has_toes, pitch in itertools.product((toe, hip, (0.0, 5.0, 0.0)), (True, False), (0.0, 0.5)):
        swings = reach(Posed(hip, thigh, shin, foot, (0.0, 1.0, 0.0), toe), goal, 0.98, pitch, has_toes)
        assert np.allclose(np.linalg.norm(swings, axis=-1), 1, atol=1e-6), (goal, has_toes, pitch)
