# SPDX-License-Identifier: GPL-3.0-or-later
"""python -m mm_blender retarget, bake --onto and drive --target."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mm_blender.commands import main
from mm_blender.matching import database
from mm_blender.motion import bvh
from mm_blender.motion.retarget import Retarget
from tests.rigs import with_lengths, without

STICK = "time,move_x,move_y,face_x,face_y,run,strafe\n0,0,0,0,0,0,0\n1,0,1,0,0,0,0\n4,0,1,0,0,0,0\n"


@pytest.fixture
def files(tmp_path, demo_database):
    """Two clips of two persons of other sizes, and the demo character."""
    demo_database.save(tmp_path / "demo.mmdb")
    (tmp_path / "stick.csv").write_text(STICK)
    (tmp_path / "out").mkdir()
    names = [part.name for part in demo_database.ranges]
    for name, size in (("walk", 1.15), ("run", 0.9)):
        retarget = Retarget(demo_database.character, with_lengths(demo_database.character, size, shin=1.1))
        bvh.write(tmp_path / f"{name}.bvh", retarget.clip(demo_database.clip(names.index(name))))
    return tmp_path


def run(files, *arguments):
    """The command with files in that folder, where they are there; what begins with @ is taken as it is."""
    return main([str(files / text) if (files / text).exists() else text.lstrip("@") for text in arguments])


def test_clips_of_two_persons_come_onto_the_character(files, demo_database, capsys):
    assert run(files, "retarget", "walk.bvh", "run.bvh", "--onto", "demo.mmdb", "-o", "out", "--json", "--report",
               f"@{files / 'figures.json'}") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["clips"] == 2 and set(report["each"]) == {"walk", "run"}
    assert report["foot_slide"] < 0.5 and report["toe_penetration_mm"] < 5 and report["flipped_frames"] == 0
    assert report["limb_degrees"]["p95"] < 3
    assert json.loads((files / "figures.json").read_text(encoding="utf-8")).items() <= report.items()
    for name in ("walk", "run"):
        clip = bvh.read(files / "out" / f"{name}.bvh", 0.01)
        assert set(clip.skeleton.names) == set(demo_database.skeleton.names)
        lengths = np.linalg.norm(clip.skeleton.positions, axis=-1)
        for joint, bone in enumerate(clip.skeleton.names):
            if bone not in ("root", "hips"):
                own = np.linalg.norm(demo_database.skeleton.positions[demo_database.skeleton.index(bone)])
                assert lengths[joint] == pytest.approx(own, abs=1e-4)


def test_a_bvh_file_is_a_target_too(files, demo_database, capsys):
    assert run(files, "retarget", "walk.bvh", "--onto", "run.bvh", "-o", f"@{files / 'other.bvh'}", "--json") == 0
    assert json.loads(capsys.readouterr().out)["foot_slide"] < 0.5
    small, own = bvh.read(files / "other.bvh", 0.01), bvh.read(files / "run.bvh", 0.01)
    shin = own.skeleton.index("foot.L")
    assert np.linalg.norm(small.skeleton.positions[small.skeleton.index("foot.L")]) == pytest.approx(
        np.linalg.norm(own.skeleton.positions[shin]), abs=1e-4)


def test_a_database_of_many_persons(files, demo_database, capsys):
    bake = "bake", "walk.bvh", "run.bvh", "--json", "-o"
    assert run(files, *bake, f"@{files / 'two.mmdb'}", "--onto", "demo.mmdb") == 0
    assert not json.loads(capsys.readouterr().out)["left_out"]
    baked = database.load(files / "two.mmdb")
    assert baked.skeleton.names == demo_database.skeleton.names and len(baked.ranges) == 2
    assert baked.fixed[2:] == pytest.approx(demo_database.fixed[2:], abs=1e-4)
    assert run(files, *bake, f"@{files / 'one.mmdb'}") == 0
    assert "other bone lengths" in json.loads(capsys.readouterr().out)["left_out"][0], "one is left out without"


def test_the_key_tells_of_the_target(files, demo_database, capsys):
    keys = []
    for target in ("demo.mmdb", "run.bvh", "demo.mmdb"):
        assert run(files, "bake", "walk.bvh", "--onto", target, "-o", f"@{files / 'one.mmdb'}", "--json") == 0
        keys.append(database.read_key(files / "one.mmdb"))
    capsys.readouterr()
    assert keys[0] == keys[2] != keys[1]


def test_a_drive_on_another_character(files, demo_database, capsys):
    drive = ["drive", "demo.mmdb", "--input", "stick.csv", "--json", "-o"]
    assert run(files, *drive, f"@{files / 'own.bvh'}") == run(files, *drive, f"@{files / 'other.bvh'}", "--target",
                                                             "walk.bvh") == 0
    other = json.loads(capsys.readouterr().out.splitlines()[1])
    assert other["slide_low"] < 2 and other["toe_penetration_mm"] < 5
    mine, theirs = (bvh.read(files / f"{name}.bvh", 0.01) for name in ("own", "other"))
    way, longer = (clip.positions[-1, 0, 1] - clip.positions[0, 0, 1] for clip in (mine, theirs))
    assert longer > 1.1 * way > 2


def write_footless(path, database):
    """A clip of somebody whose legs end at the knees."""
    some = without(database.character, "left_foot", "right_foot", "left_toe", "right_toe").skeleton
    clip = Retarget(database.character, database.character).clip(database.clip(0))
    joints = [database.skeleton.index(name) for name in some.names]
    bvh.write(path, clip.with_changes(skeleton=some, positions=clip.positions[:, joints],
                                      rotations=clip.rotations[:, joints]))


def write_stumps(path, database):
    """A clip of somebody whose legs are no longer than a point."""
    clip, legs = database.clip(0), [database.character.joint(f"{side}_{part}")
                                    for side in ("left", "right") for part in ("shin", "foot", "toe")]
    places, rest = clip.positions.copy(), clip.skeleton.positions.copy()
    places[:, legs], rest[legs] = 0, 0
    bvh.write(path, clip.with_changes(skeleton=replace(clip.skeleton, positions=rest), positions=places))


def test_what_cannot_be_done_is_said_in_a_sentence(files, demo_database, capsys):
    write_footless(files / "footless.bvh", demo_database)
    write_stumps(files / "stumps.bvh", demo_database)
    out = f"@{files / 'new.bvh'}"
    lacking = 'footless.bvh" has no bones for these roles, and retargeting needs them: left_shin, right_shin. Bake it'
    for arguments, sentence in [
            (("retarget", "walk.bvh", "--onto", "footless.bvh", "-o", out), lacking),
            (("drive", "demo.mmdb", "--input", "stick.csv", "--target", "footless.bvh", "-o", out), lacking),
            (("retarget", "footless.bvh", "--onto", "demo.mmdb", "-o", out), "left_shin, right_shin. Give them with"),
            (("retarget", "stumps.bvh", "--onto", "demo.mmdb", "-o", out), "no leg can bend: give the bone a length"),
            (("retarget", "walk.bvh", "--onto", "@nobody.bvh", "-o", out), "nobody.bvh"),
            (("retarget", "walk.bvh", "run.bvh", "--onto", "demo.mmdb", "-o", out), "not a folder"),
            (("retarget", "walk.bvh", "--onto", "demo.mmdb", "-o", f"@{files}"), "written over"),
            (("bake", "walk.bvh", "--onto", "footless.bvh", "-o", f"@{files / 'new.mmdb'}"), lacking)]:
        assert run(files, *arguments) == 1
        said = capsys.readouterr().err
        assert sentence in said and said.count("\n") == 1, said
    assert not (files / "new.bvh").exists() and not (files / "new.mmdb").exists()


@pytest.mark.parametrize("arguments", [
    ("retarget", "walk.bvh", "--onto", "demo.mmdb", "-o", "walk.bvh"),
    ("retarget", "walk.bvh", "--onto", "run.bvh", "-o", "run.bvh"),
    ("retarget", "walk.bvh", "--onto", "out/walk.bvh", "-o", "out"),
    ("bake", "walk.bvh", "--onto", "demo.mmdb", "-o", "demo.mmdb"),
    ("drive", "demo.mmdb", "--input", "stick.csv", "--target", "walk.bvh", "-o", "out/../walk.bvh"),
])
def test_what_is_read_is_never_written_over(files, capsys, arguments):
    (files / "out" / "walk.bvh").write_bytes((files / "walk.bvh").read_bytes())
    before = {path: path.read_bytes() for path in files.rglob("*.*")}
    assert run(files, *arguments) == 1
    said = capsys.readouterr().err
    assert "is read and would be written over" in said and said.count("\n") == 1
    assert before == {path: path.read_bytes() for path in files.rglob("*.*")}


@pytest.mark.parametrize("command", [("retarget", "walk.bvh", "--onto", "demo.mmdb"),
                                     ("drive", "demo.mmdb", "--input", "stick.csv")])
def test_a_report_that_would_be_a_folder_is_told_before_the_work(files, capsys, command):
    (files / "report.json").mkdir()
    assert run(files, *command, "-o", f"@{files / 'new.bvh'}", "--report", "report.json") == 1
    assert 'report.json" is a folder' in capsys.readouterr().err and not (files / "new.bvh").exists()


def test_a_read_only_folder_is_told_before_the_work(files, capsys, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert run(files, "retarget", "walk.bvh", "run.bvh", "--onto", "demo.mmdb", "-o", "out") == 1
    said = capsys.readouterr().err
    assert "is read-only" in said and said.count("\n") == 1


@pytest.mark.parametrize("command", ["retarget", "bake"])
def test_clips_that_cannot_be_retargeted_are_left_out_with_a_sentence_each(files, demo_database, capsys, command):
    write_footless(files / "footless.bvh", demo_database)
    (files / "cut.bvh").write_bytes((files / "walk.bvh").read_bytes()[:900])
    clips, output = ("cut.bvh", "footless.bvh", "walk.bvh"), "out" if command == "retarget" else f"@{files / 'o.mmdb'}"
    assert run(files, command, *clips, "--onto", "demo.mmdb", "-o", output, "--json") == 0
    said = capsys.readouterr()
    report = json.loads(said.out)
    assert report["clips"] == 1 and len(report["left_out"]) == 2
    assert said.err.splitlines() == [f"mm_blender: {sentence}" for sentence in report["left_out"]]
    assert report["left_out"][0].startswith("cut.bvh, line ")
    assert report["left_out"][1].startswith('Clip "footless" cannot be retargeted. It has no bones for these roles')
    assert command == "bake" or [path.name for path in (files / "out").iterdir()] == ["walk.bvh"]


def test_a_clip_that_may_not_be_read_is_left_out_by_name(files, capsys, monkeypatch):
    read = Path.read_bytes

    def read_some(path):
        if path.name == "run.bvh":
            raise PermissionError(errno.EACCES, "Permission denied")
        return read(path)
    monkeypatch.setattr(Path, "read_bytes", read_some)
    for command, output in (("retarget", "out"), ("bake", f"@{files / 'out.mmdb'}")):
        assert run(files, command, "run.bvh", "walk.bvh", "--onto", "demo.mmdb", "-o", output, "--json") == 0
        assert json.loads(capsys.readouterr().out)["left_out"] == [
            f'"{files / "run.bvh"}" cannot be read: Permission denied.']


def test_ctrl_c_says_how_many_clips_were_written(files, capsys, monkeypatch):
    write = bvh.write

    def write_one(path, clip):
        if any((files / "out").iterdir()):
            raise KeyboardInterrupt
        write(path, clip)
    monkeypatch.setattr(bvh, "write", write_one)
    assert run(files, "retarget", "walk.bvh", "run.bvh", "--onto", "demo.mmdb", "-o", "out") == 130
    assert capsys.readouterr().err == "mm_blender: cancelled; 1 of 2 clips were written.\n"


@pytest.mark.skipif(os.name != "posix", reason="file names are text on this system")
def test_a_file_name_that_is_no_text_gets_into_the_report(files):
    path = os.fsdecode(os.fsencode(files) + b"/wa\xfflk.bvh")
    os.rename(files / "walk.bvh", path)
    assert run(files, "retarget", path, "--onto", "demo.mmdb", "-o", f"@{files / 'out.bvh'}", "--report",
               f"@{files / 'figures.json'}") == 0
    assert list(json.loads((files / "figures.json").read_text(encoding="utf-8"))["each"]) == ["wa\udcfflk"]
