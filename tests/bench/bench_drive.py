# SPDX-License-Identifier: GPL-3.0-or-later
"""What does driving cost in Python each frame, next to what Blender takes to play the take that was kept?"""

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

WITH_MESH, BARE, FURTHER, CROWD = 1.0, 2.0, 0.5, 10
TURNS, FRAMES = 9, 240


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
        measure("bare armature of LAFAN1", imported(folder), Path(folder), BARE)


def imported(folder):
    """An armature that is made for one clip of LAFAN1."""
    from mm_blender.scene.features import apply_preset

    with tarfile.open(ARCHIVE) as content:
        content.extract(f"lafan1/{CLIP}", folder, filter="data")
    bpy.ops.mm.import_motion(filepath=str(Path(folder) / "lafan1" / CLIP))
    ob = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    bpy.context.view_layer.objects.active = ob
    apply_preset(ob, "locomotion")
    return ob


def measure(label, ob, folder, target):
    """One character, ten of them, and Blender with the take, in turns; the quickest turn of each counts."""
    from mm_blender.evaluate.courses import random_walk
    from mm_blender.matching import database as databases
    from mm_blender.playback.drive import drive, search_of
    from mm_blender.scene import takes

    ob.mm.bake.path = str(folder / "motion.mmdb")
    bpy.ops.mm.bake()
    database = databases.load(ob.mm.bake.path)
    search = search_of(database)
    take = drive(database, random_walk(FRAMES / database.rate), search=search)[0]
    drives = [driving(ob, database, search, count) for count in (1, CROWD)]
    turns = []
    for _ in range(TURNS):
        takes.keep(ob, take, "take")
        blender = timed(play)
        ob.animation_data.action = None
        turns.append([blender, *(timed(one) for one in drives)])
    blender, one, many = np.min(turns, axis=0) / FRAMES
    further = (many - one) / (CROWD - 1)
    print(f"  {label}: {one * 1e6:.0f} µs a frame to drive one, {further * 1e6:.0f} µs for each further of {CROWD}, "
          f"frame_set {blender * 1e6:.0f} µs")
    row(f"{label}, driving to frame_set", one / blender, target)
    row(f"{label}, each further of {CROWD} to the first", further / one, FURTHER)


def play():
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)


def driving(ob, database, search, count):
    """All that happens in Python for so many characters: sticks, steps, and a pose that is written for each."""
    from mm_blender.control import speeds
    from mm_blender.control.intent import intent_of
    from mm_blender.evaluate.courses import random_walk
    from mm_blender.playback.matcher import Motion
    from mm_blender.playback.player import Player
    from mm_blender.scene.posing import Poser

    gaits, player, poser = speeds.measure(database), Player(Motion(database), search, count), Poser(ob, database)
    sticks = [[course.at(frame / database.rate) for frame in range(FRAMES)]
              for course in (random_walk(FRAMES / database.rate, seed) for seed in range(count))]

    def drive():
        for held in zip(*sticks):
            intents = [intent_of(stick, gaits, 0.0, yaw) for stick, yaw in zip(held, player.simulation.yaws)]
            player.step(np.array([intent.velocity for intent in intents]), np.array([each.yaw for each in intents]))
            roots = np.column_stack([player.positions, player.heights])
            for shown in zip(roots, player.yaws, player.played.positions, player.rotations):
                poser.write(ob, *shown)

    return drive


def timed(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def row(name, figure, target):
    print(f"  {name}: {figure:.2f}  (target at most {target:g})  {'ok' if figure <= target else 'short'}", flush=True)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # Blender 4.5 as a module never ends with classes registered
