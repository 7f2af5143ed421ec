# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that stay where they stand: the toe is locked while it is in contact, and the leg reaches for it.

What is decided for each foot is plain numbers. A place on the ground is the complex number x + yi.
"""

import cmath
import math
from dataclasses import dataclass
from operator import add, sub
from struct import Struct
from typing import NamedTuple

import numpy as np

from ..motion import spring
from .legs import NONE, STRETCH, swung, turns_of

# A foot that was let go steps for so many seconds, so high (m), before it is held again.
STEP, STEP_HEIGHT = 0.25, 0.06
# A free foot that a transition would drag so far under the ground (m) is lifted over it.
SUNK = 0.005
# Half-life in seconds and largest height (m) of the lift of a foot that would drag.
LIFT_HALFLIFE, HIGHEST = 0.08, 0.08
# How hard (m/s²) toe and heel of a foot that comes down can brake before they meet the ground. So near to it (m) they
# brake the softer the straighter the leg is, down to a share: pushed back by a little, a straight leg throws its knee.
BRAKE = 40.0
NEAR, SOFTEST = 0.1, 1 / 6
# A foot that points down, so that this cosine is not reached, turns less than its heel asks for: on its tip it would
# have to turn a lot to raise the ankle a little.
LEVEL = 1 / 1.2
# A foot that is so little above the ground (m) stands on it.
FLAT = 1e-6
# Half-life in seconds in which a foot follows the ground; it lags behind a slope by 1.44 half-lives, and so it looks
# ahead for so long, and once more for steps.
GROUND_HALFLIFE, AHEAD = 0.07, 0.1
# The root looks ahead so many seconds, by which it follows the ground late. So many before a foot comes down the root
# begins to sink, if the leg is too short for the ground there.
ROOT_AHEAD, LEAD = 0.17, 0.08
# A heel can rise from a slope that falls away behind the toe: the leg has to reach for this share of it.
HEEL = 0.5
# Feet lie on slopes up to this gradient; what is steeper becomes a step, on which they do not turn.
STEEPEST = 0.5
STILL = 0.0, 0.0  # nowhere, and at rest
ORIGIN = 0j, 1 + 0j, 0.0  # a root at the world's own place, turned by nothing, and its height


@dataclass(frozen=True)
class Lock:
    """How feet are held.

    speed      a foot in contact is locked once it is slower than this (m/s)
    release    a foot that the body has left behind so far (m) is let go, and steps to where it should be
    halflife   seconds in which a foot that is locked sinks to the ground
    lift       seconds: a foot that should stand and still moves is lifted by its speed times this, so it does not drag
    extension  legs are never straighter than this share of their length, unless the motion itself has them so
    """

    on: bool = True
    speed: float = 1.2
    release: float = 0.2
    halflife: float = 0.1
    lift: float = 0.04
    extension: float = 0.985


class Under(NamedTuple):
    """The ground under a foot, each as the height of a toe or an ankle that stands there.

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


