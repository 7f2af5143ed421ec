# SPDX-License-Identifier: GPL-3.0-or-later
"""A skeleton of 500 joints, as control rigs have them: it is baked and driven as any other."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from mm_blender.evaluate import driving
from mm_blender.evaluate.courses import slalom
from mm_blender.matching import bake, database, schema
from mm_blender.motion import bvh, demo
from mm_blender.motion.roles import find_character
from mm_blender.motion.skeleton import Skeleton
from mm_blender.playback.drive import drive
from mm_blender.playback.library import BakedLibrary
from mm_blender.prepare.recipe import Recipe
from mm_blender.steps import run

JOINTS, CLIPS = 500, ("idle", "walk", "walk start left", "walk stop left")


@pytest.fixture(scope="module")
def many():
    """Some of the demo motion on a skeleton with chains of ten more joints all over it."""
    clips = [_grown(clip) for clip in demo.clips() if clip.name in CLIPS]
    sources = [bake.Source(clip.name, partial(_ready, clip), clip.name) for clip in clips]
    return run(bake.bake(sources, find_character(clips[0].skeleton), schema.load("locomotion"), Recipe()))


def _grown(clip):
    skeleton, count = clip.skeleton, len(clip.skeleton)
    added = np.arange(count, JOINTS)
    parents = np.where((added - count) % 10, added - 1, 1 + added % (count - 1))
    places, turns = (np.tile(np.float32(each), (len(added), 1)) for each in ((0, 0.02, 0), (1, 0, 0, 0)))
    grown = Skeleton([*skeleton.names, *(f"more.{joint}" for joint in added)], np.append(skeleton.parents, parents),
                     np.append(skeleton.positions, places, axis=0), np.append(skeleton.rotations, turns, axis=0))
    return replace(clip, skeleton=grown, **{
        name: np.append(getattr(clip, name), np.broadcast_to(part, (len(clip), *part.shape)), axis=1)
        for name, part in (("positions", places), ("rotations", turns))})


def _ready(clip):
    """The work of reading a clip that is already there."""
    yield 1.0
    return clip


def test_it_is_driven_saved_and_read_again(many, tmp_path):
    many.save(tmp_path / "many.mmdb")
    clip, trace = drive(BakedLibrary(database.load(tmp_path / "many.mmdb")), slalom(3.0))
    assert len(clip.skeleton) >= JOINTS and np.isfinite(clip.positions).all() and trace.jumped.any()
    assert driving.report(many, clip, trace)["slide_low"] < 2
    bvh.write(tmp_path / "many.bvh", clip)
    assert len(bvh.read(tmp_path / "many.bvh").skeleton) == len(clip.skeleton)
