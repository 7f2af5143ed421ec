# SPDX-License-Identifier: GPL-3.0-or-later
"""A character: a skeleton, and what its joints mean."""

from dataclasses import dataclass, field

from ..errors import MotionError
from .skeleton import Skeleton

SIDED = ("shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
ROLES = ("root", "hips", "spine", "chest", "neck", "head",
         *(f"left_{part}" for part in SIDED), *(f"right_{part}" for part in SIDED))


@dataclass(frozen=True, eq=False)
class Character:
    """The common language between rigs: which joint plays which role.

    roles    role → joint name; a role that the rig does not have is absent. "root" is present only when the rig has a
             bone that carries the character over the ground
    mirror   joint name → name of the joint on the other side (a joint in the middle is its own)
    forward  the axis of the root bone that points where the character faces, such as "+Y"; used with a root bone only
    """

    skeleton: Skeleton
    roles: dict = field(default_factory=dict)
    mirror: dict = field(default_factory=dict)
    forward: str = "+Y"

    def joint(self, role):
        """The index of the joint that plays a role, or a sentence that says which one is missing."""
        name = self.roles.get(role)
        if name is None:
            raise MotionError(f'No bone has the role "{role}": choose one in the Character panel (or with --role).')
        if name not in self.skeleton.names:
            raise MotionError(f'The role "{role}" is given to the bone "{name}", which the skeleton does not have.')
        return self.skeleton.index(name)

    def has(self, role):
        return self.roles.get(role) in self.skeleton.names

    def contact_roles(self):
        """The joints whose contact with the ground is followed: toes, or feet where there are no toes."""
        return tuple(f"{side}_toe" if self.has(f"{side}_toe") else f"{side}_foot" for side in ("left", "right")
                     if self.has(f"{side}_toe") or self.has(f"{side}_foot"))
