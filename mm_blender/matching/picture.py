# SPDX-License-Identifier: GPL-3.0-or-later
"""What a frame's features look like: coloured line segments in the world, for whoever draws them."""

from dataclasses import dataclass, replace

import numpy as np

from ..motion import quat
from .features import measure
from .schema import Channel, Schema

# Medium bright and saturated, so that they stand out from dark and from light backgrounds.
COLOURS = {
    "bone_position": (0.10, 0.62, 1.00),
    "bone_velocity": (0.20, 0.80, 0.30),
    "bone_direction": (0.70, 0.45, 1.00),
    "trajectory": (1.00, 0.25, 0.45),
    "past": (0.62, 0.44, 0.55),
    "trajectory_direction": (1.00, 0.58, 0.05),
    "trajectory_height": (0.05, 0.75, 0.72),
}
CROSS = 0.035  # metres from the middle of a cross to its ends
SPEED = 0.25  # a velocity's arrow leads to where the bone would be after so many seconds
POINTING = 0.25  # metres that the arrow of a direction is long
HEAD = 0.3  # an arrow's head as a part of its length
LARGEST_HEAD = 0.07  # metres
LIFT = 0.01  # metres above the ground, so that the ground does not hide what lies on it
FINE = 0.1  # seconds between the points of the line along the trajectory


@dataclass(frozen=True, eq=False)
class Picture:
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
        drawn = [self._path(frame)] if any(channel.is_trajectory for channel in self.schema.channels) else []
        for channel, part in zip(self.schema.channels, self.schema.slices):
            if channel.kind in _DRAW:
                values = self.features[frame, part].reshape(len(channel.times), -1)
                drawn += [_DRAW[channel.kind](self, frame, channel, time, value)
                          for time, value in zip(channel.times, values)]
        if not drawn:
            return np.zeros((0, 2, 3), np.float32), np.zeros((0, 3), np.float32)
        colours = [np.tile(np.float32(COLOURS[kind]), (len(part), 1)) for kind, part in drawn]
        return np.concatenate([part for _, part in drawn]).astype(np.float32), np.concatenate(colours)

    def _path(self, frame):
        points = self._on_ground(frame, self.path[frame])
        return "trajectory", np.stack([points[:-1], points[1:]], axis=1)

    def _trajectory_position(self, frame, channel, time, value):
        place = self._on_ground(frame, value)
        ring = [place + CROSS * np.array([np.cos(angle), np.sin(angle), 0])
                for angle in np.arange(9) * (np.pi / 4)]
        return "trajectory" if time >= 0 else "past", np.stack([ring[:-1], ring[1:]], axis=1)

    def _trajectory_direction(self, frame, channel, time, value):
        start = self._on_ground(frame, self._place(frame, time))
        return channel.kind, arrow(start, POINTING * self._turned(frame, np.append(value, 0)))

    def _trajectory_height(self, frame, channel, time, value):
        start = self._on_ground(frame, self._place(frame, time))
        return channel.kind, np.array([[start, start + (0, 0, value[0])]])

    def _bone_position(self, frame, channel, time, value):
        return channel.kind, cross(self.roots[frame] + self._turned(frame, value))

    def _bone_velocity(self, frame, channel, time, value):
        return channel.kind, arrow(self._bone(frame, channel.of, time), SPEED * self._turned(frame, value))

    def _bone_direction(self, frame, channel, time, value):
        return channel.kind, arrow(self._bone(frame, channel.of, time), POINTING * self._turned(frame, value))

    def _bone(self, frame, role, time):
        at = np.clip(round(frame + time * self.rate), 0, len(self) - 1)
        return self.bones[role][at]

    def _place(self, frame, time):
        """Where the root is at a time (2,), seen from the frame's root."""
        return np.array([np.interp(time, self.times, axis) for axis in self.path[frame].T])

    def _on_ground(self, frame, places):
        """Places (…, 2) seen from the frame's root as points (…, 3) in the world, just above the ground."""
        flat = np.concatenate([places, np.full((*np.shape(places)[:-1], 1), LIFT)], axis=-1)
        return self.roots[frame] + self._turned(frame, flat)

    def _turned(self, frame, vectors):
        return quat.rotate(quat.from_yaw(self.yaws[frame]), vectors)


_DRAW = {"bone_position": Picture._bone_position, "bone_velocity": Picture._bone_velocity,
         "bone_direction": Picture._bone_direction, "trajectory_position": Picture._trajectory_position,
         "trajectory_direction": Picture._trajectory_direction, "trajectory_height": Picture._trajectory_height}


def picture(clip, character, schema):
    """The Picture of a prepared clip, whose joint 0 is the root."""
    character = replace(character, skeleton=clip.skeleton)
    positions, _ = clip.globals()
    times = _times(schema)
    path = measure(clip, character, Schema((Channel("trajectory_position", times=times),)))
    forward = quat.rotate(clip.rotations[:, 0], np.array([0.0, 1.0, 0.0]))
    return Picture(schema, clip.rate, measure(clip, character, schema), clip.positions[:, 0], quat.yaw(forward),
                   {role: positions[:, character.joint(role)] for role in schema.roles},
                   np.array(times), path.reshape(len(clip), -1, 2))


def arrow(start, along):
    """The segments (3, 2, 3) of an arrow; its head lies level, or upright where the arrow itself is steep."""
    length = np.linalg.norm(along)
    end = start + along
    if length < 1e-6:
        return np.array([[start, end]] * 3)
    straight = along / length
    side = np.cross(straight, (0, 0, 1) if abs(straight[2]) < 0.9 else (1, 0, 0))
    side /= np.linalg.norm(side)
    back = end - min(HEAD * length, LARGEST_HEAD) * straight
    out = min(HEAD * length, LARGEST_HEAD) / 2 * side
    return np.array([[start, end], [end, back + out], [end, back - out]])


def cross(place):
    """The segments (3, 2, 3) of a cross in space."""
    return np.stack([place - CROSS * np.eye(3), place + CROSS * np.eye(3)], axis=1)


def _times(schema):
    """The times between which the line along the trajectory runs: those of the schema, and steps between them."""
    times = {time for channel in schema.channels if channel.is_trajectory for time in channel.times} | {0.0}
    steps = np.arange(np.ceil(min(times) / FINE), np.floor(max(times) / FINE) + 1) * FINE
    return tuple(sorted(times | {round(float(step), 6) for step in steps}))
