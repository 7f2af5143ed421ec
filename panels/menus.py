# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways to us from Blender's own menus: File > Import, and the context menus of Dope Sheet, NLA and Asset Browser."""

import bpy

from ..mm_blender.matching.tags import BUILT_IN
from ..mm_blender.scene.reading import assets, clips
from .base import active_armature

_KEYS = {"DOPESHEET", "ACTION", "TIMELINE"}  # the modes of the Dope Sheet that show keys of armatures


class _TagMenu:
    """One click for tags that there are, and a field for others: subclasses have the operator and its settings."""

    def draw(self, context):
        layout, ob = self.layout, active_armature(context)
        used = clips.tag_names(ob) if ob is not None else []
        layout.operator_context = "EXEC_DEFAULT"
        for names in ([name for name in used if name not in BUILT_IN], BUILT_IN):
            for name in names:
                self._draw_tag(text=name, translate=False).name = name
            if names:
                layout.separator()
        layout.operator_context = "INVOKE_DEFAULT"
        self._draw_tag(text="New Tag…", icon="ADD")

    def _draw_tag(self, **looks):
        button = self.layout.operator(self.operator, **looks)
        for name, value in self.settings.items():
            setattr(button, name, value)
        return button


class MM_MT_tag_keys(_TagMenu, bpy.types.Menu):
    """Tag the Action from the first selected key to the last"""
    bl_label = "Tag Selected Keys"
    bl_idname = "MM_MT_tag_keys"
    operator, settings = "mm.tag_add", {"range": "KEYS"}


class MM_MT_tag_strips(_TagMenu, bpy.types.Menu):
    """Tag the Actions of the selected strips, each where its strip plays it"""
    bl_label = "Tag Strips"
    bl_idname = "MM_MT_tag_strips"
    operator, settings = "mm.tag_strips", {}


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