class Foot:
    """One foot: whether its toe is locked, where it is shown, and what is left of what it did before.

    locked  whether it is held at `point`, a place on the ground
    pitch   the angle by which it is turned about the toe, so that the ankle is higher than in the motion
    """

    def __init__(self):
        self.locked, self.point, self.pitch = False, 0j, 0.0
        self._far, self._stretch, self._wait = False, 0.0, 0.0
        self._drop, self._sinking = 0.0, 0.0
        self._lift, self._rising = 0.0, 0.0
        self._rise = self._slope = STILL  # how it follows the ground, with velocities
        self._shown, self._velocity, self._climb = None, 0j, 0.0  # place and height
        self._heel = None  # how high the ankle was shown
        self._pace = 0.0  # a frame before
        self._ways = None  # as ways() has them

    def release(self, contact, lock, dt):
        """Let go if it should no longer stand or is too far away; whether it was held until now."""
        if self._wait > 0:
            self._wait -= dt
        if not self.locked or (contact and not self._far and lock.on):
            return False
        self.locked, self._wait = False, STEP if self._far else self._wait
        # The leg goes on from how it was shown, the ground and the lift included.
        self._rise = self._slope = self._lift, self._rising = STILL
        return True

    def stop(self, place, dt):
        """The place where the toe is held, or would be: it comes to rest within two frames, half of its speed in
        each. place: where the released pose has it"""
        if self.locked:
            return self.point
        return place if self._shown is None else self._shown[0] + self._velocity * (dt / 2)

    def ahead(self, seconds, dt):
        """The way that the toe goes on the ground in some time, if it keeps slowing down as it does."""
        pace = abs(self._velocity)
        slowing = max(self._pace - pace, 0.0) / dt
        if slowing * seconds > pace:
            seconds = pace / slowing
        return self._velocity * (seconds * (1 - slowing * seconds / (2 * pace))) if pace else 0j

    def ways(self, leg, dt):
        """From the hip to the ankle and to the toe, as the motion has them; if the foot is not held, a little later."""
        hip, thigh, shin, _, _, toe = leg
        ways = *map(add, thigh, shin), *map(sub, toe, hip)
        before, self._ways = self._ways or ways, ways
        if not self.locked:
            ways = [there + (there - last) * (LEAD / dt) for there, last in zip(ways, before)]
        return ways[:3], ways[3:]

    def hold(self, hip, foot, toe, contact, under, length, lock, dt, root=ORIGIN):
        """Where the toe should be (x, y, z): locked while in contact, and not under the ground; nor is the heel.

        hip, toe  where the released pose has them, seen from the root; foot: from the ankle to the toe
        contact   whether the source says that the foot stands
        length    from the hip to the toe, at most
        """
        origin, turn, level = root
        held, low, heel_low, plane, ground_rise, ground_slope = under
        place, height, rise = origin + complex(toe[0], toe[1]) * turn, toe[2] + level, foot[2]
        last, high = self._shown or (place, height)
        pace = abs(self._velocity)
        if contact and not self.locked and pace < lock.speed and self._wait < 1e-6 and lock.on:
            self.point = self.stop(place, dt)
            self.locked, self._stretch = True, math.inf
            self._drop, self._sinking = high - self._lift - held, self._climb - self._rising
        if self.locked:
            if self._lift:
                self._raise(0.0, dt)
            low, point = held, self.point
            if self._drop or self._sinking:
                self._sink(lock, dt)
            stretch = math.hypot(abs(origin + complex(hip[0], hip[1]) * turn - point), hip[2] + level - low)
            # In the next frame it would be too late.
            soon = stretch + (stretch - self._stretch) if stretch > self._stretch else stretch
            self._stretch, self._far = stretch, (
                soon > length or math.hypot(abs(place - point), height - plane) > lock.release)
            place, height, soft = point, low + self._drop, 1.0
        else:
            if ground_rise or self._rise is not STILL:
                self._rise = _followed(self._rise, ground_rise, dt)
                height += self._rise[0]
            drags = (contact or height < low - SUNK) and lock.on
            if drags or self._lift:
                self._raise(self._lift_of(pace, lock) if drags else 0.0, dt)
            far = math.hypot(toe[0] - foot[0] - hip[0], toe[1] - foot[1] - hip[1], toe[2] - rise - hip[2])
            soft = _softness(far, length - STRETCH * math.hypot(*foot))
        if ground_slope or self._slope is not STILL:
            self._slope = _followed(self._slope, ground_slope, dt)
            rise -= self._slope[0] * math.hypot(foot[0], foot[1])
        height, heel = self._above(low, heel_low, height + self._lift, rise, high, soft, dt)
        self.pitch, self._heel = _pitch(foot, height - heel, self._slope[0]), max(heel, height - rise)
        self._shown, self._velocity, self._climb = (place, height), (place - last) / dt, (height - high) / dt
        self._pace = pace
        return place.real, place.imag, height

    def _above(self, low, heel_low, height, rise, before, soft, dt):
        """The toe's height and how low the ankle may be: not under the ground, nor so fast towards it that they cannot
        brake. A free foot is raised for both, and by what it is raised for that goes back as a lift does."""
        heel = height - rise if self._heel is None else self._heel
        # A toe that is up comes down as the foot turns; what the leg has to do is the heel's to say.
        up = (before - low - heel + heel_low) / NEAR
        lowest = _braked(low, before, soft if up <= 0 else 1.0 if up >= 1 else soft + (1 - soft) * up, dt)
        heel = _braked(heel_low, heel, soft, dt)
        if self.locked:
            return (height if height > lowest else lowest), heel
        lowest = max(lowest, heel + rise)
        if height >= lowest:
            return height, heel
        self._lift += lowest - height
        self._rising = min(self._rising + (lowest - height) / dt, 0.0)
        return lowest, heel

    def _sink(self, lock, dt):
        """A foot that is locked sinks to the ground."""
        self._drop, self._sinking = spring.towards_number(self._drop, self._sinking, 0.0, lock.halflife, dt)
        if abs(self._drop) + abs(self._sinking) * dt < FLAT:
            self._drop, self._sinking = 0.0, 0.0

    def _lift_of(self, pace, lock):
        """How high a foot that would drag is lifted: more the faster it is, and one that steps."""
        return max(min(pace * lock.lift, HIGHEST), STEP_HEIGHT * (self._wait > STEP / 2))

    def _raise(self, goal, dt):
        """Lift a foot so high, or lower it."""
        self._lift, self._rising = spring.towards_number(self._lift, self._rising, goal, LIFT_HALFLIFE, dt)
        if self._lift < FLAT and goal == 0:
            self._lift, self._rising = 0.0, 0.0


