# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast a path is gone at each of its points: what its marks ask for, what corners and the motion allow, and what
times leave."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import MotionError
from .path import Mark

# How soon one speeds up and slows down, m/s².
SPEEDS_UP, SLOWS_DOWN = 1.8, 1.8
# Who has more time for a stretch than this share of walking takes waits before it: slower steps are no walk.
SLOWEST = 0.55
# What is asked may be faster by this share than the motion's full speed: there are always steps that are.
SPARE = 1.1
# Who is to stand somewhere at a time is there so many seconds before: the last step takes longer than the way.
SETTLES = 0.1
HALVINGS = 40
# Motion that has nothing that goes sideways or backward goes so at this share of its speed, as well as it can.
ASIDE = 0.4


@dataclass(frozen=True)
class Stretch:
    """What holds from a place of the path on, in metres: the speed (m/s, or None for that of the gait), the gait's name
    (or None), the direction to face (x + yi; 0 is along the path), the query and the place to face instead of a
    direction (or None); row: of the mark that says so."""

    at: float
    speed: float | None = None
    gait: str | None = None
    face: complex = 0j
    query: str = ""
    row: str = ""
    look: complex | None = None


class Timed(NamedTuple):
    """From one point with a time to the next one, which is to be reached after so many seconds of going."""

    start: int
    end: int
    seconds: float
    mark: Mark


class Pace:
    """Of each of the N points of a path

    wanted   (N,) m/s that are asked for; between marks with times those that were worked out
    speed    (N,) m/s at which it is gone: slowed for corners and stops, and eased
    seconds  (N,) when it is reached, without standing
    waits    {point: seconds to stand there}
    points   [(point, Mark)] where the marks are
    names    [(gait, query)] and codes (N,) which of them holds at each point
    faces    (N,) the direction to face, 0 along the path
    trouble  sentences: what was asked and cannot be done
    """

    def __init__(self, path, speeds, corners, query="", loop=False):
        self._path, self._speeds, self._loop, self.trouble = path, speeds, loop, []
        self._bends = corners.fastest(path.bends)
        self.points = [(int(np.abs(path.lengths - mark.at).argmin()), mark) for mark in path.marks]
        self.waits = {point: mark.wait for point, mark in self.points if mark.wait}
        self._ask(query)
        self._heed_times()

    def _ask(self, query):
        """What is asked for at each point, and how fast and how slow the motion is in that gait."""
        lengths, stretches = self._path.lengths, _stretches(self._path.marks, query)
        starts = np.searchsorted(lengths, [stretch.at - 1e-9 for stretch in stretches])
        self.wanted, self._most, self.codes = np.empty(len(lengths)), np.empty(len(lengths)), np.zeros(
            len(lengths), dtype=np.int32)
        self.faces, self.names = np.zeros(len(lengths), dtype=np.complex128), []
        for code, (stretch, start, end) in enumerate(zip(stretches, starts, [*starts[1:], len(lengths)])):
            part, gait = slice(start, end), self._gait(stretch)
            faces = stretch.face if stretch.look is None else stretch.look - self._path.places[part]
            self.codes[part], self.faces[part] = code, faces
            self.names.append((gait.name, stretch.query))
            across = np.where(faces == 0, 1.0, np.cos(self._path.yaws[part] - np.angle(self.faces[part] / 1j)))
            self._most[part] = SPARE * _full_speed(self._fastest(gait), across)
            self.wanted[part] = stretch.speed or _full_speed(gait.ways, across)
            over = self.wanted[part] / self._most[part]
            if len(over) and over.max() > 1:
                worst = int(over.argmax())
                self._say(self.wanted[part][worst], self._most[part][worst], f"from {stretch.at:.1f} m on")
        self.wanted = np.minimum(self.wanted, self._most)

    def _gait(self, stretch):
        """The Gait of a stretch; where none is named, to walk or to run as its speed says."""
        speeds = self._speeds
        known = [gait.name for gait in speeds.gaits]
        if stretch.gait and stretch.gait not in known:
            raise MotionError(f'{self._path.name} names the gait "{stretch.gait}" in {stretch.row}, which the motion '
                              f"does not have: it has {', '.join(known)}.")
        runs = stretch.speed is not None and stretch.speed > (speeds.walk[0] + speeds.run[0]) / 2
        gait = speeds.gait(stretch.gait or ("run" if runs else "walk"))
        if not max(gait.ways):
            raise MotionError(f"{self._path.name} cannot be gone: the motion has nothing that goes at a {gait.name}. "
                              "Bake clips of it.")
        return gait

    def _fastest(self, gait):
        """The speeds that a gait can have: those that are not apart go over into each other."""
        others = [gait] if gait.apart else [each for each in self._speeds.gaits if not each.apart]
        return tuple(map(max, zip(*(each.ways for each in others))))

    def _heed_times(self):
        """Work out the speeds between marks with times, and where somebody is to wait for them."""
        parts, asked = self._timed(), self.wanted
        slowest = np.minimum(asked, SLOWEST * self._speeds.walk[0])
        low, high = np.full(len(parts), 1e-3), np.full(len(parts), 1e3)
        for _ in range(HALVINGS if parts else 1):
            factors = np.sqrt(low * high)
            self.wanted = asked.copy()
            for part, factor in zip(parts, factors):
                points = slice(part.start, part.end + 1)
                self.wanted[points] = np.clip(factor * asked[points], slowest[points], self._most[points])
            self._go()
            late = np.array([self._takes(part) > part.seconds for part in parts], dtype=bool)
            low, high = np.where(late, factors, low), np.where(late, high, factors)
        for part in parts:
            spare, fastest = part.seconds - self._takes(part), self.wanted[part.start:part.end + 1].max()
            if spare > 0.02:  # more time than slow steps take
                self.waits[part.start] = self.waits.get(part.start, 0.0) + spare
            elif spare < -0.02 - 1e-3 * part.seconds:
                self._say(fastest * self._takes(part) / part.seconds, self._most[part.start:part.end + 1].max(),
                          f"to be at {part.mark.row} in time")

    def _timed(self):
        """The parts of the path that are to take so many seconds. Its beginning is at the time 0."""
        parts, start, left = [], 0, 0.0
        for point, mark in self.points:
            if mark.time is None:
                continue
            stood = sum(each.wait or 0.0 for at, each in self.points if start < at < point)
            if not parts and not left:
                stood += self.waits.get(0, 0.0)
            stops = SETTLES if point in self.waits or (point == len(self.codes) - 1 and not self._loop) else 0.0
            seconds = mark.time - left - stood - stops
            if point == 0:
                self.waits[0] = self.waits.get(0, 0.0) + mark.time
            elif seconds <= 0:
                raise MotionError(f"{self._path.name} leaves no time to be at {mark.row} at {mark.time:g} s: it stands "
                                  f"{stood:g} s before. Let it wait less, or be there later.")
            else:
                parts.append(Timed(start, point, seconds, mark))
                if stops:
                    self.waits[point] = self.waits.get(point, 0.0) + stops
            start, left = point, mark.time + (mark.wait or 0.0)
        return parts

    def _takes(self, part):
        return float(self.seconds[part.end] - self.seconds[part.start])

    def _go(self):
        """Speeds and times of who is nowhere faster than wanted and than corners allow, and stands where it is to."""
        step, speeds = self._path.step, np.minimum(self.wanted, self._bends)
        speeds[list(self.waits)] = 0
        speeds[0] = speeds[-1] = min(speeds[0], speeds[-1]) if self._loop else 0
        for _ in range(2 if self._loop else 1):
            speeds = _eased(speeds, SPEEDS_UP * step)
            speeds = _eased(speeds[::-1], SLOWS_DOWN * step)[::-1]
            if self._loop:
                speeds[0] = speeds[-1] = min(speeds[0], speeds[-1])
        self.speed = speeds
        self.seconds = np.concatenate([[0.0], np.cumsum(2 * step / np.maximum(speeds[1:] + speeds[:-1], 1e-3))])

    def _say(self, needs, most, where):
        self.trouble.append(f"{self._path.name} needs {needs:.1f} m/s {where}, the motion has {most / SPARE:.1f}: it "
                            "goes as fast as it can.")


