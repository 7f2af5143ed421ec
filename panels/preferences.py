# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension's page of the preferences: the keys that steer, the gamepads, and the Python that trains."""

import bpy

from ..mm_blender.control.keyboard import CONTROLS
from ..mm_blender.scene.driving import gamepads, keymap
from ..mm_blender.scene.jobs import pythons
from .base import draw_sentence

_MEANINGS = {"strafe": "Strafe, Held", "toggle_strafe": "Strafe, On and Off", "turn_left": "Turn Left, Strafing",
             "turn_right": "Turn Right, Strafing", "keep": "Keep the Take", "cancel": "Cancel"}


class MM_AddonPreferences(bpy.types.AddonPreferences):
    bl_idname = __package__.rpartition(".")[0]

    torch_python: bpy.props.StringProperty(
        name="Python With Torch", subtype="FILE_PATH",
        description="The Python that trains networks; empty to look for one: a private environment, Blender's own "
                    "Python, or the one that a shell finds")

    def draw(self, _context):
        layout = self.layout
        table = keymap.keymap()
        if table is not None:
            _draw_keys(layout, table)
        else:
            layout.label(text="Keys can be changed where Blender has a window", icon="INFO")
        layout.label(text="Gamepads")
        draw_sentence(layout, gamepads.sentence() or "Looking for gamepads…", "DOT", width=100)
        layout.label(text="Training")
        split = layout.split(factor=0.85)
        split.prop(self, "torch_python")
        split.operator_context = "INVOKE_DEFAULT"
        split.operator("mm.train_test")
        draw_sentence(layout, pythons.sentence() or "Looking for a Python with torch…", "DOT", width=100)


def _draw_keys(layout, table):
    row = layout.row()
    row.label(text="Keys That Steer")
    if table.is_user_modified:
        restore = row.row()
        restore.alignment = "RIGHT"
        restore.context_pointer_set("keymap", table)
        restore.operator("preferences.keymap_restore", text="Restore", icon="BACK")
    columns = layout.row()
    half = len(CONTROLS) // 2
    for controls in (CONTROLS[:half], CONTROLS[half:]):
        column = columns.column(align=True)
        for control in controls:
            _draw_control(column, table, control)
    if (item := keymap.shortcut()) is not None:
        split = column.split(factor=0.4)
        split.label(text="Start Driving")
        split.prop(item, "type", text="", full_event=True)


def _draw_control(layout, table, control):
    split = layout.split(factor=0.4)
    split.label(text=_MEANINGS.get(control, control.replace("_", " ").title()))
    row = split.row(align=True)
    for item in table.keymap_items:
        if keymap.control_in(item) == control:
            key = row.row(align=True)
            key.active = item.active
            key.prop(item, "active", text="")
            key.prop(item, "type", text="", event=True)


register, unregister = bpy.utils.register_classes_factory((MM_AddonPreferences,))
