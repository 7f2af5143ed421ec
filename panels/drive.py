# SPDX-License-Identifier: GPL-3.0-or-later
"""Drive: steer the character, and how it answers."""

import bpy

from ..mm_blender.matching.features import KINDS
from ..mm_blender.scene import driving
from ..mm_blender.scene.driving import drive_presets, keymap, own_speeds, rescue, travel
from ..mm_blender.scene.driving.commands import commandable
from ..mm_blender.scene.jobs import freshness, ownership
from ..mm_blender.scene.reading.features import title_of
from ..mm_blender.scene.rig import controls, targets
from .base import (
    CharacterPanel,
    active_armature,
    draw_needs_database,
    draw_presets,
    draw_presets_to_remove,
    draw_rate_back,
    draw_sentence,
    draw_step,
)
from .driving import draw_method, draw_session, draw_why_grey
from .why import MM_PT_drive_why


class MM_PT_drive(CharacterPanel, bpy.types.Panel):
    bl_label = "Drive"

    @classmethod
    def poll(cls, context):
        return driving.current() is not None or super().poll(context)

    def draw_header_preset(self, _context):
        item = keymap.shortcut()
        if driving.current() is None and item is not None and item.active:
            self.layout.label(text=item.to_string())
        self.layout.menu("MM_MT_drive_presets", text="", icon="PRESET")

    def draw_character(self, context, layout, ob):
        if (session := driving.current()) is not None:
            draw_session(layout, session)
            if ob is not None:  # it may have been deleted, until an undo
                draw_method(layout, ob)
                self._draw_hands(layout, ob)
            return
        if (owner := targets.owner(ob)) != ob:
            layout.label(text=f'With the motion of "{owner.name}"', icon="ARMATURE_DATA", translate=False)
            ob = owner
        draw_step(layout, "mm.drive", icon="PLAY")
        for path in rescue.saved():
            draw_sentence(layout, f"What was driven and is not kept as an Action is in {path}: Import Motion "
                                  "brings it back", "INFO")
        draw_needs_database(layout, ob)
        self._draw_database(context, layout, ob)
        layout.prop(ob.mm.drive, "target", icon="ARMATURE_DATA")
        self._draw_hands(layout, ob)
        if trouble := targets.trouble(ob):
            draw_sentence(layout, trouble)
        draw_method(layout, ob)
        draw_why_grey(layout, ob)
        column = layout.column(align=True)
        column.operator_context = "INVOKE_DEFAULT"
        column.operator("mm.drive_recording", text="Drive from Recording…", icon="IMPORT")
        column.operator("mm.drive_save_input", text="Save Input…", icon="EXPORT")

    @staticmethod
    def _draw_hands(layout, ob):
        """Where the hands of a Target of other proportions are."""
        if targets.posed(ob) != ob or targets.known(ob) is not None:
            layout.prop(ob.mm.drive, "hands", slider=True)

    @staticmethod
    def _draw_database(context, layout, ob):
        """Whose the database is, or why it is stale, and the button that helps."""
        said = ownership.said(ob)
        stale = [] if said or not ob.mm.bake.key else freshness.changes(ob, context.scene)
        if not said and not stale:
            return
        draw_sentence(layout, said or f"The database is stale. {stale[0].rstrip('.')}.", "INFO")
        if stale:
            draw_rate_back(layout, ob, context.scene)
        if len(ob.mm.clips) and ob == active_armature(context):
            row = layout.row()
            row.operator_context = "INVOKE_DEFAULT"
            row.operator("mm.bake", icon="FILE_CACHE", text="Bake to a File of Its Own" if said else "Bake Again"
                         ).own_file = bool(said)


class MM_MT_drive_presets(bpy.types.Menu):
    """How characters are driven, saved for all of them"""
    bl_label = "Drive Presets"
    bl_idname = "MM_MT_drive_presets"

    def draw(self, _context):
        draw_presets(self.layout, drive_presets.PRESETS)


class MM_MT_drive_presets_remove(bpy.types.Menu):
    """Remove a preset for good"""
    bl_label = "Remove"
    bl_idname = "MM_MT_drive_presets_remove"

    def draw(self, _context):
        draw_presets_to_remove(self.layout, drive_presets.PRESETS)


class DrivePanel(CharacterPanel):
    """A part of the panel Drive: subclasses write `draw_settings(layout, ob, settings)`."""

    bl_parent_id = "MM_PT_drive"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_character(self, _context, layout, ob):
        if driving.current() is None:
            ob = targets.owner(ob)
        self.draw_settings(layout, ob, ob.mm.drive)


class MM_PT_drive_steering(DrivePanel, bpy.types.Panel):
    bl_label = "Steering"

    def draw_settings(self, layout, ob, settings):
        layout.prop(settings, "relative")
        layout.prop(settings, "strafe")
        layout.prop(settings, "query")
        layout.prop(settings, "obstacles")
        layout.label(text="Half-life of a change in")
        column = layout.column(align=True)
        column.prop(settings, "velocity_halflife")
        column.prop(settings, "facing_halflife")


