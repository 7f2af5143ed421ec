# SPDX-License-Identifier: GPL-3.0-or-later
"""In place of all other panels: another add-on has taken the name under which our settings are."""

import bpy

from ..mm_blender.scene import settings
from .base import draw_sentence


class MM_PT_conflict(bpy.types.Panel):
    bl_label = "Motion Matching"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Motion Matching"

    def draw(self, _context):
        draw_sentence(self.layout, settings.conflict() or "The name is free again: disable Motion Matching and enable "
                                                          "it once more.")


def register():
    print(f"Motion Matching: {settings.conflict()}")
    bpy.utils.register_class(MM_PT_conflict)


def unregister():
    bpy.utils.unregister_class(MM_PT_conflict)
