# SPDX-License-Identifier: GPL-3.0-or-later
"""The feature of an animated custom property: its value."""

import numpy as np

from ...errors import MotionError
from .kind import Kind


class PropertyFeature(Kind):
    name, tooltip = "property", "The value of an animated custom property"
    icon, belongs, usual = "PROPERTIES", "property", ("property", (0.0,))
    commanded, in_pose = "value", False

    def measure_at(self, scene, channel, time):
        curves, name = scene.clip.curves, channel.of
        if name not in curves:
            raise MotionError(f'Clip "{scene.clip.name}" has no animated property "{name}": key it, or remove that '
                              "feature.")
        return scene.at(np.asarray(curves[name], dtype=np.float32)[scene.pose_frame, None], time)
