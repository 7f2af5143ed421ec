# SPDX-License-Identifier: GPL-3.0-or-later
"""One network in training: its layers, its optimiser, and its way to a file."""

import math
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from threading import Lock

import numpy as np
import torch
from torch import nn

from ..errors import Cancelled, MotionError
from ..networks.network import Weights
from . import ranks
from .experts.layers import Experts, plain
from .muon import TURNS, Muon

# The learning rate at the beginning; it falls to zero along half a cosine by the end of the budget.
RATE, MUON_RATE, WARM = 2e-3, 8e-3, 0.02
# A step whose gradient is no number is not taken, and those that follow are so much smaller; after so many in a row it
# is over.
SMALLER, MOST_FAILURES = 0.5, 20
# Experts that got nothing in so many steps begin anew, in this share of the training.
REVIVE, REVIVING = 200, 0.7
# Instead of a share: the training was cancelled.
CANCELLED = math.nan


def layers(*sizes, activation=nn.ReLU):
    """A network with so many numbers in each layer, the input first."""
    modules = []
    for inputs, outputs in pairwise(sizes):
        modules += [nn.Linear(inputs, outputs), activation()]
    return nn.Sequential(*modules[:-1])


class Stage:
    """What is trained together: `networks` (a ModuleDict), one optimiser, and a stream of chance for each thread.

    lock   is held while a step is taken
    error  the name of the figure that tells how good it is
    """

    name = error = ""

    def __init__(self, networks, seed, device, threads=1, matrices=False, turns=TURNS):
        """matrices: Muon for the matrices, in so many turns; AdamW for all others."""
        self.device, self.lock = device, Lock()
        self.networks = nn.ModuleDict(networks).to(device)
        self.parameters = list(self.networks.parameters())
        by_muon = [one for one in self.parameters if matrices and one.ndim > 1 and min(one.shape[-2:]) > 1]
        others = [one for one in self.parameters if all(one is not other for other in by_muon)]
        self.optimisers = [torch.optim.AdamW(others, lr=RATE, weight_decay=1e-3, fused=True)]
        if by_muon:
            self.optimisers.append(Muon(by_muon, MUON_RATE, turns))
        self.rngs = [np.random.default_rng([seed, ranks.RANK, thread]) for thread in range(threads)]
        self._threads = ThreadPoolExecutor(threads) if threads > 1 else None
        self._group = ranks.Group(device)
        self.iterations, self.patience = 0, Patience()
        self._calm, self._failures = 1.0, 0

    def losses(self, share, rng):
        """Name → loss of a new batch, at a share of the whole training; to be written by each kind of stage."""
        raise NotImplementedError

    def rate(self, share):
        """Of the learning rate at a share of the whole training."""
        return min(1.0, share / WARM + 0.05) * 0.5 * (1 + math.cos(math.pi * share))

    def step(self, share):
        """One iteration at a share of the whole training; the losses as tensors, or None at its end."""
        share = self._group.heard(share)
        if math.isnan(share):
            raise Cancelled
        if share >= 1:
            self._group.equal(self.parameters)
            return None
        with self.lock:
            losses = self._descend(share)
            self._group.average(self.parameters)
            if self._is_sound(nn.utils.clip_grad_norm_(self.parameters, 1.0)):
                for optimiser in self.optimisers:
                    optimiser.param_groups[0]["lr"] = self._calm * self.rate(share) * optimiser.defaults["lr"]
                    optimiser.step()
            self.iterations += 1
            if self.iterations % REVIVE == 0 and share < REVIVING:
                for experts in self._experts():
                    experts.revive(self.rngs[0])
        return losses

    def _is_sound(self, size):
        """Whether a gradient of that size can be followed."""
        if torch.isfinite(size):
            self._failures = 0
            return True
        self._calm, self._failures = self._calm * SMALLER, self._failures + 1
        if self._failures > MOST_FAILURES:
            raise MotionError(f"The {self.name} cannot be trained: its errors are no numbers any more. Look for broken "
                              "poses in the clips, or train with another seed.")
        return False

    def _experts(self):
        return [module for module in self.networks.modules() if isinstance(module, Experts)]

    def state(self):
        """What a checkpoint keeps."""
        return {"networks": self.networks.state_dict(), "iterations": self.iterations,
                "optimisers": [one.state_dict() for one in self.optimisers],
                "chance": [_plain(rng.bit_generator.state) for rng in self.rngs],
                "patience": self.patience.state()}

    def restore(self, state):
        self.networks.load_state_dict(state["networks"])
        for optimiser, kept in zip(self.optimisers, state["optimisers"]):
            optimiser.load_state_dict(kept)
        self.iterations = state["iterations"]
        for rng, kept in zip(self.rngs, state["chance"]):
            rng.bit_generator.state = _unplain(kept)
        self.patience.restore(state["patience"])

    def _descend(self, share):
        """Sets the gradients; each thread works out its share of the batch."""
        work = partial(self._gradients, share)
        found = list(map(work, self.rngs) if self._threads is None else self._threads.map(work, self.rngs))
        for parameter, *gradients in zip(self.parameters, *(gradients for gradients, _ in found)):
            parameter.grad = sum(gradients) / len(gradients)
        return found[0][1]

    def _gradients(self, share, rng):
        losses = self.losses(share, rng)
        return (torch.autograd.grad(sum(losses.values()), self.parameters),
                {name: loss.detach() for name, loss in losses.items()})


class Patience:
    """Says when a network no longer improves: when the least error of the last part of its time is not lower, by a
    margin, than the least one before. In the first half the learning rate is still so high that nothing can be said."""

    FIRST, PART, MARGIN = 0.5, 0.25, 0.01

    def __init__(self):
        self._errors = []

    def add(self, share, error):
        self._errors.append((float(share), float(error)))

    @property
    def over(self):
        since = self._errors[-1][0] - self.PART if self._errors else 0.0
        if since < self.FIRST:
            return False
        before, lately = ([error for share, error in self._errors if (share > since) == late] for late in (False, True))
        return len(lately) > 1 and bool(before) and min(lately) > (1 - self.MARGIN) * min(before)

    def state(self):
        return list(self._errors)

    def restore(self, state):
        self._errors = [tuple(pair) for pair in state]


def to_weights(network, mean, scale, centre, span):
    """A trained network, Experts or layers one after the other, as NumPy runs it."""
    modules = list(network) if isinstance(network, nn.Sequential) else [network]
    linear = [(one.weight.t(), one.bias) for one in modules if isinstance(one, nn.Linear)]
    experts = modules[0].known() if isinstance(modules[0], Experts) else None
    return Weights(plain(linear), *plain([(mean, scale, centre, span)])[0], experts)


def _plain(state):
    """The state of a random generator in numbers that torch keeps without pickling: 128 bits as text."""
    return {**state, "state": {name: str(number) for name, number in state["state"].items()}}


def _unplain(state):
    return {**state, "state": {name: int(text) for name, text in state["state"].items()}}
