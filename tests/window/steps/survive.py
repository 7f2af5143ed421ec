# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever an artist does while driving: undo, open a file, delete, rename, switch, look away, disable us."""

import os
import tempfile
import time

import bpy
from inside import EXTENSION, drive_on, empty_scene, engine, hold, in_view3d, let_go, press, region, session, view3d


def steps(result):
    empty_scene()
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT", with_mesh=False)
    folder = tempfile.mkdtemp()
    ob = bpy.context.object
    ob.mm.bake.path = os.path.join(folder, "demo.mmdb")
    bpy.ops.mm.bake()
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "demo.blend"))
    with in_view3d():
        bpy.ops.ed.undo_push(message="Ready")
    name = ob.name
    pose = poses(ob)

    ob.mm.drive.stay = 0.5
    with in_view3d():
        bpy.ops.ed.undo_push(message="Stay")
    yield from begin()
    result["autosave"] = [line for line in session().status.notes if "Autosave" in line]
    press("Z", ctrl=True)
    yield from on()
    result["undo"] = facts(name) | {"stay": bpy.data.objects[name].mm.drive.stay}
    press("Z", ctrl=True, shift=True)
    yield from on()
    result["redo"] = facts(name) | {"stay": bpy.data.objects[name].mm.drive.stay}
    press("ESC")
    yield 0.3
    result["after undo"] = poses(bpy.data.objects[name]) == pose

    yield from begin()
    bpy.ops.screen.animation_play()
    yield from on(0.5)
    result["timeline"] = facts(name)
    bpy.ops.screen.animation_cancel(restore_frame=False)
    press("ESC")
    yield 0.3
    result["frame"] = bpy.context.scene.frame_current
    result["after timeline"] = poses(bpy.data.objects[name]) == pose

    yield from begin()
    bpy.data.objects[name].name = "Hero"
    bpy.data.objects["Hero"].data.bones["head"].name = "skull"
    yield from on()
    result["rename"] = facts("Hero")
    press("RET")
    yield 0.3
    hero = bpy.data.objects["Hero"]
    result["rename"] |= {"kept": hero.animation_data.action.name, "paths": keyed(hero, "skull")}
    hero.name = name
    hero.data.bones["skull"].name = "head"

    yield from begin()
    bpy.ops.object.mode_set(mode="POSE")
    yield from on()
    result["pose mode"] = facts(name)
    bpy.ops.object.mode_set(mode="EDIT")
    ob = bpy.data.objects[name]
    ob.data.edit_bones.remove(ob.data.edit_bones["hand.L"])
    result["edit mode"] = yield from told()
    bpy.ops.object.mode_set(mode="OBJECT")
    yield from on()
    result["without a bone"] = facts(name)
    window = bpy.context.window_manager.windows[0]
    first = window.workspace
    window.workspace = next(space for space in bpy.data.workspaces if space.name == "Shading")
    yield 1.0
    yield from on(0.2)
    result["workspace"] = facts(name)
    window.workspace = first
    yield 0.5
    scene, other = window.scene, bpy.data.scenes.new("Other")
    window.scene = other
    result["scene"] = yield from told()
    window.scene = scene
    yield 0.3
    yield from on()
    result["scene back"] = facts(name)

    hold("W")
    yield 0.3
    result["held"] = sorted(session().keyboard.held)
    window.event_simulate(type="WINDOW_DEACTIVATE", value="NOTHING")
    yield 0.3
    result["held after losing the focus"] = sorted(session().keyboard.held)
    let_go("W")
    result["orbited"] = yield from orbit_and_let_go(window)
    result["held after orbiting"] = sorted(session().keyboard.held)
    result["held in a menu"], result["held after it"] = yield from let_go_in_a_menu(window)
    os.remove(os.path.join(folder, "demo.mmdb"))
    yield from on()
    result["database gone"] = facts(name)
    before = root()
    driven = session().seconds
    time.sleep(10)
    yield from on(0.1)
    result["stall"] = {"way": float(((root() - before) ** 2).sum() ** 0.5), "seconds": session().seconds - driven}
    press("ESC")
    yield 0.3
    try:
        with in_view3d():
            bpy.ops.mm.drive("INVOKE_DEFAULT")
        result["no database"] = ""
    except RuntimeError as error:
        result["no database"] = str(error)

    bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, "demo.blend"))
    yield 0.5
    bpy.ops.mm.bake()
    ob = bpy.context.object
    yield from begin()
    result["before opening"] = facts(name)
    bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, "demo.blend"))
    yield 0.5
    ob = bpy.context.object
    result["opened"] = {"driving": session() is not None, "flag": ob.mm.drive.driving, "pose": poses(ob) == pose}

    yield from begin()
    bpy.data.objects.remove(bpy.data.objects[name])
    yield 0.5
    result["deleted"] = yield from told()
    press("ESC")
    yield 0.3
    result["deleted and cancelled"] = session() is None
    bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, "demo.blend"))
    yield 0.5

    yield from begin()
    bpy.ops.preferences.addon_disable(module=EXTENSION)
    yield 0.5
    result["disabled"] = bpy.data.objects[name].animation_data.action.name
    bpy.ops.preferences.addon_enable(module=EXTENSION)
    yield 0.3
    yield from begin()
    result["enabled"] = facts(name)
    press("ESC")
    yield 0.3


