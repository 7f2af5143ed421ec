# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs that bend so that their feet come to places, over all frames of a clip at once."""

import numpy as np

from ..motion import quat

# A leg is never straighter than this share of its length, unless it was before.
EXTENSION = 0.998


def legs(clip, character):
    """The legs that can: [(column of contacts, (thigh, shin, foot))], joints of the clip."""
    found, names = [], clip.skeleton.names
    for column, limb in enumerate(character.limbs):
        joints = [character.roles.get(role) for role in limb.roles[:3]]
        if all(name in names for name in joints):
            found.append((column, tuple(map(clip.skeleton.index, joints))))
    return found


def reach(skeleton, places, turns, joints, goal, turn):
    """Bend a leg, joints thigh, shin and foot, so that the foot comes to its goal (F, 3), turned by (F, 4): in places
    (F, J, 3) and turns (F, J, 4) of all joints in the world."""
    thigh, shin, foot = joints
    hip, knee, ankle = (places[:, joint].astype(np.float64) for joint in joints)
    upper, lower = knee - hip, ankle - knee
    leg, way = ankle - hip, goal - hip
    sizes, old, far = _length(upper) + _length(lower), _length(leg), _length(way)
    span = np.clip(far, np.abs(_length(upper) - _length(lower)) + 1e-5, np.maximum(sizes * EXTENSION, old))
    along = way / np.maximum(far, 1e-9)
    swing = quat.between(leg / np.maximum(old, 1e-9), along)
    side = quat.rotate(swing, upper)
    side = side - along * (side * along).sum(-1, keepdims=True)
    ahead = (_length(upper) ** 2 - _length(lower) ** 2 + span ** 2) / (2 * span)  # the law of cosines
    aside = np.sqrt(np.maximum(_length(upper) ** 2 - ahead ** 2, 0))
    new_knee = hip + ahead * along + aside * side / np.maximum(_length(side), 1e-9)
    new_ankle = hip + span * along
    below = {joint: [other for other in range(len(skeleton)) if joint in skeleton.ancestors(other)] for joint in joints}
    parts = (([each for each in below[thigh] if each not in {*below[shin], *below[foot]}], hip, hip,
              quat.mul(quat.between(quat.rotate(swing, upper), new_knee - hip), swing)),
             ([each for each in below[shin] if each not in below[foot]], knee, new_knee,
              quat.mul(quat.between(quat.rotate(swing, lower), new_ankle - new_knee), swing)),
             (below[foot], ankle, new_ankle, turn))
    for moved, was, there, swing in parts:
        places[:, moved] = there[:, None] + quat.rotate(swing[:, None], places[:, moved] - was[:, None])
        turns[:, moved] = quat.mul(swing[:, None], turns[:, moved])


def _length(vectors):
    return np.linalg.norm(vectors, axis=-1, keepdims=True)
