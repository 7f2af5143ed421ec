# SPDX-License-Identifier: GPL-3.0-or-later
"""How close is Learned Motion Matching to Motion Matching? All courses, and ten minutes of random driving.

The demo character's networks are those that ship. For LAFAN1 the environment names a database (MM_LAFAN1) and networks
that were trained on it (MM_LAFAN1_NETWORKS); neither ships.
"""

# ruff: noqa: E402
import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[name] = "1"  # read when NumPy is imported

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from mm_blender.evaluate import courses, driving, learned
from mm_blender.matching import database as databases
from mm_blender.networks.library import library_for
from mm_blender.playback.library import BakedLibrary
from tests.databases import demo_motion

# Learned motion may have so many times what Motion Matching has.
MOST = 1.15
# Seconds of random driving, and how far it may be from the data: as a share of how far two frames of it are apart.
LONG, FAR = 600, 0.75


def main():
    shipped = ROOT / "trained" / "demo.mmnet"
    if shipped.exists():
        measure("demo", demo_motion(), shipped)
    if "MM_LAFAN1" in os.environ and "MM_LAFAN1_NETWORKS" in os.environ:
        measure("LAFAN1", databases.load(os.environ["MM_LAFAN1"]), os.environ["MM_LAFAN1_NETWORKS"])


def measure(label, database, networks):
    usual, own = BakedLibrary(database), driving.own_acceleration(database)
    played = library_for("lmm", networks, usual)
    recordings = [*courses.all_courses().values(), *courses.other_courses()]
    here, there = (learned.drive_courses(library, database, recordings, own) for library in (usual, played))
    for name, figure in here.items():
        say(f"{label}, {name}: {there[name]:.3g} learned, {figure:.3g} matched", there[name], MOST * figure)
    far = learned.strays(played, database, LONG).max()
    say(f"{label}, furthest from the data in {LONG / 60:.0f} minutes: {far:.2f}", far, FAR)


def say(sentence, figure, limit):
    print(f"  {sentence}  (target at most {limit:.3g})  {'ok' if figure <= limit else 'short'}", flush=True)


if __name__ == "__main__":
    main()
