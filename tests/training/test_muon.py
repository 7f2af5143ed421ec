# SPDX-License-Identifier: GPL-3.0-or-later
"""Muon moves weights in all directions alike, and gets to where a plain gradient leads."""

import pytest


@pytest.mark.parametrize("shape", [(40, 12), (12, 40)])
def test_a_step_has_singular_values_that_are_much_the_same(shape):
    import torch

    from mm_blender.training.muon import orthogonal

    torch.manual_seed(0)
    left, _ = torch.linalg.qr(torch.randn(shape[0], 12))
    right, _ = torch.linalg.qr(torch.randn(shape[1], 12))
    values = torch.logspace(0, -1.5, 12)
    found = torch.linalg.svdvals(orthogonal(left @ torch.diag(values) @ right.t()))
    assert found.min() > 0.5 and found.max() < 1.3


def test_it_finds_the_matrix_that_is_looked_for():
    import torch

    from mm_blender.training.muon import Muon

    torch.manual_seed(0)
    wanted, found = torch.randn(8, 5), torch.nn.Parameter(torch.zeros(8, 5))
    optimiser = Muon([found], lr=0.1)
    for step in range(300):
        optimiser.param_groups[0]["lr"] = 0.1 * (1 - step / 300)
        found.grad = (found - wanted).detach()
        optimiser.step()
    assert (found - wanted).abs().max() < 0.02
