# SPDX-License-Identifier: GPL-3.0-or-later
"""One of two Blenders that run at once: both bake before they are saved, then both work on one .blend."""

import os
import time
from pathlib import Path

import bpy
from inside import empty_scene, engine, in_view3d, open_sidebar, picture, region

KEPT = 4  # clips, so that it bakes soon


def steps(result):
    global shared, mine, other
    shared = Path(os.environ["BLENDER_USER_RESOURCES"]) / "both"
    try:
        shared.mkdir()
        mine, other = "first", "second"
    except FileExistsError:
        mine, other = "second", "first"
    bpy.context.preferences.system.use_region_overlap = False
    result["is"] = mine
    empty_scene()
    yield from open_sidebar()
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT", with_mesh=False)
    while len(bpy.context.object.mm.clips) > KEPT:
        bpy.context.object.mm.clips.remove(KEPT)
    yield from bake(50 if mine == "first" else 40)
    result["unsaved"] = str(path())
    yield from met("unsaved")
    result["untouched"] = word(), rate()

    blend = shared / "shot.blend"
    if mine == "first":
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    yield from met("saved")
    if mine == "second":
        bpy.ops.wm.open_mainfile(filepath=str(blend))
        bpy.context.preferences.view.show_splash = False
        yield 1.0  # Blender crashes if its windows are touched before it has looked at them itself
        yield from open_sidebar()
    result["same"] = str(path())
    yield from met("opened")

    # The first one is in the middle of a bake when the second one begins.
    jobs = engine("scene.jobs.slices")
    if mine == "first":
        start(49)
        for _ in range(3):
            next(jobs.current().steps)
        bpy.app.timers.unregister(jobs.tick)
    yield from met("begun")
    if mine == "second":
        yield from bake(39)
        result["told"] = jobs.last_error()
        yield 1.0
        picture("both_waits", region("UI"))
    yield from met("told")
    if mine == "first":
        bpy.app.timers.register(jobs.tick)
        yield from until_baked()
    yield from met("first baked")

    # The second one bakes over what the first one has baked since it opened the file.
    if mine == "second":
        result["stale"] = engine("scene.jobs.baking").file_trouble(bpy.context.object)
        result["before"] = rate()
        yield from bake(39)
        result["kept"] = sorted(each.name for each in shared.glob("*.mmdb"))
        result["warned"] = engine("scene.jobs.baking").report(bpy.context.object)["warnings"]
        result["rates"] = [rate(), rate(path().with_name(f"{path().stem}.previous.mmdb"))]
        yield 1.0
        picture("both_kept", region("UI"))
    yield from met("second baked")
    if mine == "first":
        yield 1.5
        region("UI").tag_redraw()  # as when the mouse comes back
        yield 1.5
        result["first"] = word(), engine("scene.jobs.baking").file_trouble(bpy.context.object)
        picture("both_first", region("UI"))
    yield from met("end")


def met(what):
    """Steps that wait until the other one is as far."""
    (shared / f"{what} {mine}").touch()
    end = time.monotonic() + 60
    while not (shared / f"{what} {other}").exists():
        assert time.monotonic() < end, f"the other one never came to: {what}"
        yield 0.1


def start(rate):
    bpy.context.object.mm.bake.rate = rate
    with in_view3d():
        bpy.ops.mm.bake("INVOKE_DEFAULT")


def bake(rate):
    start(rate)
    yield from until_baked()


def until_baked():
    while engine("scene.jobs.slices").current() is not None:
        yield 0.1


def path():
    return Path(engine("scene.jobs.baking").database_path(bpy.context.object))


def word():
    return engine("scene.jobs.ownership").whose(bpy.context.object).word


def rate(file=None):
    return engine("matching.database").load(file or path()).rate
