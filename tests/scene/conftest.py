# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs and Actions that the tests of reading and writing motion share, made by hand in Blender."""

import math
import random
from types import SimpleNamespace

import numpy as np
import pytest


@pytest.fixture
def rigs():
    return SimpleNamespace(armature=armature, chain=chain, biped=biped, animate=animate, truth=truth, apart=apart)


@pytest.fixture
def source(small_demo):
    """An armature with motion that is baked; nobody is driven any more afterwards."""
    import bpy

    from mm_blender.scene import driving

    bpy.ops.mm.bake()
    small_demo.mm.drive.relative = "WORLD"
    yield small_demo
    driving.stop(bpy.context)


def armature(name, bones):
    """An armature object from {bone: (head, tail, parent or None)}; the new object is active."""
    import bpy

    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, (head, tail, parent) in bones.items():
        bone = ob.data.edit_bones.new(bone_name)
        bone.head, bone.tail = head, tail
        bone.roll = 0.3 * len(ob.data.edit_bones)
        bone.parent = ob.data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def chain(count=5, name="Chain"):
    """Bones "b0", "b1" … each hanging from the one before, with a kink at every joint."""
    points = [(0.1 * (i % 2), 0.05 * i, 0.3 * i) for i in range(count + 1)]
    return armature(name, {f"b{i}": (points[i], points[i + 1], f"b{i - 1}" if i else None) for i in range(count)})


def biped():
    """A body with one leg that follows an IK target, a head that copies a rotation, and an arm that a driver bends."""
    ob = armature("Biped", {
        "hips": ((0, 0, 1), (0, 0, 1.2), None),
        "spine": ((0, 0, 1.2), (0, 0, 1.5), "hips"),
        "head": ((0, 0, 1.5), (0, 0, 1.7), "spine"),
        "arm": ((0.2, 0, 1.5), (0.6, 0, 1.5), "spine"),
        "thigh.L": ((0.1, 0, 1), (0.1, -0.05, 0.5), "hips"),
        "shin.L": ((0.1, -0.05, 0.5), (0.1, 0, 0.1), "thigh.L"),
        "foot.L": ((0.1, 0, 0.1), (0.1, -0.2, 0), "shin.L"),
        "ik.L": ((0.1, 0, 0.1), (0.1, 0.2, 0.1), None)})
    ob.data.bones["ik.L"].use_deform = False
    ik = ob.pose.bones["shin.L"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count = ob, "ik.L", 2
    copy = ob.pose.bones["head"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = ob, "hips"
    ob["bend"] = 0.0
    ob.pose.bones["arm"].rotation_mode = "XYZ"
    driver = ob.pose.bones["arm"].driver_add("rotation_euler", 0).driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = ob, '["bend"]'
    driver.expression = "var * 2"
    return ob


def animate(ob, name, frames, bones=None, channels=("location", "rotation"), interpolation="BEZIER", seed=1):
    """A new Action with random keys at these frames, inserted by Blender itself; the object is left without it."""
    import bpy

    rng = random.Random(seed)
    bound = ob.animation_data or ob.animation_data_create()
    before, before_slot = bound.action, getattr(bound, "action_slot", None)
    bound.action = bpy.data.actions.new(name)
    action = bound.action
    for frame in frames:
        for bone in ob.pose.bones:
            if bones is not None and bone.name not in bones:
                continue
            for channel in channels:
                if channel == "rotation":
                    channel = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(
                        bone.rotation_mode, "rotation_euler")
                kept = tuple(getattr(bone, channel))
                middle = 1.0 if channel == "scale" else 0.0
                setattr(bone, channel, [middle + rng.uniform(-0.4, 0.4) for _ in kept])
                bone.keyframe_insert(channel, frame=frame, group=bone.name)
                setattr(bone, channel, kept)
    for layer in getattr(action, "layers", ()):
        for bag in layer.strips[0].channelbags:
            _interpolate(bag.fcurves, interpolation)
    if not hasattr(action, "layers"):
        _interpolate(action.fcurves, interpolation)
    bound.action = before
    if before_slot is not None:
        bound.action_slot = before_slot
    return action


def _interpolate(curves, interpolation):
    for curve in curves:
        for key in curve.keyframe_points:
            key.interpolation = interpolation


def truth(ob, action, frames, names):
    """World positions and rotations of bones as a scene.frame_set loop shows them."""
    import bpy

    bound = ob.animation_data or ob.animation_data_create()
    bound.action = action
    if hasattr(bound, "action_slot"):
        bound.action_slot = bound.action_suitable_slots[0]
    positions, rotations = [], []
    for frame in frames:
        bpy.context.scene.frame_set(math.floor(frame), subframe=frame - math.floor(frame))
        world = [ob.matrix_world @ ob.pose.bones[name].matrix for name in names]
        positions.append([matrix.to_translation() for matrix in world])
        rotations.append([matrix.to_quaternion() for matrix in world])
    return np.array(positions), np.array(rotations)


def apart(clip, positions, rotations):
    """How far a clip is from the truth at most: millimetres, degrees."""
    mine, turns = clip.globals()
    turns, rotations = (q / np.linalg.norm(q, axis=-1, keepdims=True) for q in (turns.astype(np.float64), rotations))
    chord = np.minimum(np.linalg.norm(turns - rotations, axis=-1), np.linalg.norm(turns + rotations, axis=-1))
    return 1000 * np.linalg.norm(mine - positions, axis=-1).max(), np.degrees(4 * np.arcsin(chord / 2)).max()
