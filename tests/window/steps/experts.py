# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist chooses Experts, trains them, and drives with them, by blends of latents. With pictures."""

import runpy
from pathlib import Path

import bpy
from inside import (
    drive_on,
    empty_scene,
    engine,
    hold,
    in_view3d,
    let_go,
    open_sidebar,
    picture,
    press,
    region,
    session,
    show_only,
    view3d,
)

tools = {name: runpy.run_path(str(Path(__file__).with_name(f"{name}.py"))) for name in ("train", "methods")}
begin, look_at, running, until = (tools["train"][name] for name in ("begin", "look_at", "running", "until"))
facts, watched = (tools["methods"][name] for name in ("facts", "watched"))


def steps(result):
    bpy.context.preferences.system.use_region_overlap = False
    empty_scene()
    ob = tools["train"]["some_of_the_demo"]()
    tools["train"]["show_train"]()
    yield from open_sidebar()
    yield from until(lambda: engine("scene.jobs.pythons").sentence(), 120)
    result["torch"] = engine("scene.jobs.pythons").found() is not None
    if not result["torch"]:
        return
    bpy.ops.mm.bake()
    ob.mm.train.model, ob.mm.train.minutes = "moe", 1.0
    yield 0.5
    begin("train")
    yield from until(lambda: not running(ob), 300)
    yield 1.0
    result["trained"] = look_at(ob)
    picture("train_experts", region("UI"))

    show_only("drive")
    yield from open_sidebar()
    tools["methods"]["look"](4.5)
    ob.mm.drive.method, ob.mm.drive.blend = "LMM", "latent"
    with in_view3d():
        bpy.ops.ed.undo_push(message="Ready")
        bpy.ops.mm.drive("INVOKE_DEFAULT")
    hold("W")
    yield from drive_on(2.5)
    result["walking"], player = facts(ob), session().driven.player
    picture("drive_experts", view3d()[1])
    let_go("W")
    hold("D")
    result["fastest"] = yield from watched(ob, 1.0)
    result["fades"] = [player.settings.blend.of_latents, player.matcher.networks.model, player.matcher.networks.stride]
    let_go("D")
    press("ESC")
    yield 0.5
    result["over"] = session() is None
