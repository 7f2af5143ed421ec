# SPDX-License-Identifier: GPL-3.0-or-later
"""What does it cost to play on another character, next to playing on the database's own?

Frames of both are measured in turns that do the same; of each frame the quickest turn counts. And how long clips take.
"""

# ruff: noqa: E402
import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[name] = "1"  # read when NumPy is imported

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from mm_blender.evaluate.courses import random_walk
from mm_blender.motion import quat
from mm_blender.motion.retarget import Retarget
from mm_blender.networks.library import library_for
from mm_blender.playback.cast import Cast
from mm_blender.playback.library import Library
from mm_blender.playback.retarget import retargeted
from tests.databases import demo_motion

TURNS, FRAMES, MOST = 7, 600, 0.30


def main():
    database = demo_motion()
    target = taller(database.character)
    libraries = {"mm": Library(database)}
    networks = ROOT / "trained" / "demo.mmnet"
    libraries["lmm"] = library_for("lmm", networks)
    missed = False
    for method, library in libraries.items():
        own, other = steps(library, retargeted(library, target))
        share = other / own - 1
        missed |= share > MOST
        print(f"  {method}: {own:.0f} µs a frame, {other:.0f} on another character: {share:+.0%} (at most {MOST:+.0%})")
    clips(database, target)
    sys.exit(missed)


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
    cast, recording, times = Cast(library), random_walk(FRAMES / 60 + 1), []
    for frame in range(FRAMES):
        cast.want(0, recording.at(frame / 60))
        begin = time.perf_counter()
        cast.step()
        times.append(time.perf_counter() - begin)
    return times


def clips(database, target):
    """Clips of ten thousand frames."""
    retarget = Retarget(database.character, target)
    rotations = quat.normalize(np.resize(database.rotations, (10000, *database.rotations.shape[1:])))
    positions = np.resize(database.positions, (10000, *database.positions.shape[1:]))
    begin = time.perf_counter()
    retarget.poses(positions, rotations, database.moving)
    print(f"  10,000 poses at once: {time.perf_counter() - begin:.3f} s")


if __name__ == "__main__":
    main()
