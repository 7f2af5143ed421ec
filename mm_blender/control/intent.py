# SPDX-License-Identifier: GPL-3.0-or-later
"""From a hand to an intent: the velocity on the ground and the facing that the person wants."""

import cmath
import math
import re
from dataclasses import dataclass

import numpy as np

from .gaits import USUAL

DEAD_ZONE = 0.15
# An intent that differs so much from that of the last search (m/s, of a person, and radians) is a jump: it cannot wait
# for the next one.
JUMP_SPEED, JUMP_ANGLE = 0.5, math.radians(30)


@dataclass(frozen=True, eq=False)
class Intent:
    """What is wanted: a velocity in the world as x + yi, the yaw to face, the gait, and a query for tags that are
    allowed beside those that the gait asks for."""

    velocity: complex
    yaw: float
    gait: str = "walk"
    query: str = ""


def intent_of(stick, speeds, heading, facing, query=""):
    """The Intent of a Stick.

    heading  yaw that the stick's forward means: the view's, the character's, or 0 for the world
    facing   the yaw that the character faces now, kept where the stick says nothing
    """
    # Vectors on the ground as complex numbers: a turn is a product.
    move, face = _pushed(complex(stick.move_x, stick.move_y)), _pushed(complex(stick.face_x, stick.face_y))
    gait = speeds.gait(stick.asked)
    if not (move or gait.stands):
        gait = speeds.gait("walk")
    way = move * cmath.rect(1, heading)
    if stick.strafe > 0.5:
        yaw = heading + _yaw(face) if face else facing
    else:
        yaw = _yaw(way) if abs(way) > 1e-4 else facing
    # Along and across where it will face: people are slower sideways and backwards.
    along = way * cmath.rect(1, -yaw)
    forward, sideways, backward = gait.ways
    velocity = complex(along.real * sideways, along.imag * (forward if along.imag > 0 else backward))
    return Intent(velocity * cmath.rect(1, yaw), float(yaw), gait.name, query)


def tag_query(gait, speeds, own=""):
    """The tags that a gait of some Speeds asks for, together with the artist's own query: who crouches plays what is
    tagged "crouch", and nobody else does. It is the same with all gaits that are apart."""
    asked = speeds.gait(gait)
    if asked.apart:
        terms = [_term(asked)]
    else:
        terms = [f"~{_term(other)}" for other in speeds.gaits if other.apart and not _names(own, other)]
    return " & ".join([f"({own})"] * bool(own.strip()) + terms) if terms else own


def beyond_dead_zone(vector):
    """The stick with its dead zone taken off, so that it grows from zero, and with a length of at most 1."""
    pushed = _pushed(complex(*vector))
    return np.array([pushed.real, pushed.imag])


def jumps(asked, now, size=1.0):
    """Whether an Intent is so different from the one that was asked for last that a search is due at once; size: how
    many times as large as a person it is who should follow it."""
    return (abs(now.velocity - asked.velocity) > size * JUMP_SPEED
            or abs(math.remainder(now.yaw - asked.yaw, math.tau)) > JUMP_ANGLE)


def _term(gait):
    """What a tag query calls the tag of a Gait."""
    return gait.tag if gait.name in USUAL else f'"{gait.tag}"'


def _names(query, gait):
    """Whether a tag query names the tag of a Gait itself. It may well be what is wanted then; only "crouch" is always
    left to those who crouch."""
    return gait.name not in USUAL and re.search(rf"(?<![\w.-]){re.escape(gait.tag)}(?![\w.-])", query) is not None


def _pushed(stick):
    length = abs(stick)
    return stick / length * min((length - DEAD_ZONE) / (1 - DEAD_ZONE), 1.0) if length >= DEAD_ZONE else 0j


def _yaw(direction):
    return math.atan2(-direction.real, direction.imag)
