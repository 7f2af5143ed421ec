# SPDX-License-Identifier: GPL-3.0-or-later
"""Our files on disk: a JSON header and NumPy arrays in one archive. Nothing in a file is ever executed."""

import io
import math
import os
import shutil
import warnings
import zipfile

import numpy as np

from . import records
from .errors import MotionError
from .files import check_regular, replacing

HEADER = "header"
# Bytes of the longest header, and lists and records in it: that of twenty thousand clips with their mirror images. And
# bytes that are read in one go: the directory of an archive is, however large it claims to be.
LONGEST, PARTS, AT_ONCE = 16_000_000, 1_000_000, 1 << 21


def write(path, kind, version, header, arrays):
    """Write an archive in one piece: the old file stays until the new one is complete."""
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in {HEADER: _text({"kind": kind, "version": version, **header}), **arrays}.items():
            _write_array(archive, name, array)


def copy(here, there, kind, version, changes):
    """Copy an archive with changes to its header, whole or not at all. Both paths may be the same one."""
    header, _ = read(here, kind, version, ())
    try:
        # The rename comes last, when all is closed: Windows replaces no file that is open.
        with (replacing(there) as temporary, _opened(here) as file, zipfile.ZipFile(file) as old,
              zipfile.ZipFile(temporary, "w") as new):
            _write_array(new, HEADER, _text(header | changes))
            names = [name for name in dict.fromkeys(old.namelist()) if name != f"{HEADER}.npy"]
            _check_sizes(old, names)
            for name in names:
                with old.open(name) as part, new.open(name, "w", force_zip64=True) as target:
                    shutil.copyfileobj(part, target, 1 << 20)
    except (zipfile.BadZipFile, EOFError, LookupError, RuntimeError, ValueError) as error:
        raise MotionError(f'"{here}" is damaged: make it anew ({in_short(error)}).') from error


def read(path, kind, version, names, optional=()):
    """The header (a dict) and the named arrays of an archive, or a sentence that says what is wrong with the file.

    Those that are optional are in it if the file has them.
    """
    check_regular(path, math.inf)
    try:
        # What NumPy and Python have to say of files that others have made is for developers.
        with _opened(path) as file, zipfile.ZipFile(file) as archive, warnings.catch_warnings(action="ignore"):
            header = _header(path, archive, kind, version)
            there = [name for name in optional if f"{name}.npy" in archive.namelist()]
            _check_sizes(archive, [f"{name}.npy" for name in (HEADER, *names, *there)])
            return header, {name: _array(archive, name) for name in (*names, *there)}
    except MotionError:
        raise
    except Exception as error:  # a foreign file can provoke anything in zipfile, json and NumPy
        raise MotionError(f'"{path}" is damaged or not a .{kind} file: make it anew ({in_short(error)}).') from error


def in_short(error):
    """What an exception says, in a few words."""
    return str(error).strip().split("\n")[0].rstrip(".")[:100] or type(error).__name__


class _Reader(io.BufferedReader):
    """Of a file that may say anything of itself."""

    def read(self, size=-1):
        if size is not None and size > AT_ONCE:
            raise ValueError("its directory is too large")
        return super().read(size)


def _text(header):
    return np.frombuffer(records.to_text(header).encode("ascii"), dtype=np.uint8)


def _write_array(archive, name, array):
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array(file, np.asanyarray(array), version=(1, 0), allow_pickle=False)


def _opened(path):
    try:
        return _Reader(open(path, "rb", buffering=0))
    except OSError as error:
        raise MotionError(f'"{path}" cannot be read: {error.strerror or error}.') from error


def _header(path, archive, kind, version):
    if archive.getinfo(f"{HEADER}.npy").file_size > LONGEST:
        raise ValueError(f"its header has more than {LONGEST / 1e6:.0f} MB")
    _check_sizes(archive, [f"{HEADER}.npy"])
    text = _array(archive, HEADER).tobytes()
    if text.count(b"[") + text.count(b"{") > PARTS:
        raise ValueError(f"its header has more than {PARTS:,} lists and records")
    header = records.from_text(text)
    found, made_by = header["kind"], header["version"]
    if not isinstance(found, str) or not isinstance(made_by, int) or made_by < 1:
        raise ValueError("no format version")
    if found != kind:
        raise MotionError(f'"{path}" is a .{found[:20]} file, not a .{kind} file.')
    if made_by > version:
        raise MotionError(f'"{path}" was made by a newer Motion Matching (format {made_by}; this one reads '
                          f"up to {version}): update the extension.")
    return header


def _check_sizes(archive, names):
    """Fails if arrays would take more memory than the file is large: none is packed, and none lies in another."""
    entries = [archive.getinfo(name) for name in names]
    packed = any(entry.compress_type != zipfile.ZIP_STORED for entry in entries)
    if packed or sum(entry.file_size for entry in entries) > os.fstat(archive.fp.fileno()).st_size:
        raise ValueError("its arrays are not what they claim to be")


def _array(archive, name):
    """One array of numbers, if its entry is as large as the array's header says: otherwise no memory is given to it."""
    entry = archive.getinfo(f"{name}.npy")
    with archive.open(entry) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{name} has an unknown format")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        size = file.tell() + math.prod(shape) * dtype.itemsize
    if dtype.kind not in "biuf" or min(shape, default=0) < 0 or size != entry.file_size:
        raise ValueError(f"{name} is not what it claims to be")
    with archive.open(entry) as file:  # anew, not rewound: that would switch off the checksum
        return np.lib.format.read_array(file, allow_pickle=False)
