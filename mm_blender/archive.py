# SPDX-License-Identifier: GPL-3.0-or-later
"""Our files on disk: a JSON header and NumPy arrays in one archive. Nothing in a file is ever executed."""

import json
import zipfile
import zlib

import numpy as np

from .errors import MotionError
from .files import replacing

HEADER = "header"


def write(path, kind, version, header, arrays):
    """Write an archive in one piece: the old file stays until the new one is complete."""
    text = json.dumps({"kind": kind, "version": version, **header}, ensure_ascii=False)
    blob = np.frombuffer(text.encode("utf-8"), dtype=np.uint8)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **{HEADER: blob}, **arrays)


def read(path, kind, version, names):
    """The header (a dict) and the named arrays of an archive, or a sentence that says what is wrong with the file."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            header = _header(path, archive, kind, version)
            return header, {name: archive[name] for name in names}
    except FileNotFoundError:
        raise MotionError(f'There is no file "{path}".') from None
    except (OSError, EOFError, ValueError, KeyError, AttributeError, TypeError, MemoryError,
            zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise MotionError(f'"{path}" is damaged or not a .{kind} file: make it anew ({_short(error)}).') from error


def _header(path, archive, kind, version):
    header = json.loads(archive[HEADER].tobytes().decode("utf-8"))
    if header.get("kind") != kind:
        raise MotionError(f'"{path}" is a .{header.get("kind")} file, not a .{kind} file.')
    if not isinstance(header.get("version"), int) or header["version"] < 1:
        raise ValueError("no format version")
    if header["version"] > version:
        raise MotionError(f'"{path}" was made by a newer Motion Matching (format {header["version"]}; this one reads '
                          f"up to {version}): update the extension.")
    return header


def _short(error):
    return str(error).strip().split("\n")[0][:100] or type(error).__name__
