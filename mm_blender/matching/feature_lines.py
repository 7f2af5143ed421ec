# SPDX-License-Identifier: GPL-3.0-or-later
"""What a frame's features look like: coloured line segments in the world, for whoever draws them."""

from dataclasses import dataclass, replace

import numpy as np

from ..motion import quat
from .features import KINDS, measure
from .features.shapes import POINTING, SPEED, arrow, cross
from .features.trajectory import PAST, PATH
from .schema import Channel, Schema

__all__ = ["COLOURS", "FINE", "LIFT", "POINTING", "SPEED", "FeatureLines", "arrow", "cross", "lines_of"]

# Medium bright and saturated, so that they stand out from dark and from light backgrounds.
COLOURS = {name: kind.colour for name, kind in KINDS.items() if kind.colour} | {"trajectory": PATH, "past": PAST}
LIFT = 0.01  # metres above the ground, so that the ground does not hide what lies on it
FINE = 0.1  # seconds between the points of the line along the trajectory


@dataclass(frozen=True, eq=False)
class FeatureLines:
    """A clip's features, ready to be drawn frame by frame.

    features  (F, D), seen from each frame's root
    roots     (F, 3) and yaws (F,) where the root is and where it faces
    bones     role → (F, 3) where its bone is in the world
    times     (T,) seconds, from the furthest past to the furthest future of the trajectory; there is always 0
    path      (F, T, 2) where the root is then, seen from each frame's root
    """

    schema: Schema
    rate: float
    features: np.ndarray
    roots: np.ndarray
    yaws: np.ndarray
    bones: dict
    times: np.ndarray
    path: np.ndarray

    def __len__(self):
        return len(self.features)

    def lines(self, frame):
        """Segments (N, 2, 3) in the world and their colours (N, 3) for one frame."""
        drawn = [self._path(frame)] if any(channel.about.trajectory for channel in self.schema.channels) else []
        for channel, part in zip(self.schema.channels, self.schema.slices):
            if channel.about.colour is not None:
                values = self.features[frame, part].reshape(len(channel.times), -1)
                drawn += [channel.about.lines(self, frame, channel, time, value)
                          for time, value in zip(channel.times, values)]
        if not drawn:
            return np.zeros((0, 2, 3), np.float32), np.zeros((0, 3), np.float32)
        colours = [np.tile(np.float32(colour), (len(part), 1)) for colour, part in drawn]
        return np.concatenate([part for _, part in drawn]).astype(np.float32), np.concatenate(colours)

    def bone(self, frame, role, time):
        """Where a bone is in the world (3,), at a time from a frame."""
        at = np.clip(round(frame + time * self.rate), 0, len(self) - 1)
        return self.bones[role][at]

    def place(self, frame, time):
        """Where the root is at a time (2,), seen from the frame's root."""
        return np.array([np.interp(time, self.times, axis) for axis in self.path[frame].T])

    def on_ground(self, frame, places):
        """Places (…, 2) seen from the frame's root as points (…, 3) in the world, just above the ground."""
        flat = np.concatenate([places, np.full((*np.shape(places)[:-1], 1), LIFT)], axis=-1)
        return self.roots[frame] + self.turned(frame, flat)

    def turned(self, frame, vectors):
        """Vectors (…, 3) seen from a frame's root, as the world sees them."""
        return quat.rotate(quat.from_yaw(self.yaws[frame]), vectors)

    def _path(self, frame):
        points = self.on_ground(frame, self.path[frame])
        return PATH, np.stack([points[:-1], points[1:]], axis=1)


def lines_of(clip, character, schema):
    """The FeatureLines of a prepared clip, whose joint 0 is the root."""
    character = replace(character, skeleton=clip.skeleton)
    positions, _ = clip.globals()
    times = _times(schema)
    path = measure(clip, character, Schema((Channel("trajectory_position", times=times),)))
    forward = quat.rotate(clip.rotations[:, 0], np.array([0.0, 1.0, 0.0]))
    return FeatureLines(schema, clip.rate, measure(clip, character, schema), clip.positions[:, 0], quat.yaw(forward),
                   {role: positions[:, character.joint(role)] for role in schema.roles},
                   np.array(times), path.reshape(len(clip), -1, 2))


def _times(schema):
    """The times between which the line along the trajectory runs: those of the schema, and steps between them."""
    times = {time for channel in schema.channels if channel.about.trajectory for time in channel.times} | {0.0}
    steps = np.arange(np.ceil(min(times) / FINE), np.floor(max(times) / FINE) + 1) * FINE
    return tuple(sorted(times | {round(float(step), 6) for step in steps}))
