# SPDX-License-Identifier: GPL-3.0-or-later
"""Ground: how high it is under each limb, now and where the limb goes, and how high the character can stand on it.

A place on the ground is the complex number x + yi. All that is asked in a frame is asked at once, in arrays; what is
made of the answers is plain numbers, limb by limb.
"""

import math
from typing import NamedTuple

import numpy as np

from ..motion import spring
from ..motion.vectors import add, length, on_ground, sub

# Half-life in seconds in which a foot follows the ground; it lags behind a slope by 1.44 half-lives, and so it looks
# ahead for so long, and once more for steps.
HALFLIFE, LOOK_AHEAD = 0.07, 0.1
# The root looks ahead so many seconds, by which it follows the ground late. So many before a foot comes down the root
# begins to sink, if the leg is too short for the ground there.
ROOT_LOOK_AHEAD, LEAD = 0.17, 0.08
# A heel can rise from a slope that falls away behind the toe: the leg has to reach for this share of it.
HEEL = 0.5
# Feet lie on slopes up to this gradient; what is steeper becomes a step, on which they do not turn.
STEEPEST = 0.5


class Under(NamedTuple):
    """The ground under one limb, as the height of a toe or an ankle that stands there.

    held   where the toe is held, or would be
    here   under the toe
    ankle  under the ankle
    plane  on the plane that the motion takes for the ground
    rise   how much higher than where the character stands the highest ground is that the toe comes to
    slope  by how much the ground rises from the toe to the ankle, as a share of the way
    """

    held: float
    here: float
    ankle: float
    plane: float
    rise: float = 0.0
    slope: float = 0.0


class Spots(NamedTuple):
    """Where the ground is looked for under one limb: where its toe is held or would be, here, LOOK_AHEAD from now and
    as long after that, and under the ankle."""

    held: complex
    here: complex
    soon: complex
    later: complex
    ankle: complex


class Follow:
    """How one foot follows the ground: how far it has risen, and how much it slopes, each with its velocity."""

    def __init__(self):
        self.forget()

    def forget(self):
        """Begin anew: the limb goes on from how it was shown, the ground included."""
        self.rise, self.slope, self._climb, self._tilt = 0.0, 0.0, 0.0, 0.0

    def follow_rise(self, goal, dt):
        if goal or self.rise:
            self.rise, self._climb = spring.towards_number(self.rise, self._climb, goal, HALFLIFE, dt)

    def follow_slope(self, goal, dt):
        if goal or self.slope:
            self.slope, self._tilt = spring.towards_number(self.slope, self._tilt, goal, HALFLIFE, dt)


