# SPDX-License-Identifier: GPL-3.0-or-later
"""The root goes along with the motion, and is held near the simulated one as the settings say."""

import numpy as np
import pytest

from mm_blender.playback.root import Sync, synchronise, travel

DT = 1 / 60
HERE, YAW = np.array([[0.0, 0.0]]), np.array([0.0])
GOAL, GOAL_YAW = np.array([[3.0, 4.0]]), np.array([2.5])
WALKING, STANDING = np.array([[0.0, 1.2, 0.5]]), np.zeros((1, 3))


def synced(velocity=WALKING, **sync):
    return synchronise(HERE, YAW, velocity, GOAL, GOAL_YAW, Sync(**{"position": "none", "facing": "none", **sync}), DT)


def test_on_an_arc_the_root_stays_on_the_circle():
    place, yaw = np.array([[1.0, 0.0]]), np.array([0.0])
    for _ in range(200):
        place, yaw = travel(place, yaw, np.array([[0.0, 1.0, 1.0]]), DT)
        assert np.hypot(*place[0]) == pytest.approx(1, abs=1e-3)


def test_none_leaves_the_root_alone():
    place, yaw = synced()
    assert (place == HERE).all() and (yaw == YAW).all()


def test_adjust_pulls_towards_the_goal_no_faster_than_a_share_of_the_own_speed():
    place, yaw = synced(position="adjust", facing="adjust", share=0.5)
    np.testing.assert_allclose(place[0], np.array([0.6, 0.8]) * 0.5 * 1.2 * DT)
    assert yaw[0] == pytest.approx(0.5 * 0.5 * DT)


def test_adjust_does_not_move_or_spin_a_character_that_stands():
    place, yaw = synced(STANDING, position="adjust", facing="adjust")
    assert (place == HERE).all() and (yaw == YAW).all()


def test_clamp_never_lets_the_root_be_further_away():
    place, yaw = synced(STANDING, position="clamp", facing="clamp", radius=0.15, angle=0.4)
    assert np.linalg.norm(place - GOAL) == pytest.approx(0.15)
    np.testing.assert_allclose(place[0], GOAL[0] - 0.15 * np.array([0.6, 0.8]))
    assert yaw[0] == pytest.approx(2.1)


def test_full_is_where_the_simulated_root_is():
    place, yaw = synced(position="full", facing="full")
    assert (place == GOAL).all() and (yaw == GOAL_YAW).all()


def test_position_and_facing_are_separate():
    place, yaw = synced(position="full")
    assert (place == GOAL).all() and (yaw == YAW).all()


def test_facing_turns_the_shorter_way():
    turning = np.array([[0, 0, 1.0]])
    _, yaw = synchronise(HERE, np.array([3.0]), turning, HERE, np.array([-3.0]), Sync(facing="adjust"), DT)
    assert yaw[0] > 3.0
