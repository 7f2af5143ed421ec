# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows that grow for hours."""

import errno
import gc
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.playback import columns
from mm_blender.playback.columns import Columns

KIND = [("number", np.int32), ("nothing", np.float32, (1, 0, 3)), ("pose", np.float32, (2, 3))]
ROWS = 100


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """A few rows to each chunk."""
    monkeypatch.setattr(columns, "CHUNK", 7 * np.dtype(KIND).itemsize)


@pytest.fixture
def disk(monkeypatch):
    """Temporary files are on a disk with so many bytes of room, which may break."""
    def of(**how):
        real = columns.tempfile.TemporaryFile
        monkeypatch.setattr(columns.tempfile, "TemporaryFile", lambda **options: _File(real(**options), **how))
    return of


class _File:
    """A file on such a disk."""

    def __init__(self, file, room=10 ** 9, breaks=False):
        self._file, self._room, self._breaks = file, room, breaks
        self.seek, self.close = file.seek, file.close

    def write(self, chunk):
        if (left := self._room - self._file.tell()) <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._file.write(chunk[:left])

    def read(self, size):
        if self._breaks:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return self._file.read(size)


def filled(count=ROWS):
    rows = Columns(KIND)
    for number in range(count):
        rows.add((number, np.empty((1, 0, 3)), np.full((2, 3), number)))
    return rows


def check(rows, count=ROWS):
    """It has what was added, read in each way."""
    assert len(rows) == count and rows.column("number").tolist() == [*range(count)]
    assert rows.column("pose", 1).tolist() == [[number] * 3 for number in range(count)]
    assert rows.column("nothing", 0).shape == (count, 0, 3)
    assert rows.row(-1)["number"] == rows.row(count - 1)["pose"][0, 0] == count - 1
    parts = [*rows.parts("pose", 0)]
    assert [part[0, 0] for _, part in parts] == [rows.start for rows, _ in parts]


@pytest.mark.parametrize("count", [1, 6, 7, 8, 99, 700])
def test_what_is_read_is_what_was_added_wherever_it_lies(count):
    check(filled(count), count)


def test_none_is_none():
    rows = Columns(KIND)
    assert len(rows) == 0 and rows.column("pose").shape == (0, 2, 3)
    with pytest.raises(IndexError):
        rows.row(-1)


@pytest.mark.parametrize("room", [0, 5, 1000])
def test_nothing_is_lost_where_the_disk_is_full(disk, room):
    disk(room=room)
    check(rows := filled())
    assert "No space left" in rows.trouble and "keep the take soon" in rows.trouble


def test_nothing_is_lost_where_there_is_no_temporary_folder(monkeypatch):
    def none(**how):
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr(columns.tempfile, "TemporaryFile", none)
    check(rows := filled())
    assert "No usable temporary directory" in rows.trouble


def test_a_disk_that_cannot_be_read_is_told_in_a_sentence(disk):
    disk(breaks=True)
    with pytest.raises(MotionError, match="cannot be read back from the temporary folder"):
        filled().column("number")


def test_only_the_latest_rows_are_in_memory_and_the_garbage_collector_has_nothing_to_look_through(monkeypatch):
    monkeypatch.undo()  # chunks as they are
    rows = Columns([("pose", np.float32, (1000,))])
    pose = np.zeros(1000)
    for _ in range(100):
        rows.add((pose,))
    held, before = sys.getsizeof, len(gc.get_objects())
    for _ in range(4000):  # 16 MB
        rows.add((pose,))
    assert len(gc.get_objects()) <= before + 5 and not rows.trouble
    assert sum(held(part) for part in vars(rows).values()) < 2 * columns.CHUNK


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_file_has_no_name_and_is_gone_with_the_process_also_when_that_is_killed(tmp_path):
    code = ("import sys, time; from mm_blender.playback.columns import Columns; rows = Columns([('x', 'f8')])\n"
            "for number in range(100_000): rows.add((number,))\nprint('ready', flush=True); time.sleep(60)")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                          env={**os.environ, "TMPDIR": str(tmp_path)}) as process:
        assert process.stdout.readline() == b"ready\n"
        links = [os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{process.pid}/fd")]
        process.send_signal(signal.SIGKILL)
    assert any(link.startswith(str(tmp_path)) and link.endswith("(deleted)") for link in links), links
    assert not os.listdir(tmp_path)
