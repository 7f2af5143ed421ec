# SPDX-License-Identifier: GPL-3.0-or-later
"""A path over the ground by its length, with marks, and the table that it is read from."""

import numpy as np
import pytest

from mm_blender.control import path_file
from mm_blender.control.path import SAME, WAY, Mark, Path
from mm_blender.errors import MotionError

CORNERS = np.array([0, 4j, 4 + 4j, 4])


def circle(radius=2.0, count=200):
    return radius * np.exp(1j * np.linspace(0, 2 * np.pi, count))


def read(tmp_path, text, closed=False):
    (tmp_path / "path.csv").write_text(text)
    return path_file.load(str(tmp_path / "path.csv"), closed)


def test_dense_points_are_the_path_itself():
    square = np.concatenate([np.linspace(a, b, 80, endpoint=False) for a, b in zip(CORNERS, [*CORNERS[1:], 0])])
    path = Path([*square, 0])
    assert path.closed and path.length == pytest.approx(16, abs=0.05)
    apart, _ = path.distances(square)
    assert apart.max() < 0.02


def test_sparse_points_are_joined_by_a_smooth_curve_that_goes_through_them():
    path = Path(CORNERS)
    apart, at = path.distances(CORNERS)
    assert apart.max() < 0.011 and (np.diff(at) > 3.9).all()
    assert path.length > 12.2 and path.bends.max() < 3, "no corner is left, where straight lines have sharp ones"
    again = Path([0, 0.1j, 20j, 20.1j + 0.1])
    assert np.abs(again.places.real).max() < 0.2, "however far apart others are, it does not swing out between two"


def test_a_closed_curve_goes_on_where_it_began():
    path = Path(CORNERS, closed=True)
    assert path.closed and abs(path.places[-1] - path.places[0]) < 1e-9
    assert path.yaws[-1] - path.yaws[0] == pytest.approx(-2 * np.pi, abs=0.02)
    round_path = Path(circle())
    assert round_path.closed and round_path.length == pytest.approx(4 * np.pi, rel=1e-3)
    assert round_path.bends[20:-20] == pytest.approx(0.5, abs=0.02)


def test_a_sharp_corner_turns_over_a_step_and_no_more(subtests):
    for count in (20, 200, 2000):
        with subtests.test(points=count):
            path = Path(np.concatenate([np.linspace(0, 3j, count), np.linspace(3j, 3 + 3j, count)]))
            turning = path.lengths[path.bends > 0.05]
            assert turning.min() > 3 - WAY and turning.max() < 3 + WAY
            assert path.yaws[-1] - path.yaws[0] == pytest.approx(-np.pi / 2, abs=0.01)


def test_ten_thousand_points_crossings_and_points_that_tremble_are_a_path():
    eight = np.array([np.sin(a) + 1j * np.sin(2 * a) for a in np.linspace(0, 2 * np.pi, 10_000)])
    path = Path(3 * eight)
    assert path.closed and 16 < path.length < 32
    trembling = np.linspace(0, 10j, 2000) + 0.002 * np.random.default_rng(1).standard_normal(2000)
    assert np.abs(Path(trembling).yaws).max() < 0.1


def test_marks_lie_where_their_points_are():
    path = Path(CORNERS, {0: Mark(0, "a", speed=1.0), 2: Mark(0, "b", gait="run")})
    assert [mark.row for mark in path.marks] == ["a", "b"] and path.marks[0].at == 0
    assert abs(path.place(path.marks[1].at) - CORNERS[2]) < 0.01
    doubled = Path([0, 0, 1j, 1j, 3j], {3: Mark(0, "b", wait=1.0)})
    assert doubled.marks[0].at == pytest.approx(1.0, abs=0.01)


def test_a_table_says_it_all(tmp_path):
    path = read(tmp_path, "x,y,speed,gait,wait,face_x,face_y,time,exact,query\n"
                          "0,0,,,,,,,,\n0,2,1.2,,,1,0,,,\n\n0,4,,Run,2,0,0,7.5,1,walk & ~injured\n0,9,,,,,,,no,\n")
    assert path.length == pytest.approx(9, abs=0.02) and len(path.marks) == 2
    first, second = path.marks
    assert (first.speed, first.face, first.gait, first.wait, first.time) == (1.2, 1 + 0j, None, None, None)
    assert (second.gait, second.wait, second.face, second.time, second.exact, second.query, second.row) == (
        "run", 2.0, 0j, 7.5, True, "walk & ~injured", "row 5")
    assert read(tmp_path, "x,y\n0,0\n1,0\n1,1\n", closed=True).closed


def test_what_is_no_path_gets_a_sentence(tmp_path, subtests):
    for text, sentence in {
        "": "has no column x",
        "x,z\n0,0\n": "has no column y",
        "x,y,spede\n0,0,1\n0,1,1\n": 'a column "spede", which means nothing here',
        "x,y,speed,speed\n0,0,1,1\n": "two columns speed",
        "x,y\n": "has no points",
        "x,y\n1,2\n": "has a single point: give it at least two",
        "x,y\n1,2\n1,2\n1,2.00001\n": "has no length",
        "x,y\n0,0\nnan,1\n": 'in row 3: its x "nan" is not a number',
        "x,y\n0,0\n1e300,1\n": "in row 3: its x 1e300 is not between",
        "x,y\n0,0\n,1\n": "in row 3: it has no x or no y",
        "x,y\n0,0\n90000,1\n": "is 90 km long, and a path has at most 5 km: its units should be metres",
        "x,y,speed\n0,0,0\n0,1,\n": "its speed is 0: to stand there give it a wait",
        "x,y,speed\n0,0,-1\n0,1,\n": "its speed -1 is not between 0 and 100",
        "x,y,wait\n0,0,-1\n0,1,\n": "its wait -1 is not between",
        "x,y,face_x,face_y\n0,0,1,\n0,1,,\n": "only one of face_x and face_y",
        "x,y,exact\n0,0,maybe\n0,1,\n": 'its exact "maybe" is neither 1 nor 0',
        "x,y,time\n0,0,\n0,1,3\n0,2,2\n": "times that run backwards: row 3 is to be reached at 3 s, and row 4",
        "x,y,time,wait\n0,0,,\n0,1,3,4\n0,2,6,\n": "row 3 is to be reached at 3 s and left 4 s later",
        "x,y,speed\n0,0,\n0,1,1\n0,1,2\n0,2,\n": "two marks at one place, row 3 and row 4",
    }.items():
        with subtests.test(sentence), pytest.raises(MotionError, match=r"path\.csv") as caught:
            read(tmp_path, text)
        assert sentence in str(caught.value)


def test_points_at_one_place_have_one_mark_between_them(tmp_path):
    path = read(tmp_path, "x,y,wait\n0,0,\n0,1,2\n0,1,\n0,2,\n")
    assert [mark.row for mark in path.marks] == ["row 3"]
    with pytest.raises(MotionError, match="two marks at one place"):
        Path([0, 1j], [Mark(0.5, "one", speed=1.0), Mark(0.5 + SAME / 2, "other", wait=1.0)])
