# SPDX-License-Identifier: GPL-3.0-or-later
"""Features: what is compared when the next frame is searched for."""

import bpy

from ..mm_blender.matching.features import KINDS
from ..mm_blender.scene.reading import feature_presets
from ..mm_blender.scene.reading.features import size_of, title_of
from ..mm_blender.scene.showing import overlay
from .base import CharacterPanel, active_armature, draw_presets, draw_presets_to_remove, draw_sentence


class MM_UL_channels(bpy.types.UIList):
    def draw_item(self, _context, layout, ob, entry, _icon, _active, _property, _index):
        row, kind = layout.row(align=True), KINDS[entry.kind]
        row.label(text=title_of(entry), icon=kind.icon)
        end = row.row()
        end.alignment = "RIGHT"
        weight = f" × {entry.weight:.3g}" if abs(entry.weight - 1) > 1e-6 else ""
        end.label(text=f"{kind.numbers * entry.time_count}{weight}", translate=False)


class MM_MT_feature_add(bpy.types.Menu):
    """Add a feature"""
    bl_label = "Add Feature"
    bl_idname = "MM_MT_feature_add"

    def draw(self, _context):
        self.layout.operator_enum("mm.feature_add", "kind")


class MM_MT_features_preset(bpy.types.Menu):
    """Replace the list by a preset"""
    bl_label = "Preset"
    bl_idname = "MM_MT_features_preset"

    def draw(self, _context):
        self.layout.operator_enum("mm.features_preset", "preset")
        self.layout.separator()
        draw_presets(self.layout, feature_presets.PRESETS)


class MM_MT_features_presets_remove(bpy.types.Menu):
    """Remove a preset for good"""
    bl_label = "Remove"
    bl_idname = "MM_MT_features_presets_remove"

    def draw(self, _context):
        draw_presets_to_remove(self.layout, feature_presets.PRESETS)


class MM_PT_features(CharacterPanel, bpy.types.Panel):
    bl_label = "Features"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header_preset(self, context):
        ob = active_armature(context)
        if len(ob.mm.features.channels):
            self.layout.label(text=f"{size_of(ob)} numbers")

    def draw_character(self, context, layout, ob):
        features = ob.mm.features
        if not len(features.channels):
            draw_sentence(layout, "What should the next frame have in common with the present one?", "INFO")
            layout.operator("mm.features_preset", text="Use Locomotion", icon="PRESET").preset = "locomotion"
            layout.menu("MM_MT_features_preset", text="Other Presets")
            return
        row = layout.row()
        row.template_list("MM_UL_channels", "", features, "channels", features, "index", rows=5)
        side = row.column(align=True)
        side.menu("MM_MT_feature_add", text="", icon="ADD")
        side.operator("mm.feature_remove", text="", icon="REMOVE")
        side.separator()
        side.menu("MM_MT_features_preset", text="", icon="PRESET")
        side.separator()
        side.operator("mm.feature_move", text="", icon="TRIA_UP").by = -1
        side.operator("mm.feature_move", text="", icon="TRIA_DOWN").by = 1
        if features.index < len(features.channels):
            self._draw_channel(layout, features.channels[features.index])
        column = layout.column(align=True)
        column.prop(features, "responsiveness", slider=True)
        column.prop(features, "quality", slider=True)
        layout.prop(features, "past_end")
        layout.prop(features, "show")
        if features.show and (sentence := overlay.trouble(ob)):
            draw_sentence(layout, sentence)

    @staticmethod
    def _draw_channel(layout, entry):
        column = layout.column()
        column.prop(entry, "kind")
        belongs = KINDS[entry.kind].belongs
        if belongs == "role":
            column.prop(entry, "role")
        elif belongs:
            column.prop(entry, "of", text=belongs.title())
        column.prop(entry, "weight", slider=True)
        column.prop(entry, "time_count")
        times = column.column(align=True)
        for index in range(entry.time_count):
            times.prop(entry, "times", index=index, text="At" if index == 0 else " ")


register, unregister = bpy.utils.register_classes_factory((
    MM_UL_channels, MM_MT_feature_add, MM_MT_features_preset, MM_MT_features_presets_remove, MM_PT_features))
