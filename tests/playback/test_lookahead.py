# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames that are worked out before they are played are those that would be worked out one by one."""

import numpy as np
import pytest

from mm_blender.playback.inertialise import Blend
from mm_blender.playback.matcher import MotionMatcher
from tests.steering import player_of, step_on

WALK = [(1.3j, 0.0), (1 + 0.2j, -1.2)]
TURN = [(-1.3j, np.pi), (0j, 0.5)]


class OneByOne(MotionMatcher):
    """Knows no more than the frame that it plays."""

    def coming(self, who):
        return tuple(part[:, :1] for part in super().coming(who))


def played(player):
    """Two seconds with jumps, feet that are let go, and another Blend in between; what is shown, frame by frame."""
    for frame in range(120):
        player.settings.blend = Blend(halflife=0.1 if frame < 45 else 0.2)
        step_on(player, WALK if frame < 60 else TURN)
        yield player.rotations, player.moving, player.positions


@pytest.fixture
def players(motion, search):
    usual, other = (player_of(motion, search, 2) for _ in range(2))
    other.matcher = OneByOne(motion, search, 2)
    return usual, other


def test_several_frames_at_once_are_the_same_as_one_by_one(players):
    for usual, other in zip(*map(played, players)):
        for mine, expected in zip(usual, other):
            np.testing.assert_allclose(mine, expected, atol=1e-5)


def test_what_was_shown_does_not_change_afterwards(players):
    shown = [(frame, [part.copy() for part in frame]) for frame in played(players[0])]
    for frame, copied in shown:
        for part, expected in zip(frame, copied):
            np.testing.assert_array_equal(part, expected)


def test_what_follows_is_what_advancing_comes_to(motion, search):
    ends = [part.stop - 3 for part in motion.database.ranges]
    matcher = MotionMatcher(motion, search, len(ends))
    matcher.frames[:] = ends  # some of these clips go round, the others stay at their end
    _, rotations, travel = matcher.coming(range(len(ends)))
    for step in range(travel.shape[1]):
        pose = matcher.pose()
        np.testing.assert_array_equal(rotations[:, step], pose.rotations)
        np.testing.assert_array_equal(travel[:, step], pose.travel)
        matcher.advance()
