# SPDX-License-Identifier: GPL-3.0-or-later
"""When who follows a path is where: speeds, corners, waits, facings and times."""

import numpy as np
import pytest

from mm_blender.control.corners import Corners
from mm_blender.control.path import Mark, Path
from mm_blender.control.schedule import Schedule
from mm_blender.control.speeds import Speeds
from mm_blender.errors import MotionError

SPEEDS = Speeds(tagged=("walk", "run", "crouch"))
LINE = np.linspace(0, 12j, 13)


def schedule(marks=None, points=LINE, **settings):
    return Schedule(Path(points, {0: Mark(0, "start"), **(marks or {})}), SPEEDS, **settings)


def speeds_of(one):
    times = np.arange(0, one.duration, 1 / 60)
    return times, np.gradient(one.along(times), 1 / 60)


def test_it_stands_at_both_ends_and_goes_as_fast_as_its_gait_between():
    one = schedule()
    times, speeds = speeds_of(one)
    assert speeds[0] < 0.3 and speeds[-1] < 0.3 and np.abs(np.diff(speeds)).max() * 60 < 4
    middle = (times > 2) & (times < one.duration - 2)
    assert speeds[middle] == pytest.approx(SPEEDS.walk[0], rel=1e-3)
    assert one.along([one.duration + 1])[0] == pytest.approx(12, abs=1e-3)
    (before, after), _ = one.at([-5, one.duration + 5])
    assert abs(before) < 5e-3 and abs(after - 12j) < 1e-3


def test_speeds_and_gaits_hold_from_their_marks_on():
    one = schedule({4: Mark(0, "a", speed=2.8), 8: Mark(0, "b", gait="crouch")})
    asked = one.pace.wanted[[100, 300, 500]]
    assert asked == pytest.approx([1.4, 2.8, 0.9])
    gaits = [one.intent(np.interp(way, one.along(np.arange(0, 20, 0.1)), np.arange(0, 20, 0.1))).gait
             for way in (2, 6, 11)]
    assert gaits == ["walk", "run", "crouch"]
    again = schedule({0: Mark(0, "a", speed=0.8), 6: Mark(0, "b", gait="run")})
    assert again.pace.wanted[-1] == pytest.approx(SPEEDS.run[0]), "a gait brings its own speed"


def test_it_waits_where_it_is_told_to():
    one = schedule({5: Mark(0, "a", wait=3.0)})
    times, speeds = speeds_of(one)
    stands = times[(speeds < 0.02) & (times > 1) & (times < one.duration - 1)]
    assert np.ptp(stands) == pytest.approx(3.0, abs=0.3)
    assert one.along([stands.mean()])[0] == pytest.approx(5, abs=0.01)


def test_corners_are_slowed_for_and_more_if_the_motion_turns_slowly():
    corner = np.concatenate([np.linspace(0, 4j, 80), np.linspace(4j, 4 + 4j, 80)])
    usual, slow = (schedule(points=corner, corners=corners) for corners in (Corners(), Corners(1.2, 1.0)))
    least = [one.pace.speed[150:250].min() for one in (usual, slow)]
    assert 0.3 < least[0] < 0.8 and least[1] < 0.7 * least[0]
    assert usual.pace.speed[100] == pytest.approx(1.4, abs=0.01)


def test_it_is_at_its_marks_at_their_times(subtests):
    for times in ((5.0, 12.0), (3.5, 8.0), (9.0, 16.0)):
        with subtests.test(times=times):
            one = schedule({4: Mark(0, "a", time=times[0]), 8: Mark(0, "b", time=times[1], wait=1.0)})
            assert one.along(times) == pytest.approx([4, 8], abs=0.06) and not one.trouble
            assert [time for mark, time in one.marks if mark.time] == pytest.approx(times, abs=0.12)
    late = schedule({0: Mark(0, "a", time=2.0)})
    assert late.along([1.9])[0] < 0.01 < late.along([3.0])[0], "it stands until then"


def test_more_time_than_slow_steps_take_is_waited_for_where_it_begins():
    one = schedule({4: Mark(0, "a", time=4.0), 6: Mark(0, "b", time=30.0)})
    _, speeds = speeds_of(one)
    assert speeds[speeds > 0.3].mean() > 0.6
    assert one.along([20.0])[0] == pytest.approx(4, abs=0.05) and one.along([30.0])[0] == pytest.approx(6, abs=0.06)


def test_what_the_motion_cannot_do_is_said_and_done_as_well_as_it_goes():
    one = schedule({0: Mark(0, "a", speed=4.9)})
    assert one.trouble == ["The path needs 4.9 m/s from 0.0 m on, the motion has 3.6: it goes as fast as it can."]
    assert one.pace.wanted.max() < 4
    times = schedule({12: Mark(0, "b", time=3.0)})
    assert "to be at b in time, the motion has 3.6" in times.trouble[0] and times.duration > 3.5
    with pytest.raises(MotionError, match='names the gait "sneak"'):
        schedule({1: Mark(0, "a", gait="sneak")})
    with pytest.raises(MotionError, match="leaves no time to be at b"):
        schedule({2: Mark(0, "a", wait=9.0), 6: Mark(0, "b", time=8.0)})


def test_it_faces_where_it_is_told_to_and_goes_aside_as_slowly_as_one_does():
    one = schedule({4: Mark(0, "a", face=1 + 0j), 8: Mark(0, "b", face=0j)})
    times = np.arange(0, one.duration, 0.02)
    _, yaws = one.at(times)
    ways = one.along(times)
    assert np.abs(yaws[ways < 3.5]).max() < 0.1
    assert yaws[(ways > 6) & (ways < 7.5)] == pytest.approx(-np.pi / 2, abs=0.1)
    assert np.abs(yaws[ways > 10]).max() < 0.1 and np.abs(np.diff(yaws)).max() / 0.02 < 3
    assert one.pace.wanted[300] == pytest.approx(SPEEDS.walk[1])


def test_a_loop_goes_on_for_ever():
    one = schedule(points=2 * np.exp(1j * np.linspace(0, 2 * np.pi, 100)), loop=True)
    times = np.linspace(0, 3 * one.duration, 500)
    places, yaws = one.at(times)
    assert np.abs(np.abs(np.diff(places)) / np.diff(times)) == pytest.approx(1.4, rel=0.02)
    assert np.diff(yaws) / np.diff(times) == pytest.approx(0.7, rel=0.05)
    assert one.along([2.5 * one.duration])[0] == pytest.approx(2.5 * one.path.length, rel=0.01)