class Feet:
    """Holds the toes of K characters where they touch the ground: each frame release(), then plant().

    standing  (2, 2) how high toe and ankle of the left and the right foot are when it stands
    level     [K] how high the ground is that each character comes to
    most      [K] how high it can stand at most, so that its legs reach the ground
    """

    def __init__(self, legs, count, standing, lock=None):
        self.legs, self.lock, self.standing = legs, lock or Lock(), standing
        self.pairs = [(Foot(), Foot()) for _ in range(count)]
        self.level, self.most = [0.0] * count, [math.inf] * count
        self._before, self._toes = None, [0.0] * (6 * count)
        self._plane = [Under(toe, toe, ankle, toe) for toe, ankle in standing.tolist()]
        # How the legs turn, in memory that numbers are packed into: an array of a list takes twice as long.
        self._turns, self._pack = np.empty((count, 8, 1, 4), dtype=np.float32), Struct(f"{32 * count}f").pack_into

    @property
    def locked(self):
        """(K, 2) which feet are held."""
        return np.array(self.held())

    @property
    def toes(self):
        """(K, 2, 3) where the toes are, in the world."""
        return np.array(self._toes).reshape(-1, 2, 3)

    def held(self):
        """[character][side] which feet are held."""
        return [(left.locked, right.locked) for left, right in self.pairs]

    def release(self, contacts, dt):
        """Let go of feet that should no longer stand (K, 2) or are too far away: pairs of character and side.

        What such a leg differs from the motion is not to be taken back in space but joint by joint, as in a transition:
        near a straight leg a small way of the foot is a large one of the knee, which would pop.
        """
        released = []
        for index, (pair, stand) in enumerate(zip(self.pairs, contacts)):
            for side, foot in enumerate(pair):
                if foot.release(stand[side], self.lock, dt):
                    released.append((index, side))
        return released

    def plant(self, roots, heights, steps, contacts, dt, ground=None):
        """How the legs turn, seen from the root, so that feet stay where they stand: (K, 8, 1, 4) for turned(), until
        the next call.

        roots     (place, yaw) of each one
        heights   of the roots
        steps     (travel, legs) of each one, as an Ahead has them
        contacts  [character][side] whether the source says that each foot stands
        ground    heights (K, N) of points (K, N, 3), or None for the plane z = 0
        """
        lock, lengths, extension, has_toes = self.lock, self.legs.lengths, self.lock.extension, self.legs.has_toes
        roots = [(place, cmath.rect(1, yaw), height) for (place, yaw), height in zip(roots, heights)]
        if ground is None:
            unders, self._before = [self._plane] * len(roots), None
        else:
            unders = self._look_at(ground, roots, steps, dt)
        toes, turns = [], []
        for pair, root, (_, legs), stand, under in zip(self.pairs, roots, steps, contacts, unders):
            place, turn, height = root
            back = turn.conjugate()
            for foot, leg, contact, below, length in zip(pair, legs, stand, under, lengths):
                hip, _, _, sole, _, toe = leg
                x, y, z = goal = foot.hold(hip, sole, toe, contact, below, length, lock, dt, root)
                toes += goal
                if z == toe[2] + height and not foot.locked and not foot.pitch:
                    turns += _UNTURNED
                    continue
                there = (complex(x, y) - place) * back  # seen from the root
                turns += turns_of(*swung(leg, (there.real, there.imag, z - height), extension, has_toes, foot.pitch))
        self._toes = toes
        self._pack(self._turns, 0, *turns)
        return self._turns

    def _look_at(self, ground, roots, steps, dt):
        """What is Under each foot, [character][side]; and how high the characters should stand."""
        points, unders = [], []
        # Ankle and toe in the world.
        legs = [[(_in_world(map(sub, toe, foot), *root), _in_world(toe, *root)) for _, _, _, foot, _, toe in both]
                for root, (_, both) in zip(roots, steps)]
        before = self._before or [(place, level, -math.inf) for place, _, level in roots]
        for pair, leg, (root, _, level), (last, _, stood) in zip(self.pairs, legs, roots, before):
            places = [root, root + (root - last) * (ROOT_AHEAD / dt)]
            for foot, (ankle, toe) in zip(pair, leg):
                here = complex(toe[0], toe[1])
                held = foot.stop(here, dt)
                here = held if foot.locked else here
                heel = complex(ankle[0] - toe[0], ankle[1] - toe[1])
                places += [held, here, here + foot.ahead(AHEAD, dt), here + foot.ahead(2 * AHEAD, dt), here + heel]
            # Stairs may be higher already than what the root has come to.
            points.append([(place.real, place.imag, max(level, stood)) for place in places])
        found = ground(np.array(points)).tolist()
        for index, (stood, middle, *feet) in enumerate(found):
            level, (travel, both), feet = roots[index][2], steps[index], (feet[:5], feet[5:])
            climb = max(level - before[index][1], 0.0) / dt
            unders.append([_under(foot, joints, height, level, climb)
                           for foot, joints, height in zip(feet, legs[index], self.standing.tolist())])
            self.level[index] = middle
            self.most[index] = min(self._most(side, *each, travel, middle - stood, dt) for side, each in enumerate(
                zip(self.pairs[index], both, feet, unders[-1])))
        self._before = [(place, level, stood) for (place, _, level), (stood, *_) in zip(roots, found)]
        return unders

    def _most(self, side, foot, leg, heights, under, travel, climb, dt):
        """How high the root may be, so that a leg reaches the ground. climb: how much the ground under the root rises
        in the time that it looks ahead"""
        _, thigh, shin, _, _, toe = leg
        ankle_way, toe_way = foot.ways(leg, dt)
        level, here, soon, _, _ = heights
        if not foot.locked:
            # A foot that was left behind comes along.
            if toe[0] * travel[0] + toe[1] * travel[1] < 0:
                return math.inf
            level += (soon - level) * (LEAD / AHEAD) - climb * (LEAD / ROOT_AHEAD)
        heel = under.ankle - self.standing[side, 1] - here
        longest, extension = math.hypot(*thigh) + math.hypot(*shin), self.lock.extension
        return level + min(_room(ankle_way, longest * extension) + (heel if heel > 0 else heel * HEEL),
                           _room(toe_way, self.legs.lengths[side] * extension))


