# SPDX-License-Identifier: GPL-3.0-or-later
"""Files are replaced whole or not at all."""

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mm_blender.errors import MotionError
from mm_blender.files import only_us, replacing

ROOT = Path(__file__).resolve().parents[1]
POSIX = pytest.mark.skipif(os.name != "posix", reason="this system has no such files, locks or limits")


def test_file_appears_only_when_the_block_ends(tmp_path):
    path = tmp_path / "walk.mmdb"
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert temporary.parent == tmp_path
        assert not path.exists()
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["walk.mmdb"]


def test_failure_leaves_the_previous_file_and_nothing_else(tmp_path):
    path = tmp_path / "walk.mmdb"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["walk.mmdb"]


@pytest.mark.parametrize("number, words", [(errno.ENOSPC, "disk is full"), (errno.EACCES, "read-only"),
                                           (errno.EROFS, "read-only"), (errno.EIO, os.strerror(errno.EIO))])
def test_what_stops_the_writing_is_said_in_a_sentence(tmp_path, number, words):
    path = tmp_path / "walk.mmdb"
    path.write_text("old")
    with pytest.raises(MotionError, match=words) as caught, replacing(path) as temporary:
        temporary.write_text("half")
        raise OSError(number, os.strerror(number))
    assert "walk.mmdb" in str(caught.value)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["walk.mmdb"]


def test_folder_that_cannot_be_written_is_said_before_the_work(tmp_path, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise PermissionError(errno.EACCES, "Permission denied")
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(MotionError, match="read-only"), replacing(tmp_path / "walk.mmdb"):
        pytest.fail("the block must not run")


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(MotionError, match=r'folder ".*nowhere" does not exist'), replacing(tmp_path / "nowhere/a.bvh"):
        pytest.fail("the block must not run")


def test_a_folder_is_not_replaced(tmp_path):
    (tmp_path / "clips").mkdir()
    with pytest.raises(MotionError, match="it is a folder"), replacing(tmp_path / "clips") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "clips").is_dir()


# What a kill leaves behind

KILLED = """
import os, signal, sys
from mm_blender.files import replacing
with replacing(sys.argv[1]) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@POSIX
@pytest.mark.parametrize("name", ["walk.mmdb", "a [0-9] & b.mmdb", "n" * 250 + ".x", "走" * 84])
def test_the_next_save_clears_what_a_kill_left_behind(tmp_path, name):
    for _ in range(2):
        outcome = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / name)], cwd=ROOT, capture_output=True)
        assert outcome.returncode == -signal.SIGKILL, outcome.stderr
        assert len(os.listdir(tmp_path)) == 1, "half a file, and that of an earlier kill is gone"
    with replacing(tmp_path / name) as temporary:
        temporary.write_text("new")
    assert os.listdir(tmp_path) == [name] and (tmp_path / name).read_text() == "new"


@POSIX
def test_what_is_being_written_and_what_is_of_another_file_stays(tmp_path):
    others = [".12345678-run.mmdb", ".12345678-walk.mmdb.bak", ".mine-walk.mmdb", ".1234567-walk.mmdb", "walk.mmdb.tmp"]
    for name in others:
        (tmp_path / name).touch()
    with replacing(tmp_path / "walk.mmdb") as first:
        first.write_text("first")
        with replacing(tmp_path / "walk.mmdb") as second:
            second.write_text("second")
        assert first.exists()
    assert (tmp_path / "walk.mmdb").read_text() == "first"
    assert sorted(os.listdir(tmp_path)) == sorted(["walk.mmdb", *others])


# Links, devices, names

@POSIX
@pytest.mark.parametrize("there", [True, False])
def test_behind_a_link_lies_the_file_that_is_written(tmp_path, there):
    (tmp_path / "disk").mkdir()
    target, link = tmp_path / "disk" / "walk.mmdb", tmp_path / "walk.mmdb"
    link.symlink_to(target)
    if there:
        target.write_text("old")
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink() and target.read_text() == "new" and not target.is_symlink()
    assert os.listdir(tmp_path / "disk") == ["walk.mmdb"]


@POSIX
def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MotionError, match="a device or a pipe"), replacing(tmp_path / "pipe"):
        pytest.fail("the block must not run")
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


@POSIX
def test_a_name_that_is_too_long_is_said(tmp_path):
    with pytest.raises(MotionError, match="name is too long for the disk; choose a shorter"), replacing(
            tmp_path / ("n" * 300)) as temporary:
        temporary.write_text("new")
    assert os.listdir(tmp_path) == []


# Disks

def limited(kind, most, code, *arguments):
    """What a program says and leaves that may have no more of something, as a disk that is full has."""
    program = f"import resource, sys; resource.setrlimit(resource.{kind}, ({most}, {most}))\n{code}"
    return subprocess.run([sys.executable, "-c", program, *map(str, arguments)], cwd=ROOT, capture_output=True,
                          text=True, timeout=60)


WRITING = """
from mm_blender import archive
from mm_blender.errors import MotionError
import numpy as np
try:
    archive.write(sys.argv[1], "mmdb", 1, {}, {"numbers": np.zeros(10 ** 6)})
