# SPDX-License-Identifier: GPL-3.0-or-later
"""Muon: an optimiser that moves a matrix of weights in all its directions alike.

A gradient's few largest singular values hide the others; here all of them count the same. On the Decompressor an
iteration takes twice as long as one of AdamW and does the work of three.
"""

import torch

# A polynomial that, applied again and again, brings all singular values between 0 and 1 near to 1, steep at 0.
# Where matrices are large and batches quick, fewer turns leave time for more steps.
TURNS, FEWER_TURNS, POLYNOMIAL = 5, 3, (3.4445, -4.7750, 2.0315)
# A step has the size that AdamW's have, so that both can have the same learning rate.
SIZE = 0.2


class Muon(torch.optim.Optimizer):
    """For matrices, also many of the same size in one tensor (…, rows, columns): each by itself."""

    def __init__(self, parameters, lr, turns=TURNS, momentum=0.95):
        super().__init__(parameters, {"lr": lr, "momentum": momentum})
        self._turns = turns

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for matrix in group["params"]:
                known = self.state[matrix]
                if not known:
                    known["mean"] = torch.zeros_like(matrix)
                mean = known["mean"].lerp_(matrix.grad, 1 - group["momentum"])
                # The mean with the newest gradient counted once more, as Nesterov does.
                step = orthogonal(matrix.grad.lerp(mean, group["momentum"]), self._turns)
                matrix.add_(step, alpha=-group["lr"] * SIZE * max(matrix.shape[-2:]) ** 0.5)


def orthogonal(matrix, turns=TURNS):
    """Roughly the nearest matrix whose singular values are all 1."""
    if matrix.shape[-2] > matrix.shape[-1]:
        return orthogonal(matrix.mT, turns).mT
    first, third, fifth = POLYNOMIAL
    found = matrix.reshape(-1, *matrix.shape[-2:])
    found = found / (torch.linalg.matrix_norm(found, keepdim=True) + 1e-7)
    for _ in range(turns):
        square = found @ found.mT
        found = torch.baddbmm(found, torch.baddbmm(square, square, square, beta=third, alpha=fifth), found, beta=first)
    return found.view_as(matrix)
