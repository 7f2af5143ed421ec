# SPDX-License-Identifier: GPL-3.0-or-later
"""A network in NumPy answers what its formula says, and what torch says."""

import numpy as np
import pytest

from mm_blender.networks.network import Network


@pytest.fixture(scope="module")
def weights(make_weights):
    return make_weights(np.random.default_rng(1), 59, 512, 512, 59)


def by_the_formula(weights, rows):
    rows = (rows.astype(np.float64) - weights.mean) / weights.scale
    for matrix, biases in weights.layers[:-1]:
        rows = np.maximum(rows @ matrix.astype(np.float64) + biases, 0)
    matrix, biases = weights.layers[-1]
    return (rows @ matrix.astype(np.float64) + biases) * weights.span + weights.centre


def some_rows(count, seed=2):
    return np.random.default_rng(seed).normal(size=(count, 59)).astype(np.float32)


def test_it_answers_what_the_formula_says(weights):
    rows = some_rows(100)
    assert np.abs(Network(weights)(rows) - by_the_formula(weights, rows)).max() < 1e-4


def test_it_answers_what_torch_says(weights):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    rows = some_rows(100)
    known = torch.as_tensor((rows - weights.mean) / weights.scale)
    for matrix, biases in weights.layers[:-1]:
        known = torch.relu(known @ torch.as_tensor(matrix) + torch.as_tensor(biases))
    matrix, biases = weights.layers[-1]
    known = (known @ torch.as_tensor(matrix) + torch.as_tensor(biases)).numpy() * weights.span + weights.centre
    assert np.abs(Network(weights)(rows) - known).max() < 1e-4


def test_one_row_and_many_rows_get_the_same_answers(weights):
    network, rows = Network(weights), some_rows(7)
    together = network(rows).copy()
    assert np.abs(np.concatenate([network(row[None]).copy() for row in rows]) - together).max() < 1e-5


def test_answers_lie_in_memory_that_is_used_again(weights):
    network = Network(weights, 3)
    assert np.shares_memory(network(some_rows(3)), network(some_rows(2)))


def test_half_precision_changes_little(weights):
    rows = some_rows(100)
    whole, halved = Network(weights)(rows), Network(weights.halved())(rows)
    assert 0 < np.abs(whole - halved).max() < 0.02 * np.abs(whole).max()
