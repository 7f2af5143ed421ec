# SPDX-License-Identifier: GPL-3.0-or-later
"""Which frame is played: each character by its own tags."""

import numpy as np
import pytest

from mm_blender.matching.search import enterable
from mm_blender.playback.library import search_of
from mm_blender.playback.matcher import BETTER, MotionMatcher


@pytest.fixture(scope="module")
def running(demo_database):
    return search_of(demo_database, enterable(demo_database, "run")[0])


def first(database, tag):
    return int(np.flatnonzero(database.tags[tag])[10])


def test_each_character_searches_among_its_own_frames(motion, search, running, demo_database):
    matcher = MotionMatcher(motion, search, 3, first(demo_database, "walk"))
    matcher.allow(1, running)
    queries = matcher.features() + np.random.default_rng(0).normal(size=(3, demo_database.schema.size))
    must = np.ones(3, dtype=bool)
    alone = [search.nearest(query, matcher.around(matcher.frames[0])).frame for query in queries]
    assert matcher.match([0, 1, 2], queries, must=must) == [0, 1, 2]
    assert demo_database.tags["run"][matcher.frames[1]]
    assert [matcher.frames[0], matcher.frames[2]] == [alone[0], alone[2]]


def test_a_frame_that_is_not_wanted_is_left_though_it_fits_best(motion, running, demo_database):
    matcher = MotionMatcher(motion, running, 1, first(demo_database, "walk"))
    queries = matcher.features()
    assert matcher.match([0], queries) == [] and matcher.costs[0] == pytest.approx(0, abs=1e-6)
    matcher.allow(0, running, demo_database.tags["run"])
    assert matcher.match([0], queries) == [0]
    assert demo_database.tags["run"][matcher.frames[0]] and matcher.costs[0] > 0


def test_nobody_jumps_to_the_same_frame_of_another_clip(motion, search, demo_database):
    drawn, twins = np.random.default_rng(1), 0
    for frame in np.flatnonzero(demo_database.tags["walk"])[::50]:
        matcher = MotionMatcher(motion, search, 1, frame)
        queries = matcher.features() + drawn.normal(size=(1, demo_database.schema.size), scale=0.02).astype("f4")
        cost, found = search.cost(queries[0], frame), search.nearest(queries[0], matcher.around(frame))
        twins += abs(found.cost - cost) < 1e-4 * cost
        assert bool(matcher.match([0], queries)) == (found.cost < (1 - BETTER) * cost)
    assert twins > 10