class Ground:
    """What K characters stand on.

    standing  (L, 2) how high toe and ankle of each limb are when it stands
    level     [K] how high the ground is that each character comes to
    most      [K] how high it can stand at most, so that its limbs reach the ground
    """

    def __init__(self, standing, count):
        self.standing, self.level, self.most = standing.tolist(), [0.0] * count, [math.inf] * count
        self._plane = [[Under(toe, toe, ankle, toe) for toe, ankle in self.standing]] * count
        self._before = self._ways = None

    def plane(self):
        """What is Under each limb, [character][limb], where there is no ground but the plane z = 0."""
        self._before = self._ways = None
        return self._plane

    def look(self, ground, roots, spots, dt):
        """The same on uneven ground; notes how high the ground is that the characters come to.

        ground  heights (K, N) of points (K, N, 3)
        roots   [(place, height)] of the characters
        spots   [character][limb] the Spots to look at
        """
        before = self._before or [(place, height, -math.inf) for place, height in roots]
        points = []
        for (place, height), (last, _, stood), limbs in zip(roots, before, spots):
            ahead = place + (place - last) * (ROOT_LOOK_AHEAD / dt)
            places = [place, ahead, *(spot for each in limbs for spot in each)]
            # Stairs may be higher already than what the root has come to.
            points.append([(each.real, each.imag, max(height, stood)) for each in places])
        found = ground(np.array(points)).tolist()
        self.level = [coming for _, coming, *_ in found]
        self._before = [(*root, stood) for root, (stood, *_) in zip(roots, found)]
        self._feet = [[row[at:at + len(Spots._fields)] for at in range(2, len(row), len(Spots._fields))]
                      for row in found]
        return [[_under(heights, abs(spot.ankle - spot.here), standing, height, max(height - last, 0.0) / dt)
                 for heights, spot, standing in zip(feet, limbs, self.standing)]
                for feet, limbs, (_, height), (_, last, _) in zip(self._feet, spots, roots, before)]

    def find_most(self, unders, posed, travels, locked, lengths, extension, dt):
        """Note how high each character can stand at most.

        posed    [character][limb] as the motion has them
        travels  of the characters, seen from themselves
        locked   [character][limb] whether the toe is held
        lengths, extension  of the limbs, and the share of it that they may be straight
        """
        ways = [[(add(limb.thigh, limb.shin), sub(limb.toe, limb.hip)) for limb in limbs] for limbs in posed]
        before, self._ways = self._ways or ways, ways
        self.most = []
        for who, (limbs, travel) in enumerate(zip(posed, travels)):
            climb = self.level[who] - self._before[who][2]  # of the ground, in the time that the root looks ahead
            rooms = [math.inf]
            for at, limb in enumerate(limbs):
                if math.isinf(lengths[at]):  # it does not reach for the ground
                    continue
                heights, under, held = self._feet[who][at], unders[who][at], locked[who][at]
                # A foot that was left behind comes along.
                if held or limb.toe[0] * travel[0] + limb.toe[1] * travel[1] >= 0:
                    level, ankle, toe = _later(heights, ways[who][at], before[who][at], climb, held, dt)
                    heel = under.ankle - self.standing[at][1] - heights[1]
                    leg = (length(limb.thigh) + length(limb.shin)) * extension
                    rooms.append(level + min(_room(ankle, leg) + (heel if heel > 0 else heel * HEEL),
                                             _room(toe, lengths[at] * extension)))
            self.most.append(min(rooms))


def spots_of(toe, contact, place, foot, turn, dt):
    """The Spots of a limb whose toe the motion has at a place.

    foot  from the ankle to the toe, seen from the root, which is turned
    """
    here = contact.point if contact.locked else place
    return Spots(contact.point if contact.locked else toe.resting(dt), here, here + toe.coming(LOOK_AHEAD, dt),
                 here + toe.coming(2 * LOOK_AHEAD, dt), here - on_ground(foot) * turn)


def _under(heights, size, standing, level, climb):
    """What is Under a foot of this size, from the ground's heights at its Spots. climb: how fast the root rises"""
    held, here, soon, later, low = heights
    toe, ankle = standing
    slope = (low - here) / max(size, 1e-6)
    slope = math.copysign(max(min(abs(slope), 2 * STEEPEST - abs(slope)), 0), slope)
    # What rises evenly is followed; what rises later all of a sudden is a step, for which it is time to rise now. The
    # root has risen too when the foot comes there.
    rise = max(here, soon, later - (soon - here)) - level - climb * LOOK_AHEAD
    return Under(held + toe, here + toe, here + slope * size + ankle, level + toe, rise, slope)


def _later(heights, ways, before, climb, held, dt):
    """The ground's height where a limb stands, and its ways from the hip to ankle and toe; of one that is not held, a
    little later."""
    level, _, soon, _, _ = heights
    if held:
        return level, *ways
    level += (soon - level) * (LEAD / LOOK_AHEAD) - climb * (LEAD / ROOT_LOOK_AHEAD)
    return level, *(tuple(now + (now - last) * (LEAD / dt) for now, last in zip(*each)) for each in zip(ways, before))


def _room(way, longest):
    """How much lower the ground may be than the motion has it, until the way down to it from a hip is the longest."""
    across, ahead, down = way
    return max(math.sqrt(max(longest * longest - across * across - ahead * ahead, 0.0)) + down, 0.0)
