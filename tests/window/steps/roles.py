# SPDX-License-Identifier: GPL-3.0-or-later
"""Bone roles of a Rigify human and of a rig without names: found, shown, selected, saved as a preset, a T-pose kept."""

import sys

import addon_utils
import bpy
from inside import EXTENSION, empty_scene, engine, in_view3d, open_sidebar, picture, press, region, view3d


def steps(result):
    bpy.context.preferences.system.use_region_overlap = False
    empty_scene()
    addon_utils.enable("rigify", default_set=True)
    with in_view3d():
        bpy.ops.object.armature_basic_human_metarig_add()
    named = bpy.context.object
    unnamed = named.copy()
    unnamed.name, unnamed.data = "Unnamed", named.data.copy()
    bpy.context.collection.objects.link(unnamed)
    unnamed.select_set(False)
    for index, bone in enumerate(unnamed.data.bones):
        bone.name = f"Bone.{index:03}"

    with in_view3d():
        bpy.ops.mm.roles_find("INVOKE_DEFAULT")
    yield from _open_roles()
    named.mm.roles["head"].bone = "spine.005"
    view3d()[1].tag_redraw()
    yield 1.0
    picture("roles_rigify", region("UI"))
    with in_view3d():
        bpy.ops.mm.role_select("INVOKE_DEFAULT", role="left_foot")
    result["selected"] = [bone.name for bone in bpy.context.selected_pose_bones]

    presets = engine("scene.rig.presets")
    result["folder"] = str(presets.PRESETS.folder)
    with in_view3d():
        bpy.ops.mm.roles_preset_save(name="Rigify head")
        bpy.ops.mm.stance_set("INVOKE_DEFAULT")
        bpy.ops.wm.call_menu(name="MM_MT_roles_presets")
    yield 1.0
    picture("roles_presets")
    press("ESC")
    yield 0.5
    result["presets"], result["stance"] = presets.PRESETS.names(), engine("scene.rig.t_pose").has_stance(named)

    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = unnamed
    with in_view3d():
        bpy.ops.mm.roles_find("INVOKE_DEFAULT")
        try:
            bpy.ops.mm.roles_preset_load(name="Rigify head")
        except RuntimeError as error:
            result["other rig"] = str(error)
    view3d()[1].tag_redraw()
    yield 1.0
    picture("roles_unnamed", region("UI"))


def _open_roles():
    """Our Character panel alone, with the roles opened."""
    panels = sys.modules[EXTENSION].panels
    panels.unregister()
    for module in panels.PARTS:
        own = module.__name__.rsplit(".", 1)[-1] == "character"
        for panel in (each for each in vars(module).values() if getattr(each, "bl_region_type", "") == "UI"):
            panel.bl_category = "Motion Matching" if own else "Put Aside"
            panel.bl_options = set()
    panels.register()
    yield from open_sidebar()
    view3d()[1].tag_redraw()
