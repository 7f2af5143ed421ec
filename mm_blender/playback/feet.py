# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that stay where they stand: each frame release(), then plant().

What becomes of a toe is decided in the order in which Foot.hold() has it: whether it is held (contact.py), what the
ground under it asks for (ground.py), how high it has to be (clearance.py). Then the limb reaches for it (two_bone.py).

Each limb is plain numbers, which for one character is several times as fast as arrays would be. A place on the ground
is the complex number x + yi, since a turn is then a product.
"""

import cmath
import math

import numpy as np

from ..motion.vectors import add, length, on_ground
from .clearance import Clearance, pitch, softness
from .contact import Aim, Contact, Lock
from .ground import Follow, Ground, spots_of
from .limbs import STRETCH, Posed
from .two_bone import NO_TURN, reach


class Toe:
    """Where a toe was shown, and how it moved.

    place, height     on the ground, and above it
    velocity, climb   of both
    pace              how fast it was on the ground
    """

    def __init__(self, place, height):
        self.place, self.height = place, height
        self.velocity, self.climb, self.pace, self._pace_before = 0j, 0.0, 0.0, 0.0

    def move(self, place, height, dt):
        """It is shown there now."""
        self.velocity, self.climb = (place - self.place) / dt, (height - self.height) / dt
        self.place, self.height = place, height
        self.pace, self._pace_before = abs(self.velocity), self.pace

    def resting(self, dt):
        """The place where it comes to rest within two frames, with half of its speed in each."""
        return self.place + self.velocity * (dt / 2)

    def coming(self, seconds, dt):
        """The way that it goes on the ground in some time, if it keeps slowing down as it does."""
        slowing = max(self._pace_before - self.pace, 0.0) / dt
        if slowing * seconds > self.pace:
            seconds = self.pace / slowing
        return self.velocity * (seconds * (1 - slowing * seconds / (2 * self.pace))) if self.pace else 0j


NOWHERE = Toe(complex(np.nan, np.nan), np.nan)


class Foot:
    """One foot: its contact, how it follows the ground, its clearance.

    toe    the Toe as it is shown, None before the first frame
    pitch  the angle by which it is turned about the toe, so that the ankle is higher than in the motion
    """

    def __init__(self):
        self.contact, self.follow, self.clearance = Contact(), Follow(), Clearance()
        self.toe, self.pitch = None, 0.0
        self._own = None  # where the motion alone had the toe a frame before, seen from the root

    def release(self, lock):
        """Let go if it should no longer be held; whether it was until now."""
        released = self.contact.release(lock)
        if released:
            self.follow.forget()
            self.clearance.forget_lift()
        return released

    def go_along(self, place, height, dt):
        """It is where the motion has it: its limb cannot bend."""
        self.toe = self.toe or Toe(place, height)
        self.toe.move(place, height, dt)

    def hold(self, limb, root, flag, own, under, longest, lock, dt):
        """Where the toe is shown: locked while it stands, and not under the ground; nor is the heel.

        limb     as it is played, Posed
        root     of the character: its place, its turn as a complex number, its height
        flag     whether the data says that the foot stands
        own      where the motion alone has the toe, and how the root travels there, both seen from the root
        under    what is Under it
        longest  from the hip to the toe, at most
        """
        origin, turn, level = root
        contact, clearance = self.contact, self.clearance
        place, height = origin + on_ground(limb.toe) * turn, limb.toe[2] + level
        aim = self._aim(own, root, under.plane, dt)
        toe = self.toe = self.toe or Toe(place, height)
        contact.judge(flag, aim)
        hip, up = origin + on_ground(limb.hip) * turn, limb.hip[2] + level - under.held
        if contact.land(toe, aim, resting := toe.resting(dt), math.hypot(abs(hip - resting), up), longest, lock):
            contact.fall_from(toe.height - under.held, toe.climb)
            clearance.forget_lift()
        if contact.locked:
            contact.rest_or_peel(aim, height - under.plane, lock, dt)
            contact.look_back(aim, math.hypot(abs(hip - contact.point), up), longest, lock)
            place, height, low, soft = contact.point, under.held + contact.drop, under.held, 1.0
        else:
            self.follow.follow_rise(under.rise, dt)
            height, low = height + self.follow.rise, under.here
            clearance.raise_dragging(height - low, toe.pace, contact.steps, lock, dt)
            soft = softness(length(add(limb.thigh, limb.shin)), longest - STRETCH * length(limb.foot))
        self.follow.follow_slope(under.slope, dt)
        toe.move(place, self._above(limb.foot, height + clearance.lift, low, under.ankle, soft, dt), dt)
        return toe

    def _aim(self, own, root, plane, dt):
        """The Aim of the toe, which is so high on the plane where it stands. Right after a jump it seems to be fast."""
        (x, y, height), (right, forward, turning) = own
        origin, turn, level = root
        toe = complex(x, y)
        before, self._own = toe if self._own is None else self._own, toe
        pace = abs((toe - before) / dt + complex(right, forward) + turning * 1j * toe)
        return Aim(origin + toe * turn, height + level - plane, pace)

    def _above(self, foot, height, low, heel_low, soft, dt):
        """The toe's height, so that neither toe nor heel is in the ground; turns the foot for its heel and the slope.

        A free foot is raised for both. One that is held stays, and turns.
        """
        slope = self.follow.slope
        rise = foot[2] - slope * abs(on_ground(foot))
        lowest, heel = self.clearance.keep_toe_above(height, rise, self.toe.height, low, heel_low, soft, dt)
        height = lowest if self.contact.locked else self.clearance.lift_to(height, max(lowest, heel + rise), dt)
        self.pitch = pitch(foot, height - heel, slope)
        self.clearance.heel = max(heel, height - rise)
        return height


class Feet:
    """Holds the toes of K characters with L limbs each where they touch the ground.

    Inside, a character is as large as a person, for whom all thresholds are: what comes in is made so much smaller or
    larger, and so is what goes out.

    standing  (L, 2) how high toe and ankle of each limb are when it stands
    feet      [character][limb] of Foot
    ground    what is under them
    """

    def __init__(self, limbs, count, standing, lock=None):
        self.limbs, self.lock, self.standing, self._size = limbs, lock or Lock(), standing, limbs.size
        self._lengths = [length / self._size for length in limbs.lengths]
        self.feet = [[Foot() for _ in standing] for _ in range(count)]
        self.ground = Ground(standing / self._size, count)

    @property
    def locked(self):
        """(K, L) which feet are held."""
        return np.array(self.held())

    def held(self):
        """[character][limb] which feet are held."""
        return [tuple(foot.contact.locked for foot in feet) for feet in self.feet]

    @property
    def toes(self):
        """(K, L, 3) where the toes are, in the world; no numbers before the first frame."""
        toes = [[foot.toe or NOWHERE for foot in feet] for feet in self.feet]
        return self._size * np.array([[(toe.place.real, toe.place.imag, toe.height) for toe in one] for one in toes])

    def levels(self):
        """How high the ground is that each character stands on, and how high it can stand at most."""
        return [[self._size * height for height in heights] for heights in (self.ground.level, self.ground.most)]

    def stand_at(self, heights):
        """The characters stand on ground that is so high."""
        self.ground.level = [height / self._size for height in heights]

    def states(self):
        """[character][limb] how it is with each foot, as contact.STATES has it."""
        return [tuple(foot.contact.state(self.lock) for foot in feet) for feet in self.feet]

    def release(self):
        """Let go of feet that should no longer be held: pairs of character and limb.

        What such a limb differs from the motion is not to be taken back in space but joint by joint, as in a
        transition: near a straight leg a small way of the foot is a large one of the knee, which would pop.
        """
        return [(who, at) for who, feet in enumerate(self.feet)
                for at, foot in enumerate(feet) if foot.release(self.lock)]

    def plant(self, roots, heights, travels, limbs, own, contacts, dt, ground=None):
        """How the limbs swing, seen from the root, so that feet stay where they stand: (K, L, 5, 4) for turned().

        roots     [(place, yaw)] of the characters
        heights   [number] of the roots
        travels   [K] how the roots move, seen from themselves
        limbs     [character][limb] as they are played, in the order of Posed
        own       what the motion alone has, as Lookahead has it
        contacts  [character][limb] whether the source says that each foot stands
        ground    heights (K, N) of points (K, N, 3), or None for the plane z = 0
        """
        if self._size != 1:
            roots, heights, travels, limbs, own, ground = self._as_a_person(roots, heights, travels, limbs, own, ground)
        roots = [(place, cmath.rect(1, yaw), height) for (place, yaw), height in zip(roots, heights)]
        limbs = [[Posed(*limb) for limb in each] for each in limbs]
        unders = self.ground.plane() if ground is None else self._look_at(ground, roots, travels, limbs, dt)
        swings = [[self._planted(foot, limb, flag, (toe, travel), *each, root, dt)
                   for foot, limb, flag, toe, *each in zip(feet, posed, flags, toes, under, self._lengths,
                                                           self.limbs.turns_foot, self.limbs.bends)]
                  for root, feet, posed, flags, under, toes, travel in zip(roots, self.feet, limbs, contacts, unders,
                                                                           *own)]
        return np.array(swings).reshape(len(roots), len(self.standing), 5, 4)

    def _as_a_person(self, roots, heights, travels, limbs, own, ground):
        """What plant() takes, of characters that are as large as a person."""
        size, (toes, ways) = self._size, own
        roots = [(place / size, yaw) for place, yaw in roots]
        limbs, toes = ([[tuple(np.divide(limb, size).tolist()) for limb in each] for each in part]
                       for part in (limbs, toes))
        travels, ways = ([(x / size, y / size, turning) for x, y, turning in part] for part in (travels, ways))
        seen = ground and (lambda places: ground(places * size) / size)
        return roots, [height / size for height in heights], travels, limbs, (toes, ways), seen

    def _planted(self, foot, limb, flag, own, under, longest, turns_foot, bends, root, dt):
        """The swings of one limb whose toe is where its foot should be."""
        place, turn, height = root
        if not bends:
            foot.go_along(place + on_ground(limb.toe) * turn, limb.toe[2] + height, dt)
            return (NO_TURN,) * 5
        toe = foot.hold(limb, root, flag, own, under, longest, self.lock, dt)
        if toe.height == limb.toe[2] + height and not foot.contact.locked and not foot.pitch:
            return (NO_TURN,) * 5
        there = (toe.place - place) * turn.conjugate()  # seen from the root
        goal = there.real, there.imag, toe.height - height
        swings = reach(limb, goal, self.lock.extension, foot.pitch, turns_foot)
        return NO_TURN, *swings, NO_TURN  # what carries the thigh stays, and the toe keeps its direction

    def _look_at(self, ground, roots, travels, limbs, dt):
        """What is Under each limb on uneven ground."""
        spots = []
        for (place, turn, height), feet, posed in zip(roots, self.feet, limbs):
            spots.append([])
            for foot, limb in zip(feet, posed):
                there = place + on_ground(limb.toe) * turn
                foot.toe = foot.toe or Toe(there, limb.toe[2] + height)
                spots[-1].append(spots_of(foot.toe, foot.contact, there, limb.foot, turn, dt))
        unders = self.ground.look(ground, [(place, height) for place, _, height in roots], spots, dt)
        self.ground.find_most(unders, limbs, travels, self.held(), self._lengths, self.lock.extension, dt)
        return unders
