# SPDX-License-Identifier: GPL-3.0-or-later
"""Driven characters: they go where they are wanted, each alone as in a crowd, and search at the right moments."""

import numpy as np
import pytest

from mm_blender.matching.search import Search
from mm_blender.playback.matcher import FEW_QUERIES, MotionMatcher
from mm_blender.playback.player import Drive
from mm_blender.playback.root import Sync
from tests.playback.shown import joints_of
from tests.steering import player_of, step_on

FORWARD, STILL, BACK = [(1.3j, 0.0)], [(0j, 0.0)], [(-1.3j, 0.0)]  # what one character wants


@pytest.fixture
def player(motion, search):
    return player_of(motion, search)


def ending(motion):
    """The last frame of a clip that does not go round."""
    return next(part for part in motion.database.ranges if not part.loop).stop - 1


def drive(player, seconds, wishes=FORWARD):
    for _ in range(round(seconds / player.dt)):
        step_on(player, wishes)
    return player


def test_it_walks_where_it_is_wanted_and_stops(player):
    drive(player, 4)
    assert player.positions[0, 1] == pytest.approx(player.guides[0].root[0].imag, abs=0.16)
    assert player.positions[0, 1] > 4
    drive(player, 2, STILL)
    assert np.hypot(*player.played.travel[0, :2]) < 0.15
    tags = [name for name, mask in player.motion.database.tags.items() if mask[player.matcher.frames[0]]]
    assert "idle" in tags or "stop" in tags


def test_it_runs_when_more_is_wanted(player):
    drive(player, 4, [(3.4j, 0.0)])
    assert player.motion.database.tags["run"][player.matcher.frames[0]]


def test_it_turns_round(player):
    drive(player, 3)
    drive(player, 3, [(-1.3j, np.pi)])
    assert np.cos(player.yaws[0]) < -0.9 and player.played.travel[0, 1] > 0.8


def test_without_any_sync_it_still_follows(motion, search):
    player = drive(player_of(motion, search, settings=Drive(sync=Sync("none", "none"))), 6)
    assert abs(player.roots[0][0] - player.guides[0].root[0]) < 0.6


def test_a_crowd_goes_as_each_would_alone(motion, search):
    wishes = [(1.3j, 0.0), (1 + 0.2j, -1.2), (0j, 0.5)]
    crowd = drive(player_of(motion, search, 3), 3, wishes)
    for index, wish in enumerate(wishes):
        alone = drive(player_of(motion, search), 3, [wish])
        assert alone.matcher.frames[0] == crowd.matcher.frames[index]
        np.testing.assert_allclose(alone.positions[0], crowd.positions[index], atol=1e-5)
        np.testing.assert_allclose(alone.rotations[0, 1:], crowd.rotations[index, 1:], atol=1e-4)


def test_a_jump_of_the_wish_is_searched_for_at_once(motion, search, monkeypatch):
    player = drive(player_of(motion, search, settings=Drive(search_every=10.0)), 1)
    asked = []
    match = player.matcher.match
    monkeypatch.setattr(player.matcher, "match", lambda *arguments: asked.append(1) or match(*arguments))
    drive(player, 3 * player.dt)
    assert not asked
    step_on(player, BACK)
    assert asked
    step_on(player, BACK)
    assert len(asked) == 1


def test_who_has_changed_its_mind_has_turns_of_its_own_from_then_on(motion, search):
    player, asked = player_of(motion, search, 2), []
    match = player.matcher.match
    player.matcher.match = lambda who, *arguments: asked.append((frame, list(who))) or match(who, *arguments)
    for frame in range(13):
        step_on(player, FORWARD + (BACK if frame >= 2 else FORWARD))
    assert asked == [(0, [0, 1]), (2, [1]), (6, [0]), (8, [1]), (12, [0])]


