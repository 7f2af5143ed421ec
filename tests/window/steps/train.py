# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist trains: looks for torch, starts, goes on working, cancels, resumes, sees it finish. With pictures."""

import os
import sys
import tempfile
import time

import bpy
from inside import EXTENSION, empty_scene, engine, in_view3d, open_sidebar, picture, region, view3d

CLIPS = ("idle", "walk", "walk start left", "walk stop left", "walk turn 90 right", "run")


def steps(result):
    # An opaque sidebar: what lies behind it does not belong into its picture.
    bpy.context.preferences.system.use_region_overlap = False
    empty_scene()
    ob = some_of_the_demo()
    show_train()
    yield from open_sidebar()
    yield 1.0
    yield from until(lambda: engine("scene.jobs.pythons").sentence(), 120)
    yield 0.5
    result["torch"] = engine("scene.jobs.pythons").found() is not None
    result["before bake"] = bpy.ops.mm.train.poll()
    bpy.ops.mm.bake()
    yield 1.0
    picture("train_begin", region("UI"))
    if not result["torch"]:
        return

    ob.mm.train.minutes = 1.5
    begin("train")
    yield from until(lambda: status(ob).progress.share, 120)  # the first line is the plan
    result["first"] = look_at(ob)
    undone = yield from undo_and_rename(ob)
    ob = bpy.data.objects["Hero"]
    result["undo"] = {"undone": undone, **look_at(ob)}
    yield from until(lambda: "new_motion_cm" in status(ob).progress.figures, 200)
    begin("train_cancel")
    result["cancel"] = look_at(ob)
    yield from until(lambda: not running(ob), 60)
    yield 1.0
    picture("train_cancelled", region("UI"))
    result["cancelled"] = look_at(ob)

    begin("train_resume")
    yield from until(lambda: "drift_1s_learned_cm" in status(ob).progress.figures or not running(ob), 200)
    yield 1.0
    picture("train_running", region("UI"))
    result["running"] = look_at(ob)
    yield from until(lambda: not running(ob), 200)
    yield 2.0
    picture("train_done", region("UI"))
    result["done"] = look_at(ob)


def some_of_the_demo():
    """The demo character with few of its clips, and a file to bake into."""
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT", with_mesh=False)
    ob = bpy.context.object
    for clip in ob.mm.clips:
        clip.use = clip.action.name.removeprefix("Demo ") in CLIPS
    ob.mm.bake.path = os.path.join(tempfile.mkdtemp(), "hero.mmdb")
    return ob


def begin(operator):
    with in_view3d():
        getattr(bpy.ops.mm, operator)("INVOKE_DEFAULT")


def undo_and_rename(ob):
    """What an artist may do meanwhile; whether the undo did something."""
    with in_view3d():
        bpy.ops.ed.undo_push(message="Before")
        ob.location.z = 1.0
        bpy.ops.ed.undo_push(message="Up")
        bpy.ops.ed.undo()
    yield 0.5
    ob = bpy.context.object
    ob.name = "Hero"
    yield 0.5
    return ob.location.z == 0.0


def look_at(ob):
    found = status(ob)
    return {"word": found.word, "share": found.progress.share, "figures": found.progress.figures,
            "trouble": found.trouble, "resumable": found.resumable,
            "file": os.path.isfile(engine("scene.jobs.training").own_networks_path(ob))}


def status(ob):
    return engine("scene.jobs.training").status(ob)


def running(ob):
    return status(ob).word in ("running", "stopping", "waiting")


def until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"nothing happens: {engine('scene.jobs.pythons').sentence()}"
        yield 0.2


def show_train():
    """Put the other panels aside, and open this one."""
    panels = sys.modules[EXTENSION].panels
    panels.unregister()
    for module in panels.PARTS:
        for panel in vars(module).values():
            if getattr(panel, "bl_region_type", "") == "UI":
                panel.bl_category = "Motion Matching" if panel.__name__ == "MM_PT_train" else "Put Aside"
                panel.bl_options = set()
    panels.register()
    view3d()[1].tag_redraw()
