# SPDX-License-Identifier: GPL-3.0-or-later
"""Many small networks of which two are asked at a time, evaluated with NumPy: the sparse experts of section 3.1 of
Learning Robust and Scalable Motion Matching with Lipschitz Continuity and Sparse Mixture of Experts (2023)."""

import math
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

# Of this units that switch themselves make a one, -x / (1 + exp x) = 1: it goes with them, and a call sees no gaps.
BENT_TO_ONE = -1.2784645427610738
# What goes into an exponential is no more: it would be too large for a float32, and is as good as endless here.
MOST = 80.0


@dataclass(frozen=True, eq=False)
class Experts:
    """What N experts have learned.

    gate    weights (in, N) and biases (N,): which experts know an input
    layers  pairs of weights (N, in, out) and biases (N, out); gated_between() says what lies between two layers
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
    """Evaluates Experts, equations 2 and 3 for each row, with nothing but its own two experts; and layers behind them.

    Biases are a last row of the weights, and each layer passes a one on for the next: no call is spent on them, and an
    expert's weights lie in one piece.
    """

    def __init__(self, gate, layers, behind=(), count=1):
        """gate, layers: as Experts has them; behind: such layers without experts; count: rows for which memory is made
        ready."""
        self._gate = np.ascontiguousarray(_with_biases(*gate))
        self._layers, self._behind = _prepared(layers, passes_on=len(behind) > 0), _prepared(behind)
        self._of_expert = list(zip(*(layer.of_each() for layer in self._layers)))
        self._known = np.ones(len(self._gate), dtype=np.float32)
        self._scores = np.empty(self._gate.shape[1], dtype=np.float32)
        self._shares = np.empty(2, dtype=np.float32)
        self._pair, self._row = ([layer.memory(rows) for layer in layers]
                                 for rows, layers in ((2, self._layers), (1, self._behind)))
        self._reserve(count)

    def __call__(self, rows):
        """(K, out) of rows (K, in); the memory may be used again by the next call."""
        return self._alone(rows[0]) if len(rows) == 1 else self._together(rows)

    def _alone(self, row):
        """Of one row: calls of NumPy cost more than the numbers in them, so there are few."""
        known, scores = self._known, self._scores
        known[:-1] = row
        known.dot(self._gate, scores)
        first = scores.argmax()
        best, scores[first] = scores[first], -np.inf
        second = scores.argmax()
        share = 1 / (1 + math.exp(scores[second] - best))
        one = other = known
        for mine, its, made in zip(self._of_expert[first], self._of_expert[second], self._pair):
            one.dot(mine.weights, made.rows[0])
            other.dot(its.weights, made.rows[1])
            if made.gated:
                one.dot(mine.switches, made.switches[0])
                other.dot(its.switches, made.switches[1])
            made.bend()
            one, other = made.rows
        self._shares[0], self._shares[1] = share, 1 - share
        row = self._shares.dot(made.rows)
        for layer, made in zip(self._behind, self._row):
            row.dot(layer.weights, made.rows[0])
            if made.gated:
                row.dot(layer.switches, made.switches[0])
            made.bend()
            row = made.rows[0]
        return row[None]

    def _together(self, rows):
        """Of many rows: sorted by expert, so that each is asked once for all that it has to answer."""
        count = len(rows)
        if count > self._room:
            self._reserve(count)
        known = self._many[:count]
        known[:, :-1] = rows
        order, ends, shares = _sorted(known.dot(self._gate))
        values = known.take(order, axis=0, mode="wrap")  # first choices, then second ones
        for layer, memory in zip(self._layers, self._pairs):
            made = memory.of(2 * count)
            _asked(values, layer.weights, ends, made.rows)
            if made.gated:
                _asked(values, layer.switches, ends, made.switches)
            made.bend()
            values = made.rows
        back = np.empty_like(order)
        back[order] = np.arange(2 * count)
        other, values = values.take(back[count:], axis=0), values.take(back[:count], axis=0)
        values -= other  # the two shares sum to one
        values *= shares
        values += other
        for layer, memory in zip(self._behind, self._rows):
            made = memory.of(count)
            values.dot(layer.weights, made.rows)
            if made.gated:
                values.dot(layer.switches, made.switches)
            made.bend()
            values = made.rows
        return values

    def _reserve(self, count):
        self._room = count
        self._many = np.ones((count, len(self._gate)), dtype=np.float32)
        self._pairs, self._rows = ([layer.memory(rows) for layer in layers]
                                   for rows, layers in ((2 * count, self._layers), (count, self._behind)))


class _Layer(NamedTuple):
    """Weights (…, in + 1, out), a row of them biases; such weights (…, in + 1, units) of what switches units; and
    whether what it makes are units that switch themselves."""

    weights: np.ndarray
    switches: np.ndarray
    soft: bool

    def of_each(self):
        """The same of each expert."""
        return [_Layer(*both, self.soft) for both in zip(self.weights, self.switches)]

    def memory(self, rows):
        sizes = self.weights.shape[-1], self.switches.shape[-1]
        return _Made(*(np.empty((rows, size), dtype=np.float32) for size in sizes), self.soft)


class _Made:
    """What a layer makes of some rows: the units first, then what stays as it is; and what switches gated units."""

    def __init__(self, rows, switches, soft, tables=None):
        self.rows, self.switches, self.gated, self._soft = rows, switches, switches.shape[-1], soft
        # With a factor for each number, a one where there is no switch, the product has no gaps: half of the time. A
        # limit is a table too: NumPy takes several times as long to compare with a single number.
        self._tables = tables or (np.ones_like(rows), np.full_like(rows, MOST) if soft else np.zeros_like(switches))
        self._factors, self._limits = self._tables
        self._switched = self._factors[:, :self.gated]

    def of(self, count):
        """A part of the memory, for fewer rows."""
        return _Made(self.rows[:count], self.switches[:count], self._soft, [table[:count] for table in self._tables])

    def bend(self):
        """Units take effect."""
        if self._soft:  # what came in is -x: x σ(x) = x / (1 + exp(-x)), and the next layer takes back the sign
            np.minimum(self.rows, self._limits, out=self._factors)
            np.exp(self._factors, out=self._factors)
            np.add(self._factors, 1, out=self._factors)
            np.divide(self.rows, self._factors, out=self.rows)
        elif self.gated:
            np.maximum(self.switches, self._limits, out=self._switched)
            np.multiply(self.rows, self._factors, out=self.rows)


def gated_between(made, seen):
    """How many gated linear units lie between a layer that makes so many numbers and the next, that sees so many.

    A row has first what switches them, then what is switched: max(x, 0) · y is left of x and y. Last come numbers that
    stay as they are: they save a network the work of building straight lines. Where there are no gated units all
    numbers switch themselves: x σ(x) is left of x, which is nearly a GELU.
    """
    return made - seen


def _sorted(scores):
    """Of scores (K, N): the order (2 K,) of all first choices and then all second ones by expert, where in it each
    expert's end, and the share (K, 1) of the first ones."""
    starts = np.arange(0, scores.size, scores.shape[1])
    first = scores.argmax(axis=1)
    best = scores.take(starts + first)
    scores.put(starts + first, -np.inf)
    second = scores.argmax(axis=1)
    shares = 1 / (1 + np.exp(scores.take(starts + second) - best))[:, None]
    # Short numbers are sorted several times as quickly.
    asked = np.concatenate([first, second], dtype=np.uint16, casting="unsafe")
    return asked.argsort(kind="stable"), np.bincount(asked, minlength=scores.shape[1]).cumsum().tolist(), shares


