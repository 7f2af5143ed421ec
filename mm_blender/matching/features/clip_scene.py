# SPDX-License-Identifier: GPL-3.0-or-later
"""What features are measured in: a clip that goes on past both ends, and beside it tracks of other things."""

from functools import cached_property

import numpy as np

from ...motion import quat
from ...motion.skeleton import forward


class ClipScene:
    """A clip and what is beside it: its root and bones at any time, continued past both ends.

    tracks  named motions of other things, over the same frames: of an object, a partner, the ground. There are none yet
    """

    def __init__(self, clip, character, reach, tracks=None):
        """reach: the longest times that anybody looks back and ahead, in seconds"""
        self.clip, self.character, self.tracks = clip, character, tracks or {}
        # One frame more than needed on both sides, for interpolation.
        self.before, after = (int(np.ceil(seconds * clip.rate)) + 1 for seconds in reach)
        self.positions, self.yaw = _continued_root(clip, self.before, after)
        self.frames = np.arange(-self.before, len(clip) + after)

    @cached_property
    def near(self):
        """Joint positions (F, J, 3) and rotations (F, J, 4) seen from each frame's own root."""
        positions, rotations = self.clip.positions.copy(), self.clip.rotations.copy()
        positions[:, 0], rotations[:, 0] = 0, quat.identity()
        return forward(self.clip.skeleton, positions, rotations)

    def at(self, values, time):
        """Values (over the continued frames) at each frame of the clip plus a time."""
        at = self.before + np.arange(len(self.clip)) + time * self.clip.rate
        low = np.clip(np.floor(at + 1e-4).astype(int), 0, len(values) - 2)
        part = np.clip(at - low, 0, 1).astype(np.float32)
        part[np.abs(part) < 2e-4] = 0  # exactly a frame, but for rounding
        part = part.reshape(-1, *[1] * (values.ndim - 1))
        return values[low] * (1 - part) + values[low + 1] * part

    @cached_property
    def pose_frame(self):
        """Which frame of the clip shows the pose of each continued frame: wrapped in loops, held otherwise."""
        last = len(self.clip) - 1
        held = np.clip(self.frames, 0, last)
        return np.where(held == self.frames, held, self.frames % last) if self.clip.loop and last else held

    def to_root(self, vectors):
        """World vectors (F, 2 or 3) seen from each frame's root."""
        yaw = self.yaw[self.before:self.before + len(self.clip)]
        cos, sin = np.cos(yaw), np.sin(yaw)
        x, y = vectors[..., 0], vectors[..., 1]
        turned = [cos * x + sin * y, cos * y - sin * x]
        return np.stack([*turned, vectors[..., 2]] if vectors.shape[-1] == 3 else turned, axis=-1)

    def here(self):
        return self.positions[self.before:self.before + len(self.clip)]

    def to_world(self, vectors):
        """Vectors (B + F + A, 3) seen from the continued frames' roots, turned into the world."""
        return quat.rotate(quat.from_yaw(self.yaw), vectors)

    def bone(self, joint):
        """World positions of a joint over the continued frames."""
        return self.positions + self.to_world(self.near[0][self.pose_frame, joint])

    def bone_velocity(self, joint):
        """World velocities of a joint over the continued frames; past both ends they stay as they are to the root."""
        velocities = np.gradient(self.bone(joint), 1 / self.clip.rate, axis=0)
        if self.clip.loop or len(self.clip) < 3:
            return velocities
        # Not those of the first and last frame: there a moving pose meets a held one.
        held = np.clip(self.frames, 1, len(self.clip) - 2) + self.before
        return quat.rotate(quat.from_yaw(self.yaw - self.yaw[held]), velocities[held])


def _continued_root(clip, before, after):
    """Root positions (B + F + A, 3) and yaw (B + F + A,) of a clip, continued past both ends."""
    positions = clip.positions[:, 0].astype(np.float64)
    yaw = np.unwrap(quat.yaw(quat.rotate(clip.rotations[:, 0].astype(np.float64), np.array([0.0, 1.0, 0.0]))))
    if clip.loop and len(clip) > 1:
        return _repeated(positions, yaw, before, after)
    head = _carried_on(positions[::-1], yaw[::-1], clip.rate, before)
    tail = _carried_on(positions, yaw, clip.rate, after)
    return (np.concatenate([head[0][::-1], positions, tail[0]]), np.concatenate([head[1][::-1], yaw, tail[1]]))


def _carried_on(positions, yaw, rate, count):
    """The next frames of a path that keeps its last velocity, seen from the root, and its last turning speed."""
    # Averaged over a tenth of a second: the last difference alone is mostly noise.
    span = min(max(round(0.1 * rate), 1), len(positions) - 1)
    if span < 1:
        return np.repeat(positions[-1:], count, axis=0), np.repeat(yaw[-1:], count)
    spin = (yaw[-1] - yaw[-1 - span]) / span
    steps = np.diff(positions[-1 - span:], axis=0)
    step = quat.rotate(quat.from_yaw(-yaw[-1 - span:-1]), steps).mean(axis=0)
    ahead = yaw[-1] + spin * np.arange(count + 1)
    return positions[-1] + np.cumsum(quat.rotate(quat.from_yaw(ahead[:-1]), step), axis=0), ahead[1:]


def _repeated(positions, yaw, before, after):
    """A looping path laid end to end: each round begins where the one before it ended."""
    last = len(positions) - 1
    frames = np.arange(-before, last + 1 + after)
    rounds, within = np.divmod(frames, last)
    turn, across = yaw[-1] - yaw[0], positions[-1] - positions[0]
    starts, start_yaw = {0: positions[0]}, rounds * turn
    for index in range(rounds.max()):
        starts[index + 1] = starts[index] + quat.rotate(quat.from_yaw(index * turn), across)
    for index in range(0, rounds.min(), -1):
        starts[index - 1] = starts[index] - quat.rotate(quat.from_yaw((index - 1) * turn), across)
    start = np.stack([starts[index] for index in rounds])
    return start + quat.rotate(quat.from_yaw(start_yaw), positions[within] - positions[0]), yaw[within] + start_yaw
