# SPDX-License-Identifier: GPL-3.0-or-later
"""python -m mm_blender direct: the demo character follows a path."""

import json
from pathlib import Path

import numpy as np
import pytest

from mm_blender.__main__ import main
from mm_blender.motion import bvh

PATH = """x,y,speed,gait,wait,face_x,face_y,time,exact,query
0,0,,,,,,,,
0,2.5,,,,,,,,
2,4,,,1,,,8,1,
5,4,,run,,,,,,
7,2,,,,,,,,
"""
SHORT = "x,y\n0,0\n0,1.5\n1,2\n"
TRAINED = Path(__file__).resolve().parents[2] / "trained" / "demo.mmnet"


@pytest.fixture
def files(tmp_path, demo_database):
    demo_database.save(tmp_path / "demo.mmdb")
    (tmp_path / "path.csv").write_text(PATH)
    return tmp_path


def direct(files, *more):
    return main(["direct", str(files / "demo.mmdb"), "--path", str(files / "path.csv"), "-o", str(files / "out.bvh"),
                 *more])


def test_the_character_goes_along_the_path_and_the_report_says_how_well(files, demo_database, capsys):
    assert direct(files, "--json", "--report", str(files / "report.json")) == 0
    said = capsys.readouterr()
    report = json.loads(said.out, parse_constant=pytest.fail)
    assert said.err == ""
    played = bvh.read(files / "out.bvh", 0.01)
    assert set(played.skeleton.names) == set(demo_database.skeleton.names) and played.rate == demo_database.rate
    roots = played.positions[:, 0, :2]
    assert np.linalg.norm(roots[0]) < 0.05 and np.linalg.norm(roots[-1] - (7, 2)) < 0.03
    assert np.linalg.norm(roots[round(8.5 * 60)] - (2, 4)) < 0.03, "there it stands, exactly, at its time"
    assert report["path_distance"]["mean"] < 0.04 and report["path_distance"]["p95"] < 0.12
    assert abs(report["speed_error"]) < 0.03 and report["stuck"] < 0.2
    assert report["end_distance"] < 0.03 and report["end_facing_degrees"] < 3
    (mark,) = report["timed_marks"]
    assert mark["mark"] == "row 4" and mark["apart"] < 0.05 and abs(mark["late"]) < 0.3
    assert report["not_possible"] == [] and report["slide_low"] < report["slide_low_source"]
    assert {key: value for key, value in report.items() if key != "file"} == json.loads(
        (files / "report.json").read_text(encoding="utf-8"))


def test_in_place_the_root_stays_and_the_body_is_the_same(files, capsys):
    (files / "path.csv").write_text(SHORT)
    assert direct(files) == 0
    along = bvh.read(files / "out.bvh", 0.01)
    assert direct(files, "--in-place") == 0
    played = bvh.read(files / "out.bvh", 0.01)
    assert np.abs(played.positions[:, 0, :2]).max() < 1e-6 and len(played) == len(along)
    assert np.abs(np.diff(played.rotations[:, 0], axis=0)).max() < 1e-6
    assert np.abs(played.rotations[:, 1:] - along.rotations[:, 1:]).max() < 1e-4


@pytest.mark.parametrize("method", ["dmm", "lmm"])
def test_networks_follow_it_too(files, capsys, method):
    assert direct(files, "--json", "--method", method, "--networks", str(TRAINED)) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["method"] == method and report["path_distance"]["mean"] < 0.06 and report["stuck"] < 0.3


def test_what_the_motion_cannot_do_is_said(files, capsys):
    (files / "path.csv").write_text(PATH.replace("5,4,,run", "5,4,6.5,run"))
    assert direct(files, "--json") == 0
    said = capsys.readouterr()
    assert "needs 6.5 m/s" in said.err and "the motion has 3." in said.err and len(said.err.splitlines()) == 1
    assert len(json.loads(said.out)["not_possible"]) == 1


def test_a_path_that_is_none_is_named_and_nothing_is_written(files, capsys, subtests):
    for text, sentence in {
        "x,y\n1,1\n": 'path.csv" has a single point: give it at least two.',
        PATH.replace("run", "sneak"): 'path.csv" names the gait "sneak" in row 5, which the motion does not have',
        PATH.replace("5,4,", "NaN,4,"): 'path.csv" is damaged in row 5: its x "NaN" is not a number.',
    }.items():
        with subtests.test(sentence):
            (files / "path.csv").write_text(text)
            assert direct(files) == 1
            said = capsys.readouterr().err
            assert sentence in said and "Traceback" not in said and not (files / "out.bvh").exists()
    for options in (["--path", "nowhere.csv"], ["--report", "x.txt"], ["--query", "flying"]):
        with subtests.test(options=options):
            (files / "path.csv").write_text(PATH)
            assert direct(files, *options) == 1
            assert options[1] in capsys.readouterr().err and not (files / "out.bvh").exists()


def test_a_loop_goes_on_at_its_end_as_at_its_beginning(files, capsys):
    (files / "path.csv").write_text("x,y\n0,0\n0,4\n4,4\n4,0\n")
    assert direct(files, "--loop", "--json") == 0
    report, played = json.loads(capsys.readouterr().out), bvh.read(files / "out.bvh", 0.01)
    assert report["path_distance"]["p95"] < 0.15 and report["end_distance"] is None
    joints = played.globals()[0]
    jolts = np.linalg.norm(np.diff(joints, 2, axis=0), axis=-1)
    seam = np.linalg.norm(np.diff(np.concatenate([joints[-3:], joints[:3]]), 2, axis=0), axis=-1)
    assert seam.max() < jolts.max(), "nothing jolts there more than anywhere else"
    step = joints[0, 0] - joints[-1, 0]
    assert np.linalg.norm(step - (joints[1, 0] - joints[0, 0])) < 0.005


def test_a_path_is_planned_and_varied_and_what_networks_cannot_is_said(files, capsys):
    (files / "path.csv").write_text(SHORT)
    takes = []
    for options in (["--plan", "planned"], ["--seed", "3"], ["--seed", "3"], []):
        assert direct(files, "--json", *options) == 0
        report = json.loads(capsys.readouterr().out)
        assert report["plan"] == ("planned" if "--plan" in options else "quick") and report["end_distance"] < 0.03
        takes.append((files / "out.bvh").read_bytes())
    assert takes[1] == takes[2] and len({*takes}) == 3
    for option in (["--plan", "planned"], ["--seed", "3"], ["--loop"]):
        assert direct(files, "--method", "lmm", "--networks", str(TRAINED), *option) == 1
        assert "Only frames of a database can be planned" in capsys.readouterr().err
