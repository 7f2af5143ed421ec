# SPDX-License-Identifier: GPL-3.0-or-later
"""What a command writes: checked before the work begins, and the file with the figures."""

import os
from pathlib import Path

from .. import records
from ..errors import MotionError
from ..files import replacing
from ..matching import database

INPUTS = ("onto", "target", "input", "path", "database", "networks", "schema", "tags")  # options that name what is read


def check_output(path, suffix, options, clips=()):
    """Fails now what would otherwise fail after the work, or take the place of what is read."""
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise MotionError(f'The output "{path}" is a device or a pipe, not a file: choose a file name.')
    if path.suffix.lower() != suffix:
        raise MotionError(f'The output "{path}" is a {suffix} file: let its name end like that.')
    if not path.parent.is_dir():
        raise MotionError(f'The folder of "{path}" does not exist: create it first.')
    if not os.access(path.parent, os.W_OK):
        raise MotionError(f'The folder of "{path}" is read-only: choose another one.')
    if path.is_dir():
        raise MotionError(f'The output "{path}" is a folder: choose a file name.')
    inputs = [*clips, *(name for key in INPUTS if (name := getattr(options, key, None)))]
    if path.exists() and any(Path(name).exists() and path.samefile(name) for name in inputs):
        raise MotionError(f'"{path}" is read and would be written over: choose another output.')


def check_owner(path, owner, ours=None):
    """Fails if a file belongs to a character in Blender, other than ours: only that replaces it."""
    if owner is not None and (ours is None or owner.id != ours.id):
        raise MotionError(f'"{path}" belongs to {owner}: choose another output, or delete that file first.')


def owner_of(path):
    """The Owner of a database; None if it has none, or if there is no file that can be read."""
    try:
        return database.read_about(path)[1]
    except MotionError:
        return None


def check_report(options):
    if options.report:
        check_output(options.report, ".json", options)


def write_report(path, figures):
    with replacing(path) as temporary:
        # What a file's name has beside text becomes an escape of JSON.
        Path(temporary).write_text(records.to_text(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8",
                                   errors="backslashreplace")
