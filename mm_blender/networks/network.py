# SPDX-License-Identifier: GPL-3.0-or-later
"""A small feed-forward network, evaluated with NumPy for one character or many at once."""

from dataclasses import dataclass, replace

import numpy as np

from .experts import Experts, Routed, gated_between

# Fewer rows than this are quicker one by one: a product of matrices first has to lay out the weights anew.
ONE_BY_ONE = 12


@dataclass(frozen=True, eq=False)
class Weights:
    """What a network has learned.

    layers        pairs of weights (in, out) and biases (out,); a ReLU lies between two layers, or behind experts what
                  lies between those of experts
    mean, scale   (in,) by which its input is normalised
    centre, span  (out,) what its output is multiplied with and added to
    experts       Experts that come first, or None; then there may be no layers
    """

    layers: tuple
    mean: np.ndarray
    scale: np.ndarray
    centre: np.ndarray
    span: np.ndarray
    experts: Experts | None = None

    @property
    def inputs(self):
        return len(self.mean)

    @property
    def outputs(self):
        return len(self.centre)

    @property
    def numbers(self):
        """How many weights and biases there are."""
        own = sum(weights.size + biases.size for weights, biases in self.layers)
        return own + (self.experts.numbers if self.experts is not None else 0)

    def halved(self):
        """The same weights as a file keeps them: rounded to float16."""
        experts = self.experts and Experts(*_halved([self.experts.gate]), _halved(self.experts.layers))
        return replace(self, layers=_halved(self.layers), experts=experts)


def farthest(weights, inputs):
    """(out,) how far from zero what Weights make of inputs can be that are no farther than (in,); and the most that a
    number is on the way there."""
    known = weights.experts
    layers = [pair for one in ((known.layers if known else ()), weights.layers) for pair in one]
    reach = most = (inputs + np.abs(weights.mean.astype(np.float64))) / weights.scale
    for index, (matrix, biases) in enumerate(layers):
        reach = (reach @ np.abs(matrix.astype(np.float64)) + np.abs(biases)).reshape(-1, matrix.shape[-1]).max(axis=0)
        most = max(np.max(most), np.max(reach))
        gated = gated_between(len(reach), layers[index + 1][0].shape[-2]) if known and index + 1 < len(layers) else 0
        if gated:
            reach = np.concatenate([reach[:gated] * reach[gated:2 * gated], reach[2 * gated:]])
    reach = reach * np.abs(weights.span.astype(np.float64)) + np.abs(weights.centre)
    return reach, max(most, np.max(reach))


def _halved(layers):
    return tuple(tuple(part.astype(np.float16).astype(np.float32) for part in layer) for layer in layers)


class Network:
    """Evaluates Weights. Normalisations are worked into the first and the last layer, once."""

    def __init__(self, weights, count=1):
        """count: for so many rows memory is made ready; more may be asked for at any time."""
        self.inputs, self.outputs = weights.inputs, weights.outputs
        gate, experts, self._layers = _folded(weights)
        self._routed = Routed(gate, experts, self._layers, count) if gate else None
        self._memory, self._room = [], 0
        if self._routed is None:
            self._reserve(count)

    def __call__(self, rows):
        """(K, out) of rows (K, in); the memory is used again by the next call."""
        if self._routed is not None:
            return self._routed(rows)
        count = len(rows)
        if count > self._room:
            self._reserve(count)
        last = len(self._layers) - 1
        for index, (weights, biases) in enumerate(self._layers):
            out = self._memory[index][:count]
            _product(rows, weights, out)
            out += biases
            if index < last:
                np.maximum(out, self._nothing[index][:count], out=out)
            rows = out
        return rows

    def _reserve(self, count):
        self._room = count
        self._memory = [np.empty((count, len(biases)), dtype=np.float32) for _, biases in self._layers]
        # A table of zeros: NumPy takes several times as long to compare with a single number.
        self._nothing = [np.zeros_like(made) for made in self._memory]


def _product(rows, weights, out):
    if 1 < len(rows) < ONE_BY_ONE:
        for row, into in zip(rows, out):
            np.dot(row, weights, out=into)
    else:
        np.dot(rows, weights, out=out)


def _folded(weights):
    """Gate, layers of the experts, and layers: all with the normalisations in them."""
    layers, experts, gate = ([[part.astype(np.float64) for part in layer] for layer in layers] for layers in (
        weights.layers, *((weights.experts.layers, [weights.experts.gate]) if weights.experts else ((), ()))))
    for first in gate + [(experts or layers)[0]]:
        first[0] = first[0] / weights.scale[:, None].astype(np.float64)
        first[1] = first[1] - weights.mean.astype(np.float64) @ first[0]
    last = (layers or experts)[-1]
    last[0], last[1] = last[0] * weights.span, last[1] * weights.span + weights.centre
    if experts:
        return gate[0], experts, layers
    return None, (), [tuple(np.ascontiguousarray(part, dtype=np.float32) for part in layer) for layer in layers]
