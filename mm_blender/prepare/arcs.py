# SPDX-License-Identifier: GPL-3.0-or-later
"""Arc copies: a cycle that goes straight on, bent to the left and to the right, for motion that has no turns.

The root goes along an arc, and the whole body turns with it. A foot that stands would be dragged along: so each foot
turns with the root as that was in the middle of its contact, and on from there to the next contact while it swings.
The legs bend to reach.
"""

from itertools import pairwise

import numpy as np

from ..motion import quat
from ..motion.clip import Tag
from ..motion.skeleton import backward
from .reach import legs, reach
from .root import root_path, rounds

# The tag of what was made from other motion.
MADE = "made"
# Radians per second at most, and heights of the hips per second² towards the middle of the arc: nobody runs round a
# corner upright. As shares of that the arcs that are made.
FASTEST, TIGHTEST, BENDS = 2.1, 5.0, (0.5, 1.0)
# Heights of the hips per second at least that somebody goes. Radians per second by which a straight cycle turns at
# most, and a turn at least; seconds over which that is seen.
GOING, STRAIGHT, TURNS, WHILE = 0.3, 0.15, 0.5, 1.0
STANDS = 0.15  # heights of the hips that the root of one who stands sways at most


def turns(clip, character):
    """Whether somebody goes and turns in a clean clip."""
    span = min(round(WHILE * clip.rate), len(clip) - 1)
    if span < 1:
        return False
    path, yaw = root_path(clip)
    turned, gone = np.abs(yaw[span:] - yaw[:-span]), np.linalg.norm(path[span:] - path[:-span], axis=-1)
    seconds = span / clip.rate
    return bool(((turned > TURNS * seconds) & (gone > GOING * _height(character) * seconds)).any())


def stands(clip, character):
    """Whether somebody stands in one place in a clean clip, from beginning to end."""
    return bool(np.ptp(clip.positions[:, 0, :2], axis=0).max() < STANDS * _height(character))


def is_straight_cycle(clip, character):
    """Whether a clean clip is a loop that goes straight on."""
    path, yaw = root_path(clip)
    gone, turned = np.linalg.norm(path[-1] - path[0]), abs(yaw[-1] - yaw[0])
    return bool(clip.loop and len(clip) > 2 and gone > GOING * _height(character) * clip.duration
                and turned < STRAIGHT * clip.duration)


def arcs_of(clip, character):
    """A straight cycle on arcs: [(what is added to its name, the clip)]."""
    path, _ = root_path(clip)
    speed = np.linalg.norm(path[-1] - path[0]) / clip.duration
    most = min(FASTEST, TIGHTEST * _height(character) / speed)
    found = []
    for share in BENDS:
        for way, sign in (("left", 1), ("right", -1)):
            arc = bent(clip, character, sign * share * most)
            arc = arc.with_changes(tags=(*arc.tags, Tag(MADE, 0.0, arc.duration)))
            found.append((f" (arc {way} {np.degrees(share * most):.0f})", arc))
    return found


def bent(clip, character, turning):
    """A clean clip that is a loop, with its path turning by so many radians per second (to the left) on top."""
    last = len(clip) - 1
    path = rounds(*root_path(clip), 2 * last)[0]
    angles = turning * (np.arange(len(path)) - 2 * last) / clip.rate
    steps = _turned(np.diff(path, axis=0), (angles[1:] + angles[:-1]) / 2)
    arc = np.concatenate([[[0, 0]], steps.cumsum(axis=0)])
    arc += path[2 * last] - arc[2 * last]

    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    now = slice(2 * last, 3 * last + 1)
    positions[:, 0, :2] = arc[now]
    rotations[:, 0] = quat.mul(quat.from_yaw(angles[now]), rotations[:, 0])
    whole = clip.with_changes(positions=positions, rotations=rotations)
    places, turns = whole.globals()
    before, _ = clip.globals()
    for column, joints in legs(clip, character):
        if clip.contacts[:, column].any():
            at = _when(clip.contacts[:, column]) + 2 * last
            turn = np.interp(at, np.arange(len(path)), angles)
            there, was = (np.stack([np.interp(at, np.arange(len(path)), line[:, axis]) for axis in (0, 1)], axis=-1)
                          for line in (arc, path))
            goal = before[:, joints[2]].astype(np.float64)
            goal[:, :2] = there + _turned(goal[:, :2] - was, turn)
            reach(clip.skeleton, places, turns, joints, goal, quat.from_yaw(turn - angles[now]))
    positions, rotations = backward(clip.skeleton, places, turns)
    return clip.with_changes(positions=positions, rotations=quat.unroll(rotations))


def _when(contacts):
    """(F,) of which frame of the root a foot takes its turn: the middle of each contact as long as it stands, and on to
    that of the next one meanwhile. contacts: (F,) of a loop."""
    last = len(contacts) - 1
    around = np.tile(contacts[:-1], 3)
    if around.all():
        return np.arange(last + 1.0)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], around, [False]]).astype(np.int8))).reshape(-1, 2).tolist()
    # What the ends of these rounds cut has its middle elsewhere.
    spans = [(start, stop) for start, stop in edges
             if not (around[0] and around[-1] and (start == 0 or stop == 3 * last))]
    frames = np.arange(3 * last, dtype=np.float64)
    when = frames.copy()
    for (start, stop), (following, end) in pairwise(spans):
        middle, other = (start + stop - 1) / 2, (following + end - 1) / 2
        when[start:stop] = middle
        share = (np.arange(stop, following) - stop + 1) / (following - stop + 1)
        when[stop:following] = middle + (other - middle) * share * share * (3 - 2 * share)
        when[following:end] = other
    middle = when[last:2 * last] - last
    return np.append(middle, middle[0] + last)


def _turned(points, angles):
    """Points (F, 2) turned by angles (F,)."""
    x, y = points.T
    return np.stack([x * np.cos(angles) - y * np.sin(angles), x * np.sin(angles) + y * np.cos(angles)], axis=-1)


def _height(character):
    """How high the hips are, about."""
    return 1.1 * character.leg
