# SPDX-License-Identifier: GPL-3.0-or-later
"""python -m mm_blender drive: a recorded stick steers the demo character."""

import json
import sys

import numpy as np
import pytest

from mm_blender.commands import main
from mm_blender.motion import bvh, demo

STICK = """time,move_x,move_y,face_x,face_y,run,strafe
0,0,0,0,0,0,0
1,0,1,0,0,0,0
4,1,0,0,0,0,0
6,0,0,0,0,0,0
"""


@pytest.fixture
def files(tmp_path, demo_database):
    demo_database.save(tmp_path / "demo.mmdb")
    (tmp_path / "stick.csv").write_text(STICK)
    return tmp_path


def drive(files, *more):
    return main(["drive", str(files / "demo.mmdb"), "--input", str(files / "stick.csv"), "-o", str(files / "out.bvh"),
                 *more])


def test_the_played_motion_follows_the_stick(files, demo_database, capsys):
    assert drive(files, "--json", "--report", str(files / "report.json")) == 0
    report = json.loads(capsys.readouterr().out)
    played = bvh.read(files / "out.bvh", 0.01)
    assert set(played.skeleton.names) == set(demo_database.skeleton.names) and played.rate == demo_database.rate
    assert played.skeleton.names[0] == demo_database.skeleton.names[0]
    assert len(played) == 6 * played.rate
    root = played.positions[:, 0]
    forward, right = root[4 * 60] - root[0], root[-1] - root[4 * 60]
    assert forward[1] > 2 and abs(forward[0]) < 1, "three seconds of walking forward"
    assert right[0] > 1, "two seconds of walking to the right"
    assert np.abs(root[:50] - root[0]).max() < 0.2, "it stands until the stick is moved"
    assert {key: value for key, value in report.items() if key != "file"} == json.loads(
        (files / "report.json").read_text(encoding="utf-8"))
    assert report["transitions_per_second"] > 0
    assert sum(report["frames_per_clip"].values()) == pytest.approx(1, abs=0.01)


def test_a_moment_is_driven_too(files, capsys):
    (files / "stick.csv").write_text(STICK[:STICK.index("1,0,1")])
    assert drive(files, "--json") == 0
    assert json.loads(capsys.readouterr().out)["seconds"] > 0 and len(bvh.read(files / "out.bvh", 0.01)) == 1


def test_a_pose_that_is_held_can_be_driven_and_its_report_is_json(files, capsys):
    held = next(clip for clip in demo.clips() if clip.name == "idle").slice(0, 1)
    held = held.with_changes(positions=held.positions.repeat(90, axis=0), rotations=held.rotations.repeat(90, axis=0),
                             contacts=None)
    bvh.write(files / "held.bvh", held)
    assert main(["bake", str(files / "held.bvh"), "-o", str(files / "demo.mmdb")]) == 0
    capsys.readouterr()
    assert drive(files, "--json") == 0
    json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def test_what_cannot_be_measured_is_null_in_the_report_and_numpy_does_not_speak(files, capsys, monkeypatch):
    def measured(*_):
        return {"seconds": 1.0, "ratio": float(np.ones(1)[0] / np.zeros(1)[0]), "mean": {"of": [np.mean([])]}}
    monkeypatch.setattr("mm_blender.evaluate.driving.report", measured)
    assert drive(files, "--json", "--report", str(files / "report.json")) == 0
    said = capsys.readouterr()
    for text in (said.out, (files / "report.json").read_text(encoding="utf-8")):
        report = json.loads(text, parse_constant=pytest.fail)
        assert report["seconds"] == 1.0 and report["ratio"] is None and report["mean"] == {"of": [None]}
    assert said.err == ""


