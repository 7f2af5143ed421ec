# SPDX-License-Identifier: GPL-3.0-or-later
"""Databases that tests and benchmarks share: the demo motion, and mocap where its archives lie beside the checkout."""

import contextlib
import functools
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from mm_blender.matching import bake, database, schema
from mm_blender.motion import demo
from mm_blender.motion.roles import find_character
from mm_blender.prepare.recipe import Recipe
from mm_blender.steps import run

ROOT = Path(__file__).resolve().parent.parent


@functools.cache
def demo_clips():
    """The clips of the demo motion, made once for all tests."""
    return demo.clips()


def demo_motion(features=None):
    """The demo motion, baked; features: a Schema of other features than the usual ones."""
    sources = [bake.Source(clip.name, partial(_ready, clip), clip.name) for clip in demo_clips()]
    return run(bake.bake(sources, find_character(demo.skeleton()), features or schema.load("locomotion"), Recipe()))


def with_more_gaits(database):
    """The demo motion with tags of other gaits: "sneak" instead of "crouch", and "sprint" where it runs fastest."""
    tags = {name: mask.copy() for name, mask in database.tags.items() if name != "crouch"}
    fastest = np.zeros(len(database), dtype=bool)
    for part in database.ranges:
        fastest[part.start:part.stop] = part.source == "run fast"
    return replace(database, tags={**tags, "run": tags["run"] & ~fastest, "sneak": database.tags["crouch"],
                                   "sprint": fastest})


def lafan1_mirrored():
    """All of LAFAN1 with its mirror image, baked from the shell; None, with a word about it, without the archive."""
    if (clips := unpacked("lafan1")) is None:
        print("  left out: the mocap archive lafan1.tar.xz is not beside the checkout")
        return None
    return baked([clips])


def cmu_on_demo(subjects):
    """All clips of these subjects of CMU, each with bone lengths of their own, on the body of the demo; None, with a
    word about it, without the archive."""
    if (folder := unpacked("cmu")) is None:
        print("  left out: the mocap archive cmu.tar.xz is not beside the checkout")
        return None
    with tempfile.TemporaryDirectory() as place:
        target = Path(place) / "demo.mmdb"
        demo_motion().save(target)
        return baked([path for name in subjects for path in sorted(folder.glob(f"{name}_*.bvh"))], "--onto", target)


def baked(clips, *options):
    """BVH files, or folders of them, with their mirror images, baked from the shell."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.mmdb"
        subprocess.run([sys.executable, "-m", "mm_blender", "bake", *clips, "--mirror", "--json", *options, "-o", out],
                       cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        return database.load(out)


def unpacked(name):
    """The folder with the clips of `../shared/data/<name>.tar.xz`, unpacked once into .cache; None without it."""
    archive, folder = ROOT.parent / "shared" / "data" / f"{name}.tar.xz", ROOT / ".cache" / "data" / name
    if not folder.exists():
        if not archive.exists():
            return None
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as part:
            with tarfile.open(archive) as content:
                content.extractall(part, filter="data")
            with contextlib.suppress(OSError):  # other tests, at the same time, were faster
                (Path(part) / name).rename(folder)
    return folder


def _ready(clip):
    """The work of reading a clip that is already there."""
    yield 1.0
    return clip
