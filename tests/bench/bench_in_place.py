# SPDX-License-Identifier: GPL-3.0-or-later
"""Idle, Walk and Run in place, baked as they come and driven: does the root go as fast as the stick asks, and do the
feet slide less than those of the clips that travel? The demo's own cycles without their travel, whose speed is known,
and downloaded characters as Blender's importers bring them (where ../shared has them)."""

import os
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from mm_blender.errors import MotionError
from mm_blender.evaluate import courses, driving
from mm_blender.matching import schema
from mm_blender.matching.bake import Source, bake
from mm_blender.motion.roles import find_character
from mm_blender.playback.drive import drive
from mm_blender.prepare.recipe import Recipe
from mm_blender.steps import run
from tests.databases import demo_clips, unpacked

RIGS = {"Soldier.glb": ("Idle", "Walk", "Run"), "RobotExpressive.glb": ("Idle", "Walking", "Running"),
        "CesiumMan.glb": ("Anim_0",), "Fox.glb": ("Survey", "Walk", "Run")}
SECONDS = 40.0
# Off by so much of the stick's speed at most; so much of the source's slide, or so little of it (cm/s).
OFF, SLIDE, STILL, TRUE = 0.1, 0.5, 0.5, 0.02


def main():
    demo()
    folder = unpacked("rigs")
    if folder is None:
        print("  left out: the rigs are not beside the checkout")
        return
    from tests.conftest import load_extension

    load_extension().register()
    for name, clips in RIGS.items():
        try:
            drives(name.partition(".")[0], motion_of(folder / name, clips))
        except MotionError as error:
            print(f"  {name} does not drive: {error}")


def demo():
    clips = {clip.name: clip for clip in demo_clips()}
    sources = []
    for name in ("idle", "walk", "run"):
        positions = clips[name].positions.copy()
        positions[:, 0, :2] = positions[0, 0, :2]
        still = clips[name].with_changes(positions=positions, contacts=None, tags=(), loop=False)
        sources.append(Source(name, partial(ready, still), name, loop=None))
    motion = run(bake(sources, find_character(clips["walk"].skeleton), schema.load("locomotion"), Recipe()))
    for index, part in enumerate(motion.ranges):
        if part.source in ("walk", "run"):
            made, true = speed_of(motion.clip(index)), speed_of(clips[part.source])
            row(f"demo, {part.source} in place: travel {made:.3f} m/s, in truth {true:.3f}; off by",
                abs(made / true - 1), TRUE)
    drives("demo", motion)


def motion_of(path, names):
    """A downloaded character's database, by the buttons that a person presses."""
    import bpy

    from mm_blender.scene.jobs import baking, slices
    from tests.scene.downloads import imported

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = imported(path)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.mm.clips_add(source="FITTING")
    for clip in ob.mm.clips:
        clip.use = clip.name in names
    ob.mm.bake.path = os.path.join(bpy.app.tempdir, path.stem + ".mmdb")
    return slices.run(baking.bake_steps(ob, bpy.context.scene))


def drives(label, motion):
    print(f"  {label}: {'; '.join(motion.notes['warnings'])}")
    for gait in ("walk", "run"):
        keys = courses.recording(np.array([0.0, 1.0, 10.0]), move_y=np.array([0.0, 1, 1]),
                                 run=np.array([gait == "run"] * 3))
        clip, trace = drive(motion, keys)
        begin, places = round(3 * clip.rate), clip.positions[:, 0, :2]
        went = np.linalg.norm(places[-1] - places[begin]) * clip.rate / (len(places) - 1 - begin)
        wanted = float(np.linalg.norm(trace.wanted[-1, :2]))
        row(f"{label}, {gait}: stick {wanted:.2f} m/s, root {went:.2f}; off by", abs(went / max(wanted, 1e-6) - 1), OFF)
        slides(f"{label}, {gait}, straight on", driving.report(motion, clip, trace))
    figures = [driving.report(motion, *drive(motion, course)) for course in courses.all_courses(SECONDS).values()]
    together = {name: float(np.mean([one[name] for one in figures])) for name in ("slide_low", "slide_low_source")}
    slides(f"{label}, five courses of {SECONDS:g} s", together)


def slides(label, figures):
    slide, source = figures["slide_low"], figures["slide_low_source"]
    row(f"{label}: slide, cm/s (the source's {source:.2f})", slide, max(SLIDE * source, STILL))


def row(name, figure, most):
    word = "ok" if figure <= most else "short"
    print(f"  {name}: {figure:.3g}  (target at most {most:.3g})  {word}", flush=True)


def speed_of(clip):
    return np.linalg.norm(clip.positions[-1, 0, :2] - clip.positions[0, 0, :2]) / clip.duration


def ready(clip):
    yield 1.0
    return clip


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
