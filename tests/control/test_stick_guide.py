# SPDX-License-Identifier: GPL-3.0-or-later
"""The point that a stick moves: it gets where it is wanted, and it knows where it will be and where it was."""

import numpy as np
import pytest

from mm_blender.control.intent import Intent
from mm_blender.control.obstacles import Obstacles
from mm_blender.control.stick import Recording, Stick
from mm_blender.control.stick_guide import StickGuide

RATE = 60
INTENTS = Intent(1.5j, 0.0), Intent(-2 + 0.5j, 2.5)


@pytest.fixture(params=INTENTS, ids=["forward", "aside"])
def intent(request):
    return request.param


def driven(intent, seconds, rate=RATE):
    guide = StickGuide(rate)
    guide.want(intent)
    return on(guide, seconds, rate)


def on(guide, seconds, rate=RATE):
    for _ in range(round(seconds * rate)):
        guide.step()
    return guide


def test_it_reaches_the_wanted_velocity_and_facing(intent):
    guide = driven(intent, 3)
    assert guide.velocity == pytest.approx(intent.velocity, abs=1e-3)
    assert guide.root[1] == pytest.approx(intent.yaw, abs=1e-3)


def test_the_path_ahead_is_where_it_will_be_however_small_the_steps(intent):
    times = 0.25, 1.0
    for time, ahead in zip(times, driven(intent, 0.4).path(times)):
        for rate in (RATE, 5 * RATE):
            there = driven(intent, 0.4 + time, rate).root
            assert there == pytest.approx(ahead, abs=1e-9)


def test_the_path_behind_is_the_way_that_it_came(intent):
    guide, came = driven(intent, 0), []
    guide.path([-1.0])  # somebody looks back so far
    for _ in range(90):
        guide.step()
        came.append(guide.root)
    (place, yaw), between = guide.path([-0.5, -10.5 / RATE])
    assert (place, yaw) == pytest.approx(came[-31], abs=1e-9)
    assert between[0] == pytest.approx((came[-11][0] + came[-12][0]) / 2, abs=1e-9)


def test_one_that_was_put_somewhere_was_always_there(intent):
    guide = driven(intent, 1)
    guide.place(1 + 2j, 0.5)
    assert guide.path([-1.0, 0.0, 1.0]) == [pytest.approx((1 + 2j, 0.5))] * 3


def test_it_turns_the_shorter_way():
    guide = StickGuide(RATE)
    guide.place(0j, 3.0)
    guide.want(Intent(0j, -3.0))
    guide.step()
    assert guide.root[1] > 3.0


def test_it_slides_along_walls_also_where_it_looks_ahead():
    guide = StickGuide(RATE, obstacles=Obstacles([[[-9, 2], [9, 2]]], 0.3))
    guide.want(Intent(1 + 1.5j, 0.0))
    on(guide, 3)
    place = guide.root[0]
    assert 1.69 < place.imag <= 1.7 and place.real > 2.5
    assert guide.velocity == pytest.approx(1, abs=0.02)
    path = [ahead for ahead, _ in guide.path([-0.2, 0.2, 0.5, 1.0])]
    assert max(ahead.imag for ahead in path) < 1.701 and path[-1].real - place.real > 0.9
    guide.want(Intent(-1.5j, 0.0))
    guide.step()
    assert guide.velocity.imag < 0  # nothing holds it


def test_the_same_stick_wants_the_same_and_another_one_something_else():
    guide = StickGuide(RATE)
    guide.steer(Stick(move_y=1.0), heading=1.0)
    wanted = guide.intent
    guide.steer(Stick(move_y=1.0), heading=1.0)
    assert guide.intent is wanted and abs(wanted.velocity) == pytest.approx(guide.speeds.walk[0])
    guide.query = "walk"
    guide.steer(Stick(move_y=1.0), heading=1.0)
    assert guide.intent.query == "walk"
    guide.steer(Stick(move_y=1.0), heading=2.0)
    assert guide.intent.yaw == pytest.approx(2.0)


def test_a_jump_is_over_once_it_was_searched_for():
    guide = StickGuide(RATE)
    guide.steer(Stick(move_y=1.0))
    assert guide.jumped
    guide.searched()
    assert not guide.jumped
    guide.steer(Stick(move_y=-1.0))
    assert guide.jumped


def test_a_recording_guides_as_the_hand_did():
    recording = Recording.of([0.0, 0.5, 1.0], [Stick(move_y=1.0), Stick(move_x=1.0, run=1.0), Stick()])
    played, hand = recording.guide(RATE, None), StickGuide(RATE)
    for frame in range(90):
        hand.steer(recording.at(frame / RATE))
        hand.step()
        played.step()
        assert played.root == hand.root and played.intent.gait == hand.intent.gait


def test_one_that_follows_another_is_beside_it_now_and_before(intent):
    guide, other = driven(intent, 1), StickGuide(RATE)
    guide.path([-0.5])
    on(guide, 1)
    other.follow(guide, 3j)
    for (place, yaw), (beside, same) in zip(guide.path([-0.4, 0.0]), other.path([-0.4, 0.0])):
        assert (beside - 3j, same) == pytest.approx((place, yaw))
    assert other.velocity == guide.velocity and other.root[1] == guide.root[1]


def test_what_it_would_want_leaves_it_as_it_is():
    guide = driven(INTENTS[0], 1)
    other = guide.wanting(INTENTS[1])
    assert guide.intent is INTENTS[0] and guide.path([1.0]) != other.path([1.0])
    assert guide.root == other.root


def test_placed_with_a_speed_it_goes_on_and_came_from_there():
    guide = StickGuide(60)
    guide.place(1 + 2j, 0.5, 0.6 + 1.2j, 0.3)
    guide.want(Intent(0.6 + 1.2j, 0.5))
    (early, early_yaw), (late, late_yaw) = guide.path([-0.5, -0.25])
    assert np.allclose([early, late], [0.7 + 1.4j, 0.85 + 1.7j]) and np.allclose([early_yaw, late_yaw], [0.35, 0.425])
    guide.step()
    assert abs(guide.root[0] - (1.01 + 2.02j)) < 1e-6
