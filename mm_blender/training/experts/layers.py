# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers of the second model in torch: sparse experts (section 3.1) and Lipschitz layers (section 3.2)."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from ...networks.experts import Experts as Known

# How much an uneven use of the experts costs (alpha of equation 13).
BALANCE = 0.01
# How far an expert that begins anew is from the one that it is taken from.
ANEW = 0.05
# The least sum by which weights are divided (equation 5).
EPSILON = 1e-7


class Hidden(NamedTuple):
    """What lies between two layers: so many gated linear units, and numbers that stay as they are; see gated_between()
    of networks.experts."""

    units: int
    linear: int

    @property
    def made(self):
        """How many numbers the layer before it makes."""
        return 2 * self.units + self.linear

    @property
    def seen(self):
        """How many of them the next one sees."""
        return self.units + self.linear

    def __call__(self, values):
        """(…, seen) of values (…, made)."""
        switches, units, linear = values.split([self.units, self.units, self.linear], -1)
        return torch.cat([functional.relu(switches) * units, linear], -1)


class Soft(NamedTuple):
    """What lies between two layers as well: so many units that switch themselves, x σ(x)."""

    units: int

    @property
    def made(self):
        return self.units

    @property
    def seen(self):
        return self.units

    def __call__(self, values):
        return functional.silu(values)


class Experts(nn.Module):
    """N small networks of the same sizes; each row goes to the two that the gate likes best, equations 2 and 3.

    used  (N,) how many rows each has got since it was last set to zero
    """

    def __init__(self, count, inputs, *sizes):
        """sizes: of the outputs, and before it what lies between layers, Hidden or Soft."""
        super().__init__()
        *self._hidden, outputs = sizes
        self.gate = nn.Linear(inputs, count)
        sizes = list(zip([inputs, *(one.seen for one in self._hidden)],
                         [*(one.made for one in self._hidden), outputs]))
        self.weights = nn.ParameterList(_uniform(count, before, after, of=before) for before, after in sizes)
        # Three dimensions, so that they are not taken for matrices.
        self.biases = nn.ParameterList(_uniform(count, 1, after, of=before) for before, after in sizes)
        self.register_buffer("used", torch.zeros(count, dtype=torch.long), persistent=False)

    @property
    def count(self):
        return len(self.used)

    def forward(self, rows):
        return self.routed(rows)[0]

    def routed(self, rows):
        """(B, out) of rows (B, in), and what the balance of this batch costs (equations 13 to 15)."""
        scores = self.gate(rows)
        with torch.no_grad():  # twice the largest one: several times as quick as torch's topk
            first = scores.argmax(1, keepdim=True)
            second = scores.scatter(1, first, -torch.inf).argmax(1, keepdim=True)
        share = torch.sigmoid(scores.gather(1, first) - scores.gather(1, second))
        one, other = self._asked(rows, torch.cat([first, second])[:, 0]).chunk(2)
        return torch.lerp(other, one, share), self.balance(scores, first[:, 0])

    def _asked(self, rows, experts):
        """(2 B, out) of two rounds of the same rows (B, in), each to an expert (2 B,): sorted by expert into a table
        that is as long as the most that one of them gets."""
        counts = torch.bincount(experts, minlength=self.count)
        self.used += counts
        length = int(counts.max())
        order = experts.argsort(stable=True)
        begins = counts.cumsum(0) - counts
        sorted_ = experts[order]
        place = sorted_ * length + torch.arange(len(order), device=rows.device) - begins[sorted_]
        table = torch.zeros(self.count * length, dtype=torch.long, device=rows.device)
        table[place] = order % len(rows)
        # Places that nobody needs hold some row too: their answers are not looked at.
        values = rows.index_select(0, table).unflatten(0, (self.count, length))
        for weights, biases, hidden in zip(self.weights, self.biases, (*self._hidden, None)):
            values = torch.baddbmm(biases, values, weights)
            values = hidden(values) if hidden else values
        back = torch.empty_like(place)
        back[order] = place
        return values.flatten(0, 1).index_select(0, back)

    def balance(self, scores, first):
        part = torch.bincount(first, minlength=self.count).to(scores.dtype) / len(first)
        return BALANCE * self.count * (part * scores.softmax(1).mean(0)).sum()

    def known(self):
        """As NumPy runs them."""
        layers = [(weights, biases[:, 0]) for weights, biases in zip(self.weights, self.biases)]
        return Known(plain([(self.gate.weight.t(), self.gate.bias)])[0], plain(layers))

    def revive(self, rng):
        """Experts that got nothing since the last time begin anew as neighbours of the busiest ones; how many."""
        used = self.used.cpu().numpy().copy()
        self.used.zero_()
        dead, alive = np.flatnonzero(used == 0), np.argsort(-used)[:np.count_nonzero(used)]
        if len(dead) and len(alive):
            models = torch.as_tensor(alive[np.arange(len(dead)) % len(alive)])
            with torch.no_grad():
                for values in (self.gate.weight, self.gate.bias, *self.weights, *self.biases):
                    noise = torch.as_tensor(rng.normal(size=(len(dead), *values.shape[1:])).astype(np.float32))
                    values[torch.as_tensor(dead)] = values[models] + ANEW * values.std() * noise.to(values.device)
        return len(dead)


class Between(nn.Module):
    """A Hidden as a module, for layers one after the other."""

    def __init__(self, hidden):
        super().__init__()
        self._hidden = hidden

    def forward(self, values):
        return self._hidden(values)


class Lipschitz(nn.Linear):
    """A linear layer whose weights are scaled to a bound that is learned (equations 4 to 7)."""

    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs)
        # Its row with the largest sum just fits.
        self.bound = nn.Parameter(self.weight.detach().abs().sum(1).max().expm1().log()[None])

    @property
    def constant(self):
        return functional.softplus(self.bound)

    def forward(self, rows):
        scale = (self.constant / self.weight.abs().sum(1).clamp(min=EPSILON)).clamp(max=1.0)
        return functional.linear(rows, self.weight * scale[:, None], self.bias)


def encoder(*sizes, lipschitz=True):
    """Lipschitz layers, or plain ones, with GELUs between them (table 2)."""
    modules = []
    for inputs, outputs in pairwise(sizes):
        modules += [(Lipschitz if lipschitz else nn.Linear)(inputs, outputs), nn.GELU()]
    return nn.Sequential(*modules[:-1])


def bound(network):
    """The product of all Lipschitz bounds (equation 25): as much as distances can grow at most."""
    bounds = [layer.constant for layer in network if isinstance(layer, Lipschitz)]
    return torch.cat(bounds).prod() if bounds else torch.zeros(())


def plain(layers):
    """Tensors as NumPy has them."""
    return tuple(tuple(part.detach().cpu().numpy().astype(np.float32, order="C") for part in layer) for layer in layers)


def _uniform(*shape, of):
    """As torch begins a linear layer with so many inputs."""
    return nn.Parameter((torch.rand(shape) * 2 - 1) * of ** -0.5)
