# SPDX-License-Identifier: GPL-3.0-or-later
"""Mocap on rigs that Blender makes: what the bones that deform do, as Blender evaluates them, over ten clips each of
LAFAN1 and CMU, on the demo character, on Rigify's human metarig and on the control rig that is generated from it (keys
on its FK controls)."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import bpy

from mm_blender.evaluate import retargeting
from mm_blender.motion import bvh
from mm_blender.motion.roles import find_character
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
from tests.databases import unpacked
from tests.scene.rigify import control_rig, metarig

CLIPS, SECONDS, RATE = 10, 6.0, 60
SLIDE, SUNK, DEGREES, FLIPPED = 0.5, 5.0, 3.0, 0


def main():
    load_extension().register()
    bpy.context.scene.render.fps = RATE
    rigs = {"the demo character": demo_character.create(bpy.context, with_mesh=False),
            "Rigify's metarig": metarig("human"), "Rigify's generated rig": control_rig("human")}
    for name in ("lafan1", "cmu"):
        if (folder := unpacked(name)) is None:
            print(f"  left out: the mocap archive {name}.tar.xz is not beside the checkout")
            continue
        files = [path for path in sorted(folder.glob("*.bvh")) if path.stat().st_size]
        for label, ob in rigs.items():
            measure(f"{name} on {label}", ob, files[::len(files) // CLIPS][:CLIPS])


def measure(label, ob, files):
    reports = []
    for path in files:
        clip = bvh.read(path)
        clip = clip.scaled(bvh.guess_units(clip))
        character = find_character(clip.skeleton)
        target = target_of(targets.led(ob, rooted(character)), [], Recipe(rate=RATE))
        reports.append(one(ob, clip, character, target))
        print(f"    {path.stem}: {reports[-1]}", flush=True)
    whole = retargeting.together(reports)

    def row(name, figure, most):
        print(f"  {label}, {name}: {figure:.3g}  (target at most {most:g})  {'ok' if figure <= most else 'short'}")

    row("slide of feet in contact, cm/s", whole["foot_slide"], SLIDE)
    row("toes under the ground, mm", whole["toe_penetration_mm"], SUNK)
    row("limb directions, mean degrees", whole["limb_degrees"]["mean"], DEGREES)
    row("limb directions, 95 %, degrees", whole["limb_degrees"]["p95"], DEGREES)
    row("those of legs alone, 95 %, degrees", whole["leg_degrees"]["p95"], DEGREES)
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
    found = found.with_changes(contacts=made.contacts[:len(found)])
    ways = SimpleNamespace(source=onto.retarget.source, target=character_of(ob), standing=onto.retarget.standing)
    bpy.data.actions.remove(action)
    return retargeting.report(ways, before.slice(0, len(found)), found)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # Blender 4.5 as a module never ends while classes of Rigify are registered
