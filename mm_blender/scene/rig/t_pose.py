# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose that the artist takes for the T-pose of a rig whose rest pose is none.

It is kept by bone name as what differs from the rest pose, so it survives another roll, new bones, and an object that
is moved, turned or scaled.
"""

import json

import numpy as np

from ...errors import MotionError
from ...motion import quat
from .armatures import placement, rest_matrices, rotation_of, skeleton_of, world_matrix

STILL = 1e-4  # a bone that is turned by less (half radians) stands as in the rest pose: Blender is no more exact


def set_stance(ob):
    """Take the pose that the armature shows for its T-pose; returns how many bones differ from the rest pose."""
    if ob.data.pose_position == "REST":
        raise MotionError(f'"{ob.name}" shows its rest position: switch it to Pose Position, then pose it.')
    bones = ob.data.bones
    names = bones.keys()
    posed = rotation_of(np.array([ob.pose.bones[name].matrix for name in names])[:, :3, :3])
    turns = dict(zip(names, quat.mul(posed, quat.inv(_rest(ob, names)))))
    own = {name: quat.mul(quat.inv(turns[bone.parent.name]), turns[name]) if bone.parent else turns[name]
           for name, bone in bones.items()}
    differing = {name: (turn * np.sign(turn[0] or 1)).tolist() for name, turn in own.items()
                 if np.abs(turn[1:]).max() > STILL}
    ob.mm.stance = json.dumps(differing)
    return len(differing)


def clear_stance(ob):
    """The rest pose stands for itself again."""
    ob.mm.stance = ""


def has_stance(ob):
    return bool(ob.mm.stance)


def stance_of(ob, names=None):
    """Rotations (J, 4) in the world of bones (those of skeleton_of(ob) unless named) in the pose that was taken for the
    T-pose; None where none was: what Retarget takes as source_stance and target_stance."""
    if not has_stance(ob):
        return None
    names = skeleton_of(ob).names if names is None else names
    own, turns = _kept(ob), {}
    for bone in ob.data.bones:  # parents come first
        above = turns[bone.parent.name] if bone.parent else quat.identity()
        turns[bone.name] = quat.mul(above, own[bone.name]) if bone.name in own else above
    _, turn, _ = placement(world_matrix(ob), ob.name)
    return quat.mul(turn, quat.mul(np.array([turns[name] for name in names]), _rest(ob, names)))


def _kept(ob):
    """Bone → how it is turned (4,), as set_stance() wrote it."""
    try:
        turns = {name: np.array(turn, dtype=np.float64) for name, turn in json.loads(ob.mm.stance).items()}
        if all(turn.shape == (4,) and abs(np.linalg.norm(turn) - 1) < 0.01 for turn in turns.values()):
            return turns
    except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
        pass
    raise MotionError(f'The T-pose that "{ob.name}" keeps is damaged: set it again with Use Current Pose as T-Pose.')


def _rest(ob, names):
    """Rotations (N, 4) of the rest pose in the armature's space."""
    return rotation_of(rest_matrices(ob, names)[:, :3, :3])
