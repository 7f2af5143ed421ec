# SPDX-License-Identifier: GPL-3.0-or-later
"""Experts in NumPy: each row gets its two, alone or in a crowd, and a file gives back what was saved."""

import zipfile
from dataclasses import replace

import numpy as np
import pytest

from mm_blender import archive
from mm_blender.errors import MotionError
from mm_blender.networks import file
from mm_blender.networks.network import Network


@pytest.fixture(params=[(((4, 2), 5), ((3, 2), 3)), ((7,), ()), ((6,), ((4, 0), (2, 3), 7)), (((5, 4), (6, 2), 7), ()),
                        (((0, 8), 5), ((0, 4), 3)), (((0, 6), (3, 2), (0, 5), 7), ())])
def weights(request, make_experts):
    return make_experts(np.random.default_rng(0), 10, *request.param)


def by_hand(weights, row):
    """Equations 2 and 3 as they are written."""
    def run(values, layers):
        for number, (matrix, biases) in enumerate(layers):
            values = values @ matrix + biases
            if number < len(layers) - 1:
                units = len(values) - len(layers[number + 1][0])
                gated = np.maximum(values[:units], 0) * values[units:2 * units]
                values = np.concatenate([gated, values[2 * units:]]) if units else values / (1 + np.exp(-values))
        return values
    known = (row.astype(np.float64) - weights.mean) / weights.scale
    scores = known @ weights.experts.gate[0] + weights.experts.gate[1]
    likely = np.exp(scores) / np.exp(scores).sum()
    first, second = np.argsort(-likely)[:2]
    answers = [run(known, [(matrix[one], biases[one]) for matrix, biases in weights.experts.layers])
               for one in (first, second)]
    mixed = (likely[first] * answers[0] + likely[second] * answers[1]) / (likely[first] + likely[second])
    return run(mixed, weights.layers) * weights.span + weights.centre


@pytest.mark.parametrize("count", [1, 2, 40])
def test_each_row_gets_its_two_experts(weights, count):
    rows = np.random.default_rng(1).normal(size=(count, weights.inputs)).astype(np.float32)
    found = Network(weights)(rows)
    assert found == pytest.approx(np.array([by_hand(weights, row) for row in rows]), abs=1e-4)


def test_a_row_has_the_same_answer_alone_and_in_a_crowd(weights):
    rows, network = np.random.default_rng(1).normal(size=(50, weights.inputs)).astype(np.float32), Network(weights)
    together = network(rows).copy()
    alone = np.concatenate([network(rows[[index]]).copy() for index in range(50)])
    assert alone == pytest.approx(together, rel=1e-5, abs=1e-5)


def test_experts_that_are_not_chosen_are_not_looked_at(weights):
    row = np.random.default_rng(1).normal(size=(1, weights.inputs)).astype(np.float32)
    scores = ((row - weights.mean) / weights.scale) @ weights.experts.gate[0]
    others = np.argsort(-scores[0])[2:]
    layers = tuple(tuple(part.copy() for part in layer) for layer in weights.experts.layers)
    for layer in layers:
        for part in layer:
            part[others] = np.nan
    changed = replace(weights, experts=replace(weights.experts, layers=layers))
    for rows in (row, np.repeat(row, 3, axis=0)):
        assert np.array_equal(Network(changed)(rows), Network(weights)(rows))


def test_wild_inputs_stay_numbers(weights):
    rows = np.array([[1e6], [-1e6], [0.0]], dtype=np.float32) * np.ones(weights.inputs, dtype=np.float32)
    with np.errstate(all="raise", under="ignore"):
        network = Network(weights)
        assert np.isfinite(network(rows)).all() and all(np.isfinite(network(row[None])).all() for row in rows)


def test_the_file_gives_back_the_experts(networks_of_experts, tmp_path):
    networks_of_experts.save(tmp_path / "a.mmnet")
    loaded = file.load(tmp_path / "a.mmnet")
    assert loaded.model == "moe" and loaded.report()["experts"] == dict.fromkeys(file.NAMES, 8)
    assert loaded.nbytes == networks_of_experts.nbytes and loaded.stride == 2
    for name in file.NAMES:
        weights = getattr(networks_of_experts, name)
        rows = np.random.default_rng(0).normal(size=(9, weights.inputs)).astype(np.float32)
        assert np.array_equal(Network(getattr(loaded, name))(rows), Network(weights.halved())(rows)), name


def test_networks_without_experts_are_written_as_before(networks, tmp_path):
    networks.save(tmp_path / "a.mmnet")
    header, _ = archive.read(tmp_path / "a.mmnet", file.KIND, 1, ())
    assert header["version"] == 1 and file.load(tmp_path / "a.mmnet").model == "lmm"


def test_a_file_from_before_there_were_experts_loads(networks, tmp_path):
    path = tmp_path / "a.mmnet"
    networks.save(path)
    header, arrays = _everything(path)
    del header["experts"], header["model"]
    archive.write(path, file.KIND, 1, header, arrays)
    assert file.load(path).model == "lmm"


def test_a_file_with_units_of_another_kind_says_what_to_do(networks_of_experts, tmp_path):
    path = tmp_path / "a.mmnet"
    networks_of_experts.save(path)
    header, arrays = _everything(path)
    archive.write(path, file.KIND, 2, {**header, "version": 2}, arrays)
    with pytest.raises(MotionError, match="earlier version of the extension: train it anew"):
        file.load(path)


def test_hidden_numbers_that_no_unit_is_made_of_are_told(networks_of_experts, tmp_path):
    path = tmp_path / "a.mmnet"
    networks_of_experts.save(path)
    header, arrays = _everything(path)
    more = {f"stepper.expert.0.{part}": np.repeat(arrays[f"stepper.expert.0.{part}"], 2, axis=-1)
            for part in ("weights", "biases")}
    archive.write(path, file.KIND, file.VERSION, header, {**arrays, **more})
    with pytest.raises(MotionError, match="layers of its stepper do not fit together"):
        file.load(path)


@pytest.mark.parametrize("name, change", [
    ("stepper.gate.weights", lambda array: array[:, :-1]),
    ("stepper.expert.0.weights", lambda array: array[:-1]),
    ("decompressor.expert.1.biases", lambda array: np.full_like(array, np.nan)),
])
def test_damaged_experts_are_told_in_one_sentence(networks_of_experts, tmp_path, name, change):
    path = tmp_path / "a.mmnet"
    networks_of_experts.save(path)
    header, arrays = _everything(path)
    archive.write(path, file.KIND, file.VERSION, header, {**arrays, name: change(arrays[name])})
    with pytest.raises(MotionError, match="damaged: train it anew"):
        file.load(path)


def _everything(path):
    with zipfile.ZipFile(path) as content:
        names = [name.removesuffix(".npy") for name in content.namelist()]
    return archive.read(path, file.KIND, file.VERSION, [name for name in names if name != archive.HEADER])