class MM_PT_drive_commands(DrivePanel, bpy.types.Panel):
    bl_label = "Commands"

    def draw_settings(self, layout, ob, _settings):
        entries = commandable(ob)
        if not entries:
            draw_sentence(layout, "Tags, properties, heights and directions among the features can be commanded: add "
                                  "where the head faces, say, and bake.", "INFO", 36)
        for entry in entries:
            kind = KINDS[entry.kind]
            if kind.commanded == "target":
                layout.prop(entry, "target", text=title_of(entry), icon=kind.icon, translate=False)
                continue
            row = layout.row(heading=title_of(entry), translate=False)
            row.prop(entry, "commanded", text="")
            value = row.row()
            value.active = entry.commanded
            value.prop(entry, "on" if kind.commanded == "switch" else "value", text="")


class MM_PT_drive_speeds(DrivePanel, bpy.types.Panel):
    bl_label = "Speeds"

    def draw_settings(self, layout, ob, settings):
        layout.prop(settings, "own_speeds")
        speeds, own = own_speeds.speeds_of(ob), own_speeds.own_settings(ob)
        if speeds is None:
            draw_sentence(layout, "They are measured from the database when driving starts.", "INFO", 36)
            return
        layout.use_property_split = False
        column = layout.column(align=True)
        row = _table_row(column, "m/s")
        for way in ("Forward", "Sideways", "Backward"):
            row.label(text=way)
        for gait in speeds.gaits:
            row = _table_row(column, gait.name.title())
            for index in range(3):
                if gait.name in own:
                    row.prop(*own[gait.name], index=index, text="")
                else:
                    row.label(text=f"{gait.ways[index]:.2f}")
        if settings.own_speeds:
            layout.operator("mm.drive_measured_speeds")


class MM_PT_drive_matching(DrivePanel, bpy.types.Panel):
    bl_label = "Matching"

    def draw_settings(self, layout, ob, settings):
        column = layout.column(align=True)
        column.active = settings.method != "LMM"  # networks have learned with the weights of their training
        column.prop(ob.mm.features, "responsiveness", slider=True)
        column.prop(ob.mm.features, "quality", slider=True)
        if driving.current() is not None:  # the panel Features has made way
            header, body = column.panel("mm_drive_weights", default_closed=True)
            header.label(text="Feature Weights")
            if body is not None:
                body.use_property_split = False
                for entry in ob.mm.features.channels:
                    body.prop(entry, "weight", text=title_of(entry), slider=True, translate=False)
        column = layout.column(align=True)
        column.prop(settings, "search_every")
        column.prop(settings, "stay", slider=True)
        layout.prop(settings, "blend")
        if settings.blend == "spring":
            layout.prop(settings, "blend_halflife")
        else:
            layout.prop(settings, "blend_duration" if settings.blend == "quintic" else "blend_fade")
        if settings.blend != "latent":
            layout.prop(settings, "overshoot")


class MM_PT_drive_root(DrivePanel, bpy.types.Panel):
    bl_label = "Root"

    def draw_settings(self, layout, ob, settings):
        modes = settings.root_position, settings.root_facing
        column = layout.column(align=True)
        column.prop(settings, "root_position")
        column.prop(settings, "root_facing")
        column = layout.column(align=True)
        column.active = any("adjust" in mode for mode in modes)
        column.prop(settings, "root_halflife")
        column.prop(settings, "root_share", slider=True)
        column = layout.column(align=True)
        for name, mode in zip(("root_radius", "root_angle"), modes):
            row = column.row()
            row.active = "clamp" in mode
            row.prop(settings, name, text="Clamp Radius" if name == "root_radius" else "Angle")


class MM_PT_drive_feet(DrivePanel, bpy.types.Panel):
    bl_label = "Feet and Ground"

    def draw_settings(self, layout, ob, settings):
        layout.prop(settings, "lock_feet")
        column = layout.column(align=True)
        column.active = settings.lock_feet
        column.prop(settings, "lock_release")
        column.prop(settings, "lock_halflife")
        layout.prop(settings, "ground")


class MM_PT_drive_display(DrivePanel, bpy.types.Panel):
    bl_label = "Display"

    def draw_settings(self, layout, ob, settings):
        layout.prop(settings, "show_hud")
        column = layout.column(heading="Show")
        for name in ("show_desired", "show_matched", "show_contacts", "show_root"):
            column.prop(settings, name)


class MM_PT_drive_take(DrivePanel, bpy.types.Panel):
    bl_label = "Take"

    def draw_settings(self, layout, ob, settings):
        layout.prop(settings, "keep_as")
        posed = targets.posed(ob)
        layout.prop_search(settings, "travel_bone", posed.data, "bones", icon="BONE_DATA")
        if sentence := travel.trouble(posed, settings.travel_bone):
            draw_sentence(layout, sentence)
        elif not (settings.travel_bone or travel.usual(posed) or controls.is_control_rig(posed)):
            layout.operator("mm.root_bone_add", icon="ADD")
        layout.prop(settings, "tolerance")
        layout.prop(settings, "ik_keys")
        layout.prop(settings, "extend")


def _table_row(layout, label):
    """A row with a name, and the rest of it for three numbers."""
    split = layout.split(factor=0.25)
    split.label(text=label)
    return split.row(align=True)


register, unregister = bpy.utils.register_classes_factory((
    MM_PT_drive, MM_PT_drive_why, MM_MT_drive_presets, MM_MT_drive_presets_remove, MM_PT_drive_steering,
    MM_PT_drive_commands, MM_PT_drive_speeds, MM_PT_drive_matching, MM_PT_drive_root, MM_PT_drive_feet,
    MM_PT_drive_display, MM_PT_drive_take))
