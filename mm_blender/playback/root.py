# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the character's root goes: along with the motion, and towards the simulated root as much as wanted.

"adjust" and "clamp" are the two touch-ups of section 3.3.2 of Motion Matching for Character Animation and Virtual
Reality Avatars in Unity; "full" is the synchronisation of section 3.5 of Motion Matching for Responsive Animation for
Digital Humans.

One root at a time, in plain numbers: that is several times faster than arrays of few. A place on the ground is the
complex number x + yi, since turning it by an angle is a product.
"""

import cmath
import math
from dataclasses import dataclass

import numpy as np

from ..motion.plane import wrapped
from ..motion.spring import LN2

MODES = ("none", "adjust", "clamp", "adjust_clamp", "full")


@dataclass(frozen=True)
class Sync:
    """How the root is held near the simulated one.

    position, facing  one of MODES: "adjust" pulls, never faster than a share of the character's own speed, so that feet
                      do not seem to slide; "clamp" never lets it be further away than the radius or the angle
    """

    position: str = "adjust_clamp"
    facing: str = "adjust"
    halflife: float = 0.15
    share: float = 0.5
    radius: float = 0.15
    angle: float = math.pi / 2


def travel(place, yaw, velocity, dt):
    """A root after dt seconds with a velocity seen from itself: right, forward, turning."""
    right, forward, turning = velocity
    middle = yaw + turning * dt / 2  # of the step: on an arc the chord, not the tangent
    return place + cmath.rect(dt, middle) * complex(right, forward), yaw + turning * dt


def synchronise(place, yaw, velocity, goal, goal_yaw, sync, dt, stands=None):
    """The root pulled towards the simulated one as the settings say.

    stands  (place, yaw) where it stands still, if it does: it is kept there, and nothing pulls it
    """
    (right, forward, turning), position, facing = velocity, sync.position, sync.facing
    pull = 1 - math.exp(-LN2 * dt / max(sync.halflife, 1e-5))
    (towards, towards_yaw), share = ((goal, goal_yaw), sync.share) if stands is None else (stands, 1.0)
    if "adjust" in position:
        place += _limited((towards - place) * pull, share * math.hypot(right, forward) * dt)
    if "clamp" in position:
        place = goal - _limited(goal - place, sync.radius)
    elif position == "full":
        place = goal
    if "adjust" in facing:
        own = share * abs(turning) * dt
        yaw += min(max(math.remainder(towards_yaw - yaw, math.tau) * pull, -own), own)
    if "clamp" in facing:
        turn = math.remainder(goal_yaw - yaw, math.tau)
        yaw = goal_yaw - min(max(turn, -sync.angle), sync.angle)
    elif facing == "full":
        yaw = goal_yaw
    return place, yaw


def synchronise_many(places, yaws, velocities, goals, goal_yaws, sync, dt):
    """synchronise() for K roots at once, in arrays: velocities (K, 3)."""
    position, facing = sync.position, sync.facing
    pull = 1 - math.exp(-LN2 * dt / max(sync.halflife, 1e-5))
    if "adjust" in position:
        places = places + _all_limited((goals - places) * pull, sync.share * np.hypot(*velocities.T[:2]) * dt)
    if "clamp" in position:
        places = goals - _all_limited(goals - places, sync.radius)
    elif position == "full":
        places = goals
    if "adjust" in facing:
        own = sync.share * np.abs(velocities[:, 2]) * dt
        yaws = yaws + np.clip(wrapped(goal_yaws - yaws) * pull, -own, own)
    if "clamp" in facing:
        yaws = goal_yaws - np.clip(wrapped(goal_yaws - yaws), -sync.angle, sync.angle)
    elif facing == "full":
        yaws = goal_yaws
    return places, yaws


def _limited(way, length):
    """A way that is at most so long."""
    size = abs(way)
    return way * (length / size) if size > length else way


def _all_limited(ways, lengths):
    """Ways (K,) that are at most so long."""
    return ways * np.minimum(1.0, lengths / np.maximum(np.abs(ways), 1e-12))
