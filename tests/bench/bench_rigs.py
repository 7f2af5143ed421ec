# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion on rigs: what the bones that deform do, as Blender evaluates them, over ten clips each of LAFAN1 and CMU and
all of the demo's. On the demo character with toes and without, on Rigify's human metarig and on the control rig that is
generated from it (keys on its FK controls), and on characters that were downloaded. Then each is driven live as the
Target of the demo's motion.

`bench_rigs.py NAME…` takes only rigs whose names have one of these in them.
"""

import os
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import bpy
import numpy as np

from mm_blender.errors import MotionError
from mm_blender.evaluate import courses, driving, feet, retargeting
from mm_blender.motion import bvh
from mm_blender.motion.roles import find_character
from mm_blender.motion.stance import soles
from mm_blender.playback.drive import drive
from mm_blender.playback.library import BakedLibrary
from mm_blender.playback.retarget import character_of as character_of_database
from mm_blender.playback.retarget import retargeted
from mm_blender.prepare.onto import Onto, target_of
from mm_blender.prepare.recipe import Recipe
from mm_blender.prepare.root import rooted
from mm_blender.scene.demo import character as demo_character
from mm_blender.scene.driving import takes
from mm_blender.scene.reading import sampling
from mm_blender.scene.rig import targets
from mm_blender.scene.rig.character import character_of
from mm_blender.steps import run
from tests.conftest import load_extension
from tests.databases import demo_clips, demo_motion, unpacked
from tests.scene.downloads import demo_without_toes, downloaded
from tests.scene.rigify import control_rig, metarig

CLIPS, SECONDS, RATE = 10, 6.0, 60
SLIDE, SKATING, SUNK, DEGREES, FLIPPED = 0.5, 0.01, 5.0, 3.0, 0
HIGH = 10.0
# Legs bend so that toes stand as long as the source's.
LEGS = 3.5


def main(wanted):
    load_extension().register()
    motions, database = {name: read for name in ("lafan1", "cmu") if (read := mocap(name))}, demo_motion()
    motions["demo"] = demo_clips
    for label, make in rigs().items():
        if wanted and not any(word.lower() in label.lower() for word in wanted):
            continue
        ob = make()
        bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = RATE, 1.0  # importers have their own
        try:
            for name, clips in motions.items():
                measure(f"{name} on {label}", ob, clips())
            live(f"the demo driven live on {label}", ob, database)
        except MotionError as error:
            print(f"  {label}: {error}  short", flush=True)


def rigs():
    """What a rig is called → what makes it."""
    found = downloaded()
    if not found:
        print("  left out: the archive rigs.tar.xz is not beside the checkout")
    return {"the demo character": lambda: demo_character.create(bpy.context, with_mesh=False),
            "the demo character without toes": demo_without_toes,
            "the demo character with one bone for foot and toes": lambda: demo_without_toes(tip=True),
            "Rigify's metarig": lambda: metarig("human"), "Rigify's generated rig": lambda: control_rig("human"),
            **{name: make for name, make in found.items() if name != "Fox.glb"}}


def mocap(name):
    """What gives some clips of an archive; None, with a word about it, without the archive."""
    if (folder := unpacked(name)) is None:
        print(f"  left out: the mocap archive {name}.tar.xz is not beside the checkout")
        return None
    files = [path for path in sorted(folder.glob("*.bvh")) if path.stat().st_size]

    def clips():
        for path in files[::len(files) // CLIPS][:CLIPS]:
            clip = bvh.read(path)
            yield clip.scaled(bvh.guess_units(clip))
    return clips


def measure(label, ob, clips):
    reports = []
    for clip in clips:
        character = find_character(clip.skeleton)
        target = target_of(targets.led(ob, rooted(character)), [], Recipe(rate=RATE))
        reports.append(one(ob, clip, character, target))
        print(f"    {clip.name}: {reports[-1]}", flush=True)
    whole = retargeting.together(reports)

    def row(name, figure, most):
        print(f"  {label}, {name}: {figure:.3g}  (target at most {most:g})  {'ok' if figure <= most else 'short'}")

    row("slide while the source's toes are in contact, cm/s", whole["foot_slide"], SLIDE)
    row(f"share of low frames that skate (the source's {whole['skating_source']:.3f})", whole["skating"],
        whole["skating_source"] + SKATING)
    row(f"slide of low and slow toes, cm/s (the source's {whole['slide_low_source']:.2f})", whole["slide_low"],
        whole["slide_low_source"])
    row("soles under the ground, mm", whole["toe_penetration_mm"], SUNK)
    row("the lowest sole that should stand, mm under the ground", -whole["sole_lowest_mm"], HIGH)
    row("the highest sole that should stand, mm", whole["sole_highest_mm"], HIGH)
    row("limb directions, mean degrees", whole["limb_degrees"]["mean"], DEGREES)
    row("limb directions, 95 %, degrees", whole["limb_degrees"]["p95"], DEGREES)
    row("those of legs alone, 95 %, degrees", whole["leg_degrees"]["p95"], LEGS)
    row("frames with a flipped knee or elbow", whole["flipped_frames"], FLIPPED)


def one(ob, raw, character, target):
    """The figures of one clip: retargeted, kept as an Action, and read as Blender evaluates it."""
    recipe = Recipe(rate=RATE)
    onto = Onto(character, target, recipe, lambda: [raw])
    before = onto.before(raw, recipe)[0].clip
    middle = max(0, (len(before) - int(SECONDS * RATE)) // 2)
    before = before.slice(middle, min(len(before), middle + int(SECONDS * RATE)))
    made = onto.retarget.clip(before)
    action = takes.keep(ob, made, raw.name)
    found = run(sampling.read_action(ob, action))
    shown, known = character_of(ob), onto.retarget.target.skeleton.ends  # where nothing tells how feet are
    shown = replace(shown, skeleton=replace(shown.skeleton, ends={**shown.skeleton.ends, **known}))
    ways = SimpleNamespace(target=shown, **{name: getattr(onto.retarget, name) for name in (
        "source", "standing", "scale")})
    bpy.data.actions.remove(action)
    return retargeting.report(ways, before.slice(0, len(found)), found)


def live(label, ob, database):
    """The figures of all courses on a Target, and of those frames in which the source's feet stand."""
    library = BakedLibrary(database)
    target = rooted(targets.led(ob, character_of_database(database)))
    library, reports, slides = retargeted(library, target), [], []
    for recording in courses.all_courses().values():
        clip, trace = drive(library, recording)
        reports.append(driving.report(library.whole(), clip, trace))
        stands = trace.contacts[1:] & trace.contacts[:-1]
        held = stands & trace.planted[1:] & trace.planted[:-1]
        speeds = feet.speeds(soles(library.retarget.target, *clip.globals()), clip.rate) / library.retarget.scale
        slides.append([100 * speeds[each] for each in (stands, held)])

    def row(name, figure, most):
        print(f"  {label}, {name}: {figure:.3g}  (target at most {most:g})  {'ok' if figure <= most else 'short'}",
              flush=True)

    for name, each in zip(("feet that stand in the source, those that step after a jump included", "held feet"),
                          zip(*slides)):
        row(f"slide of {name}, cm/s", np.concatenate(each).mean(), SLIDE)
    for name, most in (("slide_low", np.mean([one["slide_low_source"] for one in reports]) / 2),
                       ("contact_not_held", 0.03)):
        row(name.replace("_", " "), np.mean([one[name] for one in reports]), most)
    row("soles under the ground, mm", max(one["toe_penetration_mm"] for one in reports), SUNK)


if __name__ == "__main__":
    main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # Blender 4.5 as a module never ends while classes of Rigify are registered
