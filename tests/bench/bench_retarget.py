# SPDX-License-Identifier: GPL-3.0-or-later
"""What does it cost to play on another character, next to playing on the database's own, and to bake through it?

Frames of both are measured in turns that do the same; of each frame the quickest turn counts. What a clip takes that is
played for the first time is shown beside.
"""

# ruff: noqa: E402
import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[name] = "1"  # read when NumPy is imported

import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from mm_blender.evaluate.courses import random_walk
from mm_blender.matching import bake, schema
from mm_blender.motion import demo
from mm_blender.motion.retarget import Retarget
from mm_blender.motion.roles import find_character
from mm_blender.networks.library import library_for
from mm_blender.playback.group import Group
from mm_blender.playback.library import BakedLibrary
from mm_blender.playback.retarget import retargeted
from mm_blender.prepare.onto import Onto
from mm_blender.prepare.recipe import Recipe
from mm_blender.steps import run
from tests.databases import demo_motion

TURNS, FRAMES, MOST = 7, 600, 0.30


def main():
    database = demo_motion()
    target = taller(database.character)
    libraries = {"mm": BakedLibrary(database)}
    networks = ROOT / "trained" / "demo.mmnet"
    libraries["lmm"] = library_for("lmm", networks)
    missed = False
    for method, library in libraries.items():
        own, other = steps(library, retargeted(library, target))
        share = other / own - 1
        missed |= share > MOST
        print(f"  {method}: {own:.0f} µs a frame, {other:.0f} on another character: {share:+.0%} (at most {MOST:+.0%})")
    clips(database, target)
    missed |= baking(database, target)
    sys.exit(int(missed))


def taller(character):
    """The demo character a fifth taller, with longer shins."""
    positions = character.skeleton.positions * 1.2
    for side in ("left", "right"):
        positions[character.joint(f"{side}_foot")] *= 1.1
    return replace(character, skeleton=replace(character.skeleton, positions=positions))


def steps(*libraries):
    """Mean microseconds of a frame with each library."""
    turns = [[one_turn(library) for library in libraries] for _ in range(TURNS)]
    return np.min(turns, axis=0).mean(axis=-1) * 1e6


def one_turn(library):
    recording, times = random_walk(FRAMES / 60 + 1), []
    group = Group(library, [recording.guide(library.database.rate, library.speeds)])
    for _ in range(FRAMES):
        begin = time.perf_counter()
        group.step()
        times.append(time.perf_counter() - begin)
    return times


def clips(database, target):
    """Clips on their own."""
    retarget = Retarget(database.character, target)
    times, frames = [], []
    for index, part in enumerate(database.ranges):
        clip, begin = database.clip(index), time.perf_counter()
        retarget.clip(clip)
        times.append(time.perf_counter() - begin)
        frames.append(len(part))
    print(f"  a clip that is played first: {max(times) * 1e3:.1f} ms at most; "
          f"10,000 frames of clips: {sum(times) / sum(frames) * 1e4:.3f} s")


def baking(database, target):
    """The demo's clips baked as they are, and onto another character; whether that takes too long."""
    character, recipe = find_character(demo.skeleton()), Recipe()
    onto = Onto(character, (target, None), recipe)
    times = []
    for way, whose in ((None, character), (onto, target)):
        sources = [bake.Source(clip.name, partial(_ready, clip), clip.name, onto=way) for clip in demo.clips()]
        begin = time.perf_counter()
        run(bake.bake(sources, whose, schema.load("locomotion"), recipe))
        times.append(time.perf_counter() - begin)
    print(f"  bake: {times[0]:.2f} s, {times[1]:.2f} s onto another character (at most twice as long)")
    return times[1] > 2 * times[0]


def _ready(clip):
    yield 1.0
    return clip


if __name__ == "__main__":
    main()
