# SPDX-License-Identifier: GPL-3.0-or-later
"""Several processes that train together (torchrun): each learns from examples of its own, all take the same steps."""

import os

import torch
from torch import distributed

RANK, COUNT = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
# Only the first of them decides, and writes files.
FIRST = RANK == 0


def join(device):
    """Waits for the others."""
    if COUNT > 1 and not distributed.is_initialized():
        distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")


def leave():
    if distributed.is_initialized():
        distributed.destroy_process_group()


class Group:
    """What one network's thread says to the same thread of the other processes; alone it says nothing."""

    def __init__(self, device):
        self._device = device
        self._group = distributed.new_group() if COUNT > 1 else None

    def heard(self, number):
        """The first one's number."""
        if self._group is None:
            return number
        told = torch.tensor([number], dtype=torch.float32, device=self._device)
        distributed.broadcast(told, 0, group=self._group)
        return float(told)

    def average(self, parameters):
        """Gives the gradients of all the mean of them, in one message."""
        if self._group is None:
            return
        gradients = [one.grad for one in parameters]
        together = torch.cat([one.reshape(-1) for one in gradients])
        distributed.all_reduce(together, group=self._group)
        for one, mean in zip(gradients, (together / COUNT).split([one.numel() for one in gradients])):
            one.copy_(mean.view_as(one))

    def equal(self, parameters):
        """Gives all the first one's parameters."""
        if self._group is not None:
            for one in parameters:
                distributed.broadcast(one.data, 0, group=self._group)
