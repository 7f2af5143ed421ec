# SPDX-License-Identifier: GPL-3.0-or-later
"""The courses are what they say."""

import numpy as np

from mm_blender.control import stick
from mm_blender.evaluate import courses


def test_there_are_five_of_two_minutes():
    made = courses.all_courses()
    assert list(made) == ["slalom", "stop_and_go", "reversals", "strafing_square", "random_walk"]
    assert all(115 < course.duration <= 120 for course in made.values())
    assert all(np.hypot(*course.values[:, :2].T).max() <= 1 + 1e-9 for course in made.values())


def test_they_are_the_same_each_time_and_survive_their_files(tmp_path):
    for name, course in courses.all_courses(20).items():
        course.save(tmp_path / "a.csv")
        np.testing.assert_allclose(stick.load(tmp_path / "a.csv").values, course.values, atol=1e-8)
        np.testing.assert_array_equal(getattr(courses, name)(20).values, course.values)


def test_each_asks_for_what_it_is_named_after():
    reversals = courses.reversals(10).values[:, 1]
    assert (reversals[1:] == -reversals[:-1]).all()
    square = courses.strafing_square(10).values
    assert (square[:, 5] == 1).all() and not square[:4, :2].sum(axis=0).any()
    stops = np.hypot(*courses.stop_and_go(40).values[:, :2].T)
    assert (stops[1::2] == 0).all() and (stops[::2] > 0.99).all()
    slalom = courses.slalom(20)
    assert {0, 1} == set(slalom.values[:, 4]) and np.ptp(slalom.values[:, 0]) > 1.6
    assert len({tuple(row) for row in courses.random_walk(60).values.tolist()}) > 15


def test_the_show_has_a_bit_of_everything_whichever_way_it_begins():
    show = courses.show()
    run, strafe, crouch = (show.values[:, stick.NAMES.index(name)] == 1 for name in ("run", "strafe", "crouch"))
    moves = np.hypot(*show.values[:, :2].T) > 0.5
    assert (run & moves).any() and (strafe & moves).any() and (crouch & moves).any() and not moves[[0, -1]].any()
    turned = courses.show(np.radians(90)).values
    assert np.allclose(turned[:, 0], -show.values[:, 1]) and np.allclose(turned[:, 1], show.values[:, 0])


def test_other_courses_are_of_the_same_kinds_and_none_is_one_of_the_five():
    made = courses.other_courses(20, each=2)
    assert len(made) == 10 and all(10 < course.duration < 25 for course in made)
    known = {course.times.tobytes() + course.values.tobytes() for course in (*made, *courses.all_courses(20).values())}
    assert len(known) == 15


def test_a_hand_that_keeps_no_time_does_the_same_sooner_or_later():
    for maker in (courses.stop_and_go, courses.reversals, courses.strafing_square):
        even, uneven = maker(120), maker(120, seed=1)
        assert np.array_equal(even.values[:12], uneven.values[:12]) and uneven.duration < 125
        lengths = np.diff(uneven.times)[:-1] / np.diff(even.times)[:len(uneven.times) - 2].mean()
        assert lengths.std() > 0.1 and 0.3 < lengths.min() < lengths.max() < 2
        assert np.array_equal(uneven.times, maker(120, seed=1).times)
