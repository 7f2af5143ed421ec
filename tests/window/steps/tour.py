# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist's first evening: create the demo character, see its features, bake, edit, bake again. With pictures."""

import sys

import bpy
from inside import EXTENSION, empty_scene, engine, in_view3d, open_sidebar, picture, region, view3d
from mathutils import Euler

PANELS = {"character": ("MM_PT_character", "MM_PT_roles"), "clips": ("MM_PT_clips",), "tags": ("MM_PT_tags",),
          "features": ("MM_PT_features",), "bake": ("MM_PT_bake", "MM_PT_bake_details", "MM_PT_bake_report"),
          "train": ("MM_PT_train",),
          "drive": ("MM_PT_drive", "MM_PT_drive_steering", "MM_PT_drive_speeds", "MM_PT_drive_matching")}


def steps(result):
    # An opaque sidebar: what lies behind it does not belong into its picture.
    bpy.context.preferences.system.use_region_overlap = False
    empty_scene()
    show_only(*PANELS)
    yield from open_sidebar()
    picture("begin", region("UI"))

    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT")
    ob = bpy.context.object
    result["clips"] = len(ob.mm.clips)
    look_at(ob)
    yield 2.0
    picture("demo")

    ob.mm.features.show = True
    bpy.ops.mm.clip_show(index=[clip.action.name for clip in ob.mm.clips].index("Demo walk"))
    bpy.context.scene.frame_set(40)
    look_at(ob)
    yield 2.0
    picture("overlay", view3d()[1])

    show_only("bake")
    with in_view3d():
        bpy.ops.mm.bake("INVOKE_DEFAULT")
    while jobs().current() is not None and jobs().current().share == 0:
        yield 0.1
    result["progress"] = jobs().current().share
    picture("baking", region("UI"))
    yield from until_baked(result, "first bake")
    yield 1.5
    result["changes after bake"] = changes(ob)

    action = ob.mm.clips[0].action
    action.mm.tags.add().name = "exclude"
    action.mm.tags[-1].end = 60
    action.update_tag()
    for _ in range(150):  # a busy machine takes its time to look through all clips
        yield 0.2
        if changes(ob):
            break
    yield 1.0
    result["changes after tag"] = changes(ob)
    picture("stale", region("UI"))
    with in_view3d():
        bpy.ops.mm.bake("INVOKE_DEFAULT")
    yield from until_baked(result, "second bake")

    ob.mm.query = "walk & ~turn"
    for name in PANELS:
        show_only(name)
        yield 1.0
        picture(f"panel_{name}", region("UI"))


def until_baked(result, name):
    while jobs().current() is not None:
        yield 0.1
    result[name] = {"error": jobs().last_error(), "report": engine("scene.jobs.baking").report(bpy.context.object)}


def changes(ob):
    return engine("scene.jobs.freshness").changes(ob, bpy.context.scene)


def show_only(*names):
    """Put these panels into our tab, opened, and the others into a tab of their own."""
    panels = sys.modules[EXTENSION].panels
    panels.unregister()
    for module in panels.PARTS:
        own = module.__name__.rsplit(".", 1)[-1]
        for panel in (getattr(module, name) for name in PANELS.get(own, ())):
            panel.bl_category = "Motion Matching" if own in names else "Put Aside"
            panel.bl_options = set()
    panels.register()
    view3d()[1].tag_redraw()


def look_at(ob):
    """From the front left, from as far as a person is tall."""
    space = view3d()[2]
    space.shading.type = "SOLID"
    hips = ob.matrix_world @ ob.pose.bones["hips"].head
    space.region_3d.view_location = (hips.x, hips.y, 0.85)
    space.region_3d.view_rotation = Euler((1.35, 0.0, -0.7)).to_quaternion()
    space.region_3d.view_distance = 4.5



def jobs():
    return engine("scene.jobs.slices")
