# SPDX-License-Identifier: GPL-3.0-or-later
"""The root goes along with the motion, and is held near the simulated one as the settings say."""

import pytest

from mm_blender.playback.root import Sync, synchronise, travel

DT = 1 / 60
HERE, YAW = 0j, 0.0
GOAL, GOAL_YAW = 3 + 4j, 2.5
WALKING, STANDING = (0.0, 1.2, 0.5), (0.0, 0.0, 0.0)


def synced(velocity=WALKING, **sync):
    return synchronise(HERE, YAW, velocity, GOAL, GOAL_YAW, Sync(**{"position": "none", "facing": "none", **sync}), DT)


def test_on_an_arc_the_root_stays_on_the_circle():
    place, yaw = 1 + 0j, 0.0
    for _ in range(200):
        place, yaw = travel(place, yaw, (0.0, 1.0, 1.0), DT)
        assert abs(place) == pytest.approx(1, abs=1e-3)


def test_none_leaves_the_root_alone():
    place, yaw = synced()
    assert place == HERE and yaw == YAW


def test_adjust_pulls_towards_the_goal_no_faster_than_a_share_of_the_own_speed():
    place, yaw = synced(position="adjust", facing="adjust", share=0.5)
    assert place == pytest.approx((0.6 + 0.8j) * 0.5 * 1.2 * DT)
    assert yaw == pytest.approx(0.5 * 0.5 * DT)


def test_adjust_does_not_move_or_spin_a_character_that_stands():
    place, yaw = synced(STANDING, position="adjust", facing="adjust")
    assert place == HERE and yaw == YAW


def test_who_stands_is_kept_where_it_does_whatever_its_own_motion_and_its_guide_are():
    place, yaw, drift = HERE, YAW, (0.05, 0.02, 0.1)
    for _ in range(600):
        place, yaw = travel(place, yaw, drift, DT)
        place, yaw = synchronise(place, yaw, drift, GOAL, GOAL_YAW, Sync("adjust", "adjust"), DT, (HERE, YAW))
    assert abs(place) < 0.02 and abs(yaw) < 0.03


def test_clamp_counts_for_who_stands_too():
    sync = Sync("adjust_clamp", "adjust", radius=0.15)
    place, _ = synchronise(HERE, YAW, STANDING, GOAL, GOAL_YAW, sync, DT, (HERE, YAW))
    assert abs(place - GOAL) == pytest.approx(0.15)


def test_clamp_never_lets_the_root_be_further_away():
    place, yaw = synced(STANDING, position="clamp", facing="clamp", radius=0.15, angle=0.4)
    assert place == pytest.approx(GOAL - 0.15 * (0.6 + 0.8j))
    assert yaw == pytest.approx(2.1)


def test_full_is_where_the_simulated_root_is():
    place, yaw = synced(position="full", facing="full")
    assert place == GOAL and yaw == GOAL_YAW


def test_position_and_facing_are_separate():
    place, yaw = synced(position="full")
    assert place == GOAL and yaw == YAW


def test_facing_turns_the_shorter_way():
    _, yaw = synchronise(HERE, 3.0, (0.0, 0.0, 1.0), HERE, -3.0, Sync(facing="adjust"), DT)
    assert yaw > 3.0
