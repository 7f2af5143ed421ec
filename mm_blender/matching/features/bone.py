# SPDX-License-Identifier: GPL-3.0-or-later
"""Features of a bone: where it is, how fast it moves, which way it points, and which way its front faces."""

import numpy as np

from ...errors import MotionError
from ...motion import quat
from ...motion.roles import rest_facing, stands
from .kind import BoneKind, Place
from .shapes import POINTING, SPEED, arrow, cross


class BonePosition(BoneKind):
    name, tooltip = "bone_position", "Where a bone is, seen from the root"
    icon, colour = "BONE_DATA", (0.10, 0.62, 1.00)
    length = True

    def measure_at(self, scene, channel, time):
        return scene.to_root(scene.at(scene.bone(scene.character.joint(channel.of)), time) - scene.here())

    def obey(self, channel, command, situation):
        if isinstance(command, Place):
            command = situation.near(command)
        return super().obey(channel, command, situation)

    def lines(self, drawn, frame, channel, time, value):
        return self.colour, cross(drawn.roots[frame] + drawn.turned(frame, value))


class BoneVelocity(BoneKind):
    name, tooltip = "bone_velocity", "How fast a bone moves, seen from the root"
    icon, colour = "FORCE_WIND", (0.20, 0.80, 0.30)
    length, at_rest = True, (0.0, 0.0, 0.0)

    def check(self, channel, command, character):
        return super(BoneKind, self).check(channel, command, character)  # no place is a velocity

    def measure_at(self, scene, channel, time):
        return scene.to_root(scene.at(scene.bone_velocity(scene.character.joint(channel.of)), time))

    def lines(self, drawn, frame, channel, time, value):
        return self.colour, arrow(drawn.bone(frame, channel.of, time), SPEED * drawn.turned(frame, value))


class BoneDirection(BoneKind):
    name, tooltip = "bone_direction", "Which way a bone points, seen from the root"
    icon, colour = "ORIENTATION_NORMAL", (0.70, 0.45, 1.00)
    commanded = "target"

    def measure_at(self, scene, channel, time):
        return scene.to_root(scene.at(self.direction(scene, scene.character.joint(channel.of)), time))

    def direction(self, scene, joint):
        """World direction of a bone over the continued frames: towards its children, or along its own Y if it has
        none."""
        positions, rotations = (part[scene.pose_frame] for part in scene.near)
        children = scene.clip.skeleton.children(joint)
        if len(children):
            near = positions[:, children].mean(axis=1) - positions[:, joint]
        else:
            near = quat.rotate(rotations[:, joint], np.array([0.0, 1.0, 0.0], dtype=np.float32))
        length = np.linalg.norm(near, axis=-1, keepdims=True)
        return scene.to_world(near / np.where(length > 1e-6, length, 1))

    def obey(self, channel, command, situation):
        """A direction, of any length, or towards a Place."""
        if isinstance(command, Place):
            command = np.subtract(situation.near(command), situation.joint(channel.of))
        ways = np.reshape(super().obey(channel, command, situation), (-1, 3))
        lengths = np.linalg.norm(ways, axis=-1, keepdims=True)
        return None if (lengths < 1e-6).any() else (ways / lengths).ravel().tolist()

    def lines(self, drawn, frame, channel, time, value):
        return self.colour, arrow(drawn.bone(frame, channel.of, time), POINTING * drawn.turned(frame, value))


class BoneFacing(BoneDirection):
    """A head points up: where it looks is where its front faces."""

    name, tooltip = "bone_facing", "Which way a bone's front faces, such as where the head looks, seen from the root"
    icon, colour = "HIDE_OFF", (0.85, 0.80, 0.10)
    # Heads look ahead most of the time: by its own spread a look aside would count more than the whole path.
    usual = "head", (0.0,), 0.2

    def direction(self, scene, joint):
        """World direction of what faces ahead in the rest pose."""
        character, skeleton = scene.character, scene.clip.skeleton
        roles = {role: character.joint(role) for role in character.roles if character.has(role)}
        ahead = rest_facing(skeleton, roles)
        if ahead is None or not stands(skeleton, roles):
            raise MotionError(f'Clip "{scene.clip.name}" has a rest pose in which nobody stands: '
                              'use the feature "bone_direction" instead of "bone_facing".')
        front = quat.inv_rotate(skeleton.rest[1][joint], ahead).astype(np.float32)
        return scene.to_world(quat.rotate(scene.near[1][scene.pose_frame, joint], front))
