# SPDX-License-Identifier: GPL-3.0-or-later
"""From a hand to a wish: the velocity on the ground and the facing that the person wants."""

from dataclasses import dataclass

import numpy as np

from .simulation import wrapped

DEAD_ZONE = 0.15
# A wish that differs so much from the one of the last search (m/s, radians) is a jump: it cannot wait for the next one.
JUMP_SPEED, JUMP_ANGLE = 0.5, np.radians(30)


@dataclass(frozen=True, eq=False)
class Intent:
    """What the person wants: a velocity (2,) in the world, the yaw to face, and the gait."""

    velocity: np.ndarray
    yaw: float
    gait: str = "walk"


def intent_of(stick, speeds, heading, facing):
    """The Intent of a Stick.

    heading  yaw that the stick's forward means: the view's, the character's, or 0 for the world
    facing   the yaw that the character faces now, kept where the stick says nothing
    """
    move = beyond_dead_zone(stick.move)
    gait = "crouch" if stick.crouch > 0.5 else "run" if stick.run > 0.5 else "walk"
    velocity = _turned(move, heading)
    speed = float(np.linalg.norm(velocity))
    strafing = stick.strafe > 0.5
    face = beyond_dead_zone(stick.face)
    if strafing and face.any():
        yaw = heading + _yaw(face)
    else:
        yaw = _yaw(velocity) if speed > 1e-4 and not strafing else facing
    # Along and across where it will face: people are slower sideways and backwards.
    along = _turned(velocity, -yaw)
    forward, sideways, backward = getattr(speeds, gait)
    scale = np.array([sideways, forward if along[1] > 0 else backward])
    return Intent(_turned(along * scale, yaw), float(yaw), gait)


def tag_query(gait, tags, own=""):
    """The tags that a gait asks for among those that there are, together with the artist's own query: who crouches
    plays what is tagged "crouch", and nobody else does."""
    if "crouch" not in tags:
        return own
    gait = "crouch" if gait == "crouch" else "~crouch"
    return f"({own}) & {gait}" if own.strip() else gait


def beyond_dead_zone(vector):
    """The stick with its dead zone taken off, so that it grows from zero, and with a length of at most 1."""
    length = float(np.hypot(*vector))
    if length < DEAD_ZONE:
        return np.zeros(2)
    return vector / length * min((length - DEAD_ZONE) / (1 - DEAD_ZONE), 1.0)


def jumps(velocities, yaws, new_velocities, new_yaws):
    """(K,) whether wishes, velocities (K, 2) and yaws (K,), changed so much that a search is due at once."""
    faster = np.hypot(*(new_velocities - velocities).T) > JUMP_SPEED
    return faster | (np.abs(wrapped(new_yaws - yaws)) > JUMP_ANGLE)


def _yaw(direction):
    return float(np.arctan2(-direction[0], direction[1]))


def _turned(vector, angle):
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([cos * vector[0] - sin * vector[1], sin * vector[0] + cos * vector[1]])
