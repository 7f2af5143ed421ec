# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip as a new Action with ordinary keyframes, in the rig's own rotation modes."""

from collections import defaultdict
from dataclasses import dataclass
from functools import partial

import bpy
import numpy as np
from mathutils import Matrix

from ...errors import MotionError
from ...motion import quat, simplify
from .. import actions
from ..rig import armatures, controls
from .fcurves import BEZIER, LINEAR
from .from_curves import rotation_channel, rotations_of
from .sampling import scene_rate

ALIGNED = 3  # Blender's number for handles that stay in line
STRAIGHT = 0.02  # a limb whose middle joint is less beside it (share of its upper bone) has no plane
STILL = 1e-5  # metres: a joint that stays this near to its rest place gets no location keys


def write_action(ob, clip, name, start_frame=1, assign=False, tolerance=None, ik=False):
    """A new Action that shows the clip on this armature, from start_frame on.

    Every joint that is a bone of the rig gets rotation keys; location keys only where it leaves its rest place.

    tolerance  None for a key on every frame of the clip, 0 for keys only where something changes, or how many metres
               off a joint may be: then there are few keys, on frames of the scene, with handles between them
    ik         whether the IK controls of a control rig have keys too
    """
    channels = list(_channels(ob, clip))
    times = start_frame + np.arange(len(clip)) * (scene_rate() / clip.rate)
    if tolerance and len(clip) > 2:
        _simplify(ob, clip, channels, tolerance)
    elif tolerance is not None:
        for channel in channels:
            channel.kept = simplify.changing(channel.values)
    if ik and (known := controls.of(ob, clip.skeleton)) is not None:
        channels += _ik_channels(ob, clip, known)
    action = actions.new_action(name, ob)
    curves = actions.add_fcurves(action, [(channel.path, index, channel.bone) for channel in channels
                                          for index in range(channel.values.shape[1])])
    for channel in channels:
        for column in range(channel.values.shape[1]):
            channel.write(curves.pop(0), times, column)
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
    above = {name: clip.skeleton.names[clip.skeleton.parents[joint]] for name, joint in joints.items() if joint}
    if (known := controls.of(ob, clip.skeleton)) is not None:
        bones = [ob.data.bones[name] for name in joints]
    else:
        bones = armatures.with_ancestors(ob, joints)
        if any(bone.name not in joints or above.get(bone.name) != (bone.parent and bone.parent.name)
               or not (bone.use_inherit_rotation and bone.use_local_location) for bone in bones):
            return None
    rest = np.array([ob.data.bones[above[bone.name]].matrix_local.inverted() @ bone.matrix_local
                     if bone.name in above else bone.matrix_local for bone in bones])
    order = [joints[bone.name] for bone in bones]
    positions, rotations = clip.positions[:, order].astype(np.float64), clip.rotations[:, order].astype(np.float64)
    scale, turn, place = armatures.placement(armatures.world_matrix(ob), ob.name)
    positions[:, 0] = quat.inv_rotate(turn, positions[:, 0] - place)
    rotations[:, 0] = quat.mul(quat.inv(turn), rotations[:, 0])
    turns = quat.from_matrix(rest[:, :3, :3])
    locations = quat.inv_rotate(turns, positions / scale - rest[:, :3, 3])
    locations[:, np.abs(locations).max((0, 2)) * scale < STILL] = 0
    connected = [bone.use_connect for bone in bones]
    if known is not None:
        locations[:, connected] = 0
    elif locations[:, connected].any():
        return None
    rotations = quat.inv_mul(turns, rotations)
    return [(bone, locations[:, index], rotations[:, index]) for index, bone in enumerate(bones)]


def _bases(ob, clip, joints):
    """bases(), bone by bone."""
    scale, turn, place = armatures.placement(armatures.world_matrix(ob), ob.name)
    positions, rotations = clip.globals()
    positions = quat.inv_rotate(turn, positions - place) / scale
    rotations = quat.mul(quat.inv(turn), rotations)
    posed = {}
    for bone in armatures.with_ancestors(ob, joints):
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
            location, rotation = basis[:3, 3], armatures.rotation_of(basis[:3, :3])
        place_now, turn_now = rest_place + quat.rotate(rest_turn, location), quat.mul(rest_turn, rotation)
        if bone.name in joints:
            turn_now = rotations[:, joint]
            if not bone.use_connect:
                place_now = positions[:, joint]
        posed[bone.name] = place_now, turn_now


