# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded sticks: what is saved comes back, and a bad file says what is wrong with it."""

import numpy as np
import pytest

from mm_blender.control import stick
from mm_blender.control.stick import Recording, Stick
from mm_blender.errors import MotionError

HEADER = "time,move_x,move_y,face_x,face_y,run,strafe\n"


def test_a_recording_comes_back_from_its_file(tmp_path):
    sticks = [Stick(), Stick(0.25, -1), Stick(0.25, -1), Stick(face_x=0.5, face_y=0.125, run=1, strafe=1, crouch=1)]
    Recording.of([0, 0.5, 1000.0167, 1000.0333], sticks).save(tmp_path / "a.csv")
    again = stick.load(tmp_path / "a.csv")
    assert again.duration == pytest.approx(1000.0333, abs=1e-4)
    assert [again.at(time) for time in (0, 0.49, 0.5, 1000, 1000.0334)] == [*sticks[:1] * 2, *sticks[1:3], sticks[3]]


def test_only_changes_are_kept():
    still = Recording.of(np.arange(100) / 60, [Stick(move_y=1)] * 100)
    assert len(still.times) == 2 and still.duration == pytest.approx(99 / 60)


def test_before_the_first_moment_the_stick_rests_and_after_the_last_it_stays():
    recording = Recording([1, 2], [[1, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0]])
    assert recording.at(0.5) == Stick() and recording.at(99) == Stick(move_y=1)


def test_a_file_with_columns_in_another_order_and_without_crouch_is_read(tmp_path):
    rows = "\ufeffstrafe, run,face_y,face_x,move_y,move_x,time\n\n1,0,0,0,0.5,0.25,0\n"
    (tmp_path / "a.csv").write_text(rows, "utf-8")
    assert stick.load(tmp_path / "a.csv").at(0) == Stick(0.25, 0.5, strafe=1)


def test_the_name_of_a_gait_comes_back_and_changes_alone_are_kept(tmp_path):
    sticks = [Stick(move_y=1), Stick(move_y=1), Stick(move_y=1, gait="sneak"), Stick(move_y=1, gait="sneak")]
    recording = Recording.of([0, 1, 2, 3], sticks)
    assert recording.times.tolist() == [0, 2, 3]
    recording.save(tmp_path / "a.csv")
    assert [stick.load(tmp_path / "a.csv").at(time) for time in (1, 2, 9)] == [*sticks[:1], *sticks[2:]]


def test_what_names_no_gait_is_saved_as_ever(tmp_path):
    Recording.of([0], [Stick(run=1)]).save(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == HEADER.strip() + ",crouch\n0,0,0,0,0,1,0,0\n"


def test_a_column_with_gaits_takes_the_place_of_run(tmp_path):
    (tmp_path / "a.csv").write_text("time,move_x,move_y,face_x,face_y,strafe,gait\n0,0,1,0,0,0,Sneak\n1,0,1,0,0,0,\n")
    recording = stick.load(tmp_path / "a.csv")
    assert recording.at(0) == Stick(move_y=1, gait="sneak") and recording.at(1) == Stick(move_y=1)


@pytest.mark.parametrize(("content", "complaint"), [
    (HEADER.replace("strafe", "strafe,gait") + "0,0,0,0,0,0,0," + 300 * "x", "row 2: its gait has 300 letters"),
    ("", "no column time"),
    ("time,move_x\n0,0\n", "no column move_y"),
    (HEADER, "no rows"),
    (HEADER + "0,0,0,0,0,0,0\n1,0,x,0,0,0,0\n", 'row 3: its move_y "x" is not a number'),
    (HEADER + "0,0,0\n", "row 2: it has 3 of 7 values"),
    (HEADER + "1,0,0,0,0,0,0\n\n0.5,0,0,0,0,0,0\n", r"row 4: its time 0\.5 goes back behind 1"),
    (HEADER + "0,nan,0,0,0,0,0\n", 'row 2: its move_x "nan" is not a number'),
    (HEADER + "inf,0,0,0,0,0,0\n", 'row 2: its time "inf" is not a number'),
    (HEADER + '0,"' + 200_000 * "0", "cannot be read"),
    (HEADER + "0,0,0,0,0,0,0\n3600000,0,0,0,0,0,0\n", "1000 hours: its times should be seconds"),
    (HEADER + "-1e308,0,0,0,0,0,0\n", "its times should be seconds, at most 21,600"),
    (HEADER + "0,0,0,0,0,0,0\n1,0,1e300,0,0,0,0\n", "row 3: a stick never gives more than 1000"),
])
def test_a_bad_file_says_what_is_wrong(tmp_path, content, complaint):
    (tmp_path / "bad.csv").write_text(content)
    with pytest.raises(MotionError, match=complaint) as error:
        stick.load(tmp_path / "bad.csv")
    assert "bad.csv" in str(error.value)


def test_a_file_that_is_not_there_or_not_text_says_so(tmp_path):
    (tmp_path / "picture.csv").write_bytes(bytes(range(128, 256)))
    for name, why in (("none.csv", 'There is no file ".*none.csv"'), ("picture.csv", "is not a text in UTF-8")):
        with pytest.raises(MotionError, match=why):
            stick.load(tmp_path / name)
