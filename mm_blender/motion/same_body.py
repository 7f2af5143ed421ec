# SPDX-License-Identifier: GPL-3.0-or-later
"""The same body twice: a character whose joints are another one's, whatever their names and axes, in any size."""

from dataclasses import replace

import numpy as np

from . import quat
from .skeleton import backward
from .stance import Stance, from_root

# Joints that are no further apart (share of the body's size) are at the same place.
NEAR = 1e-4


def joints_alike(source, target):
    """(Jt,) the source's joint that each of the target's is, or None if they are not the same body at rest."""
    skeletons = source.skeleton, target.skeleton
    if len(skeletons[0]) != len(skeletons[1]):
        return None
    theirs, mine = (places / size for places, _, size in map(_body, (source, target)))
    found = np.zeros(len(mine), dtype=int)

    def matches(joint, other):
        """Whether a joint of the target, and all that hangs from it, is another one of the source."""
        if joint and np.abs(mine[joint] - theirs[other]).max() > NEAR:
            return False
        below, left = skeletons[1].children(joint), list(skeletons[0].children(other))
        if len(below) != len(left):
            return False
        for child in below:
            same = next((one for one in left if matches(child, one)), None)
            if same is None:
                return False
            left.remove(same)
        found[joint] = other
        return True

    return found if matches(0, 0) else None


def facing_alike(source, target):
    """The target with its root turned so that its body lies as the source's does: a rest pose that is a line, or leads
    anywhere, does not tell where it faces, motion does."""
    (theirs, _, size), (mine, _, own_size) = map(_body, (source, target))
    roles = [role for role in target.roles if role != "root" and target.has(role) and source.has(role)]
    theirs, mine = (places[[character.joint(role) for role in roles], :2] @ (1, 1j) / length
                    for places, character, length in ((theirs, source, size), (mine, target, own_size)))
    yaw = float(np.angle(np.vdot(theirs, mine)))
    if abs(yaw) < NEAR:
        return target
    positions, rotations = (np.array(part, dtype=np.float64) for part in target.skeleton.rest)
    rotations[0] = quat.mul(rotations[0], quat.from_yaw(yaw))
    local = backward(target.skeleton, positions[None], rotations[None])
    return replace(target, skeleton=replace(target.skeleton, positions=local[0][0], rotations=local[1][0]))


def stance_alike(source, target, stance, joints):
    """The source's stance as the target has it, whose joints are these (Jt,) of the source."""
    (_, turns, size), (_, own, own_size) = map(_body, (source, target))
    scale = own_size / size
    return Stance(scale * stance.positions[joints],
                  quat.mul(quat.mul(stance.rotations[joints], quat.inv(turns[joints])), own), scale * stance.heights)


def _body(character):
    """Where joints (J, 3) are at rest, seen from the hips, how they are turned (J, 4), and how large that is. Where the
    root is below the hips is a matter of files."""
    places, turns = from_root(*character.skeleton.rest)
    places = places - places[character.joint("hips")]
    return places, turns, max(np.linalg.norm(places[1:]), 1e-9)
