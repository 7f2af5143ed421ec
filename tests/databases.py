# SPDX-License-Identifier: GPL-3.0-or-later
"""Databases that tests and benchmarks share: the demo motion, and LAFAN1 where its archive lies beside the checkout."""

import subprocess
import sys
import tarfile
import tempfile
from functools import partial
from pathlib import Path

from mm_blender.matching import bake, database, schema
from mm_blender.motion import demo
from mm_blender.motion.roles import find_character
from mm_blender.prepare.recipe import Recipe
from mm_blender.steps import run

ROOT = Path(__file__).resolve().parent.parent
LAFAN1 = ROOT.parent / "shared" / "data" / "lafan1.tar.xz"


def demo_motion():
    """The demo motion, baked."""
    sources = [bake.Source(clip.name, partial(_ready, clip), clip.name) for clip in demo.clips()]
    return run(bake.bake(sources, find_character(demo.skeleton()), schema.load("locomotion"), Recipe()))


def lafan1_mirrored():
    """All of LAFAN1 with its mirror image, baked from the shell; None, with a word about it, without the archive."""
    if not LAFAN1.exists():
        print(f"  left out: the mocap archive {LAFAN1.name} is not beside the checkout")
        return None
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(LAFAN1) as content:
            content.extractall(folder, filter="data")
        out = Path(folder) / "lafan1.mmdb"
        subprocess.run([sys.executable, "-m", "mm_blender", "bake", Path(folder) / "lafan1", "--mirror", "--json",
                        "-o", out], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        return database.load(out)


def _ready(clip):
    """The work of reading a clip that is already there."""
    yield 1.0
    return clip
