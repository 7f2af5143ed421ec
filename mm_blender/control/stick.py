# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hand does: two sticks and a few buttons, at one moment or recorded over time (STICK.csv)."""

import csv
import io
import math
from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from ..errors import MotionError
from ..files import replacing
from ..limits import TABLE
from ..text import read_text
from .stick_guide import RecordingGuide


@dataclass(frozen=True)
class Stick:
    """One moment: move is the stick in the ground plane (x right, y forward, length ≤ 1), face counts when strafing;
    gait is the name of one, which counts instead of run and crouch, or empty."""

    move_x: float = 0.0
    move_y: float = 0.0
    face_x: float = 0.0
    face_y: float = 0.0
    run: float = 0.0
    strafe: float = 0.0
    crouch: float = 0.0
    gait: str = ""

    @property
    def move(self):
        return np.array([self.move_x, self.move_y])

    @property
    def face(self):
        return np.array([self.face_x, self.face_y])

    @property
    def asked(self):
        """The name of the gait that it asks for."""
        return self.gait or ("crouch" if self.crouch > 0.5 else "run" if self.run > 0.5 else "walk")

    @property
    def numbers(self):
        """All numbers that it is made of, in the order of NAMES."""
        return tuple(vars(self).values())[:-1]


NAMES = tuple(field.name for field in fields(Stick))[:-1]  # of the numbers
NEEDED = NAMES[:-1]  # crouch came later: a recording without it is complete
GAIT = "gait"  # came later still; where there is such a column, run need not be there
LONGEST = 6 * 3600.0  # seconds that anybody drives: what says more has other units
LONGEST_NAME = 200  # letters of a gait
MOST = 1000.0  # a full stick is one, and a device may be set up badly


class Recording:
    """Sticks over time: a device that plays itself back, holding each value until the next one.

    path  of the file that it is from, or empty
    """

    def __init__(self, times, values, gaits=None):
        """values (N, 7) the numbers of each Stick; gaits: N names, or None where none is named"""
        self.times, self.values = np.asarray(times, dtype=np.float64), np.asarray(values, dtype=np.float64)
        self.gaits, self.path = [""] * len(self.times) if gaits is None else list(gaits), ""
        self._last = -1, Stick()  # what at() has found: mostly it is asked for the same again

    @classmethod
    def of(cls, times, sticks):
        """What was driven, Stick by Stick: only where something changed, and the last moment."""
        return cls.changes(times, [stick.numbers for stick in sticks], [stick.gait for stick in sticks])

    @classmethod
    def changes(cls, times, values, gaits):
        """The same of the numbers (N, 7) and the N names of gaits that make the Sticks."""
        values, gaits = np.asarray(values, dtype=np.float64).reshape(-1, len(NAMES)), np.asarray(gaits, dtype=object)
        kept = np.ones(len(values), dtype=bool)
        kept[1:-1] = (values[1:-1] != values[:-2]).any(axis=-1) | (gaits[1:-1] != gaits[:-2])
        return cls(np.asarray(times, dtype=np.float64)[kept], values[kept], gaits[kept])

    @property
    def duration(self):
        return float(self.times[-1]) if len(self.times) else 0.0

    @property
    def asked(self):
        """The names of the gaits that it asks for."""
        return {stick.asked for stick in map(Stick, *self.values.T.tolist(), self.gaits)}

    def at(self, time):
        """The Stick at a time in seconds; at rest before the first and as it was left after the last."""
        index = bisect_right(self._moments, time + 1e-9) - 1
        if index != self._last[0]:
            self._last = index, Stick(*self.values[index].tolist(), self.gaits[index])
        return self._last[1]

    def check(self, speeds):
        """Fails if it names a gait that the motion with these Speeds does not have."""
        known = [gait.name for gait in speeds.gaits]
        if unknown := next((name for name in self.gaits if name and name not in known), None):
            which = f'The recording "{self.path}"' if self.path else "The recording"
            raise MotionError(f'{which} names the gait "{unknown}", which the motion does not have: it has '
                              f'{", ".join(known)}.')

    def guide(self, rate, speeds, **settings):
        """The Guide that it is for a character; as a StickGuide takes these."""
        return RecordingGuide(self, rate, speeds, **settings)

    @cached_property
    def _moments(self):
        return self.times.tolist()

    def save(self, path):
        with replacing(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            named = [[gait] for gait in self.gaits] if any(self.gaits) else [[]] * len(self.gaits)
            writer.writerow(("time", *NAMES, *[GAIT] * any(self.gaits)))
            writer.writerows([*(f"{number:.9g}" for number in row), *gait]
                             for row, gait in zip(np.column_stack([self.times, self.values]).tolist(), named))


def load(path):
    """A Recording from a file with the header time,move_x,move_y,face_x,face_y,run,strafe, and perhaps crouch, gait."""
    reader = csv.reader(io.StringIO(read_text(path, TABLE), newline=""))
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if "".join(row).strip()]
    except csv.Error as error:
        raise MotionError(f'The recording "{path}" cannot be read from row {reader.line_num + 1} on: it is no table '
                          "there.") from error
    header, body = (rows[0][1], rows[1:]) if rows else ([], [])
    missing = [name for name in ("time", *NEEDED) if name not in header and not (name == "run" and GAIT in header)]
    if missing or not body:
        what = f"no column {missing[0]}" if missing else "no rows"
        raise MotionError(f'The recording "{path}" has {what}: its first line should be time,{",".join(NEEDED)}.')
    table, gaits, last = [], [], -math.inf
    for line, row in body:
        try:
            table.append(_numbers(header, row, last))
            gaits.append(_gait(dict(zip(header, row)).get(GAIT, "")))
        except ValueError as error:
            raise MotionError(f'The recording "{path}" is damaged in row {line}: {error}.') from error
        last = table[-1][0]
    if max(last, -table[0][0]) > LONGEST:
        far = max(last, table[0][0], key=abs) / 3600
        raise MotionError(f'The recording "{path}" has a time of {far:.4g} hours: its times should be seconds, at most '
                          f"{LONGEST:,.0f} of them.")
    if over := next((line for (line, _), (_, *values) in zip(body, table) if max(map(abs, values)) > MOST), None):
        raise MotionError(f'The recording "{path}" is damaged in row {over}: a stick never gives more than {MOST:g}.')
    recording = Recording([time for time, *_ in table], [values for _, *values in table], gaits)
    recording.path = path
    return recording


def _numbers(header, row, last):
    """The time of a row, which comes after another one, and its values: zero where the file has no such column."""
    cells = dict(zip(header, row))
    if len(row) < len(header):
        raise ValueError(f"it has {len(row)} of {len(header)} values")
    time, *values = (_number(name, cells.get(name, "0")) for name in ("time", *NAMES))
    if time < last:
        raise ValueError(f"its time {time:g} goes back behind {last:g}")
    return time, *values


def _gait(text):
    if len(text) > LONGEST_NAME:
        raise ValueError(f"its gait has {len(text):,} letters: use at most {LONGEST_NAME}")
    return text.casefold()


def _number(name, text):
    with suppress(ValueError):
        if math.isfinite(value := float(text)):
            return value
    raise ValueError(f'its {name} "{text}" is not a number')
