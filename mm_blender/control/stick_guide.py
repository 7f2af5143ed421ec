# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide that a stick moves: a point that springs towards what the person wants, and where it will be."""

import copy
import math
from collections import deque

from ..motion import spring
from ..motion.plane import nearest_turn
from .guide import Guide
from .intent import Intent, intent_of
from .speeds import Speeds

# Half-lives in seconds: how soon the velocity and the facing reach what is wanted.
VELOCITY, FACING = 0.16, 0.22


class StickGuide(Guide):
    """A point that a stick moves, in plain numbers: for one point that is several times faster than arrays.

    velocity   of the point, x + yi (m/s)
    speeds     Speeds at full stick
    query      tags that are allowed, beside those that the gait asks for
    halflives  of the velocity and of the facing
    obstacles  Obstacles that the point slides along, or None
    """

    def __init__(self, rate, speeds=None, query="", halflives=(VELOCITY, FACING), obstacles=None):
        """rate: frames per second of the database that is played"""
        self._dt, self.speeds, self.query = 1 / rate, speeds or Speeds(), query
        self.halflives, self.obstacles = halflives, obstacles
        self._trail = deque(maxlen=2)  # where it was, newest first; longer when somebody looks back
        self.place(0j, 0.0)

    def place(self, place, yaw, velocity=0j, turning=0.0):
        # Place, velocity and acceleration; yaw and turning.
        self._move, self._turn = (place, velocity, 0j), (yaw, turning)
        self.root, self._came = (place, yaw), (velocity, turning)
        self._trail = deque([self.root], maxlen=self._trail.maxlen)
        self.want(Intent(0j, yaw))

    @property
    def velocity(self):
        return self._move[1]

    def want(self, intent):
        """An Intent from now on."""
        self.intent, self._hand = intent, None

    def steer(self, stick, heading=0.0):
        """What a Stick says from now on; heading: yaw that its forward means."""
        hand = stick, heading, self.speeds, self.query
        if hand == self._hand:
            return
        facing = self.root[1]
        self.want(intent_of(stick, self.speeds, heading, facing, self.query))
        # While the facing is kept, the wanted yaw follows the root: so it is worked out anew in each frame.
        self._hand = hand if self.intent.yaw != facing else None

    def wanting(self, intent):
        """A guide that is where this one is, and wants something else."""
        other = copy.copy(self)
        other.want(intent)
        return other

    def follow(self, other, offset):
        """Be where another StickGuide is, and as fast, but so far (x + yi) beside it."""
        (place, *speeds), self._turn = other._move, other._turn
        self._move = place + offset, *speeds
        self._trail = deque([(place + offset, yaw) for place, yaw in other._trail], maxlen=other._trail.maxlen)
        self.root, self._came = self._trail[0], other._came

    def step(self, body=None):
        dt, (of_velocity, of_facing), intent = self._dt, self.halflives, self.intent
        yaw, turning = self._turn
        self._move = spring.velocity_number(*self._move, intent.velocity, of_velocity, dt)
        self._turn = spring.towards_number(yaw, turning, nearest_turn(intent.yaw, yaw), of_facing, dt)
        if self.obstacles is not None:
            self._slide()
        self.root = self._move[0], self._turn[0]
        self._trail.appendleft(self.root)

    def path(self, times):
        move, turn, velocity = self._move, self._turn, self.intent.velocity
        yaw, (of_velocity, of_facing) = nearest_turn(self.intent.yaw, turn[0]), self.halflives
        found = [self._before(-time) if time < 0 else (
            spring.velocity_number(*move, velocity, of_velocity, time)[0],
            spring.towards_number(*turn, yaw, of_facing, time)[0]) for time in times]
        if self.obstacles is not None:
            first = sum(time < 0 for time in times)
            places = self.obstacles.path([place for place, _ in found[first:]], self.root[0])
            found[first:] = zip(places, [angle for _, angle in found[first:]])
        return found

    def _slide(self):
        """Take back what leads into walls, of the place and of what moves it."""
        goal, *moving = self._move
        place = self.obstacles.moved(self.root[0], goal)
        if abs(goal - place) > 1e-9:
            into = (goal - place) / abs(goal - place)
            self._move = place, *(_along_wall(each, into) for each in moving)

    def _before(self, age):
        """Place and yaw so many seconds ago."""
        at = age / self._dt
        if at + 2 > self._trail.maxlen:
            self._trail = deque(self._trail, maxlen=math.ceil(at) + 2)
        last = len(self._trail) - 1
        if at >= last:  # before it was put somewhere it went as it went on from there
            (place, yaw), (velocity, turning) = self._trail[last], self._came
            earlier = (at - last) * self._dt
            return place - earlier * velocity, yaw - earlier * turning
        (place, yaw), (older, older_yaw), share = self._trail[int(at)], self._trail[int(at) + 1], at - int(at)
        return place + share * (older - place), yaw + share * (older_yaw - yaw)


class RecordingGuide(StickGuide):
    """A Recording in place of a hand, seen from the world."""

    def __init__(self, recording, rate, speeds=None, **settings):
        """speeds, settings: as a StickGuide takes them"""
        super().__init__(rate, speeds, **settings)
        recording.check(self.speeds)
        self._recording, self._frame, self._rate = recording, 0, rate

    def step(self, body=None):
        self.steer(self._recording.at(self._frame / self._rate))
        self._frame += 1
        super().step(body)


def _along_wall(vector, into):
    """A vector without what leads into a wall."""
    return vector - max((vector * into.conjugate()).real, 0.0) * into
