# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong while training: no torch, a killed child, another file, a disabled extension, Blender's own end."""

import os
import runpy
import signal
import tempfile
from pathlib import Path

import bpy
from inside import EXTENSION, empty_scene, engine, in_view3d, open_sidebar, picture, region

tools = runpy.run_path(str(Path(__file__).with_name("train.py")))
begin, look_at, some_of_the_demo, status, until = (
    tools[name] for name in ("begin", "look_at", "some_of_the_demo", "status", "until"))


def steps(result):
    bpy.context.preferences.system.use_region_overlap = False
    empty_scene()
    some_of_the_demo()
    tools["show_train"]()
    yield from open_sidebar()
    bpy.ops.mm.bake()
    blend = os.path.join(tempfile.mkdtemp(), "hero.blend")
    bpy.ops.wm.save_as_mainfile(filepath=blend)

    pythons = engine("scene.jobs.pythons")
    pythons.test()
    candidates, pythons.candidates = pythons.candidates, list  # a machine with no Python at all
    yield 2.0
    result["no python"] = pythons.sentence()
    picture("train_no_torch", region("UI"))
    pythons.candidates = candidates
    preferences = bpy.context.preferences.addons[EXTENSION].preferences
    preferences.torch_python = "/nowhere/python"
    yield from until(lambda: engine("scene.jobs.pythons").sentence(), 30)
    result["no torch"] = engine("scene.jobs.pythons").sentence()
    begin("train")
    yield from until(lambda: engine("scene.jobs.training").current() is None, 30)
    yield 0.5
    result["not started"] = look_at(hero())
    picture("train_wrong_python", region("UI"))
    preferences.torch_python = ""
    yield from until(lambda: engine("scene.jobs.pythons").sentence(), 120)
    if engine("scene.jobs.pythons").found() is None:
        result["torch"] = False
        return

    result["torch"] = True
    begin("train")
    second = some_of_the_demo()
    bpy.ops.mm.bake()
    begin("train")
    yield 4.0
    result["queue"] = [status(ob).word for ob in (hero(), second)]
    picture("train_queue", region("UI"))
    with in_view3d():
        bpy.ops.mm.train_cancel()
    result["left the queue"] = status(second).word

    yield from until(lambda: status(hero()).progress.lines, 120)
    pid = engine("scene.jobs.training").current().run.pid
    bpy.ops.wm.read_homefile(use_factory_startup=False)
    yield 2.0
    result["another file"] = engine("scene.jobs.training").current().run.pid == pid
    bpy.ops.wm.open_mainfile(filepath=blend)
    yield 1.0
    result["opened again"] = look_at(hero())

    bpy.ops.preferences.addon_disable(module=EXTENSION)
    yield 1.0
    bpy.ops.preferences.addon_enable(module=EXTENSION)
    yield from until(lambda: status(hero()).word != "running", 70)
    result["disabled"] = look_at(hero())
    yield from until(lambda: not _alive(pid), 30)

    begin("train_resume")
    yield from until(lambda: "stage" in status(hero()).progress.last, 120)
    os.kill(engine("scene.jobs.training").current().run.pid, signal.SIGKILL)
    yield from until(lambda: engine("scene.jobs.training").current() is None, 30)
    yield 3.0
    result["killed"] = look_at(hero())
    picture("train_killed", region("UI"))

    begin("train_resume")
    yield from until(lambda: "stage" in status(hero()).progress.last, 120)
    result["when Blender ends"] = {**look_at(hero()), "output": engine("scene.jobs.training").own_networks_path(hero())}


def hero():
    return bpy.data.objects["Demo Character"]


def _alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False
