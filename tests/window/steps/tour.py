# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist's first evening: create the demo character, see its features, bake, edit, bake again. With pictures."""

import bpy
from inside import PANELS, empty_scene, engine, in_view3d, open_sidebar, picture, region, show_only, view3d
from mathutils import Euler


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
