# SPDX-License-Identifier: GPL-3.0-or-later
"""A new artist's evening: a Rigify human is generated, motion is imported and baked, and the rig walks with it."""

import sys
import time
from pathlib import Path

import addon_utils
import bmesh
import bpy
from inside import (
    EXTENSION,
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
    view3d,
)
from mathutils import Euler, Matrix

WALKS = ("16_15", "16_31", "16_13", "16_17", "16_18", "16_33", "16_35", "16_36", "16_56")
# Half of how thick the doll's parts are, by the beginning of the bone's name.
THICK = {"spine.006": 0.1, "spine.005": 0.05, "spine.004": 0.055, "spine": 0.14, "shoulder": 0.05, "upper_arm": 0.05,
         "forearm": 0.04, "hand": 0.035, "thigh": 0.075, "shin": 0.055, "foot": 0.045, "toe": 0.04, "f_": 0.01,
         "thumb": 0.012}


def steps(result):
    bpy.context.preferences.system.use_region_overlap = False  # what lies behind the sidebar does not belong to it
    empty_scene()
    began = time.monotonic()
    with in_view3d():
        addon_utils.enable("rigify", default_set=True)
        bpy.ops.object.armature_human_metarig_add()
        bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    bpy.data.objects["metarig"].hide_set(True)
    tidy(rig)
    body(rig)
    yield 1.0

    source = motion(rig)
    result["source"], result["target"] = source.name, source.mm.drive.target == rig
    with in_view3d():
        if not len(source.mm.features.channels):
            bpy.ops.mm.features_preset()
        bpy.ops.mm.bake()
        source.mm.drive.relative = "WORLD"
        bpy.ops.ed.undo_push(message="Ready")
    source.hide_set(True)
    only_drive()
    yield from open_sidebar()
    look(rig)
    yield 0.5
    picture("panel_target", region("UI"))
    before = state(rig)
    press("D", ctrl=True, shift=True)
    yield 0.5
    result["driving"] = session() is not None and session().driven.name == rig.name
    hold("W")
    yield from drive_on(1.5)
    result["seconds until it walks"] = time.monotonic() - began
    yield from drive_on(1.0)
    picture("target_walk", view3d()[1])
    result["walking"] = facts(rig)
    hold("A")
    yield from drive_on(1.2)
    picture("target_turn", view3d()[1])
    let_go("W", "A")
    yield from drive_on(2.5)
    result["standing"] = facts(rig)
    result["sentences"] = session().status.sentences
    press("ESC")
    yield 0.5
    result["restored"] = state(rig) == before and session() is None

    bpy.context.view_layer.objects.active = rig  # from here on the source may be forgotten
    press("D", ctrl=True, shift=True)
    yield 0.3
    hold("W")
    yield from drive_on(2.0)
    let_go("W")
    press("RET")
    yield 0.5
    action = rig.animation_data.action
    result["kept"] = [action.name, rig.pose.bones["thigh_parent.L"]["IK_FK"]]
    bpy.context.scene.frame_set(round(action.frame_range[1]))
    result["travelled"] = facts(rig)["hips"]
    with in_view3d():
        bpy.ops.object.mode_set(mode="POSE")
        rig.data.bones.active = rig.data.bones["thigh_fk.L"]
    look(rig)
    yield 1.0
    picture("target_kept", view3d()[1])
    name = rig.name
    with in_view3d():
        bpy.ops.object.mode_set(mode="OBJECT")
    yield 0.5
    press("Z", ctrl=True)  # the take is one step
    yield 1.0
    rig = bpy.data.objects[name]
    result["undone"] = rig.animation_data is None or rig.animation_data.action is None


def motion(rig):
    """The armature with the motion: a subject of CMU's where the files are there, or else the demo character."""
    folder = Path(__file__).parents[3] / ".cache" / "data" / "cmu"
    with in_view3d():
        if not folder.exists():
            bpy.ops.mm.create_demo("INVOKE_DEFAULT")
            bpy.context.object.location.x, bpy.context.object.mm.drive.target = 1.5, rig
            return bpy.context.object
        bpy.ops.mm.import_motion(directory=str(folder), files=[{"name": f"{name}.bvh"} for name in WALKS])
    return bpy.context.object


def tidy(rig):
    """Only the controls of the body are shown."""
    for collection in rig.data.collections:
        collection.is_visible = any(word in collection.name for word in ("Torso", "(FK)", "Root")) \
            and "Tweak" not in collection.name and "Face" not in collection.name


def body(rig):
    """A jointed doll: a rounded piece for each deforming bone of trunk and limbs."""
    doll, mesh = bpy.data.objects.new("Doll", bpy.data.meshes.new("Doll")), bmesh.new()
    weights = mesh.verts.layers.deform.verify()
    for bone in rig.data.bones:
        name = bone.name.removeprefix("DEF-")
        thick = next((thick for part, thick in THICK.items() if name.startswith(part)), None)
        if name == bone.name or thick is None:
            continue
        where = bone.matrix_local @ Matrix.Translation((0, bone.length / 2, 0))
        size = Matrix.Diagonal((thick, 0.62 * bone.length, thick * (0.75 if thick > 0.1 else 1), 1))
        group = doll.vertex_groups.new(name=bone.name).index
        for vertex in bmesh.ops.create_icosphere(mesh, subdivisions=3, radius=1, matrix=where @ size)["verts"]:
            vertex[weights][group] = 1.0
    for face in mesh.faces:
        face.smooth = True
    mesh.to_mesh(doll.data)
    bpy.context.scene.collection.objects.link(doll)
    doll.modifiers.new("Armature", "ARMATURE").object = rig
    doll.parent = rig


def only_drive():
    """Only the panel Drive is in our tab."""
    panels = sys.modules[EXTENSION].panels
    panels.unregister()
    for module in panels.PARTS:
        for panel in vars(module).values():
            own = "bl_label" in getattr(panel, "__dict__", {}) and getattr(panel, "bl_region_type", "") == "UI"
            if own and not module.__name__.endswith(".drive"):
                panel.bl_category = "Put Aside"
    panels.register()


def look(rig):
    space = view3d()[2]
    space.shading.type = "SOLID"
    space.region_3d.view_perspective = "PERSP"
    hips = rig.matrix_world @ rig.pose.bones["DEF-spine"].head
    space.region_3d.view_location = (hips.x, hips.y, 0.9)
    space.region_3d.view_rotation = Euler((1.35, 0.0, 1.1)).to_quaternion()
    space.region_3d.view_distance = 3.8


def state(rig):
    return [[*bone.location, *bone.rotation_quaternion, *bone.rotation_euler] for bone in rig.pose.bones] + [
        rig.pose.bones["thigh_parent.L"]["IK_FK"]]


def facts(rig):
    bpy.context.view_layer.update()
    places = {name: list(rig.matrix_world @ rig.pose.bones[bone].head) for name, bone in (
        ("hips", "DEF-spine"), ("head", "DEF-spine.006"), ("left", "DEF-toe.L"), ("right", "DEF-toe.R"))}
    found = session()
    return places | ({"speed": found.status.speed, "root": found.paths.root.tolist()} if found is not None else {})
