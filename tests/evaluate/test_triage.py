# SPDX-License-Identifier: GPL-3.0-or-later
"""Triage: each clip measured, the clips that do harm named, and stops that do not settle."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender import records
from mm_blender.evaluate import triage
from mm_blender.motion import quat
from mm_blender.playback.library import BakedLibrary
from mm_blender.steps import run

FEW = ("idle", "walk", "walk start left", "walk stop left", "turn 90 left", "run", "run fast", "start 90 right",
       "crouch arc left")


def report(database, seconds=6.0):
    return run(triage.triage(BakedLibrary(database), seconds))


def only(database, *names):
    """A part of a database."""
    parts = [part for part in database.ranges if part.source in names]
    frames = np.concatenate([np.arange(part.start, part.stop) for part in parts])
    ends = np.cumsum([len(part) for part in parts]).tolist()
    arrays = {name: getattr(database, name)[frames] for name in ("rotations", "positions", "contacts", "features",
                                                                 "curves")}
    return replace(database, **arrays, tags={name: mask[frames] for name, mask in database.tags.items()}, cells=None,
                   measured=None, steps=None, some_steps=None,
                   ranges=tuple(replace(part, start=end - len(part), stop=end) for part, end in zip(parts, ends)))


def clip(said, name):
    return next(one for one in said["clips"] if one["clip"] == name)


@pytest.fixture(scope="module")
def few(demo_database):
    return only(demo_database, *FEW)


@pytest.fixture(scope="module")
def said(few):
    return report(few)


def test_each_clip_is_measured(said, few):
    assert [one["clip"] for one in said["clips"]] == [part.source for part in few.ranges]
    assert clip(said, "walk")["speed"] == pytest.approx(1.35, abs=0.05) and clip(said, "idle")["speed"] < 0.02
    assert clip(said, "run fast")["fastest"] > 4 and clip(said, "walk")["degrees_per_second"] < 3
    assert clip(said, "turn 90 left")["degrees_per_second"] > 20
    assert clip(said, "idle")["contact_share"] == 1 > clip(said, "run")["contact_share"]
    assert sum(one["played"] for one in said["clips"]) == pytest.approx(1, abs=0.01)


def test_the_demo_has_nothing_to_complain_of(said):
    assert not said["hints"] and not said["said"]
    assert said["stops"]["count"] == said["stops"]["settled"] == 1


def test_a_clip_that_lies_alone_is_far_from_all_others(said):
    assert clip(said, "crouch arc left")["apart"] > 2 > clip(said, "walk start left")["apart"]


def named_otherwise(database, old, new):
    return replace(database, ranges=tuple(replace(part, source=new if part.source in old else part.source)
                                          for part in database.ranges))


def test_what_is_no_way_of_going_and_is_played_all_the_same_is_named(few, said):
    played = max(said["clips"], key=lambda one: one["played"])["clip"]
    (hint,) = report(named_otherwise(few, {played}, "pushAndStumble1"))["hints"]
    assert hint["clip"] == "pushAndStumble1" and hint["why"].endswith("played it, and its name says push and stumble.")


def test_a_jolt_is_found_and_the_steps_of_a_run_are_none(few, said):
    assert not any(one["jolts"] for one in said["clips"])
    part = next(part for part in few.ranges if part.source == "run")
    rotations, arm = few.rotations.copy(), few.character.joint("left_upper_arm")
    frame = (part.start + part.stop) // 2
    rotations[frame, arm] = quat.mul(rotations[frame, arm], quat.from_angle_axis(np.float32(1.2), [1.0, 0, 0]))
    broken = replace(few, rotations=rotations)
    library = BakedLibrary(broken)
    assert {one["clip"]: one["jolts"] for one in run(triage._measured(library)) if one["jolts"]} == {"run": 1}


def test_where_nothing_stands_still_that_is_said(demo_database):
    going = only(demo_database, "walk", "walk slow", "run", "walk arc 2 left", "walk arc 2 right", "walk weave")
    said = report(going)
    assert said["stops"] == {"count": 1, "settled": 0}
    assert said["said"] == ["Nothing stands still: add an idle clip, or tag one."]


def test_a_report_is_json_and_a_table(said):
    assert records.from_text(records.to_text(said))["clips"]
    lines = triage.table(said).splitlines()
    assert len(lines) >= len(said["clips"]) + 3 and "played" in lines[0] and "1 of 1 stops" in lines[-1]
