# SPDX-License-Identifier: GPL-3.0-or-later
"""Which keys steer: a table that people change in the extension's preferences, and that Blender saves with its keys.

It is a keymap that nothing in Blender runs: Drive itself looks up in it what a key means. So its entries name no
operators but controls, such as mm_drive.forward.
"""

import bpy

from ...control.keyboard import CONTROLS, NUMBERED

NAME, PREFIX = "Motion Matching Drive", "mm_drive."
KEYS = {
    "forward": ("W", "UP_ARROW"),
    "back": ("S", "DOWN_ARROW"),
    "left": ("A", "LEFT_ARROW"),
    "right": ("D", "RIGHT_ARROW"),
    "run": ("LEFT_SHIFT", "RIGHT_SHIFT"),
    "crouch": ("LEFT_CTRL", "C"),
    "strafe": ("LEFT_ALT", "RIGHT_ALT"),
    "toggle_strafe": ("X",),
    "next_gait": ("G",),
    **dict(zip(NUMBERED, (("ONE",), ("TWO",), ("THREE",), ("FOUR",), ("FIVE",), ("SIX",), ("SEVEN",), ("EIGHT",),
                          ("NINE",)))),
    "turn_left": ("Q",),
    "turn_right": ("E",),
    "keep": ("RET", "NUMPAD_ENTER"),
    "cancel": ("ESC",),
}
# Starts driving in a 3D viewport; free in Blender's own keymap in every mode that an armature can have.
SHORTCUT = {"type": "D", "value": "PRESS", "ctrl": True, "shift": True}
# As short as they are printed on a keyboard; the others are called as Blender calls them.
SHORT = {"LEFT_SHIFT": "Shift", "LEFT_CTRL": "Ctrl", "LEFT_ALT": "Alt", "RET": "Enter",
         "UP_ARROW": "↑", "DOWN_ARROW": "↓", "LEFT_ARROW": "←", "RIGHT_ARROW": "→"}

PASSING = {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "TIMER", "NONE"}  # events that come all the time and are no keys


def control_of(event):
    """The control that an event's key has, pressed or released and with any modifiers; None if it has none."""
    if event.type in PASSING:
        return None
    return next((control for control, key in _table() if key == event.type), None)


def labels():
    """{control: the name of its first key}, in the order of the table; controls without a key are not in it."""
    named = bpy.types.KeyMapItem.bl_rna.properties["type"].enum_items
    found = {}
    for control, key in _table():
        found.setdefault(control, SHORT.get(key) or named[key].name)
    return found


def keymap():
    """The table as the person has it, whose items can be edited; None without a window."""
    keys = bpy.context.window_manager.keyconfigs.user
    return keys.keymaps.get(NAME) if keys is not None else None


def control_in(item):
    """The control that an item of the table is about."""
    return item.idname.removeprefix(PREFIX)


def shortcut():
    """The item of the 3D viewport's keymap that starts driving, as the person has it; None if there is none."""
    keys = bpy.context.window_manager.keyconfigs.user
    found = keys.keymaps.get("3D View") if keys is not None else None
    return next((item for item in found.keymap_items if item.idname == "mm.drive"), None) if found is not None else None


def _table():
    """(control, key), with two entries where a control has two keys."""
    found = keymap()
    if found is None:
        return _defaults()
    return [(control_in(item), item.type) for item in found.keymap_items if item.active and item.type != "NONE"]


def _defaults():
    return [(control, key) for control in CONTROLS for key in KEYS[control]]


# Registration

_shortcut = None  # our entry in the 3D viewport's keymap, with that keymap


def register():
    global _shortcut
    keys = bpy.context.window_manager.keyconfigs
    if bpy.app.background or keys.addon is None:
        return
    # What people can change is put together from Blender's own keymaps and what extensions add to them: so Blender
    # needs one of that name too. Entries of extensions come out in reverse.
    keys.default.keymaps.new(NAME)
    table = keys.addon.keymaps.new(NAME).keymap_items
    for control, key in reversed(_defaults()):
        table.new(PREFIX + control, key, "PRESS")
    view = keys.addon.keymaps.new("3D View", space_type="VIEW_3D")
    _shortcut = view, view.keymap_items.new("mm.drive", **SHORTCUT)


def unregister():
    global _shortcut
    if _shortcut is None:
        return
    view, item = _shortcut
    view.keymap_items.remove(item)
    _shortcut = None
    keys = bpy.context.window_manager.keyconfigs
    for owner in (keys.addon, keys.default):
        if (found := owner.keymaps.get(NAME)) is not None:
            owner.keymaps.remove(found)
