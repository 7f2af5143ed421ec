# SPDX-License-Identifier: GPL-3.0-or-later
"""From the stick to a wish."""

import numpy as np
import pytest

from mm_blender.control.gaits import Gait
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
    speeds = Speeds(tagged=("walk", "crouch"))
    assert tag_query("crouch", speeds) == "crouch"
    assert tag_query("run", speeds) == "~crouch"
    assert tag_query("walk", speeds, "a | b") == "(a | b) & ~crouch"


def test_without_such_a_tag_only_the_artists_own_query_counts():
    assert tag_query("crouch", Speeds(tagged=("walk",))) == ""
    assert tag_query("walk", Speeds(), "~injured") == "~injured"


SNEAK = Gait("sneak", "sneak", (0.6, 0.3, 0.4), apart=True)
MARCH = Gait("big march", "gait.big march", (1.0, 0.5, 0.5), apart=True, stands=False)
SPRINT = Gait("sprint", "sprint", (7.0, 1.0, 1.0))
MANY = Speeds(tagged=("walk", "crouch"), further=(MARCH, SNEAK, SPRINT))


@pytest.mark.parametrize(("gait", "own", "asked"), [
    ("sneak", "", '"sneak"'),
    ("sneak", "night", '(night) & "sneak"'),
    ("walk", "", '~crouch & ~"gait.big march" & ~"sneak"'),
    ("sprint", "", '~crouch & ~"gait.big march" & ~"sneak"'),
    ("walk", "sneak | night", '(sneak | night) & ~crouch & ~"gait.big march"'),
    ("nothing known", "", '~crouch & ~"gait.big march" & ~"sneak"'),
])
def test_who_sneaks_plays_sneaking_and_nobody_else_does_unless_the_artist_says_so(gait, own, asked):
    assert tag_query(gait, MANY, own) == asked


def test_a_gait_that_is_named_counts_instead_of_run_and_crouch():
    intent = intent_of(Stick(move_y=1, run=1, gait="sneak"), MANY, 0.0, 0.0)
    assert intent.gait == "sneak" and abs(intent.velocity) == pytest.approx(0.6)
    assert intent_of(Stick(run=1, gait="walk"), MANY, 0.0, 0.0).gait == "walk"


def test_who_has_no_motion_to_stand_in_a_gait_stands_as_after_walking():
    assert intent_of(Stick(gait="big march"), MANY, 0.0, 0.0).gait == "walk"
    assert intent_of(Stick(gait="sneak"), MANY, 0.0, 0.0).gait == "sneak"
    assert intent_of(Stick(move_y=1, gait="big march"), MANY, 0.0, 0.0).gait == "big march"
