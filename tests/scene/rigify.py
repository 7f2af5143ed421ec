# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigify's human as its metarig and as the control rig that is generated from it, made once for all tests."""

import tempfile
from functools import cache
from pathlib import Path

import bpy

import addon_utils  # isort: skip (it is there once bpy is)


def metarig(kind="basic_human"):
    """A metarig of Rigify; it is active."""
    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
    ob = bpy.context.object
    bpy.ops.object.mode_set(mode="OBJECT")
    addon_utils.disable("rigify", default_set=True)
    return ob


def control_rig(kind="basic_human"):
    """What Rigify generates from a metarig."""
    with bpy.data.libraries.load(str(_generated(kind))) as (_, loaded):
        loaded.objects = ["rig"]
    ob = loaded.objects[0]
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.context.view_layer.update()
    return ob


@cache
def _generated(kind):
    """A file with the rig: to generate it takes long."""
    window = bpy.context.window
    before, window.scene = window.scene, bpy.data.scenes.new("Rigify")
    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
    _remove_face(bpy.context.object)
    bpy.ops.pose.rigify_generate()
    addon_utils.disable("rigify", default_set=True)
    rig = bpy.context.object
    rig.name = "rig"
    path = Path(tempfile.mkdtemp()) / f"{kind}.blend"
    bpy.data.libraries.write(str(path), {rig})
    window.scene = before
    for ob in list(bpy.data.scenes["Rigify"].objects):
        bpy.data.objects.remove(ob)
    bpy.data.scenes.remove(bpy.data.scenes["Rigify"])
    return path


def _remove_face(ob):
    """Without its face a rig is generated in a second instead of twenty."""
    if "face" in ob.data.bones:
        bpy.ops.object.mode_set(mode="EDIT")
        face = ob.data.edit_bones["face"]
        for bone in (*face.children_recursive, face):
            ob.data.edit_bones.remove(bone)
        bpy.ops.object.mode_set(mode="OBJECT")