def _stretches(marks, query):
    """What holds from each mark on, and before the first one."""
    found = [Stretch(0.0, query=query)]
    for mark in marks:
        now = found[-1]
        # A gait brings its own speed.
        speed = mark.speed if mark.speed is not None else None if mark.gait else now.speed
        # Who is to face a direction looks at no place any more, and the other way round.
        face, look = (now.face, now.look) if mark.face is None and mark.look is None else (mark.face or 0j, mark.look)
        query = now.query if mark.query is None else mark.query
        found.append(Stretch(mark.at, speed, mark.gait or now.gait, face, query, mark.row, look))
    return found


def _full_speed(ways, across):
    """m/s of who goes so fast forward, sideways and backward (3) and faces another way than it goes; across: the
    cosine of the angle between them. As with a stick these speeds are the axes of an ellipse."""
    forward, sideways, backward = (way or ASIDE * max(ways) for way in ways)
    aside = np.sqrt(np.maximum(0.0, 1 - np.square(across)))
    return 1 / np.hypot(across / np.where(np.greater(across, 0), forward, backward), aside / sideways)


def _eased(speeds, step):
    """Speeds whose squares grow by no more than twice this from one point to the next."""
    found, last = speeds.tolist(), math.inf
    for at, speed in enumerate(found):
        if speed > last and speed * speed > last * last + 2 * step:
            found[at] = speed = math.sqrt(last * last + 2 * step)
        last = speed
    return np.array(found)
