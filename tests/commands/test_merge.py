# SPDX-License-Identifier: GPL-3.0-or-later
"""merge: two databases become one, as if their clips had been baked together."""

import numpy as np
import pytest

from mm_blender.matching import database
from mm_blender.owner import Owner
from tests.test_command_line import write_walk


@pytest.fixture
def bake(tmp_path, ask):
    """Bakes walks of so many frames into a database of a name; its path."""
    def made(name, *more, **clips):
        folder = tmp_path / name
        folder.mkdir()
        for clip, frames in clips.items():
            write_walk(folder / f"{clip}.bvh", frames)
        ask("bake", folder, "-o", tmp_path / f"{name}.mmdb", *more)
        return tmp_path / f"{name}.mmdb"
    return made


def test_merging_is_as_baking_together(bake, tmp_path, ask):
    one, two, both = bake("one", a=91, b=61), bake("two", c=121), bake("both", a=91, b=61, c=121)
    database.give(one, Owner("7", "Hero"))
    report = ask("merge", one, two, "-o", tmp_path / "merged.mmdb")
    merged, baked = database.load(tmp_path / "merged.mmdb"), database.load(both)
    assert report["clips"] == 3 and merged.owner is None
    assert [part.name for part in merged.ranges] == ["a", "b", "c"]
    for name in ("rotations", "positions", "fixed", "moving", "contacts", "features", "cells", "steps"):
        assert np.array_equal(getattr(merged, name), getattr(baked, name)), name
    assert np.array_equal(merged.normalisation.scale, baked.normalisation.scale)
    assert database.read_about(one)[1].name == "Hero"


def test_clips_of_one_name_are_kept_apart_and_the_same_clip_is_taken_once(bake, tmp_path, ask):
    one, two = bake("one", a=91, b=61), bake("two", a=91, b=101)
    report = ask("merge", one, two, "-o", tmp_path / "merged.mmdb")
    names = [part.name for part in database.load(tmp_path / "merged.mmdb").ranges]
    assert names == ["a (one)", "b (one)", "b (two)"]
    assert report["left_out"] == ['Clip "a" is in several of the databases: it was taken once.']


def test_what_differs_is_said(bake, tmp_path, ask, fails, subtests):
    one, out, other_bones = bake("one", a=91), tmp_path / "merged.mmdb", tmp_path / "bones.mmdb"
    ask("bake", write_walk(tmp_path / "d.bvh", thigh="Thigh.R"), "-o", other_bones)
    for name, other, words in (
            ("features", bake("past", "--schema", "locomotion_past", b=91), "their features are others"),
            ("rate", bake("slow", "--fps", 30, b=91), 'their setting "rate" is 60.0 in one and 30.0 in the other'),
            ("roles", bake("spine", "--role", "chest=Head", b=91), 'the role chest is "'),
            ("bones", other_bones, 'only one of them has the bone "RightUpLeg"')):
        with subtests.test(name):
            said = fails("merge", one, other, "-o", out)
            assert words in said and f'"one" and "{other.stem}" cannot be merged' in said and not out.exists()


def test_one_database_or_one_that_is_written_over_is_refused(bake, fails):
    one, two = bake("one", a=91), bake("two", b=91)
    assert "two databases or more" in fails("merge", one, "-o", two)
    assert "is read and would be written over" in fails("merge", one, two, "-o", two)
