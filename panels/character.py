# SPDX-License-Identifier: GPL-3.0-or-later
"""Character: the armature and the roles of its bones."""

import bpy

from ..mm_blender.motion.character import SIDED
from ..mm_blender.scene.character import active_armature, missing
from .base import CharacterPanel, draw_sentence

_MIDDLE = ("root", "hips", "spine", "chest", "neck", "head")


class MM_PT_character(bpy.types.Panel):
    """The only panel that is there without an armature: it says how to begin."""
    bl_label = "Character"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Motion Matching"

    def draw(self, context):
        layout = self.layout
        ob = active_armature(context)
        if ob is None:
            layout.label(text="Select an armature, or begin with", icon="INFO")
            layout.operator("mm.create_demo", icon="ARMATURE_DATA")
            layout.operator("mm.import_motion", icon="IMPORT")
            return
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.label(text=ob.name, icon="ARMATURE_DATA", translate=False)
        if not len(ob.mm.roles):
            draw_sentence(layout, "First let me find the hips, feet and hands among the bones.", "INFO")
            layout.operator("mm.roles_find", icon="VIEWZOOM")
            return
        lacking = missing(ob)
        if lacking:
            draw_sentence(layout, "Needed, but without a bone: " + ", ".join(lacking).replace("_", " "))
        column = layout.column(align=True)
        column.prop(ob.mm, "forward")
        column.prop(ob.mm, "show_facing")


class MM_PT_roles(CharacterPanel, bpy.types.Panel):
    bl_label = "Bone Roles"
    bl_parent_id = "MM_PT_character"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        ob = active_armature(context)
        return ob is not None and len(ob.mm.roles) > 0

    def draw_header_preset(self, context):
        ob = active_armature(context)
        found = sum(role.bone in ob.data.bones for role in ob.mm.roles)
        self.layout.label(text=f"{found} of {len(ob.mm.roles)}")

    def draw_character(self, context, layout, ob):
        layout.operator("mm.roles_find", text="Find Again", icon="VIEWZOOM")
        column = layout.column(align=True)
        for role in _MIDDLE:
            _draw_role(column, ob, role, role.title())
        layout.use_property_split = False
        grid = layout.row()
        for side in ("left", "right"):
            column = grid.column(align=True)
            column.label(text=side.title())
            for part in SIDED:
                _draw_role(column, ob, f"{side}_{part}", "", part.replace("_", " ").title())


def _draw_role(layout, ob, role, text, placeholder=""):
    entry = ob.mm.roles.get(role)
    if entry is None:
        return
    row = layout.row(align=True)
    row.alert = bool(entry.bone) and entry.bone not in ob.data.bones
    row.prop_search(entry, "bone", ob.data, "bones", text=text, icon="BONE_DATA")
    if placeholder and not entry.bone:
        row.label(text=placeholder)


register, unregister = bpy.utils.register_classes_factory((MM_PT_character, MM_PT_roles))
