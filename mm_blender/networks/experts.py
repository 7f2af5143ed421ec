# SPDX-License-Identifier: GPL-3.0-or-later
"""Many small networks of which two are asked at a time, evaluated with NumPy: the sparse experts of section 3.1 of
Learning Robust and Scalable Motion Matching with Lipschitz Continuity and Sparse Mixture of Experts (2023)."""

import math
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

# Of this units that switch themselves make a one, h (1 + tanh h) = 1: it goes with them, and a call sees no gaps.
BENT_TO_ONE = 0.6392322713805368


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
        self._gate = _with_biases(*gate)
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
        values = known.take(order % count, axis=0)
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
            np.dot(values, layer.weights, out=made.rows)
            if made.gated:
                np.dot(values, layer.switches, out=made.switches)
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

    def __init__(self, rows, switches, soft, factors=None):
        self.rows, self.switches, self.gated = rows, switches, switches.shape[-1]
        # With a factor for each number, a one where there is no switch, the product has no gaps: half of the time.
        self._factors = np.ones_like(rows) if factors is None else factors
        self._soft, self._switched = soft, self._factors[:, :self.gated]

    def of(self, count):
        """A part of the memory, for fewer rows."""
        return _Made(self.rows[:count], self.switches[:count], self._soft, self._factors[:count])

    def bend(self):
        """Units take effect."""
        if self._soft:  # what came in is half of x: x σ(x) = x/2 (1 + tanh(x/2))
            np.tanh(self.rows, out=self._factors)
            np.add(self._factors, 1, out=self._factors)
        elif self.gated:
            np.maximum(self.switches, 0, out=self._switched)
        else:
            return
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
            np.dot(rows[begin:end], matrix, out=out[begin:end])
            begin = end


def _prepared(layers, passes_on=False):
    """Layers [(weights (…, in, out), biases (…, out))] as _Layers, with a one that all but the last pass on, or that
    one too."""
    prepared = []
    for this, following in zip_longest(layers, layers[1:]):
        gated = gated_between(this[0].shape[-1], following[0].shape[-2]) if following else 0
        soft = following is not None and not gated
        weights, biases = (part * np.float32(0.5) if soft else part for part in this)
        passed = BENT_TO_ONE if soft else float(passes_on or following is not None)
        prepared.append(_Layer(_with_biases(weights[..., gated:], biases[..., gated:], passed),
                               _with_biases(weights[..., :gated], biases[..., :gated]), soft))
    return prepared


def _with_biases(weights, biases, passed=0.0):
    """(…, in + 1, out), or out + 1 where a number is passed on, which is to be a one."""
    whole = np.concatenate([weights, biases[..., None, :]], axis=-2)
    if passed:
        one = np.zeros_like(whole[..., :1])
        one[..., -1, :] = passed
        whole = np.concatenate([whole, one], axis=-1)
    return np.ascontiguousarray(whole, dtype=np.float32)
