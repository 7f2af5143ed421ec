# SPDX-License-Identifier: GPL-3.0-or-later
"""Our files on disk: a JSON header and NumPy arrays in one archive. Nothing in a file is ever executed."""

import json
import math
import os
import shutil
import zipfile

import numpy as np

from .errors import MotionError
from .files import replacing

HEADER = "header"


def write(path, kind, version, header, arrays):
    """Write an archive in one piece: the old file stays until the new one is complete."""
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in {HEADER: _text({"kind": kind, "version": version, **header}), **arrays}.items():
            _write_array(archive, name, array)


def copy(here, there, kind, version, changes):
    """Copy an archive with changes to its header, whole or not at all. Both paths may be the same one."""
    header, _ = read(here, kind, version, ())
    try:
        with (_opened(here) as file, zipfile.ZipFile(file) as old, replacing(there) as temporary,
              zipfile.ZipFile(temporary, "w") as new):
            _write_array(new, HEADER, _text(header | changes))
            for entry in old.infolist():
                if entry.filename != f"{HEADER}.npy" and entry.file_size <= _length(old):
                    with old.open(entry) as part, new.open(entry.filename, "w", force_zip64=True) as target:
                        shutil.copyfileobj(part, target, 1 << 20)
    except (zipfile.BadZipFile, EOFError, ValueError) as error:
        raise MotionError(f'"{here}" is damaged: make it anew ({in_short(error)}).') from error


def read(path, kind, version, names, optional=()):
    """The header (a dict) and the named arrays of an archive, or a sentence that says what is wrong with the file.

    Those that are optional are in it if the file has them.
    """
    try:
        with _opened(path) as file, zipfile.ZipFile(file) as archive:
            header = _header(path, archive, kind, version)
            there = [name for name in optional if f"{name}.npy" in archive.namelist()]
            return header, {name: _array(archive, name) for name in (*names, *there)}
    except MotionError:
        raise
    except Exception as error:  # a foreign file can provoke anything in zipfile, json and NumPy
        raise MotionError(f'"{path}" is damaged or not a .{kind} file: make it anew ({in_short(error)}).') from error


def in_short(error):
    """What an exception says, in a few words."""
    return str(error).strip().split("\n")[0].rstrip(".")[:100] or type(error).__name__


def _text(header):
    return np.frombuffer(json.dumps(header).encode("ascii"), dtype=np.uint8)


def _write_array(archive, name, array):
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array(file, np.asanyarray(array), version=(1, 0), allow_pickle=False)


def _opened(path):
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise MotionError(f'There is no file "{path}".') from None
    except OSError as error:
        raise MotionError(f'"{path}" cannot be read: {error.strerror or error}.') from error


def _header(path, archive, kind, version):
    header = json.loads(_array(archive, HEADER).tobytes())
    found, made_by = header["kind"], header["version"]
    if not isinstance(found, str) or not isinstance(made_by, int) or made_by < 1:
        raise ValueError("no format version")
    if found != kind:
        raise MotionError(f'"{path}" is a .{found} file, not a .{kind} file.')
    if made_by > version:
        raise MotionError(f'"{path}" was made by a newer Motion Matching (format {made_by}; this one reads '
                          f"up to {version}): update the extension.")
    return header


def _array(archive, name):
    """One array, if the file is as large as the array's header says: otherwise no memory is given to it."""
    entry = archive.getinfo(f"{name}.npy")
    with archive.open(entry) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{name} has an unknown format")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        size = file.tell() + math.prod(shape) * dtype.itemsize
    if not size == entry.file_size <= _length(archive):
        raise ValueError(f"{name} is not what it claims to be")
    with archive.open(entry) as file:  # anew, not rewound: that would switch off the checksum
        return np.lib.format.read_array(file, allow_pickle=False)


def _length(archive):
    return os.fstat(archive.fp.fileno()).st_size
