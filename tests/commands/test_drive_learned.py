# SPDX-License-Identifier: GPL-3.0-or-later
"""python -m mm_blender drive --method and bench: networks in the place of the database."""

import json

import numpy as np
import pytest

from mm_blender.commands import main
from mm_blender.evaluate import cost_table
from mm_blender.motion import bvh
from tests.networks.conftest import untrained

STICK = "time,move_x,move_y,face_x,face_y,run,strafe\n0,0,1,0,0,0,0\n2,0,1,0,0,0,0\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory, demo_database):
    folder = tmp_path_factory.mktemp("learned")
    demo_database.save(folder / "demo.mmdb")
    networks = untrained(demo_database)
    latents = np.random.default_rng(0).normal(size=(len(demo_database), networks.latents))
    networks.save(folder / "demo.mmnet", latents)
    (folder / "stick.csv").write_text(STICK)
    return folder


def drive(files, *more):
    return main(["drive", *map(str, more), "--input", str(files / "stick.csv"), "-o", str(files / "out.bvh"), "--json"])


def told(capsys):
    return json.loads(capsys.readouterr().out)


def test_decompressed_motion_plays_frames_of_the_database(files, capsys):
    assert drive(files, files / "demo.mmdb", "--networks", files / "demo.mmnet", "--method", "dmm") == 0
    report = told(capsys)
    assert report["method"] == "dmm" and sum(report["frames_per_clip"].values()) == pytest.approx(1, abs=0.01)


def test_learned_motion_needs_no_database(files, capsys):
    assert drive(files, "--networks", files / "demo.mmnet", "--method", "lmm") == 0
    alone = told(capsys)
    played = bvh.read(files / "out.bvh", 0.01)
    assert drive(files, files / "demo.mmdb", "--networks", files / "demo.mmnet", "--method", "lmm") == 0
    compared = told(capsys)
    again = bvh.read(files / "out.bvh", 0.01)
    assert np.array_equal(played.rotations, again.rotations), "the database changes nothing about the motion"
    assert alone["root_distance"] == compared["root_distance"] and "frames_per_clip" not in compared
    assert "acceleration_ratio" in compared and "acceleration_ratio" not in alone


def test_learned_motion_is_played_at_another_rate(files, capsys):
    assert drive(files, "--networks", files / "demo.mmnet", "--method", "lmm", "--fps", "24") == 0
    assert told(capsys)["seconds"] == 2
    played = bvh.read(files / "out.bvh", 0.01)
    assert played.rate == pytest.approx(24) and len(played) == 48


@pytest.mark.parametrize("options, sentence", [
    (("{}/demo.mmdb", "--fps", "30"), "at another rate"),
    (("{}/demo.mmdb", "--method", "lmm"), "needs networks"),
    (("{}/demo.mmdb", "--method", "dmm"), "needs networks"),
    (("--networks", "{}/demo.mmnet", "--method", "dmm"), "give it a DB.mmdb"),
    (("--networks", "{}/demo.mmnet"), "give it a DB.mmdb"),
    (("--networks", "{}/nowhere.mmnet", "--method", "lmm"), "nowhere.mmnet"),
])
def test_what_is_missing_is_named(files, capsys, options, sentence):
    assert drive(files, *(option.format(files) for option in options)) == 1
    said = capsys.readouterr().err
    assert sentence in said and "Traceback" not in said


def test_bench_tells_memory_and_time_of_each_method(files, capsys, monkeypatch):
    monkeypatch.setattr(cost_table, "SECONDS", 2)
    monkeypatch.setattr(cost_table, "CROWD", 3)
    monkeypatch.setattr(cost_table, "TURNS", 3)
    bench = ["bench", str(files / "demo.mmdb")]
    assert main([*bench, "--json"]) == 0
    assert list(told(capsys)["methods"]) == ["mm"]
    assert main([*bench, "--networks", str(files / "demo.mmnet"), "--json"]) == 0
    methods = told(capsys)["methods"]
    assert list(methods) == ["mm", "dmm", "lmm"]
    totals = {method: figures["megabytes"]["total"] for method, figures in methods.items()}
    assert totals["mm"] > totals["dmm"] > totals["lmm"] > 0
    for figures in methods.values():
        assert figures["microseconds"]["frame"] > 0 and figures["microseconds"]["frame_of_each_of_3"] > 0
    assert set(methods["lmm"]["megabytes"]) == {"decompressor", "stepper", "projector", "total"}
    assert main([*bench, "--networks", str(files / "demo.mmnet"), "--table"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split(" | ")[1] for row in rows[2:]] == ["MM", "DMM", "LMM"]
    assert len({row.count("|") for row in rows}) == 1
