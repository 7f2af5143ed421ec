# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigify's human as its metarig and as the control rig that is generated from it, made once for all tests."""

import os
import subprocess
import sys
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
    """A file with the rig. Another Blender makes it: in one that runs many tests Rigify's generator ends in crashes."""
    path = Path(tempfile.mkdtemp()) / f"{kind}.blend"
    subprocess.run([sys.executable, __file__, kind, str(path)], check=True, stdout=subprocess.DEVNULL, timeout=300)
    return path


def _generate(kind, path):
    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{kind}_metarig_add")()
    _remove_face(bpy.context.object)
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    rig.name = "rig"
    bpy.data.libraries.write(path, {rig})


def _remove_face(ob):
    """Without its face a rig is generated in a second instead of twenty."""
    if "face" in ob.data.bones:
        bpy.ops.object.mode_set(mode="EDIT")
        face = ob.data.edit_bones["face"]
        for bone in (*face.children_recursive, face):
            ob.data.edit_bones.remove(bone)
        bpy.ops.object.mode_set(mode="OBJECT")


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).parent))  # in which this file would hide the add-on of the same name
    _generate(*sys.argv[1:])
    os._exit(0)  # as a module Blender does not end by itself while Rigify is enabled
