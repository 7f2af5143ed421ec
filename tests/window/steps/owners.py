# SPDX-License-Identifier: GPL-3.0-or-later
"""Two characters bake, one is given the other's database: what the panel offers, and what is on the disk afterwards."""

import os
import sys
from pathlib import Path

import bpy
from inside import EXTENSION, empty_scene, engine, in_view3d, open_sidebar, picture, press, region

KEPT = 4  # clips of each character, so that it bakes soon


def steps(result):
    bpy.context.preferences.system.use_region_overlap = False
    empty_scene()
    yield from open_sidebar()
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT", with_mesh=False)
    hero = bpy.context.object
    yield from bake(hero)
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT", with_mesh=False)
    guest = bpy.context.object
    yield from bake(guest)
    result["two"] = [path(ob).name for ob in (hero, guest)]
    result["run"] = path(hero).parent.name == path(guest).parent.name == engine("scene.jobs.ownership")._RUN
    result["words"] = [word(ob) for ob in (hero, guest)]

    folder = Path(bpy.app.tempdir) / "work"
    folder.mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    result["saved"] = [os.path.relpath(path(ob), folder) for ob in (hero, guest)]

    show_only("MM_PT_bake", "MM_PT_drive")
    guest.mm.bake.path = hero.mm.bake.path
    yield 1.0
    picture("owners_used", region("UI"))
    before = path(hero).read_bytes()
    for key in ("ESC", "RET"):
        with in_view3d():
            bpy.ops.mm.bake("INVOKE_DEFAULT", replace=True)
        yield 1.0
        picture("owners_asked")
        press(key)
        yield 0.5
        yield from until_baked()
        result[key] = {"same": path(hero).read_bytes() == before, "words": [word(ob) for ob in (hero, guest)],
                       "files": sorted(each.name for each in folder.iterdir())}
    result["kept"] = (folder / f"{path(hero).stem}.previous.mmdb").read_bytes() == before

    bpy.context.view_layer.objects.active = hero
    yield 1.0
    picture("owners_displaced", region("UI"))
    with in_view3d():
        bpy.ops.mm.bake("INVOKE_DEFAULT", own_file=True)
    yield from until_baked()
    result["end"] = [path(hero).name, path(guest).name, word(hero), word(guest)]
    yield 1.0
    picture("owners_end", region("UI"))

    # A training that was interrupted is not given up by a press of Train Again.
    job = path(hero).with_suffix(".mmnet.training")
    job.mkdir()
    for name in ("checkpoint.pt", "progress.jsonl"):
        (job / name).write_text('{"share": 0.5}\n')
    with in_view3d():
        bpy.ops.mm.train("INVOKE_DEFAULT")
    yield 1.0
    picture("owners_train_again")
    press("ESC")
    yield 1.0
    result["training"] = sorted(each.name for each in job.iterdir()), engine("scene.jobs.training").current() is None


def bake(ob):
    while len(ob.mm.clips) > KEPT:
        ob.mm.clips.remove(len(ob.mm.clips) - 1)
    with in_view3d():
        bpy.ops.mm.bake("INVOKE_DEFAULT")
    yield from until_baked()


def until_baked():
    while engine("scene.jobs.slices").current() is not None:
        yield 0.1
    assert not engine("scene.jobs.slices").last_error(), engine("scene.jobs.slices").last_error()


def path(ob):
    return Path(engine("scene.jobs.baking").database_path(ob))


def word(ob):
    return engine("scene.jobs.ownership").whose(ob).word


def show_only(*names):
    """Put these panels into our tab, and the others into a tab of their own: a sidebar shows only so much."""
    panels = sys.modules[EXTENSION].panels
    panels.unregister()
    for panel in (value for part in panels.PARTS for value in vars(part).values()
                  if getattr(value, "bl_region_type", "") == "UI"):
        panel.bl_category = "Motion Matching" if panel.__name__ in names else "Put Aside"
    panels.register()
