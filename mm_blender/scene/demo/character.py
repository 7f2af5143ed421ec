# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo character in the scene: its armature, its body, and its motion as ordinary Actions with tags."""

import hashlib
from math import radians

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...motion import demo, quat
from ...prepare.resample import resample
from .. import actions
from ..reading.clips import add_clips
from ..reading.keyframes import write_action
from ..reading.sampling import fingerprint, scene_rate
from ..rig.character import fill_roles
from . import body as demo_body

NAME = "Demo Character"
FIRST_ACTION = "walk"
START = 1  # the frame on which every Action begins
RATE = 60.0
ORIGIN = "mm_demo"  # on Actions: which clip it was made from, and what it looked like then
COLLECTIONS = {"Root": ("root",), "Torso": ("hips", "spine", "chest", "upper_chest", "neck", "head"),
               "Arms": ("shoulder", "upper_arm", "forearm", "hand"), "Legs": ("thigh", "shin", "foot", "toe")}
COLOURS = {".L": "THEME04", ".R": "THEME01"}  # blue and red
# Name, colour (linear), roughness; in the order of demo_body's numbers.
MATERIALS = (("Demo Shell", (0.80, 0.78, 0.73), 0.45), ("Demo Joints", (0.055, 0.06, 0.075), 0.55),
             ("Demo Accent", (0.90, 0.26, 0.06), 0.40))
# Half of the room that a character takes (m), and how many places beside each other are looked at.
ROOM, PLACES = 0.4, 10
SHARP = radians(55)  # edges sharper than this are not smoothed over


def create(context, with_mesh=True):
    """A new demo character, ready to bake, as the active object.

    A file without Actions is set to the motion's 60 frames per second, so that every sample is a key on a whole frame
    and the feet stand still. A file that has Actions keeps its rate, and the motion is resampled to it.
    """
    scene, fresh = context.scene, not len(bpy.data.actions)
    if fresh:
        scene.render.fps, scene.render.fps_base = round(RATE), 1.0
    ob = make_armature(context)
    if with_mesh:
        _body(context, ob)
    clips = [resample(facing_front(clip), scene_rate(scene)) for clip in demo.clips(RATE)]
    made = _actions(ob, clips)
    add_clips(ob, made.values(), mirror=False)  # the demo has both sides already
    for entry, clip in zip(ob.mm.clips, clips):
        entry.loop = clip.loop
    ob.mm.clip_index = list(made).index(FIRST_ACTION)
    actions.assign(ob, made[FIRST_ACTION])
    if fresh:
        scene.frame_start, scene.frame_end = (int(frame) for frame in made[FIRST_ACTION].frame_range)
    fill_roles(ob)
    ob.location.x = _free_place(context, ob)
    return ob


# The armature

def make_armature(context):
    skeleton, tails = demo.skeleton(), demo.tails()
    ob = bpy.data.objects.new(NAME, bpy.data.armatures.new(NAME))
    _collection(context).objects.link(ob)
    _activate(context, ob)  # and nothing else, or Edit Mode would take other selected armatures along
    heads, rotations = skeleton.rest
    bpy.ops.object.mode_set(mode="EDIT")
    for joint, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents)):
        bone = ob.data.edit_bones.new(name)
        bone.tail = (0, float(np.linalg.norm(tails[joint] - heads[joint])), 0)
        bone.matrix = Matrix.LocRotScale(heads[joint].tolist(), _quaternion(rotations[joint]), None)
        if parent >= 0:
            bone.parent = ob.data.edit_bones[skeleton.names[parent]]
            bone.use_connect = bool(np.abs(tails[parent] - heads[joint]).max() < 1e-5)
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.data.display_type = "STICK"  # inside the body, not through it
    for title, stems in COLLECTIONS.items():
        bones = ob.data.collections.new(title)
        for bone in ob.data.bones:
            if bone.name.split(".")[0] in stems:
                bones.assign(bone)
    for bone in ob.data.bones:
        bone.color.palette = COLOURS.get(bone.name[-2:], "DEFAULT")
    return ob


def _quaternion(rotation):
    return Matrix(quat.to_matrix(rotation.astype(float)).tolist()).to_quaternion()


def _collection(context):
    """The active collection, or the scene's own where objects in the active one could not be seen."""
    return context.collection if context.layer_collection.is_visible else context.scene.collection


