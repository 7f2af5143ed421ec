# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the character's root goes: along with the motion, and towards the simulated root as much as wanted."""

from dataclasses import dataclass

import numpy as np

from ..control.simulation import wrapped
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
    angle: float = np.pi / 2


def travel(positions, yaws, velocity, dt):
    """Roots (K, 2), (K,) after dt seconds with velocities (K, 3): right, forward, turning, seen from the root."""
    turning = yaws + velocity[:, 2] * (dt / 2)  # the middle of the step: on an arc the chord, not the tangent
    cos, sin = np.cos(turning), np.sin(turning)
    right, forward = velocity[:, 0] * dt, velocity[:, 1] * dt
    moved = positions + np.stack([cos * right - sin * forward, sin * right + cos * forward], axis=-1)
    return moved, yaws + velocity[:, 2] * dt


def synchronise(positions, yaws, velocity, goals, goal_yaws, sync, dt):
    """The roots pulled towards the simulated ones, goals (K, 2) and goal_yaws (K,), as the settings say."""
    pull = 1 - np.exp(-LN2 * dt / max(sync.halflife, 1e-5))
    apart = goals - positions
    if "adjust" in sync.position:
        own = sync.share * np.hypot(velocity[:, 0], velocity[:, 1]) * dt
        positions = positions + _limited(apart * pull, own)
    if "clamp" in sync.position:
        positions = goals - _limited(goals - positions, sync.radius)
    if sync.position == "full":
        positions = goals.copy()
    turn = wrapped(goal_yaws - yaws)
    if "adjust" in sync.facing:
        own = sync.share * np.abs(velocity[:, 2]) * dt
        yaws = yaws + np.clip(turn * pull, -own, own)
    if "clamp" in sync.facing:
        yaws = goal_yaws - np.clip(wrapped(goal_yaws - yaws), -sync.angle, sync.angle)
    if sync.facing == "full":
        yaws = goal_yaws.copy()
    return positions, yaws


def _limited(vectors, length):
    """Vectors (K, 2) that are at most so long, (K,) or one number."""
    size = np.maximum(np.hypot(vectors[:, 0], vectors[:, 1]), 1e-9)
    return vectors * np.minimum(length / size, 1.0)[:, None]
