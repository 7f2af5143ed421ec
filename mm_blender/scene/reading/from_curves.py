# SPDX-License-Identifier: GPL-3.0-or-later
"""A plain rig's motion straight from its F-curves, all frames at once."""

import time

import numpy as np

from ...errors import MotionError
from ...motion import quat
from ...motion.skeleton import backward
from .. import actions
from ..actions import bone_of
from ..rig import armatures
from .fcurves import key_points, sample

SLICE = 0.04  # seconds of work between two signs of life
BATCH = 2**16  # values that are read at once
BLOCK = 1024  # frames that are posed at once

# Where each channel lies in a row of ten numbers: location, rotation (as its mode has it), scale.
COLUMNS = {"location": 0, "rotation_quaternion": 3, "rotation_axis_angle": 3, "rotation_euler": 3, "scale": 7}
MODES = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def read(source, skeleton, frames):
    """Local positions (F, J, 3) and rotations (F, J, 4). Yields the fraction that is done."""
    ob, _, _ = source.fetch()
    pose = _Pose(ob, skeleton, len(frames))
    yield from pose.fill(source, frames)
    positions = np.empty((len(frames), len(skeleton), 3), dtype=np.float32)
    rotations = np.empty((len(frames), len(skeleton), 4), dtype=np.float32)
    for start in range(0, len(frames), BLOCK):
        block = slice(start, start + BLOCK)
        pose.joints(block, positions[block], rotations[block])
        yield 0.7 + 0.3 * min(1, (start + BLOCK) / len(frames))
    return positions, rotations


def rotation_channel(mode):
    """The property that a rotation mode uses."""
    return MODES.get(mode, "rotation_euler")


def rotations_of(numbers, mode):
    """Quaternions (4, …) from the numbers (4, …) that a rotation mode keys; components first, as the table has them."""
    if mode == "QUATERNION":
        length = np.sqrt((numbers * numbers).sum(0))
        none = length < 1e-12
        q = numbers / np.where(none, 1, length)
        q[0] += none
        return q
    if mode == "AXIS_ANGLE":
        axis = numbers[1:]
        length = np.sqrt((axis * axis).sum(0))
        half = np.where(length > 1e-12, numbers[0] / 2, 0)
        return np.concatenate([np.cos(half)[None], np.sin(half) * axis / np.maximum(length, 1e-12)])
    first, second, third = ("XYZ".index(axis) for axis in mode)
    sign = np.float32(1 if (second - first) % 3 == 1 else -1)
    half = numbers[:3] / 2
    cos, sin = np.cos(half), np.sin(half)
    none, one, two, both = (a * b for a in (cos[first], sin[first]) for b in (cos[second], sin[second]))
    q = np.empty(numbers.shape, dtype=np.float32)
    q[0] = none * cos[third] + sign * (both * sin[third])
    q[1 + first] = two * cos[third] - sign * (one * sin[third])
    q[1 + second] = one * cos[third] + sign * (two * sin[third])
    q[1 + third] = none * sin[third] - sign * (both * cos[third])
    return q


