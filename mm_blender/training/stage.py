# SPDX-License-Identifier: GPL-3.0-or-later
"""One network in training: its layers, its optimiser, and its way to a file."""

import math
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from ..networks.network import Weights

# AdamW's learning rate at the beginning; it falls to zero along half a cosine by the end of the budget.
RATE, WARM = 2e-3, 0.02


def layers(*sizes, activation=nn.ReLU):
    """A network with so many numbers in each layer, the input first."""
    modules = []
    for inputs, outputs in pairwise(sizes):
        modules += [nn.Linear(inputs, outputs), activation()]
    return nn.Sequential(*modules[:-1])


class Stage:
    """What is trained together: `networks` (a ModuleDict), one optimiser, one stream of chance."""

    name = ""

    def __init__(self, networks, seed, device="cpu"):
        self.networks = nn.ModuleDict(networks).to(device)
        self.optimiser = torch.optim.AdamW(self.networks.parameters(), lr=RATE, weight_decay=1e-3, fused=True)
        self.rng = np.random.default_rng(seed)
        self.iterations = 0

    def losses(self, share):
        """Name → loss of a new batch, at a share of the whole training; to be written by each kind of stage."""
        raise NotImplementedError

    def step(self, share):
        """One iteration; the losses as tensors."""
        rate = RATE * min(1.0, share / WARM + 0.05) * 0.5 * (1 + math.cos(math.pi * min(share, 1.0)))
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        losses = self.losses(share)
        self.optimiser.zero_grad(set_to_none=True)
        sum(losses.values()).backward()
        nn.utils.clip_grad_norm_(self.networks.parameters(), 1.0)
        self.optimiser.step()
        self.iterations += 1
        return {name: loss.detach() for name, loss in losses.items()}

    def state(self):
        """What a checkpoint keeps."""
        return {"networks": self.networks.state_dict(), "optimiser": self.optimiser.state_dict(),
                "iterations": self.iterations, "chance": _plain(self.rng.bit_generator.state)}

    def restore(self, state):
        self.networks.load_state_dict(state["networks"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.iterations = state["iterations"]
        self.rng.bit_generator.state = _unplain(state["chance"])


def to_weights(network, mean, scale, centre, span):
    """A trained network as NumPy runs it."""
    linear = [module for module in network if isinstance(module, nn.Linear)]
    pairs = tuple((one.weight.detach().cpu().numpy().T.copy(), one.bias.detach().cpu().numpy().copy())
                  for one in linear)
    return Weights(pairs, *(part.detach().cpu().numpy().astype(np.float32) for part in (mean, scale, centre, span)))


def _plain(state):
    """The state of a random generator in numbers that torch keeps without pickling: 128 bits as text."""
    return {**state, "state": {name: str(number) for name, number in state["state"].items()}}


def _unplain(state):
    return {**state, "state": {name: int(text) for name, text in state["state"].items()}}
