# SPDX-License-Identifier: GPL-3.0-or-later
"""A plain rig's motion straight from its F-curves, all frames at once."""

import re
import time

import numpy as np

from ..errors import MotionError
from ..motion import quat
from ..motion.skeleton import backward
from . import actions, rig
from .fcurves import Sampler

SLICE = 0.04  # seconds of work between two signs of life
BLOCK = 1024  # frames that are posed at once
BONE_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.?(.*)')

# Where each channel lies in a row of ten numbers: location, rotation (as its mode has it), scale.
COLUMNS = {"location": 0, "rotation_quaternion": 3, "rotation_axis_angle": 3, "rotation_euler": 3, "scale": 7}
MODES = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def bone_of(path):
    """Bone name and property of an F-curve's data path; the name is None when it is not about a bone."""
    match = BONE_PATH.match(path)
    if match is None:
        return None, path
    return re.sub(r"\\(.)", r"\1", match[1]), match[2]


def read(source, skeleton, frames):
    """Local positions (F, J, 3) and rotations (F, J, 4). Yields the fraction that is done."""
    ob, _, _ = source.fetch()
    pose = _Pose(ob, skeleton, len(frames))
    yield from pose.fill(source, frames)
    positions = np.empty((len(frames), len(skeleton), 3), dtype=np.float32)
    rotations = np.empty((len(frames), len(skeleton), 4), dtype=np.float32)
    for start in range(0, len(frames), BLOCK):
        block = slice(start, start + BLOCK)
        positions[block], rotations[block] = pose.joints(block)
        yield 0.7 + 0.3 * min(1, (start + BLOCK) / len(frames))
    return positions, rotations


def rotation_channel(mode):
    """The property that a rotation mode uses."""
    return MODES.get(mode, "rotation_euler")