class _Pose:
    """The ten numbers of every bone that matters, and of the object itself, at every frame.

    table  (10, B + 1, F), the object comes last
    """

    def __init__(self, ob, skeleton, count):
        bones = armatures.with_ancestors(ob, skeleton.names)
        if len(bones) == len(skeleton):
            bones = [ob.data.bones[name] for name in skeleton.names]
        self.skeleton = skeleton
        self.object_name = ob.name
        self.rows = {bone.name: row for row, bone in enumerate(bones)}
        self.rows[None] = len(bones)  # the object's own channels
        self.parents = np.array([self.rows[bone.parent.name] if bone.parent else -1 for bone in bones])
        self.joints_at = np.array([self.rows[name] for name in skeleton.names])
        self.connected = np.array([bone.use_connect and bone.parent is not None for bone in bones])
        rest = armatures.rest_matrices(ob, [bone.name for bone in bones])
        local = np.where((self.parents < 0)[:, None, None], rest, np.linalg.inv(rest[self.parents]) @ rest)
        self.rest_axes = local[:, :3, :3].astype(np.float32)
        self.rest_rotations = quat.from_matrix(self.rest_axes)
        self.rest_positions = local[:, :3, 3].astype(np.float32)
        self.modes = np.array([*(ob.pose.bones[bone.name].rotation_mode for bone in bones), ob.rotation_mode])
        self.present = self._present(ob, bones)
        self.table = np.empty((*self.present.shape, count), dtype=np.float32)
        self.keyed = np.zeros(self.present.shape, dtype=bool)
        # What stands between the object's own channels and the world: its parent.
        world = armatures.world_matrix(ob)
        self.before_object = world @ np.linalg.inv(np.array(ob.matrix_basis))
        self.world = armatures.placement(world, ob.name)

    def _present(self, ob, bones):
        """(10, B + 1) what the pose and the object show now."""
        present = np.zeros((10, len(bones) + 1), dtype=np.float32)
        at = [ob.pose.bones.find(bone.name) for bone in bones]
        rotation = np.array([rotation_channel(mode) for mode in self.modes])
        for channel, column in COLUMNS.items():
            values = np.array(getattr(ob, channel), dtype=np.float32)
            every = np.empty(len(ob.pose.bones) * len(values), dtype=np.float32)
            ob.pose.bones.foreach_get(channel, every)
            values = np.concatenate([every.reshape(-1, len(values))[at], values[None]]).T
            used = (rotation == channel) | (not channel.startswith("rotation"))
            present[column:column + len(values), used] = values[:, used]
        return present

    def fill(self, source, frames):
        """Put the curves' values in their places. Yields the fraction that is done, from 0 to 0.7."""
        done = 0
        while True:
            ob, action, slot = source.fetch()
            curves, until = actions.fcurves(action, ob, slot), time.perf_counter() + SLICE
            while done < len(curves) and time.perf_counter() < until:
                batch = _batch(curves[done:], BATCH // len(frames))
                self._take(action, batch, frames)
                done += len(batch)
            yield 0.7 * done / max(1, len(curves))
            if done >= len(curves):
                break
        self.table[~self.keyed] = self.present[~self.keyed][:, None]
        bones = self.table[:, :-1]
        self.moved = np.flatnonzero(self._differs(0, 3, bones[:3]) & ~self.connected)
        self.scaled = self._differs(7, 10, bones[7:] - 1).any()
        self.direct = not (self.scaled or self.keyed[:, -1].any()) and self._same_tree()

    def _take(self, action, curves, frames):
        """Put the values of some curves in their places."""
        placed = [(curve, place) for curve in curves if (place := self._place(curve)) is not None]
        if not placed:
            return
        curves, places = zip(*placed)
        columns, rows = np.transpose(places)
        values = sample(curves, frames)
        self.keyed[columns, rows] = True
        self.table[columns, rows] = values
        wrong = ~np.isfinite(values)
        if wrong.any():
            row, frame = np.argwhere(wrong)[0]
            raise bad_value(action, curves[row], frames[frame])

    def _place(self, curve):
        """Column and row of a curve's values, or None when they have no say in the pose."""
        name, channel = bone_of(curve.data_path)
        row = self.rows.get(name)
        if row is None or channel not in COLUMNS or not actions.is_playing(curve):
            return None
        if channel.startswith("rotation") and channel != rotation_channel(self.modes[row]):
            return None
        return COLUMNS[channel] + curve.array_index, row

    def _differs(self, first, last, numbers):
        """(B,) whether any of a bone's numbers (last - first, B, F) is not zero."""
        keyed = self.keyed[first:last, :-1].any(0)
        differs = (np.abs(numbers[:, :, 0]) > 1e-6).any(0)
        differs[keyed] = (np.abs(numbers[:, keyed]) > 1e-6).any((0, 2))
        return differs

    def _same_tree(self):
        """Whether the skeleton's joints are all of these bones, each hanging from the same one."""
        joint_of = {row: joint for joint, row in enumerate(self.joints_at)}
        parents = [joint_of.get(self.parents[row], -1) for row in self.joints_at]
        return len(self.parents) == len(self.joints_at) and np.array_equal(parents, self.skeleton.parents)

    def joints(self, block, positions, rotations):
        """Write local positions and rotations of the skeleton's joints for a block of frames."""
        if self.direct:
            self._places(block, positions)
            _times(self.rest_rotations, self._turns(block), rotations)
            return self._place_root(positions, rotations)
        shape = (len(positions), len(self.parents))
        places = self._places(block, np.empty((*shape, 3), dtype=np.float32))
        turns = self._turns(block)
        if self.scaled:
            scales = self.table[7:, :-1, block].transpose(2, 1, 0)
            axes = self.rest_axes @ (quat.to_matrix(turns) * scales[..., None, :])
            places, turns = self._forward_scaled(places, axes)
        else:
            turns = _times(self.rest_rotations, turns, np.empty((*shape, 4), dtype=np.float32))
            places, turns = self._forward(places, turns)
        positions[:], rotations[:] = self._to_joints(block, places, turns)

    def _places(self, block, places):
        """Write the bones' positions (F, B, 3) in their parents' frames."""
        x, y, z = self.table[:3, self.moved, block]
        places[:] = self.rest_positions
        for part, (a, b, c) in enumerate(self.rest_axes[self.moved].transpose(1, 2, 0)[..., None]):
            places[:, self.moved, part] += (a * x + b * y + c * z).T
        return places

    def _turns(self, block):
        """The bones' own rotations (F, B, 4), before their rest rotation."""
        numbers, modes = self.table[3:7, :-1, block], self.modes[:-1]
        if (modes == modes[0]).all():
            return np.moveaxis(rotations_of(numbers, modes[0]), 0, -1).swapaxes(0, 1)
        turns = np.empty(numbers.shape, dtype=np.float32)
        for mode in set(modes):
            turns[:, modes == mode] = rotations_of(numbers[:, modes == mode], mode)
        return np.moveaxis(turns, 0, -1).swapaxes(0, 1)

    def _place_root(self, places, turns):
        """Local transforms of bones to those of joints, where the two trees are the same."""
        scale, turn, place = self.world
        if scale != 1:
            places *= np.float32(scale)
        places[:, 0] = place + quat.rotate(turn, places[:, 0])
        turns[:, 0] = quat.mul(turn, turns[:, 0])

    def _forward(self, places, turns):
        """Local transforms of bones to the armature's space."""
        for row, parent in enumerate(self.parents):
            if parent >= 0:
                places[:, row] = places[:, parent] + quat.rotate(turns[:, parent], places[:, row])
                turns[:, row] = quat.mul(turns[:, parent], turns[:, row])
        return places, turns

    def _forward_scaled(self, places, axes):
        """The same with matrices (F, B, 3, 3), since a parent's scale moves and shears its children."""
        for row, parent in enumerate(self.parents):
            if parent >= 0:
                places[:, row] = places[:, parent] + (axes[:, parent] @ places[:, row, :, None])[..., 0]
                axes[:, row] = axes[:, parent] @ axes[:, row]
        return places, armatures.rotation_of(axes)

    def _to_joints(self, block, places, turns):
        places, turns = places[:, self.joints_at], turns[:, self.joints_at]
        scale, turn, place = self._object_at(block)
        places = place[:, None] + scale[:, None, None] * quat.rotate(turn[:, None], places)
        return backward(self.skeleton, places, quat.mul(turn[:, None], turns))

    def _object_at(self, block):
        """Scale (F,), rotation (F, 4) and location (F, 3) of the object."""
        numbers = self.table[:, -1, block]
        if not self.keyed[:, -1].any():
            return tuple(np.broadcast_to(value, (numbers.shape[1], *np.shape(value))) for value in self.world)
        matrices = np.zeros((numbers.shape[1], 4, 4))
        matrices[:, :3, :3] = quat.to_matrix(rotations_of(numbers[3:7], self.modes[-1]).T) * numbers[7:].T[:, None]
        matrices[:, :3, 3] = numbers[:3].T
        matrices[:, 3, 3] = 1
        return armatures.placement(self.before_object @ matrices, self.object_name)


def bad_value(action, curve, frame):
    """The error for a value that is not a number at this frame, or at a key near it."""
    points = key_points(curve)
    frame = next(iter(points[~np.isfinite(points).all(-1), 0]), frame)
    name, channel = bone_of(curve.data_path)
    where = f'bone "{name}", ' if name is not None else ""
    return MotionError(f'The Action "{action.name}" has a value that is not a number: {where}{channel}'
                       f"[{curve.array_index}], frame {frame:g}. Delete that key.")


def _batch(curves, count):
    """The first so many curves, and the rest of the last one's bone, which is likely to be keyed at the same times."""
    bone = None
    for index, curve in enumerate(curves):
        last, bone = bone, bone_of(curve.data_path)[0]
        if index >= max(1, count) and bone != last:
            return curves[:index]
    return curves


def _times(constants, q, out):
    """Write quat.mul(constants (B, 4), q (F, B, 4)), for a q whose components lie apart in memory, much faster."""
    w, x, y, z = (np.ascontiguousarray(part) for part in np.moveaxis(q, -1, 0).swapaxes(1, 2))
    a, b, c, d = constants.T[:, :, None]
    out[..., 0] = (a * w - b * x - c * y - d * z).T
    out[..., 1] = (a * x + b * w + c * z - d * y).T
    out[..., 2] = (a * y - b * z + c * w + d * x).T
    out[..., 3] = (a * z + b * y - c * x + d * w).T
    return out
