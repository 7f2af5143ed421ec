# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands in a pipe: "-" is standard input or output."""

import json
import subprocess
from pathlib import Path

import pytest

from mm_blender import __version__
from mm_blender.control.stick import Recording
from mm_blender.matching import database
from mm_blender.motion import bvh
from tests.test_command_line import COMMAND, ROOT, write_walk


def pipe(content, *arguments):
    return subprocess.run([*COMMAND, *map(str, arguments)], cwd=ROOT, input=content, capture_output=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    write_walk(folder / "walk.bvh", 181)
    Recording([0.0, 1.0], [[0, 1, 0, 0, 0, 0, 0]] * 2, ["", ""]).save(folder / "stick.csv")
    assert pipe(b"", "bake", folder / "walk.bvh", "-o", folder / "walk.mmdb").returncode == 0
    return folder


def test_a_clip_comes_in_and_a_database_goes_out(made, tmp_path):
    outcome = pipe((made / "walk.bvh").read_bytes(), "bake", "-", "-o", "-")
    assert outcome.returncode == 0 and outcome.stderr == b""
    (tmp_path / "out.mmdb").write_bytes(outcome.stdout)
    assert [part.source for part in database.load(tmp_path / "out.mmdb").ranges] == ["stdin"]
    about = json.loads(pipe(outcome.stdout, "info", "-", "--json").stdout)
    assert about["kind"] == "mmdb" and about["file"] == "-"


def test_a_stick_or_a_clip_comes_in_and_motion_goes_out(made, demo_database, tmp_path):
    demo_database.save(tmp_path / "demo.mmdb")
    bvh.write(tmp_path / "demo.bvh", demo_database.clip(0).slice(0, 60))
    for content, arguments in ((made / "stick.csv", ("drive", tmp_path / "demo.mmdb", "--input", "-", "-o", "-")),
                               (tmp_path / "demo.bvh", ("retarget", "-", "--onto", tmp_path / "demo.mmdb", "-o", "-"))):
        outcome = pipe(content.read_bytes(), *arguments)
        assert outcome.returncode == 0, outcome.stderr
        (tmp_path / "out.bvh").write_bytes(outcome.stdout)
        assert len(bvh.read(tmp_path / "out.bvh")) > 30


def test_tags_and_features_come_in(made, tmp_path):
    outcome = pipe(b'{"walk": "walk"}', "bake", made / "walk.bvh", "--tags", "-", "-o", tmp_path / "o.mmdb")
    assert outcome.returncode == 0 and set(database.load(tmp_path / "o.mmdb").tags) == {"walk"}
    features = b'{"channels": [{"kind": "trajectory_position", "times": [0.5]}]}'
    outcome = pipe(features, "bake", made / "walk.bvh", "--schema", "-", "-o", tmp_path / "o.mmdb")
    assert outcome.returncode == 0 and database.load(tmp_path / "o.mmdb").schema.size == 2


def test_what_is_wrong_is_a_sentence_that_says_standard_input(made, tmp_path):
    walk, out = made / "walk.bvh", tmp_path / "o.mmdb"
    for arguments, content, words in (
            (("bake", "-", "-o", out), b"HIERARCHY\nROOT", b"standard input, line 2"),
            (("bake", "-", "--tags", "-", "-o", out), b"", b"can be read once"),
            (("bake", walk, "-o", "-", "--json"), b"", b"leave --json out"),
            (("bake", walk, "--tags", "-", "-o", out), b"{", b"standard input"),
            (("drive", made / "walk.mmdb", "--input", "-", "-o", tmp_path / "o.bvh"), b"", b"standard input")):
        outcome = pipe(content, *arguments)
        assert outcome.returncode == 1 and outcome.stdout == b"" and words in outcome.stderr, outcome.stderr
        assert outcome.stderr.count(b"\n") == 1 and b"tmp" not in outcome.stderr.replace(bytes(tmp_path), b"")


def test_whoever_reads_the_result_may_stop_reading(made):
    child = subprocess.Popen([*COMMAND, "bake", made / "walk.bvh", "-o", "-"], cwd=ROOT, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    child.stdout.close()
    assert child.stderr.read() == b"" and child.wait() == 0
    child.stderr.close()


def test_the_version_is_said():
    assert pipe(b"", "--version").stdout.decode().strip() == f"Motion Matching {__version__}"
    assert not Path("-").exists()
