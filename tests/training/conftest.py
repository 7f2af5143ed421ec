# SPDX-License-Identifier: GPL-3.0-or-later
"""Some clips of the demo motion, to learn from in a moment. All tests of this folder need torch."""

from functools import partial

import pytest

CLIPS = ("idle", "walk", "walk start left", "walk stop left", "walk turn 90 right", "crouch walk", "crouch idle")


@pytest.fixture(scope="session", autouse=True)
def needs_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.set_num_threads(1)  # more of them wait for each other on a machine that is busy
    return torch


@pytest.fixture(scope="session")
def database():
    return baked(CLIPS)


@pytest.fixture(scope="session")
def mirrored():
    """A database with mirror images of its clips."""
    return baked(("walk turn 90 right", "idle"), mirror=True)


def baked(names, mirror=False):
    from mm_blender.matching import bake, schema
    from mm_blender.motion import demo
    from mm_blender.motion.roles import find_character
    from mm_blender.prepare.recipe import Recipe
    from mm_blender.steps import run
    from tests.databases import demo_clips

    clips = [clip for clip in demo_clips() if clip.name in names]
    sources = [bake.Source(clip.name, partial(_ready, clip), clip.name, mirror=mirror) for clip in clips]
    return run(bake.bake(sources, find_character(demo.skeleton()), schema.load("locomotion"), Recipe()))


@pytest.fixture(scope="session")
def examples(database):
    from mm_blender.training.examples import Examples

    return Examples(database)


def _ready(clip):
    """The work of reading a clip that is already there."""
    yield 1.0
    return clip
