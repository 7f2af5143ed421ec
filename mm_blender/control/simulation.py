# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated root: a point that springs towards what the person wants, and where it will be.

A step is taken for one character at a time, in plain numbers: for few that is several times faster than arrays. A place
on the ground is then the complex number x + yi.
"""

import math
from collections import deque

import numpy as np

from ..motion import spring

# Half-lives in seconds: how soon the velocity and the facing reach what is wanted.
VELOCITY, FACING = 0.16, 0.22


class Simulation:
    """The simulated roots of K characters, and the paths that they took.

    roots      [(place, yaw)] where they are
    wishes     [(velocity, yaw)] that were wanted in the last step
    obstacles  Obstacles that they slide along, or None
    """

    def __init__(self, count, step, memory=1.0):
        self.step_time, self.obstacles = step, None
        self._kept = math.ceil(memory / step) + 2
        self.place(np.zeros((count, 2)), np.zeros(count))

    def place(self, positions, yaws, speeds=None):
        """Put the roots somewhere, as if they had always been there, at rest; or with speeds (K, 3), as if they had
        always gone on like this: x, y and turning (rad/s)."""
        places, yaws = to_numbers(np.asarray(positions, dtype=np.float64)), np.asarray(yaws, dtype=np.float64).tolist()
        speeds = [(0.0, 0.0, 0.0)] * len(yaws) if speeds is None else np.asarray(speeds, dtype=np.float64).tolist()
        # Of each one: place, velocity, acceleration, and yaw, turning.
        self._moves = [(place, complex(x, y), 0j) for place, (x, y, _) in zip(places, speeds)]
        self._turns = [(yaw, turning) for yaw, (_, _, turning) in zip(yaws, speeds)]
        self.roots = list(zip(places, yaws))
        self.wishes = [(0j, yaw) for yaw in yaws]
        ages = self.step_time * np.arange(self._kept)
        paths = ([(place - age * velocity, yaw - age * turning) for (place, velocity, _), (yaw, turning) in
                  zip(self._moves, self._turns)] for age in ages.tolist())
        self._path = deque(paths, maxlen=self._kept)  # newest first

    def follow(self, other, index, offset):
        """A single root: be where one of another Simulation's is, and as fast, but so far (2,) beside it."""
        beside = complex(*offset)
        place, *speeds = other._moves[index]
        self._moves, self._turns = [(place + beside, *speeds)], [other._turns[index]]
        paths = [[(roots[index][0] + beside, roots[index][1])] for roots in other._path]
        self._path, self.roots = deque(paths, maxlen=self._kept), paths[0]

    @property
    def positions(self):
        """(K, 2) of the roots."""
        return to_points([place for place, _ in self.roots])

    @property
    def yaws(self):
        """(K,) of the roots."""
        return np.array([yaw for _, yaw in self.roots])

    @property
    def velocities(self):
        """(K, 2) of the roots."""
        return to_points([velocity for _, velocity, _ in self._moves])

    def step(self, wishes, halflife=(VELOCITY, FACING)):
        """Go on by one step towards what each one wants: [(velocity, yaw)], not to be changed afterwards."""
        dt, self.wishes, (of_velocity, of_facing), moves, turns = self.step_time, wishes, halflife, [], []
        for (velocity, wanted), (place, speed, push), (yaw, spin) in zip(wishes, self._moves, self._turns):
            moves.append(spring.velocity_number(place, speed, push, velocity, of_velocity, dt))
            turns.append(spring.towards_number(yaw, spin, nearest_turn(wanted, yaw), of_facing, dt))
        self._moves, self._turns = moves, turns
        if self.obstacles is not None:
            self._slide()
        self.roots = [(place, yaw) for (place, _, _), (yaw, _) in zip(self._moves, self._turns)]
        self._path.appendleft(self.roots)

    def at(self, times, wishes, halflife=(VELOCITY, FACING)):
        """Positions (K, T, 2) and yaws (K, T) at times (T,) from now, in their order: ahead if the wishes stay, behind
        as it was."""
        times = np.asarray(times).tolist()
        paths = np.array([self.path(index, times, *wish, halflife) for index, wish in enumerate(wishes)])
        return to_points(paths[..., 0]).reshape(*paths.shape), paths[..., 1].real

    def path(self, index, times, velocity, yaw, halflife=(VELOCITY, FACING)):
        """at() for one of them, in plain numbers: [(place, yaw)]"""
        move, turn = self._moves[index], self._turns[index]
        yaw = nearest_turn(yaw, turn[0])
        found = [self._before(index, -time) if time < 0 else (
            spring.velocity_number(*move, velocity, halflife[0], time)[0],
            spring.towards_number(*turn, yaw, halflife[1], time)[0]) for time in times]
        if self.obstacles is not None:
            first = sum(time < 0 for time in times)
            ways = to_points([place for place, _ in found[first:]])[None]
            places = to_numbers(self.obstacles.path(ways, to_points([self.roots[index][0]]))[0])
            found[first:] = zip(places, [angle for _, angle in found[first:]])
        return found

    def _slide(self):
        """Take back what leads into walls, of the places and of what moves them."""
        goals = [move[0] for move in self._moves]
        places = to_numbers(self.obstacles.moved(self.positions, to_points(goals)))
        for index, (place, goal) in enumerate(zip(places, goals)):
            if abs(goal - place) > 1e-9:
                into = (goal - place) / abs(goal - place)
                self._moves[index] = place, *(_along_wall(each, into) for each in self._moves[index][1:])

    def _before(self, index, age):
        """Place and yaw of one of them so many seconds ago."""
        at = min(age / self.step_time, self._kept - 1.001)
        (place, yaw), (older, older_yaw) = self._path[int(at)][index], self._path[int(at) + 1][index]
        share = at - int(at)
        return place + share * (older - place), yaw + share * (older_yaw - yaw)


def wrapped(angles):
    """The same angles in ±π."""
    return (angles + np.pi) % (2 * np.pi) - np.pi


def nearest_turn(yaw, other):
    """The same yaw, less than half a turn from the other."""
    return other + math.remainder(yaw - other, math.tau)


def to_numbers(points):
    """Points (K, 2) as a list of x + yi."""
    return [complex(x, y) for x, y in points.tolist()]


def to_points(numbers):
    """Numbers x + yi as points (K, 2)."""
    return np.array(numbers, dtype=np.complex128).view(np.float64).reshape(-1, 2)


def _along_wall(vector, into):
    """A vector without what leads into a wall."""
    return vector - max((vector * into.conjugate()).real, 0.0) * into