def test_a_slow_change_of_the_wish_adds_up_to_a_jump(motion, search):
    player = drive(player_of(motion, search, settings=Drive(search_every=10.0)), 1)
    asked = []
    match = player.matcher.match
    player.matcher.match = lambda *arguments: asked.append(1) or match(*arguments)
    for share in np.linspace(1, -1, 60):
        step_on(player, [(1.3j * share, 0.0)])
    assert len(asked) >= 3


def test_shown_toes_are_where_they_are_held(player):
    drive(player, 2)
    np.testing.assert_allclose(joints_of(player)[:, player.limbs.joints[:, 3]], player.toes, atol=1e-4)


def test_at_the_end_of_a_clip_it_leaves_and_never_just_beside_where_it_is(motion, search):
    last = ending(motion)
    matcher = MotionMatcher(motion, search, 1, last - 1)
    assert matcher.advance().all()
    query = motion.database.features[[last]]
    assert matcher.match([0], query, must=np.array([True])) == [0]
    assert not last - 20 <= matcher.frames[0] <= last + 20


@pytest.mark.parametrize("from_end, ahead", [(3, 9), (-3, -9)], ids=["before the seam", "after the seam"])
def test_beside_where_it_is_goes_on_beyond_the_seam_of_a_loop(motion, search, from_end, ahead):
    part = next(part for part in motion.database.ranges if part.loop)
    period = len(part) - 1  # its last frame is its first one again
    frame, near = (part.start + (place % period) for place in (-from_end, -from_end + ahead))
    matcher = MotionMatcher(motion, search.allowing(np.ones(len(motion.database), dtype=bool)), 1, frame)
    features = motion.database.features
    assert matcher.searches[0].nearest(features[near]).cost == 0  # it is there to be found
    matcher.match([0], features[[near]])
    assert matcher.frames[0] != near  # which is as wanted, and only beyond the seam
    apart = (int(matcher.frames[0]) - frame + period // 2) % period - period // 2
    inside = part.start <= matcher.frames[0] < part.stop
    assert not inside or matcher.frames[0] == frame or abs(apart) > motion.near


def test_staying_wins_where_leaving_is_not_so_much_better(motion, search):
    features, frame = motion.database.features, motion.database.ranges[0].start + 60
    other = motion.database.ranges[20].start + 60
    query = 0.4 * features[[frame]] + 0.6 * features[[other]]  # nearer to the other one
    for stay, leaves in ((0.0, [0]), (0.99, [])):
        assert MotionMatcher(motion, search, 1, frame).match([0], query, stay) == leaves


@pytest.mark.parametrize("count", [1, 2 * FEW_QUERIES])
def test_what_is_exactly_as_wanted_is_not_left_for_its_like(motion, count):
    frame, twin = motion.database.ranges[0].start + 60, motion.database.ranges[20].start + 60
    features = motion.database.features.copy()
    features[twin] = features[frame]
    twins = Search(features, np.ones(features.shape[1]))
    assert twins.nearest(features[frame], (frame - 20, frame + 20)).frame == twin
    matcher = MotionMatcher(motion, twins, count, frame)
    assert matcher.match(list(range(count)), features[[frame] * count]) == []
    assert not matcher.costs.any() and (matcher.frames == frame).all()


def test_a_search_that_may_enter_nothing_says_so_and_plays_on(motion):
    class Nothing:
        def cost(self, query, frame):
            return 1.0

        def nearest(self, query, besides=None, at_most=np.inf):
            return None

    player = drive(player_of(motion, Nothing(), begin=ending(motion) - 4), 0.5)
    assert player.matcher.starved.all() and np.isfinite(player.rotations).all()


def test_a_clip_that_goes_round_plays_on_from_its_beginning(motion, search):
    part = next(part for part in motion.database.ranges if part.loop)
    matcher = MotionMatcher(motion, search, 1, part.stop - 1)
    assert not matcher.advance().any() and matcher.frames[0] == part.start + 1
    np.testing.assert_allclose(motion.travel[part.stop - 1], motion.travel[part.start], atol=1e-6)