except MotionError as error:
    print(error)
"""


@POSIX
def test_a_disk_that_takes_no_file_of_that_size_leaves_the_previous_one(tmp_path):
    (tmp_path / "walk.mmdb").write_text("old")
    outcome = limited("RLIMIT_FSIZE", 200_000, WRITING, tmp_path / "walk.mmdb")
    assert "walk.mmdb" in outcome.stdout and "larger than its disk allows" in outcome.stdout, outcome.stderr
    assert (tmp_path / "walk.mmdb").read_text() == "old" and os.listdir(tmp_path) == ["walk.mmdb"]


@POSIX
def test_a_disk_that_fills_up_leaves_the_previous_file(small_disk):
    (small_disk / "walk.mmdb").write_text("old")
    outcome = subprocess.run([sys.executable, "-c", "import sys\n" + WRITING, small_disk / "walk.mmdb"], cwd=ROOT,
                             capture_output=True, text=True)
    assert "the disk is full; free some space" in outcome.stdout, outcome.stderr
    assert (small_disk / "walk.mmdb").read_text() == "old" and os.listdir(small_disk) == ["walk.mmdb"]


@POSIX
def test_a_disk_that_takes_no_more_files_leaves_the_previous_one(small_disk):
    (small_disk / "walk.mmdb").write_text("old")
    for number in range(1000):
        try:
            (small_disk / f"{number}").touch()
        except OSError:
            break
    with pytest.raises(MotionError, match="the disk is full"), replacing(small_disk / "walk.mmdb"):
        pytest.fail("the block must not run")
    assert (small_disk / "walk.mmdb").read_text() == "old"


@POSIX
def test_a_folder_that_is_read_only_is_said(tmp_path):
    (tmp_path / "walk.mmdb").write_text("old")
    os.chmod(tmp_path, 0o555)
    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("nothing is read-only to this user")
        with pytest.raises(MotionError, match="read-only"), replacing(tmp_path / "walk.mmdb"):
            pytest.fail("the block must not run")
    finally:
        os.chmod(tmp_path, 0o755)
    assert os.listdir(tmp_path) == ["walk.mmdb"]


@POSIX
def test_a_disk_that_is_read_only_is_said(small_disk):
    (small_disk / "walk.mmdb").write_text("old")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(MotionError, match=r"read-only.* choose another place"), replacing(small_disk / "walk.mmdb"):
        pytest.fail("the block must not run")
    assert (small_disk / "walk.mmdb").read_text() == "old" and os.listdir(small_disk) == ["walk.mmdb"]


# Two at once

HOLD = """import sys, time
from mm_blender.files import only_us
with only_us(sys.argv[1]):
    print("writing", flush=True)
    time.sleep(60)
"""


def test_a_file_that_another_process_writes_is_not_written_until_that_ends_or_is_killed(tmp_path):
    path = tmp_path / "walk.mmdb"
    with subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE,
                          cwd=Path(__file__).parent.parent) as other:
        assert other.stdout.readline()
        with pytest.raises(MotionError, match=r'walk\.mmdb" is being written by another Blender'), only_us(path):
            pass
        other.kill()
    with only_us(path):
        pass
    assert os.listdir(tmp_path) == []


def test_where_nothing_can_be_locked_nobody_is_kept_waiting(tmp_path, monkeypatch):
    def cannot(*_):
        raise OSError(errno.ENOLCK, "No locks available")
    monkeypatch.setattr("mm_blender.files.fcntl.flock", cannot, raising=False)
    with only_us(tmp_path / "walk.mmdb"), only_us(tmp_path / "no such folder" / "walk.mmdb"):
        pass
