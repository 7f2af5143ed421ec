# SPDX-License-Identifier: GPL-3.0-or-later
"""Features of the path: where the root is, which way it faces and how high the hips are, in the past and ahead."""

import numpy as np

from .kind import Kind
from .shapes import POINTING, arrow, ring

PATH, PAST = (1.00, 0.25, 0.45), (0.62, 0.44, 0.55)  # colours


class TrajectoryKind(Kind):
    trajectory, usual = True, ("", (1 / 3, 2 / 3, 1.0))


class TrajectoryPosition(TrajectoryKind):
    name, tooltip = "trajectory_position", "Where the root is at past or future times, on the ground"
    icon, colour = "CURVE_PATH", PATH
    numbers, length, at_rest = 2, True, (0.0, 0.0)

    def measure_at(self, scene, channel, time):
        return scene.to_root((scene.at(scene.positions, time) - scene.here())[:, :2])

    def ask(self, channel, situation):
        places = [situation.path[time][0] for time in channel.times]
        return [part for place in places for part in (place.real, place.imag)]

    def lines(self, drawn, frame, channel, time, value):
        return PATH if time >= 0 else PAST, ring(drawn.on_ground(frame, value))


class TrajectoryDirection(TrajectoryKind):
    name, tooltip = "trajectory_direction", "Which way the root faces at past or future times"
    icon, colour = "ORIENTATION_VIEW", (1.00, 0.58, 0.05)
    numbers, at_rest = 2, (0.0, 1.0)

    def measure_at(self, scene, channel, time):
        yaw = scene.at(scene.yaw, time)
        return scene.to_root(np.stack([-np.sin(yaw), np.cos(yaw)], axis=-1))

    def ask(self, channel, situation):
        ways = [situation.path[time][1] for time in channel.times]
        return [part for way in ways for part in (way.real, way.imag)]

    def lines(self, drawn, frame, channel, time, value):
        start = drawn.on_ground(frame, drawn.place(frame, time))
        return self.colour, arrow(start, POINTING * drawn.turned(frame, np.append(value, 0)))


class TrajectoryHeight(TrajectoryKind):
    name, tooltip = "trajectory_height", "How high the hips are at past or future times"
    icon, colour = "EMPTY_SINGLE_ARROW", (0.05, 0.75, 0.72)
    length, commanded = True, "value"

    def roles(self, channel):
        return ("hips",)

    def measure_at(self, scene, channel, time):
        hips = scene.near[0][scene.pose_frame, scene.character.joint("hips"), 2:]
        return scene.at(hips, time)

    def ask(self, channel, situation):
        """As high as the guide says, or as the motion usually is."""
        heights = situation.guide.heights(channel.times)
        return situation.usual(channel) if heights is None else heights

    def resized(self, mean, scale, legs, higher):
        return mean * legs + higher, scale * legs

    def lines(self, drawn, frame, channel, time, value):
        start = drawn.on_ground(frame, drawn.place(frame, time))
        return self.colour, np.array([[start, start + (0, 0, value[0])]])
