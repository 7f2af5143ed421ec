# SPDX-License-Identifier: GPL-3.0-or-later
"""Enables the extension, uses it, disables it, and does so again: what each leaves behind."""

import bpy
from inside import in_view3d, open_sidebar
from traces import left, traces, watching

EXTENSION = "bl_ext.user_default.motion_matching"


def steps(result):
    before = traces()
    with watching():
        bpy.ops.preferences.addon_enable(module=EXTENSION)
        yield from open_sidebar()
        result["enabled"] = sorted(left(before, traces())["classes"])
        with in_view3d():
            bpy.ops.mm.create_demo()
        yield 2.0
        result["objects"] = [thing.name for thing in bpy.data.objects if thing.type == "ARMATURE"]

        bpy.ops.preferences.addon_disable(module=EXTENSION)
        yield 1.0
        result["left"] = left(before, traces())

        bpy.ops.preferences.addon_enable(module=EXTENSION)
        yield 1.0
        result["enabled again"] = sorted(left(before, traces())["classes"])
        bpy.ops.preferences.addon_disable(module=EXTENSION)
        yield 1.0
        result["left again"] = left(before, traces())