_UNTURNED = NONE * 4


def _in_world(point, place, turn, height):
    """A point seen from a root at this place and height, which is turned."""
    x, y, z = point
    there = place + complex(x, y) * turn
    return there.real, there.imag, z + height


def _under(heights, joints, standing, level, climb):
    """What is Under a foot, from the ground's heights where it is held, here, ahead, further ahead and at the ankle.
    climb: how fast the root rises"""
    held, here, soon, later, low = heights
    toe, ankle = standing
    (x, y, _), (toe_x, toe_y, _) = joints
    size = math.hypot(toe_x - x, toe_y - y)
    slope = (low - here) / max(size, 1e-6)
    slope = math.copysign(max(min(abs(slope), 2 * STEEPEST - abs(slope)), 0), slope)
    # What rises evenly is followed; what rises later all of a sudden is a step, for which it is time to rise now. The
    # root has risen too when the foot comes there.
    rise = max(here, soon, later - (soon - here)) - level - climb * AHEAD
    return Under(held + toe, here + toe, here + slope * size + ankle, level + toe, rise, slope)


def _room(way, longest):
    """How much lower the ground may be than the motion has it, until the way down to it from a hip is the longest."""
    across, ahead, down = way
    return max(math.sqrt(max(longest * longest - across * across - ahead * ahead, 0.0)) + down, 0.0)


def _pitch(foot, most, slope):
    """The angle by which a foot, from ankle to toe, is turned to lie on a slope, or more: until the toe is at most so
    much above the ankle."""
    across, ahead, height = foot
    if not slope and height <= most:
        return 0.0
    level = math.hypot(across, ahead)
    size = math.hypot(level, height)
    if size < 1e-6:
        return 0.0
    # Not where it points down: a foot on its tip lies on nothing.
    turn = math.atan2(height, level) - math.asin(min(max(most / size, -1.0), 1.0))
    return max(math.atan(slope) * level / size, turn if turn < 0 else turn * min(level / size / LEVEL, 1.0))


def _braked(low, before, soft, dt):
    """How low it may be at least, if it comes down to the ground and was so high a step before. It brakes with the
    share `soft` when it is NEAR."""
    room = before - low
    if room <= 0:
        return low
    way = math.sqrt(2 * BRAKE * (soft * room if room < NEAR else room + (soft - 1) * NEAR)) * dt
    return before - way if way < room else low


def _softness(far, longest):
    """How softly a foot has to come down so far from the hip: the share that its way is of the knee's, if both bones
    of the leg are alike."""
    share = 4 * (longest * longest / (far * far + 1e-12) - 1)
    if share >= 1:
        return 1.0
    return math.sqrt(share) if share > SOFTEST * SOFTEST else SOFTEST


def _followed(state, goal, dt):
    """A height and its velocity that follow the ground, one step on."""
    return spring.towards_number(*state, goal, GROUND_HALFLIFE, dt)
