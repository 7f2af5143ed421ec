# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a character plays what it plays, and what it is told never to play."""

import numpy as np
import pytest

from mm_blender.evaluate.courses import random_walk
from mm_blender.playback.group import Group
from mm_blender.playback.library import BakedLibrary
from mm_blender.playback.why import why


@pytest.fixture(scope="module")
def driven(demo_database):
    library = BakedLibrary(demo_database)
    group = Group(library, [random_walk(20).guide(demo_database.rate, library.speeds)])
    for _ in range(300):
        group.step()
    return library, group


def test_the_last_jump_is_told_feature_by_feature(driven):
    library, group = driven
    trace = group.record.trace(0)
    at = int(np.flatnonzero(trace.jumped)[-1])
    found = why(group.record, library, library.choice().search)
    assert found.jumped and found.frame == trace.frames[at] and found.instead == trace.frames[at - 1] + 1
    assert found.ago == pytest.approx((len(trace.frames) - 1 - at) / 60)
    query = group.record.frame(at).asked
    search = library.choice().search
    assert found.cost == pytest.approx((search.cost(query, found.frame), search.cost(query, found.instead)), rel=1e-4)
    assert found.cost[0] < found.cost[1]
    labels = [channel.label for channel in library.database.schema.channels]
    assert sorted(label for label, *_ in found.shares) == sorted(labels)


def test_before_anything_was_searched_there_is_no_answer(demo_database):
    library = BakedLibrary(demo_database)
    group = Group(library, [random_walk(20).guide(demo_database.rate, library.speeds)])
    assert why(group.record, library, library.choice().search) is None


def test_what_is_avoided_is_left_and_not_entered_until_it_may_be_again(driven, demo_database):
    library, group = driven
    source = demo_database.ranges[demo_database.range_of_frame[group.player.matcher.frames[0]]].source
    most = {source, *(demo_database.ranges[at].source for at in range(0, 60, 2))}
    try:
        assert library.avoid([(name, 0.0, 1e9) for name in most])
        assert not library.avoid([(name, 0.0, 1e9) for name in most])
        group.ask_again()
        begun = len(group.record)
        for _ in range(300):
            group.step()
        frames = group.record.trace(0).frames[begun + 10:]  # it leaves with its next search
        assert not most & {demo_database.ranges[at].source for at in demo_database.range_of_frame[frames]}
    finally:
        assert library.avoid([]) and not library.avoid([])
    assert library.choice().wanted.all()


def test_a_moment_of_a_clip_is_avoided_with_what_leads_there(demo_database):
    library = BakedLibrary(demo_database)
    part = next(part for part in demo_database.ranges if part.source == "wander walk")
    before = library.choice().search.allowed.copy()
    library.avoid([("wander walk", 5.0, 6.0)])
    choice = library.choice()
    left = np.flatnonzero(~choice.wanted) - part.start
    assert (left.min(), left.max()) == (300, 360)
    lost = np.flatnonzero(before & ~choice.search.allowed) - part.start
    assert lost.min() == 280 and lost.max() == 360


def test_where_all_is_excluded_it_is_played_all_the_same(demo_database):
    library = BakedLibrary(demo_database)
    library.avoid([(part.source, 0, 1e9) for part in demo_database.ranges])
    assert "All that could be played is excluded" in library.choice().trouble and library.choice().search.allowed.any()
