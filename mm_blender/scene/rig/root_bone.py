# SPDX-License-Identifier: GPL-3.0-or-later
"""A root bone for a rig that has none: on the ground, above all other bones, which stay as they are."""

import numpy as np
from mathutils import Vector

from ...errors import MotionError
from . import controls
from .armatures import rest_matrices
from .building import editing

NAME = "root"
LENGTH = 0.15  # as a share of how tall the rest pose is


def add_root(ob):
    """Put a bone that deforms nothing above all others, where the armature has its origin; its name. It is at rest in
    all Actions that there are, so they look as before."""
    if ob.data.library is not None or ob.data.override_library is not None:
        raise MotionError(f'The bones of "{ob.name}" are linked from another file: add a root bone there.')
    if controls.is_control_rig(ob):
        raise MotionError(f'The controls of "{ob.name}" have a root of their own.')
    size = max(np.ptp(rest_matrices(ob, ob.data.bones.keys())[:, :3, 3], axis=0))
    forward = ob.matrix_world.to_quaternion().inverted() @ Vector((0, 1, 0))
    with editing(ob):
        bones = ob.data.edit_bones
        tops = [bone for bone in bones if bone.parent is None]
        root = bones.new(NAME)
        root.tail, root.use_deform = float(size) * LENGTH * forward, False
        for bone in tops:
            bone.parent = root
        name = root.name
    return name
