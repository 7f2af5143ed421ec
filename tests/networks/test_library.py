# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks stand in for a database where characters are driven."""

import numpy as np
import pytest

from mm_blender.networks.library import LearnedLibrary
from mm_blender.playback.legs import Legs


@pytest.fixture(scope="module")
def library(networks):
    return LearnedLibrary(networks)


def test_a_tag_query_leaves_combinations_of_tags(library, networks):
    choice = library.choice("crouch")
    assert np.array_equal(choice.search, networks.allowed("crouch")[0]) and not choice.trouble
    assert library.choice("crouch") is choice
    assert library.choice("crouch & run").trouble


def test_a_matcher_begins_where_the_networks_say_and_keeps_to_the_tags(library, networks):
    matcher = library.motion.matcher(library.choice("crouch").search, 2)
    assert np.array_equal(matcher.states(), np.tile(networks.start, (2, 1)))
    assert np.array_equal(matcher._allowed[1] > 0, library.choice("crouch").search)


def test_legs_learn_where_knees_bend_to(library, networks):
    legs = Legs(networks.character, networks.fixed, networks.moving)
    assert np.array_equal(library.motion.stance(legs), networks.heights)
    assert np.array_equal(legs.fronts, networks.fronts)


def test_at_another_rate_the_stepper_is_asked_for_longer_steps(networks):
    usual, slow = LearnedLibrary(networks), LearnedLibrary(networks, rate=networks.rate / 2)
    assert slow.database.rate == networks.rate / 2 and usual.database.rate == networks.rate
    matcher, expected = slow.motion.matcher(slow.choice().search, 1), usual.motion.matcher(usual.choice().search, 1)
    pose = matcher.pose()
    matcher.advance()
    expected.change_step(2.0)
    expected.advance()
    assert np.array_equal(matcher.states(), expected.states())
    assert pose.positions + pose.velocities / slow.database.rate == pytest.approx(matcher.pose().positions, abs=1e-5)
