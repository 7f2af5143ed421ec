# SPDX-License-Identifier: GPL-3.0-or-later
"""A path over the ground, by its length, and marks on it that say what changes there.

Places on the ground are x + yi in metres, yaws are radians.
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np

from ..errors import MotionError
from ..limits import FURTHEST

STEP = 0.02  # metres between the points of a path
LONGEST = 5_000.0  # metres: an hour of walking
SAME = 1e-4  # Metres. What is nearer is one place
# Metres over which the way of a path is taken: a corner turns along as much of it, and what trembles less is straight.
WAY = 0.4


@dataclass(frozen=True)
class Mark:
    """What changes at a place of a path, and stays so until another mark changes it. None changes nothing.

    at     metres along the path
    row    what a sentence about it calls it, such as "row 4"
    speed  m/s
    gait   its name; without a speed it brings its own
    face   x + yi, the direction to face; 0 is along the path
    query  for tags, as drives have it
    wait   seconds to stand here
    time   seconds after the beginning at which to be here
    exact  whether to be exactly here
    look   x + yi, a place to face instead of a direction

    Wait, time and exact are of this place alone.
    """

    at: float
    row: str = ""
    speed: float | None = None
    gait: str | None = None
    face: complex | None = None
    query: str | None = None
    wait: float | None = None
    time: float | None = None
    exact: bool = False
    look: complex | None = None

    @property
    def says(self):
        """Whether it changes anything at all."""
        return any(not (value is None or value is False) for value in list(vars(self).values())[2:])


class Path:
    """A path as dense points, evenly spaced along its length.

    places   (N,) x + yi
    lengths  (N,) metres from its beginning
    yaws     (N,) of the way that it goes, without jumps of whole turns
    bends    (N,) radians per metre, without a sign
    closed   whether its end is its beginning
    marks    in their order along the path
    name     as sentences call it
    """

    def __init__(self, points, marks=(), closed=False, name="The path"):
        """points: (P,) x + yi, joined by a smooth curve; marks: {index of a point: Mark}, whose `at` is worked out
        here, or Marks that know theirs. A path whose last point is its first one is closed."""
        points = np.asarray(points, dtype=np.complex128)
        self.name = name
        kept = self._checked(points)
        points = points[kept]
        if abs(points[-1] - points[0]) < SAME and len(points) > 2:
            closed = True
        elif closed:
            points = np.append(points, points[0])
        self.closed = closed
        dense, ends = curve(points, closed)
        lengths = _lengths(dense)
        if not lengths[-1] <= LONGEST:
            raise MotionError(f"{name} is {lengths[-1] / 1000:,.0f} km long, and a path has at most "
                              f"{LONGEST / 1000:.0f} km: its units should be metres.")
        self.lengths = np.linspace(0, lengths[-1], max(8, round(lengths[-1] / STEP)) + 1)
        self.places = np.interp(self.lengths, lengths, dense)
        self.yaws, self.bends = self._ways()
        if isinstance(marks, dict):
            at = lengths[ends][np.cumsum(kept) - 1]  # of each point that was given
            marks = [replace(mark, at=float(at[index])) for index, mark in sorted(marks.items())]
        self.marks = self._ordered([mark for mark in marks if mark.says])

    @property
    def length(self):
        return float(self.lengths[-1])

    @property
    def step(self):
        """Metres between points."""
        return self.length / (len(self.lengths) - 1)

    def place(self, lengths):
        """x + yi so many metres along it."""
        return np.interp(lengths, self.lengths, self.places)

    def distances(self, places, block=256):
        """How far places (K,) are from the path, wherever they are nearest to it; and where that is, in metres
        along it."""
        apart, at = np.empty(len(places)), np.empty(len(places), dtype=np.int64)
        for first in range(0, len(places), block):
            away = np.abs(places[first:first + block, None] - self.places)
            at[first:first + block] = away.argmin(axis=1)
            apart[first:first + block] = away.min(axis=1)
        return apart, self.lengths[at]

    def _checked(self, points):
        """Which points are not where the one before them is; fails if they are no path."""
        if not np.isfinite(points).all() or np.abs(points).max(initial=0) > FURTHEST:
            raise MotionError(f"{self.name} has a point that is no place: its x and y should be metres.")
        if len(points) < 2:
            raise MotionError(f"{self.name} has a single point: give it at least two." if len(points) else
                              f"{self.name} has no points: give it at least two.")
        kept, last = np.ones(len(points), dtype=bool), points[0]
        for index in range(1, len(points)):
            kept[index] = abs(points[index] - last) >= SAME
            last = points[index] if kept[index] else last
        if kept.sum() < 2:
            raise MotionError(f"{self.name} has no length: all its points are at one place. Move them apart.")
        return kept

    def _ways(self):
        """Yaws and bends of all points."""
        steps = np.diff(self.places)
        half = min(max(2, round(WAY / 2 / self.step)), max(1, len(steps) // 3))
        if self.closed:
            steps = np.concatenate([steps[-half - 1:], steps, steps[:half + 1]])
        else:
            steps = np.concatenate([steps[:1].repeat(half + 1), steps, steps[-1:].repeat(half + 1)])
        angles = np.unwrap(np.angle(steps / 1j))
        window = hann(half)
        yaws = np.convolve((angles[1:] + angles[:-1]) / 2, window, mode="valid")[:len(self.places)]
        return yaws, np.abs(np.gradient(yaws, self.step))

    def _ordered(self, marks):
        """Marks by place, of which no two are at one, and whose times go on."""
        marks = sorted(marks, key=lambda mark: mark.at)
        for one, other in itertools.pairwise(marks):
            if other.at - one.at < SAME:
                raise MotionError(f"{self.name} has two marks at one place, {one.row} and {other.row}: give one of "
                                  "them all that changes there, and nothing to the other.")
        timed = [mark for mark in marks if mark.time is not None]
        for one, other in itertools.pairwise(timed):
            if other.time <= one.time + (one.wait or 0):
                raise MotionError(f"{self.name} has times that run backwards: {one.row} is to be reached at "
                                  f"{one.time:g} s{_waited(one)}, and {other.row}, which comes after it, at "
                                  f"{other.time:g} s.")
        return tuple(marks)


def curve(points, closed):
    """Dense points of the smooth curve through points (P,), x + yi, and which of them are the given ones: a centripetal
    Catmull-Rom spline, which never loops between two points however far apart others are. Between dense points it is
    as good as straight."""
    if closed:  # its last point is its first one
        before, after = points[-2], points[1]
    else:
        before, after = 2 * points[0] - points[1], 2 * points[-1] - points[-2]
    p = np.concatenate([[before], points, [after]])
    counts = np.maximum(1, np.ceil(np.abs(np.diff(points)) / (STEP / 2))).astype(np.int64)
    counts = np.minimum(counts, int(4 * LONGEST / STEP / len(counts)) + 1)
    piece = np.repeat(np.arange(len(counts)), counts)
    ends = np.concatenate([[0], np.cumsum(counts)])
    share = (np.arange(ends[-1]) - ends[piece]) / counts[piece]
    # The knots are as far apart as the root of the points' distances: Barry and Goldman's pyramid.
    knots = np.concatenate([[0], np.cumsum(np.sqrt(np.abs(np.diff(p))))])
    t0, t1, t2, t3 = (knots[piece + k] for k in range(4))
    p0, p1, p2, p3 = (p[piece + k] for k in range(4))
    t = t1 + share * (t2 - t1)
    a1, a2, a3 = _between(p0, p1, t0, t1, t), _between(p1, p2, t1, t2, t), _between(p2, p3, t2, t3, t)
    dense = _between(_between(a1, a2, t0, t2, t), _between(a2, a3, t1, t3, t), t1, t2, t)
    return np.append(dense, points[-1]), ends


def hann(half):
    """A window of 2 half + 1 numbers that add up to one."""
    window = 1 + np.cos(np.pi * np.arange(-half, half + 1) / (half + 1))
    return window / window.sum()


def _between(a, b, start, end, t):
    return a + (b - a) * ((t - start) / (end - start))


def _lengths(points):
    return np.concatenate([[0.0], np.cumsum(np.abs(np.diff(points)))])


def _waited(mark):
    return f" and left {mark.wait:g} s later" if mark.wait else ""
