# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways to us from Blender's own menus: File > Import, and the context menus of Dope Sheet, NLA and Asset Browser."""

import bpy

from ..mm_blender.matching.tags import BUILT_IN
from ..mm_blender.scene.reading import assets, clips
from .base import active_armature

_KEYS = {"DOPESHEET", "ACTION", "TIMELINE"}  # the modes of the Dope Sheet that show keys of armatures


class MM_MT_tag_keys(bpy.types.Menu):
    """Tag the Action from the first selected key to the last"""
    bl_label = "Tag Selected Keys"
    bl_idname = "MM_MT_tag_keys"

    def draw(self, context):
        _draw_tags(self.layout, context, "mm.tag_add", range="KEYS")


class MM_MT_tag_strips(bpy.types.Menu):
    """Tag the Actions of the selected strips, each where its strip plays it"""
    bl_label = "Tag Strips"
    bl_idname = "MM_MT_tag_strips"

    def draw(self, context):
        _draw_tags(self.layout, context, "mm.tag_strips")


def draw_import(self, _context):
    self.layout.operator("mm.import_motion", text="Motion Capture for Motion Matching (.bvh, .fbx, .glb)")


def draw_keys(self, context):
    if active_armature(context) is not None and getattr(context.space_data, "mode", "DOPESHEET") in _KEYS:
        self.layout.separator()
        self.layout.menu("MM_MT_tag_keys", icon="BOOKMARKS")


def draw_strips(self, context):
    if active_armature(context) is not None:
        self.layout.separator()
        self.layout.menu("MM_MT_tag_strips", icon="BOOKMARKS")


def draw_assets(self, context):
    if assets.selected(context):
        self.layout.separator()
        self.layout.operator("mm.clips_add_assets", text="Add to Motion Matching Clips", icon="ACTION")


def _draw_tags(layout, context, operator, **settings):
    """One click for the tags that there are, and a field for another one."""
    def draw(**looks):
        button = layout.operator(operator, **looks)
        for name, value in settings.items():
            setattr(button, name, value)
        return button

    ob = active_armature(context)
    used = clips.tag_names(ob) if ob is not None else []
    own = [name for name in used if name not in BUILT_IN]
    layout.operator_context = "EXEC_DEFAULT"
    for names in (own, [name for name in BUILT_IN if name in used or not name.endswith(".fore")]):
        for name in names:
            draw(text=name, translate=False).name = name
        if names:
            layout.separator()
    layout.operator_context = "INVOKE_DEFAULT"
    draw(text="New Tag…", icon="ADD")


_DRAWN = {"TOPBAR_MT_file_import": draw_import, "DOPESHEET_MT_context_menu": draw_keys,
          "NLA_MT_context_menu": draw_strips, "ASSETBROWSER_MT_context_menu": draw_assets}
_register, _unregister = bpy.utils.register_classes_factory((MM_MT_tag_keys, MM_MT_tag_strips))


def register():
    _register()
    for menu, draw in _DRAWN.items():
        getattr(bpy.types, menu).append(draw)


def unregister():
    for menu, draw in _DRAWN.items():
        getattr(bpy.types, menu).remove(draw)
    _unregister()
