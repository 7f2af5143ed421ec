# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact: when a toe is held where it stands, and when it is let go.

The motion has a toe on the ground where a flag of its data says so, and also where it is low and slow: a jump often
lands on a frame without the flag, and a foot that the flags call free may stand. Such a toe is locked as soon as it is
slow and about where the motion has it; it comes to rest within two frames and sinks to the ground.

It is let go in one of two ways, the first of which is usual. Where the motion lifts it, it peels off: it rises as it
does in the motion, but goes nowhere until it is clear of the ground. Where the body has left it too far behind, or the
leg would become too short, it is let go at once, and steps to where the motion has it. These are two of the criteria of
section 3.6 of Motion Matching for Digital Humans; a heading that changes is none here, since a toe can be turned on.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from ..motion import spring

# A toe stands without a flag if it is lower (m) and slower (m/s) than this.
LOW, SLOW = 0.005, 0.6
# A toe that peels off comes to where it is played with this half-life (s). It is let go as soon as it is so high (m),
# or when the motion has taken it so much further away (m) than it was as it began.
PEEL, CLEAR, AWAY = 0.03, 0.02, 0.1
# A toe is locked no further from where the motion has it than this share of the way at which it would be let go. One
# that steps since it was left behind comes nearer, and not where its leg is almost too short: it would have to step
# again.
NEAR, NEARER, REACH = 0.7, 0.35, 0.97
# What is so near the ground (m) is on it.
FLAT = 1e-6
# How it is with a toe, as records have it: it is held; free, because the motion has it in the air; on its way down, or
# too fast to be held; on a step, because the body has left it behind or its leg was too short; or feet are not held.
STATES = HELD, FREE, COMES_DOWN, LEFT_BEHIND, TOO_SHORT, OFF = range(6)


@dataclass(frozen=True)
class Lock:
    """How feet are held.

    speed      a foot that should stand is locked once it is slower than this (m/s)
    release    a foot that the body has left behind so far (m) is let go, and steps to where it should be
    halflife   seconds in which a foot that is locked sinks to the ground
    lift       seconds: a free foot is lifted until it is as high as it goes in this time, so that it does not drag
    extension  legs are never straighter than this share of their length, unless the motion itself has them so
    """

    on: bool = True
    speed: float = 2.0
    release: float = 0.4
    halflife: float = 0.1
    lift: float = 0.1
    extension: float = 0.985


class Aim(NamedTuple):
    """Where the motion alone has a toe, without what is left of transitions: its place on the ground as x + yi, how
    high it is over where it stands, and how fast it goes over the ground."""

    place: complex
    over: float
    pace: float


class Contact:
    """Whether one toe is held.

    locked  whether it is held at `point`, a place on the ground as x + yi
    stands  whether the motion has it on the ground
    drop    how high above the ground it still is, or again, while it is locked
    steps   whether it was let go while it should stand, and is not back yet
    """

    def __init__(self):
        self.locked, self.point, self.stands, self.steps = False, 0j, False, False
        self.drop, self._sinking = 0.0, 0.0
        self._reason = None  # why it is to be let go at once
        self._stretch = math.inf  # the way from the hip a frame before
        self._over = 0.0  # how high it was played a frame before
        # While it peels: how much higher it is than it is played, how fast that changes, and how far from where the
        # motion has it it began.
        self._peel, self._began = None, 0.0

    def state(self, lock):
        """One of STATES."""
        if self.locked:
            return HELD
        if not lock.on:
            return OFF
        if not self.stands:
            return FREE
        return self._reason if self.steps else COMES_DOWN

    def release(self, lock):
        """Let go if it has peeled off or has to step; whether it was held until now."""
        peeled = self._peel is not None and self.drop > CLEAR
        if not self.locked or (lock.on and self._reason is None and not peeled):
            return False
        self.locked, self.steps = False, self._reason is not None and self.stands
        return True

    def judge(self, flag, aim):
        """Take note whether the motion has the toe on the ground: the flag of the data, and its Aim."""
        self.stands = flag or (aim.over < LOW and aim.pace < SLOW)
        self.steps = self.steps and self.stands

    def land(self, toe, aim, resting, stretch, longest, lock):
        """Be locked if the motion has the toe on the ground, and it is slow and near enough; whether it is now.

        toe      the Toe as it was shown
        resting  the place where it comes to rest
        stretch  how far the hip is from there, and longest: how far it may be
        """
        if self.locked or not self.stands or not lock.on or toe.pace >= lock.speed:
            return False
        near = lock.release * (NEARER if self.steps else NEAR)
        if abs(resting - aim.place) > near or stretch > longest * (REACH if self.steps else 1):
            return False
        self.locked, self.point, self.steps = True, resting, False
        self._reason, self._peel, self._stretch = None, None, math.inf
        return True

    def fall_from(self, height, climb):
        """A toe that is locked begins to sink from so high above the ground, and as fast as it rises."""
        self.drop, self._sinking = height, climb

    def rest_or_peel(self, aim, over, lock, dt):
        """One frame of the height of a toe that is locked; over: how high it is played over where it stands."""
        climb, self._over = (over - self._over) / dt, over
        if self.stands:
            self._peel = None
            self._sink(lock.halflife, dt)
            return
        if self._peel is None:
            self._peel, self._began = (self.drop - over, min(self._sinking - climb, 0.0)), abs(aim.place - self.point)
        self._peel = spring.towards_number(*self._peel, 0.0, PEEL, dt)
        drop = max(over + self._peel[0], 0.0)
        self.drop, self._sinking = drop, (drop - self.drop) / dt

    def _sink(self, halflife, dt):
        if self.drop or self._sinking:
            self.drop, self._sinking = spring.towards_number(self.drop, self._sinking, 0.0, halflife, dt)
            if abs(self.drop) + abs(self._sinking) * dt < FLAT:
                self.drop, self._sinking = 0.0, 0.0

    def look_back(self, aim, stretch, longest, lock):
        """Take note whether a locked toe has to be let go at once: the hip is `stretch` away, and in the next frame
        perhaps further than `longest`, when it would be too late; or the motion has it too far away."""
        soon = stretch + max(stretch - self._stretch, 0.0)
        far = math.hypot(abs(aim.place - self.point), aim.over)
        most = lock.release if self._peel is None else min(lock.release, self._began + AWAY)
        self._reason = TOO_SHORT if soon > longest else LEFT_BEHIND if far > most else None
        self._stretch = stretch
