# SPDX-License-Identifier: GPL-3.0-or-later
"""The BVH files that a command is given."""

import statistics
import warnings
from pathlib import Path

from ..errors import MotionError, MotionWarning
from ..files import check_regular
from ..limits import BVH
from ..motion import bvh

SAMPLES = 5  # clips from which the unit is guessed: one alone may show someone who crawls


def bvh_files(paths):
    files = []
    for path in map(Path, paths):
        if path.is_dir():
            found = sorted(child for child in path.iterdir() if child.suffix.lower() == ".bvh")
            if not found:
                raise MotionError(f'The folder "{path}" has no .bvh files.')
            files += found
        else:
            check_regular(path, BVH)
            files.append(path)
    names = [path.stem for path in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise MotionError(f'Two of the files are named "{twice}": give each clip a name of its own.')
    return files


def units_of(clips):
    """Metres per unit, by the height of whom some clips show."""
    return bvh.guess_units(statistics.median(map(bvh.height, clips)))


def contents_of(path):
    """The bytes of a file; none if it cannot be read, as whoever reads it as motion says in a sentence."""
    try:
        check_regular(path, BVH)
        return path.read_bytes()
    except (MotionError, OSError):
        return b""


def some_readable(files, count):
    """Up to `count` clips spread over the files, in their own units; the character is taken from the first one."""
    clips, trouble = [], None
    step = max(1, len(files) // count)
    for path in [*files[::step], *files]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MotionWarning)
                clips.append(bvh.read(path))
        except MotionError as error:
            trouble = trouble or error
        if len(clips) == min(count, len(files)):
            break
    if not clips:
        raise trouble
    return clips


def spread(paths):
    return paths[::max(1, len(paths) // SAMPLES)][:SAMPLES]
