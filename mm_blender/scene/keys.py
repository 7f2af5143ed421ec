# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip as a new Action with ordinary keyframes, in the rig's own rotation modes."""

import bpy
import numpy as np
from mathutils import Matrix

from ..errors import MotionError
from ..motion import quat
from . import actions, rig
from .fcurves import LINEAR
from .plain import rotation_channel
from .sampling import scene_rate

STILL = 1e-5  # metres: a joint that stays this near to its rest place gets no location keys


def write_action(ob, clip, name, start_frame=1, assign=False):
    """A new Action that shows the clip on this armature, from start_frame on.

    Every joint that is a bone of the rig gets rotation keys; location keys only where it leaves its rest place.
    """
    times = start_frame + np.arange(len(clip)) * (scene_rate() / clip.rate)
    action = actions.new_action(name, ob)
    channels, columns = [], []
    for bone, locations, rotations in bases(ob, clip):
        for prop, values in _keyed(ob.pose.bones[bone.name], locations, rotations):
            path = f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"].{prop}'
            channels += [(path, index, bone.name) for index in range(values.shape[1])]
            columns += list(values.T)
    for curve, values in zip(actions.add_fcurves(action, channels), columns):
        _key(curve, times, values)
    if assign:
        actions.assign(ob, action)
    return action


def bases(ob, clip):
    """For the bone of each joint, parents first: the locations (F, 3) and rotations (F, 4) that bring it into place."""
    joints = {joint: index for index, joint in enumerate(clip.skeleton.names) if joint in ob.data.bones}
    if not joints:
        raise MotionError(f'The clip "{clip.name}" has no joint that is a bone of the armature "{ob.name}".')
    return _local_bases(ob, clip, joints) or _bases(ob, clip, joints)


def _local_bases(ob, clip, joints):
    """bases(), all at once, where bones hang from each other like the joints do; otherwise None."""
    bones = rig.with_ancestors(ob, joints)
    above = {name: clip.skeleton.names[clip.skeleton.parents[joint]] for name, joint in joints.items() if joint}
    if any(bone.name not in joints or above.get(bone.name) != (bone.parent and bone.parent.name)
           or not (bone.use_inherit_rotation and bone.use_local_location) for bone in bones):
        return None
    rest = np.array([bone.matrix_local if bone.parent is None
                     else bone.parent.matrix_local.inverted() @ bone.matrix_local for bone in bones])
    order = [joints[bone.name] for bone in bones]
    positions, rotations = clip.positions[:, order].astype(np.float64), clip.rotations[:, order].astype(np.float64)
    scale, turn, place = rig.placement(rig.world_matrix(ob), ob.name)
    positions[:, 0] = quat.inv_rotate(turn, positions[:, 0] - place)
    rotations[:, 0] = quat.mul(quat.inv(turn), rotations[:, 0])
    turns = quat.from_matrix(rest[:, :3, :3])
    locations = quat.inv_rotate(turns, positions / scale - rest[:, :3, 3])
    locations[:, np.abs(locations).max((0, 2)) * scale < STILL] = 0
    if any(bone.use_connect and locations[:, index].any() for index, bone in enumerate(bones)):
        return None
    rotations = quat.inv_mul(turns, rotations)
    return [(bone, locations[:, index], rotations[:, index]) for index, bone in enumerate(bones)]


