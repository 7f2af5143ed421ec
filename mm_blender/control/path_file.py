# SPDX-License-Identifier: GPL-3.0-or-later
"""PATH.csv: the points of a path, one in each row, and what changes from there on."""

import csv
import io
import math
from contextlib import suppress

from ..errors import MotionError
from ..limits import FURTHEST, QUERY, TABLE
from ..text import read_text
from .path import SAME, Mark, Path
from .stick import LONGEST, LONGEST_NAME

NEEDED, FURTHER = ("x", "y"), ("z", "speed", "gait", "wait", "face_x", "face_y", "time", "exact", "query")
FASTEST = 100.0  # m/s: what is faster has other units
YES, NO = ("1", "1.0", "true", "yes", "x"), ("0", "0.0", "false", "no")


def load(path, closed=False):
    """A Path from a file with the header x,y and any of z,speed,gait,wait,face_x,face_y,time,exact,query; closed: join
    its end to its beginning."""
    name = f'The path "{path}"'
    reader = csv.reader(io.StringIO(read_text(path, TABLE), newline=""))
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if "".join(row).strip()]
    except csv.Error as error:
        raise MotionError(f"{name} cannot be read from row {reader.line_num + 1} on: it is no table there.") from error
    header, body = (rows[0][1], rows[1:]) if rows else ([], [])
    _check_header(name, header, body)
    points, marks = [], {}
    for line, row in body:
        try:
            point, mark = _row(dict(zip(header, row)), f"row {line}")
        except ValueError as error:
            raise MotionError(f"{name} is damaged in row {line}: {error}.") from error
        points.append(point)
        if mark.says:
            marks[_place_of(len(points) - 1, points, marks, mark, name)] = mark
    return Path(points, marks, closed, name)


def _check_header(name, header, body):
    known = ",".join(FURTHER)
    if missing := [column for column in NEEDED if column not in header]:
        raise MotionError(f"{name} has no column {missing[0]}: its first line should be x,y and any of {known}.")
    if unknown := [column for column in header if column and column not in NEEDED + FURTHER]:
        raise MotionError(f'{name} has a column "{unknown[0]}", which means nothing here: use x,y and any of {known}.')
    if twice := [column for column in header if column and header.count(column) > 1]:
        raise MotionError(f"{name} has two columns {twice[0]}: leave one of them out.")
    if not body:
        raise MotionError(f"{name} has no points: give it at least two.")


def _place_of(index, points, marks, mark, name):
    """Of points at one place, which the curve goes through once, the first that has a mark; no other one may."""
    for earlier in range(index - 1, -1, -1):
        if abs(points[earlier] - points[index]) >= SAME:
            break
        if earlier in marks:
            raise MotionError(f"{name} has two marks at one place, {marks[earlier].row} and {mark.row}: give one of "
                              "them all that changes there, and nothing to the other.")
    return index


def _row(cells, row):
    """The point of a row and its Mark."""
    x, y = (_number(name, cells.get(name, ""), -FURTHEST, FURTHEST) for name in NEEDED)
    if x is None or y is None:
        raise ValueError("it has no x or no y")
    _number("z", cells.get("z", ""), -FURTHEST, FURTHEST)
    speed = _number("speed", cells.get("speed", ""), 0.0, FASTEST)
    if speed == 0:
        raise ValueError("its speed is 0: to stand there give it a wait, in seconds")
    face = [_number(name, cells.get(name, ""), -FURTHEST, FURTHEST) for name in ("face_x", "face_y")]
    if (face[0] is None) != (face[1] is None):
        raise ValueError("it has only one of face_x and face_y: give both, or none")
    gait, query = cells.get("gait", "").casefold(), cells.get("query", "")
    if len(gait) > LONGEST_NAME:
        raise ValueError(f"its gait has {len(gait):,} letters: use at most {LONGEST_NAME}")
    if len(query) > QUERY:
        raise ValueError(f"its query has {len(query):,} letters: use at most {QUERY:,}")
    return complex(x, y), Mark(
        0.0, row, speed, gait or None, None if face[0] is None else complex(*face), query or None,
        _number("wait", cells.get("wait", ""), 0.0, LONGEST) or None,
        _number("time", cells.get("time", ""), 0.0, LONGEST), _yes("exact", cells.get("exact", "")))


def _number(name, text, low, high):
    """The number in a cell, or None if it is empty."""
    if not text:
        return None
    value = math.nan
    with suppress(ValueError):
        value = float(text)
    if not math.isfinite(value):
        raise ValueError(f'its {name} "{text}" is not a number')
    if not low <= value <= high:
        raise ValueError(f"its {name} {text} is not between {low:,g} and {high:,g}")
    return value


def _yes(name, text):
    if text.casefold() in YES:
        return True
    if text and text.casefold() not in NO:
        raise ValueError(f'its {name} "{text}" is neither 1 nor 0')
    return False
