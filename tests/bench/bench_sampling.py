# SPDX-License-Identifier: GPL-3.0-or-later
"""How much faster is an Action read straight from its F-curves than by a scene.frame_set loop, and do they agree?"""

import sys
import time
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")
TARGET = 20.0
LOOP = 200  # frames of the slow way


def main():
    speed("64 bones, a key on every frame", TARGET, *rig(64, 2000, 2000, "QUATERNION", True))
    speed("23 bones as in a BVH file", TARGET, *rig(23, 2800, 2800, "ZXY", False))
    speed("64 bones, keys between frames", TARGET, *rig(64, 2000, 500, "QUATERNION", True))
    speed("64 bones, each keyed on its own frames", None, *rig(64, 2000, 167, "QUATERNION", True, own=True))
    agree()


def speed(label, target, ob, action, frames):
    """Both read the same bones of the same rig in turns, and the best of several turns counts."""
    from mm_blender.motion.clip import Clip
    from mm_blender.scene.reading import from_curves, from_evaluation
    from mm_blender.scene.reading.reference import Reference
    from mm_blender.scene.reading.sampling import finished, how_to_read, read_action
    from mm_blender.scene.rig import armatures

    assert how_to_read(ob, action)[0] == "curves"
    bpy.context.scene.frame_set(0)
    every = np.empty(len(ob.pose.bones) * 16, dtype=np.float32)

    def loop():
        for frame in range(1, LOOP + 1):
            bpy.context.scene.frame_set(frame)
            ob.pose.bones.foreach_get("matrix", every)

    turns = [(timed(lambda: finished(read_action(ob, action))), timed(loop)) for _ in range(7)]
    ours, blenders = np.min(turns, axis=0) / (frames, LOOP)
    skeleton, at = armatures.skeleton_of(ob), np.arange(1.0, LOOP)
    local = (finished(way.read(Reference.of(ob, action), skeleton, at)) for way in (from_curves, from_evaluation))
    a, b = (Clip("", skeleton, 24, *transforms) for transforms in local)
    millimetres, degrees = apart(a, b)
    print(f"  {label}: {ours * 1e6:.1f} µs a frame, frame_set {blenders * 1e6:.0f} µs, {blenders / ours:.1f} times; "
          f"{millimetres:.4f} mm and {degrees:.4f}° apart")
    if target is not None:
        row(f"F-curves, times faster than frame_set, {label}", blenders / ours, target, blenders / ours >= target)


def agree():
    """Both ways on plain rigs: every rotation mode, bezier keys on non-integer frames, a modifier, keyed scale."""
    from mm_blender.motion.clip import Clip
    from mm_blender.scene import actions
    from mm_blender.scene.reading import from_curves, from_evaluation
    from mm_blender.scene.reading.reference import Reference
    from mm_blender.scene.reading.sampling import finished
    from mm_blender.scene.rig import armatures as rigs

    worst = np.zeros(2)
    for mode in MODES:
        ob, action, frames = rig(12, 200, 60, mode, True, scaled=True)
        actions.fcurves(action, ob)[-1].modifiers.new("NOISE")
        skeleton, at = rigs.skeleton_of(ob), np.arange(1.0, frames)
        read = [finished(way.read(Reference.of(ob, action), skeleton, at)) for way in (from_curves, from_evaluation)]
        worst = np.maximum(worst, apart(*(Clip("", skeleton, 24, *local) for local in read)))
    row("Both ways agree in all rotation modes, millimetres", worst[0], 0.1, worst[0] < 0.1)
    row("Both ways agree in all rotation modes, degrees", worst[1], 0.01, worst[1] < 0.01)


def rig(bones, frames, keys, mode, moving, scaled=False, own=False):
    """A chain with a smooth random motion of this many keys over these frames, alone in an empty file and playing.

    All bones are keyed at the same times, unless each has frames of its own.
    """
    from mm_blender.scene import actions
    from mm_blender.scene.reading.from_curves import rotation_channel

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for index in range(bones):
        bone = ob.data.edit_bones.new(f"bone {index}")
        # Branches of eight bones, as in a body, not one long chain.
        bone.parent = ob.data.edit_bones["bone 0"] if index % 8 == 0 and index else parent
        side, height = 0.2 * (index // 8), 0.1 * (index % 8)
        bone.head, bone.tail, bone.roll = (side, 0, height), (side, 0.02, height + 0.1), 0.1 * index
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    rng = np.random.default_rng(bones)
    channels = []
    for index, bone in enumerate(ob.pose.bones):
        bone.rotation_mode = mode
        names = [rotation_channel(mode)] + ["location"] * (moving or index == 0) + ["scale"] * scaled
        channels += [(f'pose.bones["{bone.name}"].{name}', part, bone.name)
                     for name in names for part in range(len(getattr(bone, name)))]
    action = actions.new_action("Motion", ob)
    every = {bone.name: key_times(rng, frames, keys, own) for bone in ob.pose.bones}
    for (path, _, name), curve in zip(channels, actions.add_fcurves(action, channels)):
        times = every[name] if own else every[ob.pose.bones[0].name]
        values = 0.4 * np.sin(times * rng.uniform(0.02, 0.2) + rng.uniform(0, 6)) + (0.9 if "scale" in path else 0.1)
        curve.keyframe_points.add(keys)
        curve.keyframe_points.foreach_set("co", np.stack([times, values], -1).astype(np.float32).ravel())
        curve.keyframe_points.foreach_set("interpolation", np.full(keys, 2, dtype=np.int32))
        curve.update()
    actions.assign(ob, action)
    return ob, action, frames


def key_times(rng, frames, keys, whole):
    """Random times of this many keys, from the first frame to the last."""
    if whole or keys == frames:
        times = rng.choice(np.arange(2, frames), keys - 2, replace=False)
    else:
        times = rng.uniform(2, frames - 1, keys - 2)
    return np.concatenate([[1], np.sort(times), [frames]])


def apart(a, b):
    """Greatest distances of two clips in the world: millimetres, degrees."""
    (places, turns), (others, rotations) = a.globals(), b.globals()
    chord = np.minimum(np.linalg.norm(turns - rotations, axis=-1), np.linalg.norm(turns + rotations, axis=-1))
    return 1000 * np.linalg.norm(places - others, axis=-1).max(), np.degrees(4 * np.arcsin(chord / 2)).max()


def timed(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def row(name, figure, target, good):
    print(f"  {name}: {figure:.3g}  (target {target:g})  {'ok' if good else 'short'}")


if __name__ == "__main__":
    main()
