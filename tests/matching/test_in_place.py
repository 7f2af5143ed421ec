# SPDX-License-Identifier: GPL-3.0-or-later
"""Idle, Walk and Run as an asset pack has them, in place: baked as they come they stand, walk, run, stop and turn."""

from functools import partial

import numpy as np
import pytest

from mm_blender.control.speeds import measure
from mm_blender.evaluate import driving
from mm_blender.evaluate.courses import recording
from mm_blender.matching import schema
from mm_blender.matching.bake import Source, bake
from mm_blender.motion.roles import find_character
from mm_blender.playback.drive import drive
from mm_blender.prepare.recipe import Recipe
from mm_blender.prepare.root import root_path
from mm_blender.steps import run
from tests.databases import demo_clips

NAMES = ("idle", "walk", "run")


def sources(**settings):
    """The demo's own, without their travel, tags or contacts."""
    found = []
    for clip in demo_clips():
        if clip.name in NAMES:
            positions = clip.positions.copy()
            positions[:, 0, :2] = positions[0, 0, :2]
            clip = clip.with_changes(positions=positions, contacts=None, tags=(), loop=False)
            found.append(Source(clip.name, partial(_ready, clip), clip.name, loop=None, **settings))
    return found


def _ready(clip):
    yield 1.0
    return clip


def baked(previous=None, arcs="auto", **settings):
    character = find_character(demo_clips()[0].skeleton)
    return run(bake(sources(**settings), character, schema.load("locomotion"), Recipe(), previous, arcs=arcs))


@pytest.fixture(scope="module")
def motion():
    return baked()


def test_it_is_said_which_clips_travel_now_and_how_fast(motion):
    assert motion.notes["warnings"] == ['Clip "walk" is in place: it travels 1.35 m/s now, as its feet tell.',
                                        'Clip "run" is in place: it travels 3.50 m/s now, as its feet tell.']
    assert {part.source for part in motion.ranges if part.loop} >= set(NAMES)
    speeds = measure(motion)
    assert speeds.walk[0] == pytest.approx(1.35, rel=0.05) and speeds.run[0] == pytest.approx(3.5, rel=0.05)


def test_arc_copies_are_marked_for_search_and_people(motion):
    made = {part.name for part in motion.ranges if motion.tags["made"][part.start]}
    assert len(made) == 8 and all(" (arc " in name for name in made) and motion.report()["arcs"] == 8
    assert motion.report()["clips"] == 3 and not motion.tags["made"][:motion.ranges[3].start].any()


def test_it_stands_walks_runs_stops_and_turns(motion):
    keys = recording(np.array([0.0, 1.5, 6.0, 10.0, 14.0, 17.0]), move_y=np.array([0, 1, 1, 0, 0, 0.0]),
                     move_x=np.array([0, 0, 0, 0, 1, 0.0]), run=np.array([0, 0, 1, 0, 0, 0]) > 0)
    clip, trace = drive(motion, keys)
    places = clip.positions[:, 0, :2]

    def speed(start, stop):
        first, last = round(start * clip.rate), round(stop * clip.rate) - 1
        return np.linalg.norm(places[last] - places[first]) * clip.rate / (last - first)

    for start, stop in ((3.5, 6.0), (8.0, 10.0), (15.5, 17.0)):
        wanted = np.linalg.norm(trace.wanted[round(stop * clip.rate) - 1, :2])
        assert speed(start, stop) == pytest.approx(wanted, rel=0.1) and wanted > 1
    assert speed(0.5, 1.5) < 0.05 and speed(12.5, 14.0) < 0.05
    names = [motion.clip_of(frame)[0] for frame in trace.frames]
    assert names[round(5 * clip.rate)] == "walk" and names[round(9 * clip.rate)] == "run"
    assert names[round(13.5 * clip.rate)] == "idle"
    _, yaws = root_path(clip)
    assert yaws[-1] - yaws[round(14 * clip.rate)] == pytest.approx(-np.pi / 2, abs=0.3)
    figures = driving.report(motion, clip, trace)
    assert figures["slide_low"] < 0.6 * figures["slide_low_source"]  # the bench has the mean of many courses


def test_without_travel_it_stays_and_a_chosen_speed_goes_before_what_is_measured():
    still = baked(travel=0.0)
    assert measure(still).walk[0] == 0 and still.report()["arcs"] == 0
    chosen = baked(travel=2.0)
    assert any("2.00 m/s now, as you said" in sentence for sentence in chosen.notes["warnings"])


def test_arcs_are_made_always_never_or_where_nothing_turns():
    assert not [part for part in baked(arcs="off").ranges if "arc" in part.name]
    arc = next(clip for clip in demo_clips() if clip.name == "walk arc 1 left")
    turning = Source("arc", partial(_ready, arc), "arc")
    character = find_character(demo_clips()[0].skeleton)
    for arcs, count in (("auto", 0), ("on", 8)):
        steps = bake([*sources(), turning], character, schema.load("locomotion"), Recipe(), arcs=arcs)
        assert run(steps).report()["arcs"] == count


def test_a_second_bake_takes_all_over_and_makes_the_same_arcs(motion):
    again = baked(previous=motion)
    assert again.notes["reused"] == 3 and again.key == motion.key
    assert np.array_equal(again.features, motion.features) and again.ranges == motion.ranges


def test_what_is_changed_changes_the_key(motion):
    keys = {motion.key, baked(arcs="off").key, baked(travel=1.0).key}
    assert len(keys) == 3
