# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist drives: walks, turns, runs, stops, strafes, crouches and keeps the take; then thinks better of another."""


import bpy
from inside import (
    drive_on,
    empty_scene,
    hold,
    in_view3d,
    let_go,
    open_sidebar,
    picture,
    press,
    region,
    session,
    until_driving,
    view3d,
)
from mathutils import Euler, Quaternion


def steps(result):
    bpy.context.preferences.system.use_region_overlap = False  # what lies behind the sidebar does not belong to it
    empty_scene()
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT")
        bpy.ops.mm.bake()
        bpy.ops.ed.undo_push(message="Ready")  # as after every button; scripts do not push
    ob = bpy.context.object
    look(2.6)
    yield 1.0

    # From the shortcut; and orbiting goes on meanwhile.
    before = state(ob)
    press("D", ctrl=True, shift=True)
    yield from until_driving()
    result["shortcut"] = session() is not None
    hold("W")
    yield from drive_on(2.5)
    picture("drive_walk", view3d()[1])
    result["walking"] = facts()
    hold("A")
    yield from drive_on(0.6)
    let_go("W")
    yield from drive_on(0.5)
    picture("drive_turn", view3d()[1])
    result["turning"] = facts()
    hold("LEFT_SHIFT")
    yield from drive_on(2.5)
    picture("drive_run", view3d()[1])
    result["running"] = facts()
    result["slider"] = slide(ob)
    let_go("LEFT_SHIFT", "A")
    yield from drive_on(2.0)
    picture("drive_stop", view3d()[1])
    result["standing"] = facts()
    hold("LEFT_ALT", "D")
    yield from drive_on(1.5)
    result["strafing"] = facts()
    let_go("LEFT_ALT", "D")
    hold("LEFT_CTRL", "W")
    yield from drive_on(2.5)
    picture("drive_crouch", view3d()[1])
    result["crouching"] = facts()
    let_go("LEFT_CTRL", "W")
    yield from drive_on(0.5)

    # Esc: everything as it was.
    press("ESC")
    yield 0.5
    result["restored"] = state(ob) == before
    result["over"] = session() is None
    result["actions after Esc"] = len(bpy.data.actions)

    # The button, and Enter.
    with in_view3d():
        bpy.ops.mm.drive("INVOKE_DEFAULT")
    hold("W")
    yield from open_sidebar()
    yield from drive_on(2.0)
    picture("panel_driving", region("UI"))
    let_go("W")
    played = session().seconds
    press("RET")
    yield 0.5
    action = ob.animation_data.action
    result["kept"] = {"name": action.name, "seconds": played,
                      "new": len(bpy.data.actions) - result["actions after Esc"],
                      "frames": action.frame_range[1] - action.frame_range[0],
                      "slot": getattr(ob.animation_data, "action_slot", True) is not None}
    bpy.context.scene.frame_set(round(action.frame_range[1]))
    yield 0.5
    picture("drive_kept", view3d()[1])
    result["travelled"] = hips(ob).xy.length
    with in_view3d():
        bpy.ops.ed.undo()
    ob = bpy.context.object
    result["undone"] = {"action": ob.animation_data.action.name == before["action"],
                        "actions": len(bpy.data.actions) == result["actions after Esc"]}
    with in_view3d():
        bpy.ops.ed.redo()
    result["redone"] = bpy.context.object.animation_data.action.name == result["kept"]["name"]

    # The buttons that end it, as the panel and the viewport's header have them.
    for button in (bpy.ops.mm.drive_cancel, bpy.ops.mm.drive_keep):
        with in_view3d():
            bpy.ops.mm.drive("INVOKE_DEFAULT")
        yield from drive_on(0.2)
        actions = len(bpy.data.actions)
        with in_view3d():
            button("INVOKE_DEFAULT")
        yield 0.3
        modal = [found.bl_idname for found in view3d()[0].modal_operators]
        result[button.idname_py()] = {"new": len(bpy.data.actions) - actions, "over": session() is None and not modal}


def facts():
    driven, view = session(), view3d()[2].region_3d
    status = driven.status
    bpy.context.view_layer.update()
    hips = bpy.context.object.matrix_world @ bpy.context.object.pose.bones["hips"].head
    return {"speed": status.speed, "tags": status.tags, "clip": status.clip, "device": status.device,
            "gait": status.gait, "frame ms": status.frame_ms, "search ms": status.search_ms,
            "view apart": (view.view_location.xy - hips.xy).length,
            "yaw": float(driven.driven.player.yaws[0]), "apart": float(
                (driven.paths.root - driven.paths.simulated) @ (driven.paths.root - driven.paths.simulated)) ** 0.5}


def slide(ob):
    """Turn the sliders of the features while driving."""
    search = session().driven.group.library.choice().search
    before = search.weights.copy()
    ob.mm.features.responsiveness = 2.0
    session().tick(bpy.context)
    changed = bool((search.weights != before).any())
    ob.mm.features.responsiveness = 1.0
    return changed


def state(ob):
    """All that Esc has to bring back."""
    bound, view = ob.animation_data, view3d()[2].region_3d
    return {"pose": [[list(row) for row in bone.matrix_basis] for bone in ob.pose.bones],
            "action": bound.action.name, "slot": getattr(getattr(bound, "action_slot", None), "identifier", ""),
            "frame": (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe),
            "selected": sorted(found.name for found in bpy.context.selected_objects),
            "active": bpy.context.view_layer.objects.active.name, "mode": ob.mode,
            "view": list(view.view_location)}


def hips(ob):
    return ob.matrix_world @ ob.pose.bones["hips"].head


def look(distance):
    space = view3d()[2]
    space.shading.type = "SOLID"
    space.region_3d.view_perspective = "PERSP"
    space.region_3d.view_location = (0, 0, 0.85)
    space.region_3d.view_rotation = Euler((1.25, 0.0, -0.9)).to_quaternion() @ Quaternion()
    space.region_3d.view_distance = distance * 2