class _Pose:
    """The ten numbers of every bone that matters, and of the object itself, at every frame."""

    def __init__(self, ob, skeleton, count):
        bones = rig.with_ancestors(ob, skeleton.names)
        self.skeleton = skeleton
        self.object_name = ob.name
        self.rows = {bone.name: row for row, bone in enumerate(bones)}
        self.rows[None] = len(bones)  # the object's own channels
        self.parents = np.array([self.rows[bone.parent.name] if bone.parent else -1 for bone in bones])
        self.joints_at = np.array([self.rows[name] for name in skeleton.names])
        self.connected = np.array([bone.use_connect and bone.parent is not None for bone in bones])
        rest = np.array([bone.matrix_local for bone in bones], dtype=np.float64)
        local = np.where((self.parents < 0)[:, None, None], rest, np.linalg.inv(rest[self.parents]) @ rest)
        self.rest_axes = local[:, :3, :3].astype(np.float32)
        self.rest_rotations = quat.from_matrix(self.rest_axes)
        self.rest_positions = local[:, :3, 3].astype(np.float32)
        owners = [*(ob.pose.bones[bone.name] for bone in bones), ob]
        self.modes = [owner.rotation_mode for owner in owners]
        self.table = np.empty((len(owners), 10, count), dtype=np.float32)
        for row, owner in enumerate(owners):
            for channel in ("location", rotation_channel(owner.rotation_mode), "scale"):
                values = tuple(getattr(owner, channel))
                self.table[row, COLUMNS[channel]:COLUMNS[channel] + len(values)] = np.array(values)[:, None]
        # What stands between the object's own channels and the world: its parent.
        world = rig.world_matrix(ob)
        self.before_object = world @ np.linalg.inv(np.array(ob.matrix_basis))
        self.object_moves = False
        self.world = rig.placement(world, ob.name)

    def fill(self, source, frames):
        """Put the curves' values in their places. Yields the fraction that is done, from 0 to 0.7."""
        sampler, done = Sampler(frames), 0
        while True:
            ob, action, slot = source.fetch()
            curves, until = actions.fcurves(action, ob, slot), time.perf_counter() + SLICE
            while done < len(curves) and time.perf_counter() < until:
                self._take(action, curves[done], sampler)
                done += 1
            yield 0.7 * done / max(1, len(curves))
            if done >= len(curves):
                return

    def _take(self, action, curve, sampler):
        name, channel = bone_of(curve.data_path)
        row = self.rows.get(name)
        if row is None or channel not in COLUMNS or not actions.is_playing(curve):
            return
        if channel.startswith("rotation") and channel != rotation_channel(self.modes[row]):
            return
        values = sampler.values(curve)
        if not np.isfinite(values).all():
            raise bad_value(action, curve, sampler.frames[~np.isfinite(values)][0])
        self.object_moves |= name is None
        self.table[row, COLUMNS[channel] + curve.array_index] = values

    def joints(self, block):
        """Local positions and rotations of the skeleton's joints for a block of frames."""
        bones = np.arange(len(self.parents))
        turns = np.empty((len(range(*block.indices(self.table.shape[2]))), len(bones), 4), dtype=np.float32)
        for mode in set(self.modes[:-1]):
            rows = np.array([row for row in bones if self.modes[row] == mode])
            turns[:, rows] = _rotations(self._numbers(rows, block, 3, 7), mode)
        moved = np.flatnonzero(self.table[:-1, :3, block].any((1, 2)) & ~self.connected)
        places = np.broadcast_to(self.rest_positions, (*turns.shape[:2], 3)).copy()
        places[:, moved] += quat.rotate(self.rest_rotations[moved], self._numbers(moved, block, 0, 3))
        scales = self._numbers(bones, block, 7, 10)
        if np.abs(scales - 1).max() > 1e-6:
            axes = self.rest_axes @ (quat.to_matrix(turns) * scales[..., None, :])
            return self._to_joints(block, *self._forward_scaled(places, axes))
        turns = quat.mul(self.rest_rotations, turns)
        if len(bones) == len(self.joints_at) and not self.object_moves and self._same_tree():
            return self._placed(places[:, self.joints_at], turns[:, self.joints_at])
        return self._to_joints(block, *self._forward(places, turns))

    def _numbers(self, rows, block, first, last):
        """(F, rows, last - first) of the table."""
        return np.ascontiguousarray(self.table[rows, first:last, block].transpose(2, 0, 1))

    def _same_tree(self):
        joint_of = {row: joint for joint, row in enumerate(self.joints_at)}
        parents = [joint_of.get(self.parents[row], -1) for row in self.joints_at]
        return np.array_equal(parents, self.skeleton.parents)

    def _placed(self, places, turns):
        """Local transforms of bones to those of joints, where the two trees are the same."""
        scale, turn, place = self.world
        places *= scale
        places[:, 0] = place + quat.rotate(turn, places[:, 0])
        turns[:, 0] = quat.mul(turn, turns[:, 0])
        return places, turns

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
        return places, rig.rotation_of(axes)

    def _to_joints(self, block, places, turns):
        places, turns = places[:, self.joints_at], turns[:, self.joints_at]
        scale, turn, place = self._object_at(block)
        places = place[:, None] + scale[:, None, None] * quat.rotate(turn[:, None], places)
        return backward(self.skeleton, places, quat.mul(turn[:, None], turns))

    def _object_at(self, block):
        """Scale (F,), rotation (F, 4) and location (F, 3) of the object."""
        numbers = self._numbers([-1], block, 0, 10)[:, 0]
        if not self.object_moves:
            return tuple(np.broadcast_to(value, (len(numbers), *np.shape(value))) for value in self.world)
        matrices = np.zeros((len(numbers), 4, 4))
        matrices[:, :3, :3] = quat.to_matrix(_rotations(numbers[:, 3:7], self.modes[-1])) * numbers[:, None, 7:]
        matrices[:, :3, 3] = numbers[:, :3]
        matrices[:, 3, 3] = 1
        return rig.placement(self.before_object @ matrices, self.object_name)


def bad_value(action, curve, frame):
    """The error for a value that is not a number."""
    name, channel = bone_of(curve.data_path)
    where = f'bone "{name}", ' if name is not None else ""
    return MotionError(f'The Action "{action.name}" has a value that is not a number: {where}{channel}'
                       f"[{curve.array_index}], frame {frame:g}. Delete that key.")


def _rotations(numbers, mode):
    """Quaternions (…, 4) from the numbers (…, 4) that a rotation mode keys."""
    if mode == "QUATERNION":
        return quat.normalize(numbers)
    if mode == "AXIS_ANGLE":
        axis = numbers[..., 1:]
        length = np.sqrt((axis * axis).sum(-1, keepdims=True))
        axis = axis / np.where(length > 1e-12, length, 1)
        half = numbers[..., :1] / 2
        return np.where(length > 1e-12, np.concatenate([np.cos(half), np.sin(half) * axis], -1), quat.identity())
    return quat.from_euler(numbers[..., ["XYZ".index(axis) for axis in mode]], mode)
