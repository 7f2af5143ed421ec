# SPDX-License-Identifier: GPL-3.0-or-later
"""Files are replaced whole or not at all."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mm_blender.errors import MotionError
from mm_blender.files import only_us, replacing


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
    monkeypatch.setattr("pathlib.Path.touch", refuse)
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
