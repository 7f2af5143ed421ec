# SPDX-License-Identifier: GPL-3.0-or-later
"""Arc copies: a cycle that goes straight on, bent to the left and to the right, for motion that has no turns.

The root goes along an arc, and the whole body turns with it. A foot that stands would be dragged along: so each foot
turns with the root as that was in the middle of its contact, and on from there to the next contact while it swings.
The legs bend to reach.
"""

import numpy as np

from ..motion import quat
from ..motion.clip import Tag
from ..motion.skeleton import backward
from .root import rounds

# The tag of what was made from other motion, and not by whoever made that.
MADE = "made"
# Radians per second at most, and m/s² towards the middle of the arc: nobody runs round a corner upright. As shares of
# that the arcs that are made.
FASTEST, TIGHTEST, BENDS = 2.1, 5.0, (0.5, 1.0)
# Lengths of the hips' height per second at least that a cycle goes, and radians per second at most that it turns by
# itself; who goes and turns faster than that for so many seconds has turns of his own.
GOING, STRAIGHT, TURNS, WHILE = 0.3, 0.15, 0.5, 1.0
# A leg is never straighter than this share of its length, unless it was before.
EXTENSION = 0.998


def turns_by_itself(clip):
    """Whether somebody goes somewhere and turns in a clean clip."""
    span = min(round(WHILE * clip.rate), len(clip) - 1)
    if span < 1:
        return False
    path, yaw = _root(clip)
    turned = np.abs(yaw[span:] - yaw[:-span])
    gone = np.linalg.norm(path[span:] - path[:-span], axis=-1)
    seconds = span / clip.rate
    return bool(((turned > TURNS * seconds) & (gone > GOING * _height(clip) * seconds)).any())


def arcs_of(clip, character):
    """Copies of a clean clip on arcs, with names of their own; none unless it is a loop that goes straight on."""
    if not clip.loop or len(clip) < 3:
        return []
    path, yaw = _root(clip)
    speed = np.linalg.norm(path[-1] - path[0]) / clip.duration
    if speed < GOING * _height(clip) or abs(yaw[-1] - yaw[0]) > STRAIGHT * clip.duration:
        return []
    most = min(FASTEST, TIGHTEST / speed)
    return [_named(bent(clip, character, sign * share * most), way, np.degrees(share * most))
            for share in BENDS for way, sign in (("left", 1), ("right", -1))]


def bent(clip, character, turning):
    """A clean clip that is a loop, with its path turning by so many radians per second (to the left) on top."""
    last = len(clip) - 1
    path, yaw = rounds(*_root(clip), 2 * last)
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
    before = clip.globals()
    for column, limb in enumerate(character.limbs):
        joints = [character.roles.get(role) for role in limb.roles[:3]]
        if clip.contacts[:, column].any() and all(name in clip.skeleton.names for name in joints):
            thigh, shin, foot = map(clip.skeleton.index, joints)
            at = _when(clip.contacts[:, column]) + 2 * last
            turn = np.interp(at, np.arange(len(path)), angles)
            there, was = (np.stack([np.interp(at, np.arange(len(path)), line[:, axis]) for axis in (0, 1)], axis=-1)
                          for line in (arc, path))
            goal = before[0][:, foot].astype(np.float64)
            goal[:, :2] = there + _turned(goal[:, :2] - was, turn)
            _reach(clip.skeleton, places, turns, (thigh, shin, foot), goal, turn - angles[now])
    positions, rotations = backward(clip.skeleton, places, turns)
    return clip.with_changes(positions=positions, rotations=quat.unroll(rotations))


def _named(clip, way, degrees):
    return clip.with_changes(name=f"{clip.name} (arc {way} {degrees:.0f})",
                             tags=(*clip.tags, Tag(MADE, 0.0, clip.duration)))


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
    for (start, stop), (following, end) in zip(spans, spans[1:]):
        middle, other = (start + stop - 1) / 2, (following + end - 1) / 2
        when[start:stop] = middle
        share = (np.arange(stop, following) - stop + 1) / (following - stop + 1)
        when[stop:following] = middle + (other - middle) * share * share * (3 - 2 * share)
        when[following:end] = other
    middle = when[last:2 * last] - last
    return np.append(middle, middle[0] + last)


def _reach(skeleton, places, turns, joints, goal, yaw):
    """Bend a leg, joints thigh, shin and foot, so that the foot comes to its goal (F, 3), turned by a yaw (F,): in
    places (F, J, 3) and turns (F, J, 4) of all joints in the world."""
    thigh, shin, foot = joints
    hip, knee, ankle = (places[:, joint].astype(np.float64) for joint in joints)
    upper, lower = knee - hip, ankle - knee
    leg, way = ankle - hip, goal - hip
    sizes, old, far = _length(upper) + _length(lower), _length(leg), _length(way)
    reach = np.clip(far, np.abs(_length(upper) - _length(lower)) + 1e-5, np.maximum(sizes * EXTENSION, old))
    along = way / np.maximum(far, 1e-9)
    swing = quat.between(leg / np.maximum(old, 1e-9), along)
    side = quat.rotate(swing, upper)
    side = side - along * (side * along).sum(-1, keepdims=True)
    ahead = (_length(upper) ** 2 - _length(lower) ** 2 + reach ** 2) / (2 * reach)  # the law of cosines
    aside = np.sqrt(np.maximum(_length(upper) ** 2 - ahead ** 2, 0))
    new_knee = hip + ahead * along + aside * side / np.maximum(_length(side), 1e-9)
    new_ankle = hip + reach * along
    below = {joint: [other for other in range(len(skeleton)) if joint in skeleton.ancestors(other)] for joint in joints}
    parts = (([each for each in below[thigh] if each not in {*below[shin], *below[foot]}], hip, hip,
              quat.mul(quat.between(quat.rotate(swing, upper), new_knee - hip), swing)),
             ([each for each in below[shin] if each not in below[foot]], knee, new_knee,
              quat.mul(quat.between(quat.rotate(swing, lower), new_ankle - new_knee), swing)),
             (below[foot], ankle, new_ankle, quat.from_yaw(yaw)))
    for moved, was, there, turn in parts:
        places[:, moved] = there[:, None] + quat.rotate(turn[:, None], places[:, moved] - was[:, None])
        turns[:, moved] = quat.mul(turn[:, None], turns[:, moved])


def _root(clip):
    """Where the root is, (F, 2), and its yaw (F,), unwrapped."""
    turns = clip.rotations[:, 0].astype(np.float64)
    return clip.positions[:, 0, :2].astype(np.float64), np.unwrap(2 * np.arctan2(turns[:, 3], turns[:, 0]))


def _height(clip):
    """How high the highest joints are that the root carries, about half of which are legs."""
    return float(np.ptp(clip.globals()[0][0, :, 2])) / 2


def _turned(points, angles):
    """Points (F, 2) turned by angles (F,)."""
    x, y = points.T
    return np.stack([x * np.cos(angles) - y * np.sin(angles), x * np.sin(angles) + y * np.cos(angles)], axis=-1)


def _length(vectors):
    return np.linalg.norm(vectors, axis=-1, keepdims=True)