def _asked(bone, positions, rotations, above):
    """Blender's own answer for bones that inherit in a way of their own."""
    parents = [np.broadcast_to(part, (len(positions), part.shape[-1])) for part in above]
    bases = _local(bone, _matrices(positions, rotations),
                   _matrices(*parents) @ np.linalg.inv(np.array(bone.parent.matrix_local)))
    return bases[:, :3, 3], armatures.rotation_of(bases[:, :3, :3])


def _local(bone, poses, carried):
    """Bases (F, 4, 4) of a bone from its poses and from what has become of the space that it hangs in, as Blender has
    it: some bones inherit in a way of their own."""
    rest = bone.parent.matrix_local if bone.parent is not None else Matrix()
    return np.array([bone.convert_local_to_pose(
        Matrix(pose), bone.matrix_local, parent_matrix=Matrix(space) @ rest, parent_matrix_local=rest, invert=True)
        for pose, space in zip(poses, carried)])


def _matrices_of(positions, rotations):
    """J times (F, 4, 4), of positions (F, J, 3) and rotations (F, J, 4)."""
    return [_matrices(place, turn) for place, turn in zip(positions.swapaxes(0, 1), rotations.swapaxes(0, 1))]


def _matrices(positions, rotations):
    matrices = np.zeros((len(positions), 4, 4))
    matrices[:, :3, :3], matrices[:, :3, 3], matrices[:, 3, 3] = quat.to_matrix(rotations), positions, 1
    return matrices


@dataclass(eq=False)
class _Channel:
    """One property of one bone.

    values  (F, C), or (1, C) for one that never changes
    kept    (F,) which frames have keys, or None for all
    smooth  whether the keys have handles
    """

    bone: str
    prop: str
    values: np.ndarray
    kept: np.ndarray | None = None
    smooth: bool = False

    @property
    def path(self):
        dot = "" if self.prop.startswith("[") else "."
        return f'pose.bones["{bpy.utils.escape_identifier(self.bone)}"]{dot}{self.prop}'

    def write(self, curve, times, column):
        """Keys of one column at times (F,) on a curve without any."""
        values = self.values[:, column]
        frames = np.arange(len(values)) if self.kept is None else np.flatnonzero(self.kept)
        if self.kept is not None and np.ptp(values) < simplify.SAME:
            frames = np.unique(frames[[0, -1]])
        points, keys = np.stack([times[frames], values[frames]], axis=-1), curve.keyframe_points
        keys.add(len(frames))
        keys.foreach_set("co", points.astype(np.float32).reshape(-1))
        keys.foreach_set("interpolation", np.full(len(frames), BEZIER if self.smooth else LINEAR, dtype=np.int32))
        if self.smooth:
            slopes = simplify.slopes(values)[frames] / (times[1] - times[0])
            _set_handles(keys, points, slopes)
        curve.update()


def _channels(ob, clip):
    """The channels that need keys."""
    for bone, locations, rotations in bases(ob, clip):
        posed = ob.pose.bones[bone.name]
        yield _Channel(bone.name, rotation_channel(posed.rotation_mode), _spelled(rotations, posed.rotation_mode))
        # A channel without keys keeps the pose's present value, so that has to be the right one.
        if locations.any() or np.abs(posed.location).max() > STILL:
            yield _Channel(bone.name, "location", locations if locations.any() else locations[:1])
        if np.abs(np.array(posed.scale) - 1).max() > 1e-5:
            yield _Channel(bone.name, "scale", np.ones((1, 3)))
    if (known := controls.of(ob, clip.skeleton)) is not None:
        for name in known.still:
            mode = ob.pose.bones[name].rotation_mode
            yield _Channel(name, rotation_channel(mode), _spelled(quat.identity((1,)), mode))
            yield _Channel(name, "location", np.zeros((1, 3)))
            yield _Channel(name, "scale", np.ones((1, 3)))
        for (name, prop), value in known.switches.items():
            yield _Channel(name, f'["{bpy.utils.escape_identifier(prop)}"]', np.full((1, 1), float(value)))