def _asked(rows, weights, ends, out):
    """Into `out` what each expert makes of its part of the rows, which end where `ends` says."""
    begin = 0
    for matrix, end in zip(weights, ends):
        if begin < end:
            rows[begin:end].dot(matrix, out[begin:end])
            begin = end


def _prepared(layers, passes_on=False):
    """Layers [(weights (…, in, out), biases (…, out))] as _Layers, with a one that all but the last pass on, or that
    one too."""
    prepared, sign = [], 1  # what comes in has another sign behind units that switch themselves
    for (weights, biases), following in zip_longest(layers, layers[1:]):
        gated = gated_between(weights.shape[-1], following[0].shape[-2]) if following else 0
        soft = following is not None and not gated
        whole = _with_biases(weights, biases) * np.float32(-sign if soft else sign)
        passed = sign * (BENT_TO_ONE if soft else 1) if passes_on or following is not None else None
        prepared.append(_Layer(_passing_on(whole[..., gated:], passed), np.ascontiguousarray(whole[..., :gated]), soft))
        sign = -1 if soft else 1
    return prepared


def _with_biases(weights, biases):
    """(…, in + 1, out)"""
    return np.concatenate([weights, biases[..., None, :]], axis=-2, dtype=np.float32)


def _passing_on(weights, number):
    """Weights with a column more, if a number is to be passed on: it is in the row of the biases."""
    if number is None:
        return np.ascontiguousarray(weights)
    wider = np.zeros((*weights.shape[:-1], weights.shape[-1] + 1), dtype=np.float32)
    wider[..., :-1], wider[..., -1, -1] = weights, number
    return wider
