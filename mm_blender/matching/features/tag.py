# SPDX-License-Identifier: GPL-3.0-or-later
"""The feature of a tag: whether it is set."""

import numpy as np

from .kind import Kind


class TagFeature(Kind):
    name, tooltip = "tag", "1 where the tag is set, otherwise 0"
    icon, belongs, usual = "BOOKMARKS", "tag", ("walk", (0.0,))
    commanded, in_pose = "switch", False

    def measure_at(self, scene, channel, time):
        held = scene.clip.tag_mask(channel.of).astype(np.float32)[scene.pose_frame, None]
        return scene.at(held, time)

    def ask(self, channel, situation):
        """Tags of gaits ask for the gait that is wanted."""
        if (gait := situation.gaits.get(channel.of)) is not None:
            return [float(gait == situation.guide.intent.gait)] * len(channel.times)
        return None