@pytest.mark.parametrize("text, sentence", [
    ("", "no column time"),
    ("time,move_x,move_y\n0,0,0\n", "no column face_x"),
    (STICK.replace("1,0,1,0", "1,0,fast,0"), "row 3"),
    (STICK.replace("4,1,0", "0.5,1,0"), "goes back"),
])
def test_a_bad_recording_gets_a_sentence_and_nothing_is_written(files, capsys, text, sentence):
    (files / "stick.csv").write_text(text)
    assert drive(files) == 1
    said = capsys.readouterr().err
    assert sentence in said and "stick.csv" in said and "Traceback" not in said
    assert not (files / "out.bvh").exists()


@pytest.mark.parametrize("option, name, sentence", [
    ("-o", "x.mmdb", "let its name end like that"),
    ("-o", "nowhere/x.bvh", "does not exist: create it first"),
    ("--report", "nowhere/x.json", "does not exist: create it first"),
    ("--report", "x.txt", "let its name end like that"),
    ("--input", "nowhere.csv", "There is no file"),
    ("--query", "flying", 'names the tag "flying", which no clip has'),
])
def test_what_cannot_work_is_named_and_nothing_is_written(files, capsys, option, name, sentence):
    assert drive(files, option, name if option == "--query" else str(files / name)) == 1
    said = capsys.readouterr().err
    assert sentence in said and name in said and "Traceback" not in said
    assert not (files / "out.bvh").exists()


def test_a_database_that_is_not_there_is_named(files, capsys):
    assert main(["drive", str(files / "none.mmdb"), "--input", str(files / "stick.csv"), "-o",
                 str(files / "out.bvh")]) == 1
    assert "none.mmdb" in capsys.readouterr().err


def test_a_tag_query_decides_what_is_played(files, capsys):
    assert drive(files, "--json", "--query", "run") == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["frames_per_tag"]["run"] > 0.7 and said.err == ""
    assert drive(files, "--json") == 0
    assert json.loads(capsys.readouterr().out)["frames_per_tag"].get("run", 0) < 0.1


@pytest.mark.parametrize("query", ["idle & run", "crouch"])
def test_a_tag_query_that_leaves_nothing_is_let_go_and_said(files, capsys, query):
    assert drive(files, "--json", "--query", query) == 0
    assert f'by the tag query "({query}) & ~crouch": it is not heeded' in capsys.readouterr().err
    assert (files / "out.bvh").exists()


@pytest.mark.parametrize(("gait", "least", "most"), [("sneak", 0.5, 1.1), ("sprint", 3.2, 6.0)])
def test_a_column_of_gaits_says_how_it_goes(files, many_gaits, capsys, gait, least, most):
    many_gaits.save(files / "demo.mmdb")
    (files / "stick.csv").write_text("time,move_x,move_y,face_x,face_y,strafe,gait\n"
                                     f"0,0,1,0,0,0,{gait}\n5,0,1,0,0,0,\n")
    assert drive(files, "--json") == 0
    said = capsys.readouterr()
    assert said.err == "" and json.loads(said.out)["frames_per_tag"][gait] > 0.6
    forward = bvh.read(files / "out.bvh", 0.01).positions[:, 0, 1]
    assert least < forward[-1] - forward[-61] < most


def test_a_gait_that_the_motion_does_not_have_is_named_with_those_that_it_has(files, capsys):
    (files / "stick.csv").write_text(STICK.replace("strafe\n", "strafe,gait\n").replace("0\n", "0,sneak\n"))
    assert drive(files) == 1
    assert 'stick.csv" names the gait "sneak", which the motion does not have: it has walk, run, crouch.' in (
        capsys.readouterr().err)
    assert not (files / "out.bvh").exists()


def test_progress_is_shown_on_a_terminal_only(files, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert drive(files) == 0
    shown = capsys.readouterr().err
    assert "[" + "█" * 15 + "·" * 15 + "]  50% driving, 3 s" in shown and shown.endswith("\r\x1b[K")
    assert drive(files, "--json") == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    assert drive(files) == 0
    assert capsys.readouterr().err == ""
