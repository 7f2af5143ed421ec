# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist flips the switch while driving: Motion Matching, Learned, Decompressed; then compares two side by side."""

import os
import tempfile

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
    session,
    view3d,
)
from mathutils import Euler


def steps(result):
    bpy.context.preferences.system.use_region_overlap = False
    empty_scene()
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT")
        bpy.context.object.mm.bake.path = os.path.join(tempfile.mkdtemp(), "demo.mmdb")
        bpy.ops.mm.bake()
        bpy.ops.ed.undo_push(message="Ready")
    ob = bpy.context.object
    trouble = engine("scene.driving.libraries").method_trouble
    result["trouble"] = {method: trouble(ob, method) for method in ("MM", "DMM", "LMM")}
    if result["trouble"]["LMM"]:
        return
    look(4.5)
    yield from open_sidebar()

    # The switch, flipped while the character walks and runs.
    with in_view3d():
        bpy.ops.mm.drive("INVOKE_DEFAULT")
    hold("W")
    yield from drive_on(2.0)
    result["mm"] = facts(ob)
    ob.mm.drive.method = "LMM"
    result["leap"] = yield from watched(ob, 1.0)
    yield from drive_on(1.0)
    result["lmm"] = facts(ob)
    picture("drive_learned", view3d()[1])
    hold("LEFT_SHIFT")
    yield from drive_on(2.0)
    result["lmm running"] = facts(ob)
    let_go("LEFT_SHIFT")
    ob.mm.drive.method = "MM"
    result["leap back"] = yield from watched(ob, 1.0)
    yield from drive_on(0.5)
    result["mm again"] = facts(ob)
    ob.mm.drive.method = "DMM"
    result["leap to poses"] = yield from watched(ob, 1.0)
    yield from drive_on(0.5)
    result["dmm"] = facts(ob)
    picture("drive_decompressed", view3d()[1])
    ob.mm.drive.method = "MM"
    press("ESC")
    let_go("W")
    yield 0.5

    # The same input on two characters. Undo, saving and clicking about do no harm; Esc leaves nothing of the copy.
    ob.mm.drive.compare = True
    before = names()
    with in_view3d():
        bpy.ops.ed.undo_push(message="Compare")
        bpy.ops.mm.drive("INVOKE_DEFAULT")
    hold("W")
    yield from drive_on(2.5)
    picture("drive_compare", view3d()[1])
    status = session().status
    result["compare"] = {"beside": status.beside, "apart": status.apart, "copies": len(copies()),
                         "speed": status.speed, "way": list(place(copies()[0]) - place(ob))}
    with in_view3d():
        bpy.ops.ed.undo_push(message="Meanwhile")
        bpy.ops.ed.undo()
    yield from drive_on(0.5)
    result["after undo"] = {"copies": len(copies()), "driving": session() is not None}
    saved = os.path.join(tempfile.mkdtemp(), "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=saved, copy=True)
    with bpy.data.libraries.load(saved) as (inside, _):
        result["saved"] = [name for name in inside.objects if "Compare" in name]
    yield from drive_on(0.5)
    result["after saving"] = len(copies())
    let_go("W")
    press("ESC")
    yield 0.5
    result["over"] = session() is None
    result["left"] = sorted(names() ^ before)
    with in_view3d():
        bpy.ops.ed.redo()
    yield 0.3
    result["after redo"] = len(copies())

    # Without its database the character is driven by what was learned alone.
    ob = bpy.context.object
    ob.mm.drive.compare, ob.mm.drive.method = False, "LMM"
    os.remove(engine("scene.jobs.baking").database_path(ob))
    engine("scene.driving.libraries").forget()
    with in_view3d():
        bpy.ops.mm.drive("INVOKE_DEFAULT")
    hold("W")
    yield from drive_on(2.0)
    result["alone"] = facts(ob)
    let_go("W")
    press("RET")
    yield 0.5
    result["kept"] = ob.animation_data.action.name


def facts(ob):
    status = session().status
    return {"method": status.method, "clip": status.clip, "speed": status.speed, "sentences": status.sentences,
            "frame ms": status.frame_ms, "place": list(place(ob))}


def watched(ob, seconds):
    """Steps that let so many seconds be driven; the fastest that any joint was meanwhile, in m/s."""
    end, fastest, last = session().seconds + seconds, 0.0, None
    while session().seconds < end:
        yield 0.02
        now = session().seconds, [ob.matrix_world @ bone.head for bone in ob.pose.bones]
        if last is not None and now[0] > last[0]:
            steps = [(here - there).length for here, there in zip(now[1], last[1])]
            fastest = max(fastest, max(steps) / (now[0] - last[0]))
        last = now
    return fastest


def place(ob):
    bpy.context.view_layer.update()
    return ob.matrix_world @ ob.pose.bones["hips"].head


def copies():
    """Armature first."""
    return sorted((ob for ob in bpy.data.objects if ob.mm.drive.copied), key=lambda ob: ob.type)


def names():
    return {*bpy.data.objects.keys(), *bpy.data.actions.keys(), *bpy.data.armatures.keys(), *bpy.data.meshes.keys()}


def look(distance):
    space = view3d()[2]
    space.shading.type = "SOLID"
    space.region_3d.view_perspective = "PERSP"
    space.region_3d.view_location = (0, 0, 0.85)
    space.region_3d.view_rotation = Euler((1.3, 0.0, 2.6)).to_quaternion()
    space.region_3d.view_distance = distance
