# SPDX-License-Identifier: GPL-3.0-or-later
"""When who follows a path is where, and what it faces: a place and a yaw for every moment."""

import numpy as np

from .corners import Corners
from .intent import Intent
from .pace import Pace
from .path import hann

RATE = 60.0  # moments per second
# Seconds over which speeds ease in and out, and over which a facing turns.
EASE, TURN = 0.3, 0.5


class Schedule:
    """Where to be on a path, at every moment.

    duration  seconds until its end is reached; of a loop those of a round
    marks     [(Mark, seconds)] when each one is reached
    pace      the Pace: how fast it goes at each point of the path
    loop      whether it goes on at the end as at the beginning
    trouble   sentences: what was asked and cannot be done
    """

    def __init__(self, path, speeds, corners=None, query="", loop=False):
        """speeds: the Speeds of the motion; corners: its Corners; query: for tags, where no mark has one"""
        self.path, self.loop = path, loop
        self._corners = corners or Corners()
        self.pace = pace = Pace(path, speeds, self._corners, query, loop)
        self.trouble = pace.trouble
        stood = np.zeros(len(pace.seconds))
        for point, wait in pace.waits.items():
            stood[point + 1:] += wait
        self.duration = float(pace.seconds[-1] + stood[-1] + pace.waits.get(len(stood) - 1, 0.0))
        # Where somebody waits the path stays at one point for a while.
        order = np.sort(np.concatenate([np.arange(len(stood)), list(pace.waits)]).astype(np.int64))
        reached = (pace.seconds + stood)[order]
        reached[np.searchsorted(order, list(pace.waits)) + 1] += list(pace.waits.values())
        # A mark is reached before its own wait; one at the beginning that has a time is only left then.
        self.marks = [(mark, float(pace.seconds[point] + stood[point]) if point or mark.time is None else mark.time)
                      for point, mark in pace.points]
        self._tabulate(reached, path.lengths[order])

    def at(self, times):
        """Places (T,) x + yi and yaws (T,) at times (T,) after the beginning; before it and after the end as there."""
        rows, rounds = self._rows_of(times)
        return (np.interp(rows, self._rows, self._places),
                np.interp(rows, self._rows, self._yaws) + rounds * (self._yaws[-1] - self._yaws[0]))

    def along(self, times):
        """(T,) metres along the path at times (T,)."""
        rows, rounds = self._rows_of(times)
        return np.interp(rows, self._rows, self._ways) + rounds * self.path.length

    def intent(self, time):
        """The Intent at a time: how the place goes on, and what holds there."""
        (before, after), (yaw, _) = self.at((time, time + 1 / RATE))
        return Intent(complex(after - before) * RATE, float(yaw), *self.name(time))

    def name(self, time):
        """The gait and the query that hold at a time."""
        row = int(self._rows_of((time,))[0][0])
        return self.pace.names[self._codes[min(max(row, 0), len(self._codes) - 1)]]

    def _rows_of(self, times):
        """Where in the tables times (T,) are, and in which round."""
        times = np.asarray(times, dtype=np.float64)
        if not self.loop:
            return times * RATE, np.zeros(times.shape)
        rounds = np.floor(times / self.duration)
        return (times - rounds * self.duration) * self._per_second, rounds

    def _tabulate(self, reached, lengths):
        """The tables of a loop have whole moments in a round."""
        count = max(2, round(self.duration * RATE))
        self._per_second = count / self.duration if self.loop else RATE
        # Else they go on until nothing eases any more.
        self._rows = np.arange(count + (1 if self.loop else 2 + round(RATE * (EASE + TURN))), dtype=np.float64)
        along = np.interp(self._rows / self._per_second, reached, lengths)
        points = np.minimum((along / self.path.step).astype(np.int64), len(self.pace.codes) - 1)
        self._codes = self.pace.codes[points]
        self._ways = _smoothed(along, round(EASE * RATE / 2), self.path.length if self.loop else None)
        yaws = self._facing(along, self.pace.faces[points])
        self._yaws = _smoothed(yaws, round(TURN * RATE / 2), yaws[-1] - yaws[0] if self.loop else None)
        ways = np.mod(self._ways, self.path.length) if self.loop else self._ways
        self._places = self.path.place(ways)
        if self.loop:
            self._places[-1] = self._places[0]

    def _facing(self, along, faces):
        """(T,) the yaw that is wanted at each moment; it turns no faster than the motion does."""
        yaws = np.interp(along, self.path.lengths, self.path.yaws)
        if not faces.any():
            return yaws
        faced = np.unwrap(np.where(faces != 0, np.angle(np.where(faces != 0, faces, 1j) / 1j), yaws)).tolist()
        most = self._corners.turning / RATE
        for at in range(1, len(faced)):
            turn = faced[at] - faced[at - 1]
            faced[at] = faced[at - 1] + min(max(turn, -most), most)
        return np.array(faced)


def _smoothed(values, half, more=None):
    """Values over time without kinks; more: by how much those of a loop are more after each round."""
    half = min(half, max(1, (len(values) - 1) // 2))
    if more is None:
        padded = np.concatenate([values[:1].repeat(half), values, values[-1:].repeat(half)])
    else:
        padded = np.concatenate([values[-half - 1:-1] - more, values, values[1:half + 1] + more])
    return np.convolve(padded, hann(half), mode="valid")
