# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters search in turns."""

import numpy as np
import pytest

from mm_blender.playback.beats import GROUP, Beats

EVERY, DT = 0.1, 1 / 60


def searches(count, frames, urgent=()):
    """[frame] who searches; urgent: (frame, who) that cannot wait."""
    beats, found = Beats(count), []
    for frame in range(frames):
        who = beats.due([index for at, index in urgent if at == frame], EVERY, DT)
        beats.searched(who, EVERY)
        found.append(who)
    return found


def test_one_alone_searches_at_once_and_then_after_each_while():
    assert [frame for frame, who in enumerate(searches(1, 20)) if who] == [0, 6, 12, 18]


@pytest.mark.parametrize("count, most", [(GROUP, GROUP), (30, GROUP), (100, 17)])
def test_many_take_turns_so_that_each_one_has_its_own_and_no_frame_has_many(count, most):
    found = searches(count, 60)
    assert max(map(len, found)) <= most
    for index in range(count):
        mine = [frame for frame, who in enumerate(found) if index in who]
        assert mine[0] < 6 and set(np.diff(mine)) == {6}


def test_who_cannot_wait_searches_first_and_whoever_waited_longest_after_that():
    hurry = [(7, index) for index in range(20)]
    found = searches(100, 40, hurry)
    assert found[7] == list(range(20)) and max(map(len, found)) == 20
    for index in range(100):
        mine = [frame for frame, who in enumerate(found) if index in who]
        assert max(np.diff(mine)) <= 8, "nobody is forgotten over it"


def test_the_last_ones_are_not_forgotten_though_the_first_ones_cannot_wait_again_and_again():
    frames, hurried, others = 120, 7, 7 * (GROUP - 7)  # there is room for GROUP: the others take turns of 7 frames
    found = searches(hurried + others, frames, [(frame, index) for frame in range(frames) for index in range(hurried)])
    assert max(map(len, found)) == GROUP
    for index in range(hurried, hurried + others):
        mine = [frame for frame, who in enumerate(found) if index in who]
        assert max(np.diff([0, *mine, frames])) <= EVERY / DT + 2, index
