# SPDX-License-Identifier: GPL-3.0-or-later
"""A small character for tests of the artist's work: a biped of fifteen bones, and Actions in which it walks."""

import math

import numpy as np

BONES = {
    "hips": ((0, 0, 0.9), (0, 0, 1.05), None),
    "spine": ((0, 0, 1.05), (0, 0, 1.3), "hips"),
    "chest": ((0, 0, 1.3), (0, 0, 1.5), "spine"),
    "head": ((0, 0, 1.55), (0, 0, 1.75), "chest"),
    **{f"{part}.{side}": (tuple(np.array(head) * (sign, 1, 1)), tuple(np.array(tail) * (sign, 1, 1)),
                          parent if parent in ("hips", "chest") else f"{parent}.{side}")
       for side, sign in (("L", 1), ("R", -1)) for part, head, tail, parent in (
           ("thigh", (0.1, 0, 0.9), (0.1, -0.02, 0.5), "hips"),
           ("shin", (0.1, -0.02, 0.5), (0.1, 0, 0.1), "thigh"),
           ("foot", (0.1, 0, 0.1), (0.1, -0.14, 0.02), "shin"),
           ("toe", (0.1, -0.14, 0.02), (0.1, -0.22, 0.02), "foot"),
           ("upper_arm", (0.18, 0, 1.45), (0.45, 0, 1.45), "chest"),
           ("forearm", (0.45, 0, 1.45), (0.7, 0, 1.45), "upper_arm"))},
}


def armature(name="Walker", bones=None):
    """A new armature object, active and the only one selected."""
    import bpy

    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.collection.objects.link(ob)
    activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, (head, tail, parent) in (bones or BONES).items():
        bone = ob.data.edit_bones.new(bone_name)
        bone.head, bone.tail = head, tail
        bone.parent = ob.data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in ob.pose.bones:
        bone.rotation_mode = "XYZ"
    activate(ob)
    return ob


def activate(ob):
    import bpy

    bpy.context.view_layer.update()
    for other in bpy.context.view_layer.objects:
        other.select_set(other == ob)
    bpy.context.view_layer.objects.active = ob


def walk(ob, name="walk", seconds=2.0, speed=1.2, start=1, step=0.02):
    """A new Action in which the armature walks towards -Y; its keys lie `step` seconds apart at any scene's rate."""
    import bpy

    from mm_blender.scene import actions

    times = np.arange(round(seconds / step) + 1) * step
    render = bpy.context.scene.render
    frames = start + times * (render.fps / render.fps_base)
    swing = 2 * math.pi * times
    channels = {("hips", "location", 2): speed * times, ("hips", "location", 1): 0.02 * np.cos(2 * swing),
                ("thigh.L", "rotation_euler", 0): 0.4 * np.sin(swing),
                ("thigh.R", "rotation_euler", 0): -0.4 * np.sin(swing),
                ("shin.L", "rotation_euler", 0): -0.3 * (1 + np.cos(swing)),
                ("shin.R", "rotation_euler", 0): -0.3 * (1 - np.cos(swing)),
                ("upper_arm.L", "rotation_euler", 2): 0.3 * np.sin(swing),
                ("upper_arm.R", "rotation_euler", 2): 0.3 * np.sin(swing)}
    channels = {key: values for key, values in channels.items() if key[0] in ob.pose.bones}
    action = actions.new_action(name, ob)
    paths = [(f'pose.bones["{bone}"].{channel}', index, bone) for bone, channel, index in channels]
    for curve, values in zip(actions.add_fcurves(action, paths), channels.values()):
        points = np.stack([frames, values], axis=-1).astype(np.float32)
        curve.keyframe_points.add(len(points))
        curve.keyframe_points.foreach_set("co", points.ravel())
        curve.keyframe_points.foreach_set("interpolation", np.ones(len(points), dtype=np.int32))
        curve.update()
    return action


def ready(ob, path, *actions):
    """Give an armature clips, features and a file, by the same buttons that the artist presses."""
    import bpy

    from mm_blender.scene.reading import clips

    activate(ob)
    bpy.ops.mm.roles_find()
    clips.add_clips(ob, actions)
    bpy.ops.mm.features_preset(preset="locomotion")
    ob.mm.bake.path = str(path)
    return ob
