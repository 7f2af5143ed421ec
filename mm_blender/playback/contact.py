# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact: when a toe is held where it stands, when it is let go, and how long it steps after that.

A toe that the motion has in contact is locked at a place on the ground as soon as it is slow. It comes to rest within
two frames and sinks to the ground. It is let go when the contact ends, or when the body has left it too far behind;
then it steps for a moment before it may be locked again.
"""

import math
from dataclasses import dataclass

from ..motion import spring

# A foot that was let go because it was left behind steps for so many seconds before it is held again.
STEP = 0.25
# What is so near the ground (m) is on it.
FLAT = 1e-6


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


class Contact:
    """Whether one toe is held.

    locked  whether it is held at `point`, a place on the ground as x + yi
    drop    how high above the ground it still is
    """

    def __init__(self):
        self.locked, self.point = False, 0j
        self.drop, self._sinking = 0.0, 0.0
        self._far, self._stretch = False, math.inf  # left behind; the way from the hip a frame before
        self._wait = 0.0  # seconds until it may be locked again

    @property
    def steps(self):
        """Whether it is in the first half of a step, on its way up."""
        return self._wait > STEP / 2

    def release(self, stands, lock, dt):
        """Let go if it should no longer stand or is left behind; whether it was held until now."""
        self._wait = max(self._wait - dt, 0.0)
        if not self.locked or (stands and not self._far and lock.on):
            return False
        self.locked, self._wait = False, STEP if self._far else self._wait
        return True

    def land(self, stands, toe, resting, ground, clearance, lock):
        """Be locked if the toe is in contact and slow enough.

        toe        the Toe as it was shown
        resting    the place where it comes to rest
        ground     how high a toe is that stands there
        clearance  by how much it is lifted: apart from that it is put down
        """
        if self.locked or not stands or not lock.on or self._wait > FLAT or toe.pace >= lock.speed:
            return
        self.locked, self.point, self._stretch = True, resting, math.inf
        self.drop, self._sinking = toe.height - clearance.lift - ground, toe.climb - clearance.rising

    def sink(self, lock, dt):
        """A toe that is locked sinks to the ground."""
        if self.drop or self._sinking:
            self.drop, self._sinking = spring.towards_number(self.drop, self._sinking, 0.0, lock.halflife, dt)
            if abs(self.drop) + abs(self._sinking) * dt < FLAT:
                self.drop, self._sinking = 0.0, 0.0

    def look_back(self, hip, height, place, over_plane, longest, lock):
        """Notice whether a locked toe is left behind: further from the hip than the limb is long, in the next frame at
        the latest, since then it would be too late; or further than allowed from where the motion has it.

        hip, height        where the hip is, on the ground and above a toe that stands
        place, over_plane  where the motion has the toe, on the ground and above where it stands on the plane
        """
        stretch = math.hypot(abs(hip - self.point), height)
        soon = stretch + max(stretch - self._stretch, 0.0)
        self._far = soon > longest or math.hypot(abs(place - self.point), over_plane) > lock.release
        self._stretch = stretch
