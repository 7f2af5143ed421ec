# SPDX-License-Identifier: GPL-3.0-or-later
"""Two-bone IK: how thigh, shin and foot of a limb turn so that its toe comes to a place.

Two bones of known lengths that have to span a known way make a triangle; the law of cosines says where the knee is
along the way and how far from it. What is left free is the side on which the knee lies: it stays on the side on which
the motion has it. The foot keeps its direction as long as the limb is long enough; then its heel rises.

This is one limb in plain numbers: all vectors are tuples, seen from the character's root.
"""

import math

from ..motion.vectors import add, cross, dot, length, mixed, scaled, sub

# How far (m) a knee is at least before its leg when it is asked which way it bends: blends can bend a leg back.
BENT = 0.02
# Lengths (m) that are at least divided by, and the slack that keeps a triangle from becoming flat.
TINY, SLACK = 1e-9, 1e-6
# A limb that reaches is never straighter than this share of its length, whatever the motion has, and slows down over so
# large a share before: in a leg that is quite straight a millimetre at the foot is centimetres at the knee.
STRAIGHT, SLOWS = 0.995, 0.008
NO_TURN = 1.0, 0.0, 0.0, 0.0


def reach(limb, goal, extension, pitch=0.0, turns_foot=True):
    """The swings of thigh, shin and foot, quaternions, that bring the toe to its goal.

    limb        as the motion has it, Posed
    goal        where the toe should be
    extension   the leg is never straighter than this share of its length, unless it was before
    pitch       the angle by which the foot turns about its toe, heel up
    turns_foot  whether the limb has a foot that can be turned about the toe
    """
    leg, way = add(limb.thigh, limb.shin), sub(goal, limb.hip)
    upper, lower, old = length(limb.thigh), length(limb.shin), max(length(leg), TINY)  # it may be folded flat
    foot = _pitched(limb.foot, pitch) if pitch and turns_foot else limb.foot
    far = math.dist(way, foot)
    longest = _longest(far, old, upper + lower, extension, turns_foot)
    if far > longest and turns_foot:
        foot = _heel_up(way, foot, longest)
        far = math.dist(way, foot)
    span = max(min(far, longest, upper + lower), abs(upper - lower) * (1 + 1e-3) + SLACK)
    thigh = _thigh(limb, scaled(leg, 1 / old), scaled(sub(way, foot), 1 / max(far, TINY)), (upper, lower, old), span)
    shin = sub(scaled(sub(way, foot), span / max(far, TINY)), thigh)
    return (_swing(limb.thigh, thigh), _swing(limb.shin, shin),
            NO_TURN if foot is limb.foot else _swing(limb.foot, foot))


def _longest(far, old, whole, extension, slows):
    """How long a leg may be that was `old` and should span `far`; `whole` is its length if it is straight. With a foot
    to turn about the toe it slows down before it is as long as it may be, and the heel rises for the rest."""
    limit = max(whole * extension, min(old, whole * STRAIGHT))
    begin = min(old, limit - whole * SLOWS)
    if not slows or far <= begin:
        return limit
    room = max(limit - begin, SLACK)
    return begin + room * math.tanh((far - begin) / room)


def _pitched(foot, angle):
    """A foot, from ankle to toe, turned by an angle so that the ankle is higher."""
    x, y, z = foot
    level = math.hypot(x, y)
    share = math.cos(angle) + z * math.sin(angle) / max(level, SLACK)
    return x * share, y * share, z * math.cos(angle) - level * math.sin(angle)


def _heel_up(way, foot, longest):
    """The foot, from ankle to toe, turned about the toe until the ankle is within reach of the hip: so far from it as
    `longest`, in the plane of the way (from the hip to the toe) and the foot."""
    far, size = max(length(way), TINY), length(foot)
    along_before = dot(way, foot) / far
    along = (size * size + far * far - longest * longest) / (2 * far)  # the law of cosines
    along = min(max(along, -size), size)
    side = math.sqrt(max(size * size - along * along, 0)
                     / max(size * size - along_before * along_before, TINY * TINY))
    return mixed(side, foot, (along - along_before * side) / far, way)


def _thigh(limb, leg, way, lengths, span):
    """Where the thigh points when the leg spans so much of the way.

    leg, way  directions from the hip to the ankle, as it was and as it is to be
    lengths   of thigh, shin and the leg as it was
    """
    upper, lower, old = lengths
    differ = upper * upper - lower * lower
    ahead = (differ + span * span) / (2 * span)  # where along the way the knee is: the law of cosines
    aside = math.sqrt(max(upper * upper - ahead * ahead, 0))
    side = _side_of_knee(limb, leg, (differ + old * old) / (2 * old))
    side = scaled(side, aside / max(length(side), 1e-12))
    # That side is turned along with the leg, from its old direction to the new one by the shortest way.
    turned = dot(side, way) / max(1 + dot(leg, way), SLACK)
    return sub(mixed(1.0, side, ahead - turned, way), scaled(leg, turned))


def _side_of_knee(limb, leg, along):
    """From the leg (a direction) to its knee, which is so far along it; towards the front where the leg is straight or
    bent the wrong way."""
    side = mixed(1.0, limb.thigh, -along, leg)
    bend = BENT - dot(side, limb.front)
    if bend > 0:
        across = mixed(1.0, limb.front, -dot(leg, limb.front), leg)
        side = mixed(1.0, side, bend, across)
    return side


def _swing(old, new):
    """The shortest turn from a direction to another of the same length: twice that to what lies halfway."""
    w, (x, y, z) = dot(old, add(old, new)) + 1e-30, cross(old, new)
    size = math.hypot(w, x, y, z)
    return w / size, x / size, y / size, z / size
