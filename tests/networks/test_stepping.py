# SPDX-License-Identifier: GPL-3.0-or-later
"""Going on by one frame or by two at once."""

import numpy as np
import pytest

from mm_blender.networks.network import Network, Weights
from mm_blender.networks.stepping import REACHES, Stepping

LIMITS = np.array([[-1e3, -1e3], [1e3, 1e3]], dtype=np.float32)


@pytest.fixture
def falling():
    """A Stepper of something that is thrown: its height and its speed change by v + g step / 2 and by g a frame."""
    matrix = np.array([[0, 0], [1, 0], [-0.25, 0]], dtype=np.float32)
    biases = np.array([0, -0.5], dtype=np.float32)
    return Weights(((matrix, biases),), *(part.astype(np.float32) for part in (
        np.zeros(3), np.ones(3), np.zeros(2), np.ones(2))))


@pytest.fixture
def begin():
    return np.array([[0, 4], [10, -1], [3, 0]], dtype=np.float32)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("count, step", [(2, 1.0), (4, 1.0), (10, 1.0), (10, 0.3), (10, 1.25), (10, 2.0)])
def test_what_falls_is_where_it_should_be_in_each_frame(falling, begin, stride, count, step):
    rows, time = Stepping(falling, LIMITS, stride)(begin, count, step), step * np.arange(1, count + 1)[:, None]
    heights, speeds = begin.T
    assert rows[..., 1] == pytest.approx(speeds - 0.5 * time, abs=1e-4)
    # With two of them there is nothing to see a bend by.
    bend = 0.25 * step ** 2 * (np.arange(2)[:, None] == 0) if (stride, count) == (2, 2) else 0
    assert rows[..., 0] == pytest.approx(heights + speeds * time - 0.25 * time ** 2 - bend, abs=1e-4)


def test_a_turn_from_one_step_to_the_next_is_spread_over_the_frames_around_it(monkeypatch, falling, begin):
    changes = iter([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    monkeypatch.setattr(Network, "__call__", lambda network, rows: np.full((3, 2), next(changes), dtype=np.float32))
    rows = Stepping(falling, LIMITS, 2)(begin, 16)
    turn = 2 * 2.0  # by a step of two frames either way
    assert np.abs(np.diff(rows, 2, axis=0)).max() < 0.3 * turn  # all in one frame would be a half of it
    assert rows[-1] == pytest.approx(begin)


def test_the_stepper_is_asked_half_as_often(monkeypatch, falling, begin):
    asked, answer = [], Network.__call__
    monkeypatch.setattr(Network, "__call__", lambda network, rows: (asked.append(rows[:, -1].tolist()),
                                                                    answer(network, rows))[1])
    Stepping(falling, LIMITS, 2)(begin, 10)
    assert asked == [[2.0] * 3] * 5


def test_steps_that_would_be_longer_than_any_that_was_learned_are_taken_one_by_one(networks_of_experts):
    networks = networks_of_experts
    states = np.random.default_rng(0).normal(size=(5, networks.limits.shape[1])).astype(np.float32)
    one, two = (Stepping(networks.stepper, networks.limits, stride) for stride in (1, 2))
    assert np.array_equal(one(states, 10, 1.3), two(states, 10, 1.3)) and REACHES[1] < 2 * 1.3
    assert not np.array_equal(one(states, 10, 1.2), two(states, 10, 1.2))


def test_no_frame_between_leaves_what_the_data_holds(falling, begin):
    limits = np.array([[-2, -2], [6, 3]], dtype=np.float32)
    rows = Stepping(falling, limits, 2)(begin, 20)
    assert (rows >= limits[0]).all() and (rows <= limits[1]).all()


def test_more_characters_than_were_expected_go_on_too(falling, begin):
    stepping = Stepping(falling, LIMITS, 2, count=1)
    assert np.array_equal(stepping(begin, 4)[:, :1], stepping(begin[:1], 4))


@pytest.mark.parametrize("stride", [1, 2])
def test_where_nobody_is_nobody_goes_on(networks_of_experts, stride):
    networks = networks_of_experts
    nobody = np.empty((0, networks.limits.shape[1]), dtype=np.float32)
    assert Stepping(networks.stepper, networks.limits, stride)(nobody, 10).shape == (10, *nobody.shape)
