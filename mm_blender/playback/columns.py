# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of numbers that grow for hours: the latest are in memory, those before them in a file that has no name."""

import os
import tempfile
import weakref

import numpy as np

from ..errors import MotionError

# So many bytes of rows go to the file together: each by itself would take longer, and many more would hold up a frame.
CHUNK = 2 ** 18


class Columns:
    """Rows of one kind, a structured type of NumPy, read column by column.

    The file is gone with the process, also when that is killed. Where there is no room for it the rows stay in memory,
    and `trouble` says so; it is empty if all is well.
    """

    def __init__(self, kind):
        self.kind, self.trouble = np.dtype(kind), ""
        self._latest = np.zeros(max(1, CHUNK // self.kind.itemsize), self.kind)
        self._size, self._count = len(self._latest), 0  # rows of a chunk, and those of the latest one that are filled
        self._filed, self._kept, self._file = 0, [], None  # full chunks: how many the file has, and those in memory

    def __len__(self):
        return (self._filed + len(self._kept)) * self._size + self._count

    def add(self, row):
        """One more row: a tuple of what each column gets."""
        self._latest[self._count] = row
        self._count += 1
        if self._count == self._size:
            self._put_away()

    def row(self, at):
        """{name: what one row has}"""
        chunk, at = divmod(range(len(self))[at], self._size)
        return {name: self._part(chunk, name)[at] for name in self.kind.names}

    def column(self, name, index=...):
        """(F, …) what all rows have in a column; index: or one item of it."""
        shape = self.kind[name].shape if index is ... else self.kind[name].shape[1:]
        whole = np.empty((len(self), *shape), self.kind[name].base)
        for rows, part in self.parts(name, index):
            whole[rows] = part
        return whole

    def parts(self, name, index=...):
        """The same in parts, one after the other: which rows (a slice), and what they have."""
        for first in range(0, len(self), self._size):
            part = self._part(first // self._size, name)[:, index]
            yield slice(first, first + len(part)), part

    def _part(self, chunk, name):
        """(C, …) what the rows of one chunk have in a column."""
        if chunk < self._filed:
            return self._read(chunk, name)
        kept = self._kept[chunk - self._filed:]
        return kept[0][name] if kept else self._latest[name][:self._count]

    def _put_away(self):
        """The latest chunk is full: it goes to the file, or stays in memory."""
        if not self.trouble:
            try:
                self._write(b"".join(self._latest[name].tobytes() for name in self.kind.names))
            except OSError as error:
                self.trouble = (f"What is driven from now on is kept in memory, since the temporary folder cannot take "
                                f"it ({error.strerror or error}): free some space, or keep the take soon.")
        if self.trouble:
            self._kept.append(self._latest)
            self._latest = np.zeros_like(self._latest)
        else:
            self._filed += 1
        self._count = 0

    def _write(self, chunk):
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0, dir=_folder())  # noqa: SIM115 (it stays as long as this)
            weakref.finalize(self, self._file.close)
        self._file.seek(self._filed * len(chunk))
        while chunk:
            chunk = chunk[self._file.write(chunk):]

    def _read(self, chunk, name):
        """Column by column: who wants one of them need not read the others."""
        kind, names = self.kind[name], self.kind.names
        before = sum(self.kind[other].itemsize for other in names[:names.index(name)])
        try:
            self._file.seek((chunk * self.kind.itemsize + before) * self._size)
            found = self._file.read(kind.itemsize * self._size)
        except OSError as error:
            raise MotionError(f"What was driven cannot be read back from the temporary folder "
                              f"({error.strerror or error}).") from error
        return np.frombuffer(found, kind.base).reshape(self._size, *kind.shape)


def _folder():
    """Where long files go: on many systems the usual temporary folder is memory itself. None leaves it to Python."""
    return "/var/tmp" if "TMPDIR" not in os.environ and os.path.isdir("/var/tmp") else None
