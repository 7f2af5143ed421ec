# SPDX-License-Identifier: GPL-3.0-or-later
"""Character: the armature and the roles of its bones."""

import bpy

from ..mm_blender.motion.character import SIDED
from ..mm_blender.scene import driving
from ..mm_blender.scene.driving import libraries
from ..mm_blender.scene.rig import presets, targets
from ..mm_blender.scene.rig.advice import advice, is_of_another_size
from ..mm_blender.scene.rig.character import active_armature, confidence, missing
from ..mm_blender.scene.rig.t_pose import has_stance
from .base import CharacterPanel, draw_job, draw_presets, draw_presets_to_remove, draw_sentence, draw_step

_MIDDLE = ("root", "hips", "spine", "chest", "neck", "head")
_ICONS = {"certain": "CHECKMARK", "likely": "DOT", "guess": "QUESTION", "chosen": "USER", "": "BLANK1"}


class MM_PT_character(bpy.types.Panel):
    """The only panel that is there without an armature: it says how to begin."""
    bl_label = "Character"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Motion Matching"

    @classmethod
    def poll(cls, _context):
        return driving.current() is None

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
        self._draw_next_step(layout, ob)
        if not len(ob.mm.roles):
            if targets.owner(ob) != ob:  # it needs nothing of its own
                return
            draw_sentence(layout, "First let me find the hips, feet and hands among the bones.", "INFO")
            layout.operator("mm.roles_find", icon="VIEWZOOM")
            return
        lacking = missing(ob)
        if lacking:
            draw_sentence(layout, "Needed, but without a bone: " + ", ".join(lacking).replace("_", " "))
        else:
            _draw_advice(layout, ob)
        column = layout.column(align=True)
        column.prop(ob.mm, "forward")
        column.prop(ob.mm, "legs")
        column.prop(ob.mm, "show_facing")

    @staticmethod
    def _draw_next_step(layout, ob):
        """Bake or Drive, which have panels of their own, but further down than many screens show."""
        if draw_job(layout, "Baking"):
            return
        if libraries.is_ready(targets.owner(ob)):
            draw_step(layout, "mm.drive", icon="PLAY")
        elif len(ob.mm.clips):
            draw_step(layout, "mm.bake", icon="FILE_CACHE")


def _draw_advice(layout, ob):
    """What should be known of the character before it is baked."""
    for sentence in advice(ob):
        draw_sentence(layout, sentence, "INFO")
    if is_of_another_size(ob):
        layout.operator("mm.character_resize", icon="FULLSCREEN_ENTER")


class MM_MT_roles_presets(bpy.types.Menu):
    """Roles that were saved, for armatures with the same bones"""
    bl_label = "Presets"
    bl_idname = "MM_MT_roles_presets"

    def draw(self, _context):
        draw_presets(self.layout, presets.PRESETS)


class MM_MT_roles_presets_remove(bpy.types.Menu):
    """Remove a preset for good"""
    bl_label = "Remove"
    bl_idname = "MM_MT_roles_presets_remove"

    def draw(self, _context):
        draw_presets_to_remove(self.layout, presets.PRESETS)


class MM_PT_roles(CharacterPanel, bpy.types.Panel):
    bl_label = "Bone Roles"
    bl_parent_id = "MM_PT_character"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return super().poll(context) and len(active_armature(context).mm.roles) > 0

    def draw_header_preset(self, context):
        ob = active_armature(context)
        found = sum(role.bone in ob.data.bones for role in ob.mm.roles)
        self.layout.label(text=f"{found} of {len(ob.mm.roles)}")

    def draw_character(self, context, layout, ob):
        column = layout.column(align=True)
        row = column.row(align=True)
        row.operator("mm.roles_find", text="Find Again", icon="VIEWZOOM")
        row.menu("MM_MT_roles_presets", icon="PRESET")
        row = column.row(align=True)
        row.operator("mm.stance_set", icon="ARMATURE_DATA", depress=has_stance(ob))
        row.operator("mm.stance_clear", text="", icon="X")
        _draw_sureness(layout, ob)
        layout.use_property_split = False
        column = layout.column(align=True)
        for role in _MIDDLE:
            _draw_role(column, ob, role, role)
        for side in ("left", "right"):
            column.separator()
            column.label(text=side.title())
            for part in SIDED:
                _draw_role(column, ob, f"{side}_{part}", part)


def _draw_sureness(layout, ob):
    """What the rig was recognised as, and whether something should be looked at."""
    if ob.mm.family:
        draw_sentence(layout, f"Recognised as {ob.mm.family}", "CHECKMARK")
    guesses = sum(confidence(entry) == "guess" for entry in ob.mm.roles)
    if guesses:
        count = "1 bone is a guess" if guesses == 1 else f"{guesses} bones are guesses"
        draw_sentence(layout, f"{count}: click the question mark to see it, and choose another if it is wrong.",
                      "QUESTION")


def _draw_role(layout, ob, role, name):
    entry = ob.mm.roles.get(role)
    if entry is None:
        return
    split = layout.split(factor=0.3, align=True)
    split.label(text=name.replace("_", " ").title())
    row = split.row(align=True)
    row.alert = bool(entry.bone) and entry.bone not in ob.data.bones
    row.prop_search(entry, "bone", ob.data, "bones", text="", icon="BONE_DATA")
    row.operator("mm.role_select", text="", icon=_ICONS[confidence(entry)], emboss=False).role = role


register, unregister = bpy.utils.register_classes_factory((
    MM_PT_character, MM_MT_roles_presets, MM_MT_roles_presets_remove, MM_PT_roles))
