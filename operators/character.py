# SPDX-License-Identifier: GPL-3.0-or-later
"""Character: find out which bone plays which role."""

import bpy

from ..mm_blender.scene.character import fill_roles, missing
from .base import CharacterOperator


class MM_OT_roles_find(CharacterOperator):
    """Find the hips, feet, hands and so on among the bones, by their names and by the shape of the rest pose"""
    bl_idname = "mm.roles_find"
    bl_label = "Find Bones"

    def run(self, context, ob):
        fill_roles(ob)
        lacking = missing(ob)
        if lacking:
            self.report({"WARNING"}, f"No bone was found for: {', '.join(lacking)}. Choose them by hand")
        else:
            self.report({"INFO"}, f"{sum(bool(role.bone) for role in ob.mm.roles)} bones found")


register, unregister = bpy.utils.register_classes_factory((MM_OT_roles_find,))
