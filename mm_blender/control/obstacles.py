# SPDX-License-Identifier: GPL-3.0-or-later
"""Walls on the ground plane: a character stops at them and slides along them, as it moves and as it looks ahead.

A point of the ground plane is a complex number here: a product turns it into a wall's own frame.
Which walls are near is asked of all walls at once; the few that are near are gone through one by one, because
for a handful of numbers plain Python is several times faster than arrays.
"""

import math
from itertools import pairwise

import numpy as np

# Walls that one step may touch before the rest of it is given up: a round room has many.
TOUCHES = 16
# Metres that are left between a circle and the wall it slides along, so that rounding never makes it a new touch.
GAP = 1e-6
# So many walls are gone through without asking first which of them are within reach.
FEW_WALLS = 30
# The share of the way out of a wall's radius that one step pushes.
PUSH = 0.1
# Metres: which walls a step of at most this length may touch is known for all places of a square of this size.
SHORT, SQUARE = 0.5, 1.0


class Obstacles:
    """Walls as segments (S, 2, 2) in metres, and the radius of the circle that keeps away from them."""

    def __init__(self, segments, radius):
        self.segments = np.array(segments, dtype=np.float64).reshape(-1, 2, 2)
        self.radius = radius
        starts, ends = _numbers(self.segments).T
        lengths = np.abs(ends - starts)
        directions = np.where(lengths > 0, ends - starts, 1) / np.where(lengths > 0, lengths, 1)
        turns = directions.conj()  # what turns the world so that a wall lies along the x axis
        self._starts, self._turns, self._lengths = starts, turns, lengths
        self._walls = list(zip(starts.tolist(), turns.tolist(), lengths.tolist()))
        # What may hold the centre of a circle that touches the wall: left, bottom and right, top, (2, S) each.
        self._low = self.segments.min(axis=1).T - radius
        self._high = self.segments.max(axis=1).T + radius
        self._squares = {}  # place of a square's corner → the walls around it, as they are asked for

    def __len__(self):
        return len(self._walls)

    def moved(self, place, goal):
        """Where a circle at a place ends up that wants to be at a goal."""
        step = goal - place
        near = self._near(place, abs(step)) if abs(step) > SHORT else self._around(place)
        return self._slid(place, step, near) if len(near) else goal

    def path(self, goals, place):
        """A way ahead from a place, step by step, each as far as walls let it."""
        steps, found = [after - before for before, after in pairwise([place, *goals])], []
        near = self._near(place, sum(map(abs, steps)))
        if not len(near):
            return goals
        for step in steps:
            place = self._slid(place, step, near)
            found.append(place)
        return found

    def _near(self, place, reach):
        """The walls that a circle could touch if it went no further than its reach."""
        # Sliding turns a step, so it counts to all sides; being pushed out of a wall is a way to go as well.
        reach += PUSH * self.radius
        x, y = place.real, place.imag
        return np.flatnonzero((self._low[0] <= x + reach) & (self._low[1] <= y + reach)
                              & (self._high[0] >= x - reach) & (self._high[1] >= y - reach))

    def _around(self, place):
        """The walls that a circle could touch in a short step."""
        square = place.real // SQUARE, place.imag // SQUARE
        if square not in self._squares:
            middle = complex(*square) * SQUARE + SQUARE / 2 * (1 + 1j)
            self._squares[square] = self._near(middle, SQUARE / 2 + SHORT)
        return self._squares[square]

    def _within(self, place, reach, which):
        """Of some walls those that a circle touches if it goes no further than its reach."""
        at = (place - self._starts[which]) * self._turns[which]
        distances = np.abs(at - np.clip(at.real, 0, self._lengths[which]))
        return which[distances <= self.radius * (1 + PUSH) + reach]

    def _slid(self, place, step, which):
        """Where a circle ends up that wants to go by a step, among some walls, given by their numbers."""
        if len(which) > FEW_WALLS:
            which = self._within(place, abs(step), which)
            if len(which) > FEW_WALLS and abs(step) > 2 * self.radius:
                return self._slid(self._slid(place, step / 2, which), step / 2, which)
        walls = [self._walls[index] for index in which.tolist()]
        step += PUSH * _way_out(place, walls, self.radius)
        way, normal = step, 0j
        for _ in range(TOUCHES):
            time, wall = _first_touch(place, way, walls, self.radius)
            came = time * way
            place += came
            if wall is None:
                break
            before, normal = normal, _from_wall(place, wall)[0]
            place += GAP * normal
            # What is left of the step, less what goes into the wall, is the way along it.
            step *= 1 - time
            way = step - min(_dot(step, normal), 0.0) * normal
            # Along this wall and into the one before, having come no further: that is a corner.
            if abs(way) < GAP or (abs(came) < 100 * GAP and _dot(way, before) < 0):
                break
        return place


def _first_touch(place, step, walls, radius):
    """The part of the step that a circle can go, and the wall that it touches then; 1 and None when it is free."""
    first, touched = 1.0, None
    length = abs(step)
    for wall in walls:
        start, turn, extent = wall
        at, way = (place - start) * turn, step * turn
        gap = _gap(at, extent)
        # To a wall, being convex, comes nearer later only what comes nearer now.
        if way.real * gap.real + way.imag * gap.imag >= 0 or (distance := abs(gap)) - radius >= first * length:
            continue
        time = 0.0 if distance <= radius else _touch(at, way, extent, radius)
        if time < first:
            first, touched = time, wall
    return first, touched


def _touch(at, way, extent, radius):
    """When a circle at a place outside touches a wall that lies from 0 to its extent on the x axis; inf for never."""
    time = 0.0
    if (side := abs(at.imag) - radius) > 0:
        inwards = -math.copysign(way.imag, way.imag * at.imag)
        if inwards <= 0:
            return math.inf
        time = side / inwards
    meets = at.real + time * way.real
    if 0 <= meets <= extent:
        return time
    rim = at - (extent if meets > extent else 0.0)
    squared, half = _dot(way, way), _dot(way, rim)
    under = half * half - squared * (_dot(rim, rim) - radius * radius)
    return max(0.0, (-half - math.sqrt(under)) / squared) if under > 0 and half < 0 else math.inf


def _from_wall(place, wall):
    """The direction away from a wall, and the distance."""
    start, turn, extent = wall
    gap = _gap((place - start) * turn, extent)
    distance = abs(gap)
    return (gap / distance if distance > 1e-12 else 1j) * turn.conjugate(), distance


def _gap(at, extent):
    """From the nearest point of a wall that lies from 0 to its extent on the x axis to a place."""
    if at.real < 0:
        return at
    return at - extent if at.real > extent else complex(0.0, at.imag)


def _way_out(place, walls, radius):
    """Out of the radius of walls; where several are too near, between them, the nearest having the most say."""
    way, total = 0j, 0.0
    for wall in walls:
        normal, distance = _from_wall(place, wall)
        if (depth := radius - distance) > 0:
            way, total = way + depth * depth * normal, total + depth
    return way / total if total else way


def _dot(a, b):
    return a.real * b.real + a.imag * b.imag


def _numbers(points):
    return np.ascontiguousarray(points, dtype=np.float64).view(np.complex128)[..., 0]