def _ik_channels(ob, clip, known):
    """What IK controls have to be so that limbs stay as they are when IK is switched on."""
    scale, turn, place = armatures.placement(armatures.world_matrix(ob), ob.name)
    positions, rotations = clip.globals()
    positions = quat.inv_rotate(turn, positions - place) / scale
    posed = dict(zip(clip.skeleton.names, _matrices_of(positions, quat.mul(quat.inv(turn), rotations))))
    rest = {name: np.array(ob.data.bones[name].matrix_local) for name in (*posed, *known.ik)}
    carried = {name: matrices @ np.linalg.inv(rest[name]) for name, matrices in posed.items()}
    for name, (stands_for, _, *below) in known.ik.items():
        wanted = carried[stands_for] @ rest[name]
        if below:
            wanted[:, :3, 3] = _pole(wanted[:, :3, 3], *(posed[joint][:, :3, 3] for joint in (stands_for, *below)))
        carried[name] = wanted @ np.linalg.inv(rest[name])
    for name, (_, above, *below) in known.ik.items():
        bases = _local(ob.data.bones[name], carried[name] @ rest[name], carried[above])
        yield _Channel(name, "location", bases[:, :3, 3])
        if not below:
            mode = ob.pose.bones[name].rotation_mode
            yield _Channel(name, rotation_channel(mode), _spelled(armatures.rotation_of(bases[:, :3, :3]), mode))
    for (name, prop), value in known.poles.items():
        yield _Channel(name, f'["{bpy.utils.escape_identifier(prop)}"]', np.full((1, 1), float(value)))


def _pole(usual, upper, middle, lower):
    """Where (F, 3) the pole of a knee or elbow is: in the plane of the limb, or as usual where that is stretched."""
    along = _unit(lower - upper)

    def aside(points):
        ways = points - upper
        return ways - along * (ways * along).sum(-1, keepdims=True)

    bent = aside(middle)
    straight = STRAIGHT * np.linalg.norm(middle - upper, axis=-1, keepdims=True)
    share = np.clip(np.linalg.norm(bent, axis=-1, keepdims=True) / straight - 1, 0, 1)
    way = _unit(share * _unit(bent) + (1 - share) * _unit(aside(usual)))
    return middle + way * np.linalg.norm(usual - middle, axis=-1, keepdims=True)


def _unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


def _simplify(ob, clip, channels, tolerance):
    """Choose keys that keep every joint within the tolerance."""
    scale, *_ = armatures.placement(armatures.world_matrix(ob), ob.name)
    alike = defaultdict(list)
    for channel in channels:
        if len(channel.values) == len(clip):
            mode = None if channel.prop == "location" else ob.pose.bones[channel.bone].rotation_mode
            alike[mode].append(channel)
    curves = [_curves(clip, mode, found, scale) for mode, found in alike.items()]
    every = max(1, round(clip.rate / scene_rate()))
    for found, kept in zip(alike.values(), simplify.simplify(clip, curves, tolerance, every)):
        for channel, frames in zip(found, kept):
            channel.kept, channel.smooth = frames, True


def _curves(clip, mode, channels, scale):
    """Channels of one rotation mode, or locations (mode None), as the engine's Curves."""
    values = np.stack([channel.values for channel in channels])
    joints = np.array([clip.skeleton.index(channel.bone) for channel in channels])
    if mode is None:
        return simplify.Curves(joints, values * scale)
    if values.shape[-1] == 3:
        values = np.pad(values, ((0, 0), (0, 0), (0, 1)))  # rotations_of() reads four numbers in every mode
    return simplify.Curves(joints, values, partial(rotations_of, mode=mode))


def _set_handles(keys, points, slopes):
    """Handles at a third of the way to the next keys, in line: a cubic curve that a hand can change."""
    ways = np.diff(points[:, 0]) / 3
    for side, way in (("left", -np.append(ways[:1], ways)), ("right", np.append(ways, ways[-1:]))):
        handles = points + np.stack([way, slopes * way], axis=-1)
        keys.foreach_set(f"handle_{side}_type", np.full(len(points), ALIGNED, dtype=np.int32))
        keys.foreach_set(f"handle_{side}", handles.astype(np.float32).reshape(-1))


def _spelled(rotations, mode):
    """Rotations (F, 4) as the numbers that a rotation mode keys, without jumps from frame to frame."""
    if mode == "QUATERNION":
        return quat.unroll(rotations)
    if mode == "AXIS_ANGLE":
        return _axis_angles(quat.unroll(rotations))
    return _eulers(rotations, mode)


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