def begin():
    with in_view3d():
        bpy.ops.mm.drive("INVOKE_DEFAULT")
    yield from on()


def on(seconds=0.3):
    """Let so many seconds be driven, walking."""
    hold("W")
    yield from drive_on(seconds)
    let_go("W")


def told(limit=5.0):
    """The sentences of what is wrong: they come with the next beat, and Blender may draw slowly."""
    end = time.monotonic() + limit
    while not session().status.sentences and time.monotonic() < end:
        yield 0.1
    return list(session().status.sentences)


def orbit_and_let_go(window):
    """Release a key in the middle of orbiting, which takes all events; how far the view was turned."""
    _, area, space = view3d()
    x, y, before = area.x + area.width // 2, area.y + area.height // 2, space.region_3d.view_rotation.copy()
    hold("W")
    yield 0.2
    window.event_simulate(type="MIDDLEMOUSE", value="PRESS", x=x, y=y)
    for step in range(1, 5):
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x + 20 * step, y=y)
        yield 0.1
    let_go("W")
    yield 0.1
    window.event_simulate(type="MIDDLEMOUSE", value="RELEASE", x=x + 80, y=y)
    yield 0.5
    return before.rotation_difference(space.region_3d.view_rotation).angle


def let_go_in_a_menu(window):
    """Release a key while a menu of the header takes all keys; what was held then, and what is after it."""
    header = region("HEADER")
    x, y = header.x + 110, header.y + header.height // 2
    hold("W", "LEFT_SHIFT")
    yield 0.2
    for _ in range(3):  # a button has to notice the mouse first
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        yield 0.2
    press("LEFTMOUSE", x, y)
    yield 0.5
    window.event_simulate(type="W", value="RELEASE", x=x, y=y)
    yield 0.2
    during = sorted(session().keyboard.held)
    press("ESC", x, y)
    yield 0.3
    after = sorted(session().keyboard.held)
    let_go("LEFT_SHIFT")
    yield 0.2
    return during, after


def facts(name):
    """Whether the driven armature is where the session has it."""
    if session() is None:
        return {"driving": False, "shown": False}
    ob = bpy.data.objects[name]
    bpy.context.view_layer.update()
    hips = ob.matrix_world @ ob.pose.bones["hips"].head
    return {"driving": True, "shown": (hips.xy - type(hips)(root()).xy).length < 0.3, "far": hips.xy.length,
            "flag": ob.mm.drive.driving}


def root():
    return session().paths.root.copy()


def poses(ob):
    return [[list(row) for row in bone.matrix_basis] for bone in ob.pose.bones]


def keyed(ob, bone):
    curves = engine("scene.actions").fcurves(ob.animation_data.action, ob)
    return any(f'"{bone}"' in curve.data_path for curve in curves)
