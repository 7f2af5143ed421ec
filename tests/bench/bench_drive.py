# SPDX-License-Identifier: GPL-3.0-or-later
"""What does driving cost in Python each frame, next to what it costs Blender to play the take that was kept?

NumPy has one thread. Times are by the clock and measured in turns that do the same; of each frame the quickest turn
counts. Blender spreads its part over all cores, and how that goes differs by a tenth and more from run to run. On one
core the ratio repeats, and compares work with work: `taskset -c 0 python3 dev.py bench drive`.
"""

# ruff: noqa: E402
import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[name] = "1"  # read when NumPy is imported

import sys
import tarfile
import tempfile
import time
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
ARCHIVE, CLIP = ROOT.parent / "shared" / "data" / "lafan1.tar.xz", "aiming1_subject1_walk_filtered.bvh"
sys.path.insert(0, str(ROOT))

from tests.conftest import load_extension
from tests.scene.rigify import control_rig, metarig

WITH_MESH, BARE, FURTHER, CROWD, TARGET = 1.0, 2.0, 0.5, 10, 1.3
TURNS, SECONDS = 21, 15


def main():
    load_extension().register()
    with tempfile.TemporaryDirectory() as folder:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        bpy.ops.mm.create_demo()
        measure("demo character with its mesh", bpy.context.object, Path(folder), WITH_MESH)
        if not ARCHIVE.exists():
            print(f"  left out: the mocap archive {ARCHIVE.name} is not beside the checkout")
            return
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        ob = imported(folder)
        measure("bare armature of LAFAN1", ob, Path(folder), BARE)
        measure_targets(ob, Path(folder))


def imported(folder):
    """An armature that is made for one clip of LAFAN1."""
    from mm_blender.scene.reading.features import apply_preset

    with tarfile.open(ARCHIVE) as content:
        content.extract(f"lafan1/{CLIP}", folder, filter="data")
    bpy.ops.mm.import_motion(filepath=str(Path(folder) / "lafan1" / CLIP))
    ob = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    bpy.context.view_layer.objects.active = ob
    apply_preset(ob, "locomotion")
    return ob


def measure(label, ob, folder, target):
    """One character, ten of them, and Blender with the take."""
    from mm_blender.evaluate.courses import random_walk
    from mm_blender.playback.drive import drive
    from mm_blender.scene.driving import libraries, takes

    ob.mm.bake.path = str(folder / "motion.mmdb")
    bpy.ops.mm.bake()
    library = libraries.library_of(ob)
    bpy.context.scene.render.fps = round(library.database.rate)  # a frame of the take is a frame that was driven
    action = takes.keep(ob, drive(library, random_walk(SECONDS))[0], "take")
    frames = range(*map(round, action.frame_range))  # what comes after its end costs Blender less
    slot = getattr(ob.animation_data, "action_slot", None)
    crowd = [ob, *(copy_of(ob) for _ in range(CROWD - 1))]
    turns = []
    for _ in range(TURNS):
        ob.animation_data.action = action
        if slot is not None:
            ob.animation_data.action_slot = slot
        turns.append([list(play(frames))])
        ob.animation_data.action = None
        turns[-1] += [list(driven(crowd[:count], len(frames))) for count in (1, CROWD)]
    blender, one, many = np.min(turns, axis=0).mean(axis=-1)
    further = (many - one) / (CROWD - 1)
    print(f"  {label}: {one * 1e6:.0f} µs a frame to drive one, {further * 1e6:.0f} µs for each further of {CROWD}, "
          f"frame_set {blender * 1e6:.0f} µs")
    row(f"{label}, driving to frame_set", one / blender, target)
    row(f"{label}, each further of {CROWD} to the first", further / one, FURTHER)


def measure_targets(ob, folder):
    """What it costs to drive a rig with the motion of another armature, next to driving it with motion of its own."""
    for name, rig in (("Rigify's metarig", metarig("human")), ("Rigify's generated rig", control_rig("human"))):
        bake_from(rig, ob, folder)
        turns = []
        for _ in range(TURNS):
            ob.mm.drive.target = rig
            turns.append([list(driven([ob])), list(driven([ob], shown=True)), list(driven([rig]))])
            ob.mm.drive.target = None
        python, whole, own = np.min(turns, axis=0).mean(axis=-1)
        print(f"  {name}, {len(rig.data.bones)} bones: {python * 1e6:.0f} µs a frame to drive, {own * 1e6:.0f} with "
              f"motion of its own; {whole * 1e6:.0f} with what Blender takes to evaluate the pose")
        row(f"{name}, motion of another to motion of its own", python / own, TARGET)
        rig.hide_viewport = True


def bake_from(rig, ob, folder):
    """Give a rig a database of its own, from the clip that another armature plays."""
    from mm_blender.scene.reading.features import apply_preset

    for each in bpy.context.view_layer.objects:
        each.select_set(each in (rig, ob))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.mm.clips_add(source="SELECTED")
    apply_preset(rig, "locomotion")
    rig.mm.bake.path = str(folder / f"{rig.name}.mmdb")
    bpy.ops.mm.bake()


def copy_of(ob):
    """Another character with the same database, in a scene that is not shown: only Python is measured."""
    other = ob.copy()
    bpy.context.scene.collection.objects.link(other)
    other.hide_viewport = True
    return other


def play(frames):
    """Seconds of each frame."""
    for frame in frames:
        begin = time.perf_counter()
        bpy.context.scene.frame_set(frame)
        yield time.perf_counter() - begin


def driven(obs, count=SECONDS * 60, shown=False):
    """Seconds of each frame for all that happens in Python while characters are driven, each by a course of its own:
    the session's whole tick; or until Blender has evaluated what is to be shown, too."""
    from mm_blender.evaluate.courses import random_walk
    from mm_blender.scene import driving

    bpy.context.view_layer.objects.active = obs[0]
    courses = [random_walk(SECONDS, seed) for seed in range(len(obs))]
    session = driving.start(bpy.context, obs, courses[0])
    others = [one for one in session.characters if one is not session.driven]
    for frame in range(count):
        for one, course in zip(others, courses[1:]):
            one.guide.steer(course.at(frame / 60))
        begin = time.perf_counter()
        session.tick(bpy.context, session.driven.player.dt)
        if shown:
            bpy.context.view_layer.update()
        yield time.perf_counter() - begin
    session.cancel(bpy.context)


def row(name, figure, target):
    print(f"  {name}: {figure:.2f}  (target at most {target:g})  {'ok' if figure <= target else 'short'}", flush=True)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # Blender 4.5 as a module never ends with classes registered
