# SPDX-License-Identifier: GPL-3.0-or-later
"""bake: side by side, taking over what is unchanged, and strictly."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mm_blender.commands import main
from mm_blender.matching import database
from mm_blender.motion import bvh
from tests.test_command_line import ROOT, write_walk

ARRAYS = ("rotations", "positions", "fixed", "contacts", "features", "measured", "steps", "some_steps",
          "curves")


@pytest.fixture
def clips(tmp_path):
    folder = tmp_path / "clips"
    folder.mkdir()
    for index, frames in enumerate((91, 61, 121)):
        write_walk(folder / f"walk {index}.bvh", frames)
    return folder


def test_two_jobs_write_the_same_bytes_as_one(clips, tmp_path, ask):
    (clips / "broken.bvh").write_text("HIERARCHY\nnothing")
    write_walk(clips / "short of frames.bvh", 31, announced=32)
    reports = [ask("bake", clips, "--mirror", "-o", tmp_path / f"{jobs}.mmdb", "--jobs", jobs) for jobs in (1, 2)]
    assert (tmp_path / "1.mmdb").read_bytes() == (tmp_path / "2.mmdb").read_bytes()
    assert {**reports[0], "file": ""} == {**reports[1], "file": ""}
    assert len(reports[1]["left_out"]) == len(reports[1]["warnings"]) == 1


def test_two_jobs_retarget_to_the_same_bytes_too(demo_database, tmp_path, ask):
    demo_database.save(tmp_path / "demo.mmdb")
    clips = [tmp_path / "one.bvh", tmp_path / "other.bvh"]
    for index, path in enumerate(clips):
        bvh.write(path, demo_database.clip(index).slice(0, 40))
    for jobs in (1, 2):
        ask("bake", *clips, "--onto", tmp_path / "demo.mmdb", "--jobs", jobs, "-o", tmp_path / f"{jobs}.mmdb")
    assert (tmp_path / "1.mmdb").read_bytes() == (tmp_path / "2.mmdb").read_bytes()


def test_jobs_end_with_the_process_that_has_them(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", HANGING], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    numbers = [int(child.stdout.readline()) for _ in range(2)]
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    for _ in range(100):
        if not any(_runs(number) for number in numbers):
            break
        time.sleep(0.05)
    else:
        pytest.fail("they go on")


HANGING = """
import os, time
from mm_blender.commands.jobs import jobs
if __name__ == "__main__":
    with jobs(2) as some:
        for made in [some.submit(os.getpid), some.submit(os.getpid)]:
            made.result()
        for child in some._pool._processes:
            print(child, flush=True)
        some.submit(time.sleep, 60).result()
"""


def _runs(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{number}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_job_that_the_system_ends_is_a_sentence(fails, clips, out, monkeypatch):
    monkeypatch.setattr("mm_blender.matching.bake._prepare", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    assert "use fewer jobs" in fails("bake", clips, "-o", out, "--jobs", 2)
    assert not Path(out).exists()


def test_unchanged_clips_are_taken_over_whatever_else_changes(clips, out, tmp_path, ask, subtests):
    def bake(*more):
        report = ask("bake", clips, "-o", out, *more)
        fresh = tmp_path / "fresh.mmdb"
        fresh.unlink(missing_ok=True)
        ask("bake", clips, "-o", fresh, *more)
        one, other = (database.load(path, to_bake=True) for path in (out, fresh))
        for name in ARRAYS:
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
        return report["reused"]

    assert bake() == 0
    for name, change, reused in (
            ("nothing", lambda: None, 3),
            ("touched", lambda: os.utime(clips / "walk 0.bvh", (1, 1)), 3),
            ("one changed", lambda: write_walk(clips / "walk 1.bvh", 71), 2),
            ("one more", lambda: write_walk(clips / "walk 3.bvh", 81), 3),
            ("one is gone", lambda: (clips / "walk 0.bvh").unlink(), 3)):
        with subtests.test(name):
            change()
            assert bake() == reused
    with subtests.test("another recipe"):
        assert bake("--fps", 30) == 0
    with subtests.test("a database that cannot be read"):
        Path(out).write_bytes(b"PK nothing")
        assert bake("--fps", 30) == 0


def test_strict_fails_and_writes_nothing(clips, out, tmp_path, fails, ask):
    (clips / "broken.bvh").write_text("HIERARCHY\nnothing")
    said = fails("bake", clips, "-o", out, "--strict")
    assert "broken.bvh" in said and "Nothing was written, because of --strict." in said and not Path(out).exists()
    folder = tmp_path / "retargeted"
    folder.mkdir()
    target = write_walk(tmp_path / "target.bvh")
    assert main(["retarget", str(clips), "--onto", target, "-o", str(folder), "--strict"]) == 1
    assert not list(folder.iterdir())
    assert ask("bake", clips, "-o", out)["clips"] == 3


def test_quiet_says_only_what_goes_wrong(clips, out, capsys):
    (clips / "broken.bvh").write_text("HIERARCHY\nnothing")
    assert main(["bake", str(clips), "-o", out, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["bake", str(clips / "broken.bvh"), "-o", out, "--quiet"]) == 1
    assert "broken.bvh" in capsys.readouterr().err
    assert main(["bake", str(clips), "-o", out]) == 0
    assert "broken.bvh" in capsys.readouterr().err, "the next command speaks again"
