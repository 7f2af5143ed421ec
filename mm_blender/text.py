# SPDX-License-Identifier: GPL-3.0-or-later
"""Text files that people write: JSON and tables."""

import json
from pathlib import Path

from .errors import MotionError
from .files import check_regular
from .limits import LIST


def read_text(path, most=LIST):
    """What is written in a file of at most so many bytes."""
    check_regular(path, most)
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise MotionError(f'"{path}" is not a text in UTF-8: save it as one.') from None
    except OSError as error:
        raise MotionError(f'"{path}" cannot be read: {error.strerror or error}.') from error


def read_json(path):
    """What a JSON file holds; numbers that nothing can count with become infinite."""
    try:
        return json.loads(read_text(path), parse_int=_whole)
    except json.JSONDecodeError as error:
        raise MotionError(f'"{path}" is not JSON: line {error.lineno}, column {error.colno} makes no sense.') from None
    except RecursionError:
        raise MotionError(f'"{path}" has too many brackets inside one another.') from None


def _whole(digits):
    # Python's whole numbers have any size, and with that most of what one does with numbers fails.
    return int(digits) if len(digits) < 16 else float(digits)
