# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixed steps, shown at any rate: exact on a step, between two of them otherwise, and a stall costs no more."""

import numpy as np
import pytest

from mm_blender.playback.live import Live
from tests.steering import player_of, want

WISH = [(1.3j, 0.0), (1 + 0j, -1.5)]
DT = 1 / 60


@pytest.fixture
def live(motion, search):
    player = player_of(motion, search, 2)
    want(player, WISH)
    return Live(player)


def state(player):
    return player.roots, player.heights, player.played.positions, player.rotations


def test_a_screen_of_the_same_rate_shows_every_step_exactly(live):
    for _ in range(100):
        assert live.advance(DT) == 1
        for shown, stepped in zip(live.shown(), state(live.player)):
            np.testing.assert_array_equal(shown, stepped)


def test_between_two_steps_the_share_of_the_time_is_shown(live):
    live.advance(0.25)
    before = state(live.player)
    assert live.advance(DT / 4) == 1
    after = state(live.player)
    *places, rotations = live.shown()
    for shown, old, new in zip(places, before, after):
        np.testing.assert_allclose(shown, 0.75 * np.array(old) + 0.25 * np.array(new), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(rotations, axis=-1), 1, atol=1e-5)
    near = np.abs(np.einsum("kji,kji->kj", rotations, after[3]))
    assert near[:, 1:].min() > 0.99 and (near[:, 1:] < 1 - 1e-7).any()
    assert live.advance(DT * 3 / 4) == 0
    np.testing.assert_array_equal(live.shown()[3], after[3])


@pytest.mark.parametrize("rate", [24, 30, 50, 144])
def test_any_screen_plays_at_the_same_pace_and_smoothly(live, rate):
    ways, steps = [], 0
    for _ in range(2 * rate):
        steps += live.advance(1 / rate)
        ways.append(live.shown()[0][0][0].imag)
    assert steps == 120
    speeds = np.diff(ways[rate:]) * rate
    assert speeds.min() > 0.9 and speeds.max() < 1.8


def test_a_stall_is_dropped_instead_of_caught_up_with(live):
    assert live.advance(10.0) == 15
    assert live.advance(DT) == 1


def test_turning_past_half_a_turn_goes_the_shorter_way(live):
    player, yaws = live.player, iter((3.1, -3.1))

    def turn():
        player.roots = [(0j, next(yaws))] * 2

    live = Live(player, turn)
    live.advance(1.5 * DT)
    assert np.cos(live.shown()[0][0][1]) < -0.99


def test_before_the_first_step_it_shows_where_the_character_stands(live):
    for shown, standing in zip(live.shown(), state(live.player)):
        np.testing.assert_array_equal(shown, standing)
