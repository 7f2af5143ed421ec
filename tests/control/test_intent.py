# SPDX-License-Identifier: GPL-3.0-or-later
"""From the stick to a wish."""

import numpy as np
import pytest

from mm_blender.control.intent import DEAD_ZONE, Intent, intent_of, jumps, tag_query
from mm_blender.control.speeds import Speeds
from mm_blender.control.stick import Stick

SPEEDS = Speeds(walk=(1.5, 0.75, 1.0), run=(4.0, 2.0, 2.5), crouch=(0.8, 0.4, 0.5))


def wish(heading=0.0, facing=0.0, **stick):
    return intent_of(Stick(**stick), SPEEDS, heading, facing)


def test_inside_the_dead_zone_nothing_is_wanted_and_the_facing_stays():
    intent = wish(move_x=DEAD_ZONE * 0.7, move_y=DEAD_ZONE * 0.7, heading=1.0, facing=0.3)
    assert intent.velocity == 0 and intent.yaw == 0.3


def test_beyond_the_dead_zone_speed_grows_from_zero_to_full():
    speeds = [abs(wish(move_y=y).velocity) for y in (DEAD_ZONE + 1e-6, 0.5, 1.0, 2.0)]
    assert speeds[0] < 1e-4 < speeds[1] < speeds[2] == pytest.approx(1.5) == speeds[3]


def test_the_stick_is_relative_to_the_heading_of_the_view():
    # The view looks along -X, yaw 90 degrees: forward is -X, right is +Y.
    np.testing.assert_allclose(wish(move_y=1, heading=np.pi / 2).velocity, -1.5, atol=1e-6)
    np.testing.assert_allclose(wish(move_x=1, heading=np.pi / 2).velocity, 1.5j, atol=1e-6)


def test_the_character_faces_where_it_goes():
    assert wish(move_x=1).yaw == pytest.approx(-np.pi / 2)
    assert wish(move_y=-1).yaw == pytest.approx(np.pi, abs=1e-6) or wish(move_y=-1).yaw == pytest.approx(-np.pi)


def test_strafing_keeps_the_facing_and_takes_the_speeds_of_each_way():
    sideways, back = wish(move_x=1, strafe=1), wish(move_y=-1, strafe=1)
    assert sideways.yaw == back.yaw == 0
    np.testing.assert_allclose(sideways.velocity, 0.75, atol=1e-6)
    np.testing.assert_allclose(back.velocity, -1j, atol=1e-6)


def test_strafing_faces_where_the_second_stick_points():
    intent = wish(move_y=1, face_x=1, strafe=1)
    assert intent.yaw == pytest.approx(-np.pi / 2)
    np.testing.assert_allclose(intent.velocity, 0.75j, atol=1e-6)  # facing right, forward is sideways


def test_buttons_choose_the_gait():
    assert (wish().gait, wish(run=1).gait, wish(run=1, crouch=1).gait) == ("walk", "run", "crouch")
    assert abs(wish(move_y=1, run=1).velocity) == pytest.approx(4.0)


def test_a_jump_is_a_large_change_of_velocity_or_facing_and_nothing_less():
    asked = Intent(1.4j, 3.1)
    assert not jumps(asked, Intent(1.4j, 3.1))
    assert not jumps(asked, Intent(1.2j, -3.1))  # it has only turned past ±π
    assert jumps(asked, Intent(-1.4j, 3.1))
    assert jumps(asked, Intent(1.4j, 2.0))


def test_who_crouches_plays_crouching_and_nobody_else_does():
    tags = {"walk": None, "crouch": None}
    assert tag_query("crouch", tags) == "crouch"
    assert tag_query("run", tags) == "~crouch"
    assert tag_query("walk", tags, "a | b") == "(a | b) & ~crouch"


def test_without_such_a_tag_only_the_artists_own_query_counts():
    assert tag_query("crouch", {"walk": None}) == ""
    assert tag_query("walk", {}, "~injured") == "~injured"
