# SPDX-License-Identifier: GPL-3.0-or-later
"""Drive: steer the character, and how it answers."""

import bpy

from ..mm_blender.matching.features import KINDS
from ..mm_blender.scene import driving
from ..mm_blender.scene.driving import comparing, keymap, libraries, own_speeds, rescue
from ..mm_blender.scene.driving.commands import commandable
from ..mm_blender.scene.jobs import freshness, ownership
from ..mm_blender.scene.reading.features import title_of
from ..mm_blender.scene.rig import targets
from .base import CharacterPanel, active_armature, draw_sentence, draw_step
from .why import MM_PT_drive_why


class MM_PT_drive(CharacterPanel, bpy.types.Panel):
    bl_label = "Drive"

    def draw_header_preset(self, _context):
        item = keymap.shortcut()
        if driving.current() is None and item is not None and item.active:
            self.layout.label(text=item.to_string())

    def draw_character(self, context, layout, ob):
        if (owner := targets.owner(ob)) != ob:
            layout.label(text=f'With the motion of "{owner.name}"', icon="ARMATURE_DATA", translate=False)
            ob = owner
        session = driving.current()
        if session is not None:
            self._draw_session(layout, session)
            self._draw_target(layout, ob, False)
            self._draw_method(layout, ob)
            return
        draw_step(layout, "mm.drive", icon="PLAY")
        for path in rescue.saved():
            draw_sentence(layout, f"What was driven and is not kept as an Action is in {path}: Import Motion "
                                  "brings it back", "INFO")
        if not libraries.is_ready(ob):
            draw_sentence(layout, "Bake a database first: it is what the character knows how to do.", "INFO")
        self._draw_database(context, layout, ob)
        self._draw_target(layout, ob, True)
        self._draw_method(layout, ob)
        column = layout.column(align=True)
        column.operator_context = "INVOKE_DEFAULT"
        column.operator("mm.drive_recording", text="Drive from Recording…", icon="IMPORT")
        column.operator("mm.drive_save_input", text="Save Input…", icon="EXPORT")

    @staticmethod
    def _draw_database(context, layout, ob):
        """Whose the database is, or why it is stale, and the button that helps."""
        said = ownership.said(ob)
        stale = [] if said or not ob.mm.bake.key else freshness.changes(ob, context.scene)
        if not said and not stale:
            return
        draw_sentence(layout, said or f"The database is stale. {stale[0].rstrip('.')}.", "INFO")
        if len(ob.mm.clips) and ob == active_armature(context):
            row = layout.row()
            row.operator_context = "INVOKE_DEFAULT"
            row.operator("mm.bake", icon="FILE_CACHE", text="Bake to a File of Its Own" if said else "Bake Again"
                         ).own_file = bool(said)

    @staticmethod
    def _draw_target(layout, ob, changeable):
        """Which armature is posed; a sentence if it cannot be."""
        settings = ob.mm.drive
        column = layout.column(align=True)
        row = column.row()
        row.enabled = changeable
        row.prop(settings, "target", icon="ARMATURE_DATA")
        if targets.posed(ob) != ob or targets.known(ob) is not None:
            column.prop(settings, "hands", slider=True)
        if trouble := targets.trouble(ob):
            draw_sentence(layout, trouble)

    @staticmethod
    def _draw_method(layout, ob):
        """The switch; a method that cannot be used is grey, and a sentence says why."""
        settings = ob.mm.drive
        troubles = {method: libraries.method_trouble(ob, method) for method in libraries.METHODS}
        column = layout.column(align=True)
        column.use_property_split = False
        for method, trouble in troubles.items():
            button = column.row(align=True)
            button.enabled = not trouble or settings.method == method
            button.prop_enum(settings, "method", method)
        if ob.mm.bake.key or not troubles["LMM"]:
            for trouble in dict.fromkeys(filter(None, troubles.values())):
                draw_sentence(layout, trouble, "ERROR" if trouble == troubles[settings.method] else "INFO")
        row, trouble = layout.row(), comparing.copy_trouble(ob)
        row.enabled = settings.compare or not (trouble or troubles["MM"] or troubles["LMM"])
        row.prop(settings, "compare")
        if settings.compare and trouble:
            draw_sentence(layout, trouble, "INFO")

    @staticmethod
    def _draw_session(layout, session):
        status, keys = session.status, keymap.labels()
        box = layout.box()
        box.label(text=f'Driving "{session.driven.name}": {status.seconds:.0f} s', icon="REC", translate=False)
        ends = [f"{keys[control]} {ends}" for control, ends in (("keep", "keeps the take"), ("cancel", "cancels"))
                if control in keys]
        draw_sentence(box, ", ".join(ends), "BLANK1")
        played = status.short or status.clip or status.method
        draw_sentence(box, f"{status.gait.title()}, {status.speed:.1f} m/s: {played}", "ARMATURE_DATA")
        for sentence in status.sentences:
            draw_sentence(box, sentence)
        for note in status.notes:
            draw_sentence(box, note, "INFO")


class DrivePanel(CharacterPanel):
    """A part of the panel Drive: subclasses write `draw_settings(layout, ob, settings)`."""

    bl_parent_id = "MM_PT_drive"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_character(self, context, layout, ob):
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
        layout.prop(settings, "follow")
        layout.prop(settings, "show_hud")
        column = layout.column(heading="Show")
        for name in ("show_desired", "show_matched", "show_contacts", "show_root"):
            column.prop(settings, name)


class MM_PT_drive_take(DrivePanel, bpy.types.Panel):
    bl_label = "Take"

    def draw_settings(self, layout, ob, settings):
        layout.prop(settings, "keep_as")
        layout.prop(settings, "tolerance")
        layout.prop(settings, "ik_keys")
        layout.prop(settings, "extend")


def _table_row(layout, label):
    """A row with a name, and the rest of it for three numbers."""
    split = layout.split(factor=0.25)
    split.label(text=label)
    return split.row(align=True)


register, unregister = bpy.utils.register_classes_factory((
    MM_PT_drive, MM_PT_drive_why, MM_PT_drive_steering, MM_PT_drive_commands, MM_PT_drive_speeds, MM_PT_drive_matching,
    MM_PT_drive_root, MM_PT_drive_feet, MM_PT_drive_display, MM_PT_drive_take))
