# SPDX-License-Identifier: GPL-3.0-or-later
"""What does it cost to keep a minute of 64 bones with few keys, how many are left, and how far off is it?"""

import sys
import time
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

BONES, SECONDS, RATE = 64, 60, 60
TOLERANCE = 0.005
SLOWER, KEYS = 8.0, 0.2  # times the exact take, and a share of its keys


def main():
    from mm_blender.prepare.resample import resample
    from mm_blender.scene import actions
    from mm_blender.scene.reading import keyframes
    from mm_blender.scene.rig.building import build_armature, on_bones

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.render.fps = RATE
    clip = character()
    ob = build_armature(clip.skeleton, "Character")
    shown, _ = on_bones(ob, clip)
    fine = resample(shown, 2 * RATE)
    costs, counts = {}, {}
    for tolerance in (0.0, TOLERANCE):
        for _ in range(3):
            begin = time.perf_counter()
            action = keyframes.write_action(ob, fine if tolerance else shown, "Take", tolerance=tolerance)
            cost = time.perf_counter() - begin
            costs[tolerance] = min(cost, costs.get(tolerance, cost))
        counts[tolerance] = sum(len(curve.keyframe_points) for curve in actions.fcurves(action, ob))
    millimetres = 1000 * apart(ob, action, fine)
    print(f"  {SECONDS} s of {BONES} bones: {counts[0.0]} keys in {costs[0.0]:.2f} s, "
          f"simplified {counts[TOLERANCE]} in {costs[TOLERANCE]:.2f} s")
    row("takes, cost of a simplified one against an exact one", costs[TOLERANCE] / costs[0.0], SLOWER)
    row("takes, share of the keys that are left", counts[TOLERANCE] / counts[0.0], KEYS)
    row("takes, mm that a joint is off at most", millimetres, 1000 * TOLERANCE)


def character():
    """The demo's wandering, over and over, with fingers that move."""
    from mm_blender.motion import demo, quat
    from mm_blender.motion.clip import Clip
    from mm_blender.motion.skeleton import Skeleton

    wander = next(clip for clip in demo.clips(RATE) if clip.name == "wander walk")
    frames = np.abs((np.arange(SECONDS * RATE) + len(wander)) % (2 * len(wander) - 2) - len(wander) + 1)  # to and fro
    body, more = wander.skeleton, BONES - len(wander.skeleton)
    hands = [body.index(name) for name in ("hand.L", "hand.R")]
    parents = [hands[finger % 2] if finger // 2 % 3 == 0 else len(body) + finger - 2 for finger in range(more)]
    offsets = np.tile([0.0, 0.03, 0.0], (more, 1))
    skeleton = Skeleton([*body.names, *(f"finger {finger}" for finger in range(more))], [*body.parents, *parents],
                        np.concatenate([body.positions, offsets]),
                        np.concatenate([body.rotations, quat.identity((more,))]))
    rng = np.random.default_rng(0)
    bend = 0.3 * np.sin(np.outer(np.arange(len(frames)) / RATE, rng.uniform(2, 9, more)) + rng.uniform(0, 6, more))
    turns = quat.from_scaled_angle_axis(bend[..., None] * [1.0, 0.0, 0.0])
    return Clip("take", skeleton, RATE,
                np.concatenate([wander.positions[frames], np.tile(offsets, (len(frames), 1, 1))], axis=1),
                np.concatenate([wander.rotations[frames], turns], axis=1))


def apart(ob, action, clip):
    """How far any joint is from the clip at any time, in metres."""
    from mm_blender.motion.clip import Clip
    from mm_blender.scene.reading import from_curves
    from mm_blender.scene.reading.reference import Reference
    from mm_blender.scene.reading.sampling import finished

    frames = 1.0 + np.arange(len(clip)) * RATE / clip.rate
    again = Clip("", clip.skeleton, RATE, *finished(from_curves.read(Reference.of(ob, action), clip.skeleton, frames)))
    return np.linalg.norm(again.globals()[0] - clip.globals()[0], axis=-1).max()


def row(name, figure, target):
    print(f"  {name}: {figure:.3g}  (target {target:g})  {'ok' if figure <= target else 'short'}")


if __name__ == "__main__":
    main()