def _free_place(context, ob):
    """How far to the side a character can stand without standing in another one, or in a thing; where there is no such
    place nearby, it stands in the middle."""
    context.view_layer.update()  # where things are that were made just now
    others = [other for other in context.scene.objects if other not in (ob, *ob.children) and other.visible_get()]
    return next((float(place) for place in range(PLACES) if not any(_stands_in(other, place) for other in others)), 0.0)


def _stands_in(other, place):
    """Whether a character so far to the side would be in another object."""
    if other.type == "ARMATURE":
        return abs(other.location.x - place) < 0.5 and abs(other.location.y) < 0.5
    if other.type not in {"MESH", "CURVE", "SURFACE", "META", "FONT"} or other.parent is not None:
        return False
    corners = np.array([other.matrix_world @ Vector(corner) for corner in other.bound_box])
    (left, front, low), (right, back, high) = corners.min(axis=0), corners.max(axis=0)
    return left < place + ROOM and right > place - ROOM and front < ROOM and back > -ROOM and low < 1.5 and high > 0.1


def _activate(context, ob):
    for other in context.selected_objects:
        other.select_set(False)
    ob.select_set(True)
    context.view_layer.objects.active = ob


# The body

def _body(context, ob):
    shape = demo_body.body()
    mesh = bpy.data.meshes.new("Demo Body")
    mesh.from_pydata(shape.vertices.tolist(), [], shape.faces)
    for name, colour, roughness in MATERIALS:
        mesh.materials.append(bpy.data.materials.get(name) or _material(name, colour, roughness))
    mesh.polygons.foreach_set("material_index", np.array(shape.materials, dtype=np.int32))
    mesh.polygons.foreach_set("use_smooth", np.ones(len(shape.faces), dtype=bool))
    mesh.set_sharp_from_angle(angle=SHARP)
    body = bpy.data.objects.new("Demo Body", mesh)
    _collection(context).objects.link(body)
    body.parent = ob
    body.modifiers.new("Armature", "ARMATURE").object = ob
    for bone, weights in shape.weights.items():
        group = body.vertex_groups.new(name=bone)
        for weight in np.unique(weights[weights > 0]):
            group.add(np.flatnonzero(weights == weight).tolist(), float(weight), "REPLACE")


def _material(name, colour, roughness):
    material = bpy.data.materials.new(name)
    material.diffuse_color = (*colour, 1.0)
    material.roughness = roughness
    if material.node_tree is None:  # before Blender 5.0 nodes have to be asked for
        material.use_nodes = True
    surface = material.node_tree.nodes["Principled BSDF"]
    surface.inputs["Base Color"].default_value = (*colour, 1.0)
    surface.inputs["Roughness"].default_value = roughness
    return material


# The motion

def facing_front(clip):
    """The clip turned by half a turn: it begins facing -Y, as characters do in Blender's front view."""
    half = quat.from_yaw(np.pi)
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[:, 0] = quat.rotate(half, positions[:, 0])
    rotations[:, 0] = quat.mul(half, rotations[:, 0])
    return clip.with_changes(positions=positions, rotations=rotations)


def _actions(ob, clips):
    """Clip name → its Action. Actions of an earlier demo character are used again, unless they were edited."""
    earlier = {action[ORIGIN].split()[0]: action for action in bpy.data.actions if ORIGIN in action}
    made = {}
    for clip in clips:
        identity = hashlib.sha256(b"".join((clip.name.encode(), clip.positions, clip.rotations))).hexdigest()
        action = earlier.get(identity)
        if action is None or action[ORIGIN] != f"{identity} {fingerprint(ob, action)}":
            action = _action(ob, clip)
            action[ORIGIN] = f"{identity} {fingerprint(ob, action)}"
        made[clip.name] = action
    return made


def _action(ob, clip):
    action = write_action(ob, clip, f"Demo {clip.name}", START)
    action.use_fake_user = True
    action.use_frame_range = True
    action.frame_start, action.frame_end = START, START + len(clip) - 1
    for tag in clip.tags:
        entry = action.mm.tags.add()
        entry.name = tag.name
        entry.start, entry.end = (START + round(time * clip.rate, 3) for time in (tag.start, tag.end))
    return action