def _bases(ob, clip, joints):
    """bases(), bone by bone."""
    scale, turn, place = rig.placement(rig.world_matrix(ob), ob.name)
    positions, rotations = clip.globals()
    positions = quat.inv_rotate(turn, positions - place) / scale
    rotations = quat.mul(quat.inv(turn), rotations)
    posed = {}
    for bone in rig.with_ancestors(ob, joints):
        rest = np.array(bone.matrix_local if bone.parent is None
                        else bone.parent.matrix_local.inverted() @ bone.matrix_local)
        rest_turn, rest_place = quat.from_matrix(rest[:3, :3]), rest[:3, 3]
        above = posed.get(bone.parent and bone.parent.name)
        if above is not None:
            rest_place, rest_turn = above[0] + quat.rotate(above[1], rest_place), quat.mul(above[1], rest_turn)
        if bone.name in joints:
            joint = joints[bone.name]
            location = quat.inv_rotate(rest_turn, positions[:, joint] - rest_place)
            rotation = quat.inv_mul(rest_turn, rotations[:, joint])
            if bone.parent is not None and not (bone.use_inherit_rotation and bone.use_local_location):
                location, rotation = _asked(bone, positions[:, joint], rotations[:, joint], above)
            if bone.use_connect or np.abs(location).max() * scale < STILL:
                location = np.zeros_like(location)
            yield bone, location, rotation
        else:  # a bone between joints stays as it is posed
            basis = np.array(ob.pose.bones[bone.name].matrix_basis)
            location, rotation = basis[:3, 3], rig.rotation_of(basis[:3, :3])
        place_now, turn_now = rest_place + quat.rotate(rest_turn, location), quat.mul(rest_turn, rotation)
        if bone.name in joints:
            turn_now = rotations[:, joint]
            if not bone.use_connect:
                place_now = positions[:, joint]
        posed[bone.name] = place_now, turn_now


def _asked(bone, positions, rotations, above):
    """Blender's own answer for bones that inherit in a way of their own."""
    parents = [np.broadcast_to(part, (len(positions), part.shape[-1])) for part in above]
    poses, parents = _matrices(positions, rotations), _matrices(*parents)
    bases = np.array([bone.convert_local_to_pose(
        Matrix(pose), bone.matrix_local, parent_matrix=Matrix(parent),
        parent_matrix_local=bone.parent.matrix_local, invert=True) for pose, parent in zip(poses, parents)])
    return bases[:, :3, 3], rig.rotation_of(bases[:, :3, :3])


def _matrices(positions, rotations):
    matrices = np.zeros((len(positions), 4, 4))
    matrices[:, :3, :3], matrices[:, :3, 3], matrices[:, 3, 3] = quat.to_matrix(rotations), positions, 1
    return matrices


def _keyed(bone, locations, rotations):
    """(property, values) for the channels that need keys."""
    mode = bone.rotation_mode
    if mode == "QUATERNION":
        values = quat.unroll(rotations)
    elif mode == "AXIS_ANGLE":
        values = _axis_angles(quat.unroll(rotations))
    else:
        values = _eulers(rotations, mode)
    yield rotation_channel(mode), values
    # A channel without keys keeps the pose's present value, so that has to be the right one.
    if locations.any() or any(bone.location):
        yield "location", locations if locations.any() else locations[:1]
    if tuple(bone.scale) != (1, 1, 1):
        yield "scale", np.ones((1, 3))


def _axis_angles(rotations):
    """Angle and axis (F, 4)."""
    sine = np.sqrt((rotations[:, 1:] ** 2).sum(-1, keepdims=True))
    axes = np.where(sine > 1e-7, rotations[:, 1:] / np.maximum(sine, 1e-7), [0, 1, 0])
    return np.concatenate([2 * np.arctan2(sine, rotations[:, :1]), axes], axis=-1)


def _eulers(rotations, order):
    """X, Y, Z angles (F, 3) that do not jump from frame to frame."""
    angles = quat.to_euler(rotations.astype(np.float64), order)
    other = np.stack([angles[:, 0] + np.pi, np.pi - angles[:, 1], angles[:, 2] + np.pi], axis=-1)
    for frame in range(1, len(angles)):  # each rotation has two spellings: take the one nearer to the frame before
        before = angles[frame - 1]
        both = np.stack([angles[frame], other[frame]])
        both -= 2 * np.pi * np.round((both - before) / (2 * np.pi))
        angles[frame] = both[np.abs(both - before).sum(-1).argmin()]
    return angles[:, [order.index(axis) for axis in "XYZ"]]


def _key(curve, times, values):
    points = np.stack([times[:len(values)], values], axis=-1).astype(np.float32)
    curve.keyframe_points.add(len(values))
    curve.keyframe_points.foreach_set("co", points.reshape(-1))
    curve.keyframe_points.foreach_set("interpolation", np.full(len(values), LINEAR, dtype=np.int32))
    curve.update()
