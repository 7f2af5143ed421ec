# SPDX-License-Identifier: GPL-3.0-or-later
"""Many small networks of which two are asked at a time, evaluated with NumPy: the sparse experts of section 3.1 of
Learning Robust and Scalable Motion Matching with Lipschitz Continuity and Sparse Mixture of Experts (2023)."""

import math
from dataclasses import dataclass

import numpy as np

# GELU in its form x · sigmoid(1.702 x), where the factor is left to the layers around it, which learn it as well. Of
# u = -x it is -u / (1 + e^u): the signs are worked into the layers too. In a crowd that costs a third of NumPy's tanh.
# Beyond this u the answer is as good as nothing, and e^u would soon be no number any more.
MOST = np.float32(80)
# What becomes of a one: it takes the biases from layer to layer.
_ONE = 1 / (1 + math.e)


@dataclass(frozen=True, eq=False)
class Experts:
    """What N experts have learned.

    gate    weights (in, N) and biases (N,): which experts know an input
    layers  pairs of weights (N, in, out) and biases (N, out); a GELU lies between two layers
    """

    gate: tuple
    layers: tuple

    @property
    def count(self):
        return len(self.gate[1])

    @property
    def numbers(self):
        """How many weights and biases there are."""
        return sum(part.size for pair in (self.gate, *self.layers) for part in pair)


class Routed:
    """Evaluates Experts: equations 2 and 3 for each row, with nothing but its own two experts.

    Biases are a last row of the weights, and each hidden layer passes a one on for the next: no call is spent on them,
    and an expert's weights lie in one piece.
    """

    def __init__(self, gate, layers, count=1):
        """gate, layers: as Experts has them, prepared by gelu_between(); count: rows for which memory is made ready."""
        self._gate = _with_biases(*gate)
        self._layers = [_with_biases(*layer, passes_on) for layer, passes_on in zip(
            layers, [True] * (len(layers) - 1) + [False])]
        for layer in self._layers[1:]:
            layer[:, -1] /= _ONE
        self._of_expert = list(zip(*self._layers))
        self.outputs = self._layers[-1].shape[2]
        self._known = np.ones(len(self._gate), dtype=np.float32)
        self._scores = np.empty(self._gate.shape[1], dtype=np.float32)
        # Of each layer the rows of the two experts, both together, and memory for their activation.
        pairs = [np.empty((2, layer.shape[2]), dtype=np.float32) for layer in self._layers]
        self._ways = [(pair[0], pair[1], pair, np.empty_like(pair)) for pair in pairs]
        self._shares = np.empty(2, dtype=np.float32)
        self._reserve(count)

    def __call__(self, rows, out):
        """Into `out` (K, out) what becomes of rows (K, in)."""
        if len(rows) == 1:
            self._alone(rows[0], out[0])
        else:
            self._together(rows, out)

    def _alone(self, row, out):
        """Of one row: calls of NumPy cost more than the numbers in them, so there are few."""
        known, scores = self._known, self._scores
        known[:-1] = row
        known.dot(self._gate, scores)
        first = scores.argmax()
        best, scores[first] = scores[first], -np.inf
        second = scores.argmax()
        share = 1 / (1 + math.exp(scores[second] - best))
        one = other = known
        last = len(self._ways)
        for mine, its, (left, right, pair, spare) in zip(self._of_expert[first], self._of_expert[second], self._ways):
            one.dot(mine, left)
            other.dot(its, right)
            one, other, last = left, right, last - 1
            if last:
                gelu(pair, spare)
        self._shares[0], self._shares[1] = share, 1 - share
        self._shares.dot(pair, out)

    def _together(self, rows, out):
        """Of many rows: sorted by expert, so that each is asked once for all that it has to answer."""
        count = len(rows)
        if count > self._room:
            self._reserve(count)
        known = self._many[:count]
        known[:, :-1] = rows
        scores, here = known.dot(self._gate), np.arange(count)
        first = scores.argmax(axis=1)
        best = scores[here, first]
        scores[here, first] = -np.inf
        second = scores.argmax(axis=1)
        shares = 1 / (1 + np.exp(scores[here, second] - best))[:, None]
        asked = np.concatenate([first, second])
        order = asked.argsort(kind="stable")
        ends = np.bincount(asked, minlength=self._gate.shape[1]).cumsum().tolist()
        groups = [(expert, begin, end) for expert, (begin, end) in enumerate(zip([0, *ends], ends)) if begin < end]
        made = known.take(order % count, axis=0)
        for number, (layer, room, spare) in enumerate(zip(self._layers, self._rooms, self._spares)):
            before, made = made, room[:2 * count]
            for expert, begin, end in groups:
                np.dot(before[begin:end], layer[expert], made[begin:end])
            if number < len(self._layers) - 1:
                gelu(made, spare[:2 * count])
        back = np.empty_like(order)
        back[order] = np.arange(2 * count)
        one, other = made.take(back[:count], axis=0), made.take(back[count:], axis=0)
        # The two shares sum to one.
        np.subtract(one, other, out)
        out *= shares
        out += other

    def _reserve(self, count):
        self._room = count
        self._many = np.ones((count, len(self._gate)), dtype=np.float32)
        self._rooms = [np.empty((2 * count, layer.shape[2]), dtype=np.float32) for layer in self._layers]
        self._spares = [np.empty_like(room) for room in self._rooms]


def gelu(values, spare):
    """In place, of values that gelu_between() has prepared for it."""
    np.minimum(values, MOST, out=spare)
    np.exp(spare, spare)
    np.add(spare, 1, spare)
    np.divide(values, spare, values)


def gelu_between(layers):
    """Layers [[weights (…, in, out), biases (…, out)]] with the signs that gelu() wants before it and leaves behind."""
    last = len(layers) - 1
    return [[weights if 0 < number < last or not last else -weights, biases if number == last else -biases]
            for number, (weights, biases) in enumerate(layers)]


def _with_biases(weights, biases, passes_on=False):
    """(…, in + 1, out), or out + 1 with a one that passes on."""
    whole = np.concatenate([weights, biases[..., None, :]], axis=-2)
    if passes_on:
        one = np.zeros_like(whole[..., :1])
        one[..., -1, :] = 1
        whole = np.concatenate([whole, one], axis=-1)
    return np.ascontiguousarray(whole, dtype=np.float32)
