# SPDX-License-Identifier: GPL-3.0-or-later
"""While driving: what is at hand in the sidebar and in the viewport's header, where nothing moves as texts change."""

import bpy

from ..mm_blender.scene import driving
from ..mm_blender.scene.driving import comparing, keymap, libraries
from .base import draw_lines, draw_sentence

LINES = 4  # for what the person should know
_AS_USUAL = ("Whatever you change here acts at once. Orbit, zoom and undo as usual.", "INFO")


class MM_PT_driving(bpy.types.Panel):
    """How the character is driven"""
    bl_label = "Driving"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = 11

    def draw(self, _context):
        session = driving.current()
        ob = session.driven.owner() if session is not None else None
        if ob is None:
            self.layout.label(text="No character is being driven")
            return
        layout, settings = self.layout, ob.mm.drive
        layout.label(text=session.driven.name, icon="ARMATURE_DATA", translate=False)
        draw_method(layout, ob)
        column = layout.column(align=True)
        for name in ("responsiveness", "quality"):
            row = column.row()
            row.active = settings.method != "LMM"
            row.prop(ob.mm.features, name, slider=True)
        column.prop(settings, "stay", slider=True)
        column = layout.column(align=True)
        column.prop(settings, "strafe")
        column.prop(settings, "show_hud")


def draw_header(self, _context):
    """In the viewport's header: it is there whatever the sidebar shows."""
    if driving.current() is None:
        return
    layout = self.layout
    layout.separator()
    row = layout.row(align=True)
    row.popover("MM_PT_driving", text="Driving", icon="REC")
    row.operator("mm.drive_keep", text="Keep", icon="CHECKMARK")
    row.operator("mm.drive_cancel", text="", icon="X")


def draw_session(layout, session):
    """Who is driven and how it goes, with the ways to end it."""
    status, keys = session.status, keymap.labels()
    box = layout.box()
    head = box.split(factor=0.75)
    head.label(text=session.driven.name, icon="REC", translate=False)
    clock = head.row()
    clock.alignment = "RIGHT"
    clock.label(text=f"{status.seconds:.0f} s", translate=False)
    row = box.row(align=True)
    row.scale_y = 1.5
    row.operator("mm.drive_keep", text=_with_key("Keep", keys.get("keep")), icon="CHECKMARK")
    row.operator("mm.drive_cancel", text=_with_key("Cancel", keys.get("cancel")), icon="X")
    played = status.short or status.clip or status.method
    box.label(text=f"{status.gait.title()}, {status.speed:.1f} m/s: {played}", icon="ARMATURE_DATA", translate=False)
    told = [*((sentence, "ERROR") for sentence in status.sentences), *((note, "INFO") for note in status.notes)]
    draw_lines(box, told + _why_grey(session.driven.owner()) or [_AS_USUAL], LINES)


def draw_method(layout, ob):
    """The switch between methods, where those that cannot be used are grey; Compare and Follow."""
    settings = ob.mm.drive
    troubles = _troubles(ob)
    column = layout.column(align=True)
    column.use_property_split = False
    for method, trouble in troubles.items():
        button = column.row(align=True)
        button.enabled = not trouble or settings.method == method
        button.prop_enum(settings, "method", method)
    row = layout.row(align=True)
    row.use_property_split = False
    compare = row.row(align=True)
    compare.enabled = settings.compare or not (comparing.copy_trouble(ob) or troubles["MM"] or troubles["LMM"])
    compare.prop(settings, "compare", toggle=True)
    row.prop(settings, "follow", toggle=True)


def draw_why_grey(layout, ob):
    """Why methods cannot be used, and why nothing can be compared, in sentences."""
    for sentence, icon in _why_grey(ob):
        draw_sentence(layout, sentence, icon)
    if ob.mm.drive.compare and (trouble := comparing.copy_trouble(ob)):
        draw_sentence(layout, trouble, "INFO")


def _why_grey(ob):
    """The same of methods as (sentence, icon)."""
    if ob is None:
        return []
    troubles = _troubles(ob)
    if troubles["LMM"] and not ob.mm.bake.key:  # before the first bake that is no news
        return []
    return [(trouble, "ERROR" if trouble == troubles[ob.mm.drive.method] else "INFO")
            for trouble in dict.fromkeys(filter(None, troubles.values()))]


def _troubles(ob):
    return {method: libraries.method_trouble(ob, method) for method in libraries.METHODS}


def _with_key(text, key):
    return f"{text} ({key})" if key else text


_register, _unregister = bpy.utils.register_classes_factory((MM_PT_driving,))


def register():
    _register()
    bpy.types.VIEW3D_MT_editor_menus.append(draw_header)


def unregister():
    bpy.types.VIEW3D_MT_editor_menus.remove(draw_header)
    _unregister()
