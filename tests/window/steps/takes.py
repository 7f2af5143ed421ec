# SPDX-License-Identifier: GPL-3.0-or-later
"""One take after another, and a drive whose armature is edited, deleted, brought back; then Blender quits meanwhile."""

import os
import tempfile

import bpy
from inside import drive_on, empty_scene, engine, hold, in_view3d, let_go, picture, press, session


def steps(result):
    empty_scene()
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT")
        bpy.ops.mm.bake()
        bpy.ops.ed.undo_push(message="Ready")
    ob = bpy.context.object
    name, own = ob.name, ob.animation_data.action.name
    with in_view3d():
        bpy.ops.screen.area_split(direction="HORIZONTAL", factor=0.4)
    yield 0.3
    window = bpy.context.window_manager.windows[0]
    editor = min((area for area in window.screen.areas if area.type == "VIEW_3D"), key=lambda area: area.height)
    editor.ui_type = "NLA_EDITOR"
    ends = [1]
    for keys in (("W",), ("W", "LEFT_SHIFT"), ("W",)):
        bpy.context.scene.frame_set(ends[-1])
        yield 0.3
        with in_view3d():
            bpy.ops.mm.drive("INVOKE_DEFAULT")
        hold(*keys)
        yield from drive_on(1.5)
        let_go(*reversed(keys))
        press("RET")
        yield 0.5
        ob = bpy.data.objects[name]
        taken = [strip for track in ob.animation_data.nla_tracks for strip in track.strips]
        ends.append(round(taken[-1].frame_end if taken else ob.animation_data.action.frame_range[1]))
    bound = ob.animation_data
    result["tracks"] = [[(strip.name, strip.frame_start, strip.frame_end) for strip in track.strips]
                        for track in bound.nla_tracks]
    result["covered"] = bound.action is not None
    result["own"] = own in bpy.data.actions
    result["end"], result["last"] = bpy.context.scene.frame_end, ends[-1]
    result["ways"] = []
    for frame in range(1, ends[-1] + 1):
        bpy.context.scene.frame_set(frame)
        result["ways"].append(list(ob.matrix_world @ ob.pose.bones["hips"].head))
    bpy.context.scene.frame_set(ends[2])
    with bpy.context.temp_override(window=window, area=editor, region=editor.regions[-1]):
        bpy.ops.nla.view_all()
    yield 0.7
    picture("takes_nla")
    with in_view3d():
        bpy.ops.ed.undo()
    result["undone"] = len(bpy.data.objects[name].animation_data.nla_tracks[0].strips)
    with in_view3d():
        bpy.ops.ed.redo()
    result["redone"] = len(bpy.data.objects[name].animation_data.nla_tracks[0].strips)

    # A sword is joined (Ctrl J), the character deleted (X) and brought back (Ctrl Z), while it is driven.
    bpy.ops.object.armature_add(location=(1, 0, 0))
    sword = bpy.context.object
    with in_view3d():
        bpy.ops.ed.undo_push(message="Sword")
    choose(sword.name, name)
    with in_view3d():
        bpy.ops.mm.drive("INVOKE_DEFAULT")
    yield from on()
    press("J", ctrl=True)
    yield 0.5
    result["joined"] = {"bones": len(bpy.data.objects[name].data.bones), "driving": session() is not None}
    yield from on()
    with in_view3d():
        bpy.ops.object.delete("INVOKE_DEFAULT", use_global=False, confirm=False)
        bpy.ops.ed.undo_push(message="Delete")
    yield 2.0
    result["deleted"] = [name in bpy.data.objects, session() is not None and session().status.sentences[0]]
    picture("takes_deleted")
    press("RET")
    yield 0.3
    result["refused"] = session() is not None
    press("Z", ctrl=True)
    yield 0.7
    yield from on()
    seconds, before = session().seconds, len(bpy.data.actions)
    press("RET")
    yield 0.5
    result["kept"] = {"new": len(bpy.data.actions) - before, "seconds": seconds}

    # Another file, and then the end, in the middle of a drive.
    path = os.path.join(tempfile.mkdtemp(), "demo.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    for _ in range(2):
        choose(name)
        with in_view3d():
            bpy.ops.mm.drive("INVOKE_DEFAULT")
        yield from on(1.5)
        result["frames"] = len(session().driven.group.record)
        if not engine("scene.driving.rescue").saved():
            bpy.ops.wm.open_mainfile(filepath=path)
            yield 0.5
            result["saved"] = list(engine("scene.driving.rescue").saved())
            bpy.context.preferences.view.show_splash = False


def choose(*names):
    """Select objects; the last is active."""
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob.name in names)
    bpy.context.view_layer.objects.active = bpy.data.objects[names[-1]]


def on(seconds=0.6):
    hold("W")
    yield from drive_on(seconds)
    let_go("W")
