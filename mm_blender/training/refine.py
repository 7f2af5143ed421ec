# SPDX-License-Identifier: GPL-3.0-or-later
"""Latents made better once the Decompressor has learned.

The Compressor guesses them at one go. Where joints are farther off than usual, a few steps downhill through the
Decompressor find better ones: the largest errors are halved, which no longer training of both does as cheaply.
"""

import numpy as np
import torch

ROUNDS, STEPS, BATCH = 3, 12, 4096
# The first step, as a share of what latents vary by; a step that helps makes the next one longer, one that does not is
# taken back and makes it shorter.
FIRST, LONGER, SHORTER = 0.05, 1.5, 0.3
# Poses that are off so many times as far as is usual are looked at.
OVER = 1.0
# More than 2: within a pose, joints that are far off count more than the others together.
POWER = 3
# The root counts as a joint that is off by as much as it goes astray in so many seconds.
ASTRAY = 0.1


def refined(stage, latents, goes_on=lambda: True):
    """Better ones than latents (N, Z) for the stage's Decompressor. goes_on() is asked now and then, and may raise:
    where it says no, what was found so far has to do."""
    around = _around(stage.examples.following)
    best, off, step = latents, torch.empty(len(latents)), FIRST * float(latents.std())
    for _ in range(ROUNDS):
        for frames in _batches(torch.arange(len(best))):
            if not goes_on():
                return best
            off[frames] = _off(stage, frames, best[frames])[0].cpu()
        better = best.clone()
        for frames in _batches(torch.nonzero(off > OVER * off.mean())[:, 0]):
            if goes_on():
                better[frames] = _downhill(stage, frames, best[frames], step)
        # What is added changes as little from frame to frame as can be: a pose must not tremble.
        added = better - latents
        best = latents + (added[around[0]] + 2 * added + added[around[1]]) / 4
    return best


def _batches(frames):
    """Parts of them, each with frames from everywhere: frames that are alike keep few experts busy."""
    count = -(-len(frames) // BATCH)
    return [frames[first::count] for first in range(count)]


def _downhill(stage, frames, latents, step):
    off, slope = _off(stage, frames, latents)
    step = step / slope.norm(dim=1).clamp(min=1e-12)
    for _ in range(STEPS):
        tried = latents - step[:, None] * slope
        found, other = _off(stage, frames, tried)
        helps = found < off
        latents, slope = (torch.where(helps[:, None], *pair) for pair in ((tried, latents), (other, slope)))
        off, step = torch.where(helps, found, off), step * torch.where(helps, LONGER, SHORTER)
    return latents


def _off(stage, frames, latents):
    """(F,) how far frames are off, in metres, and the slope (F, Z) of it by their latents."""
    examples, latents = stage.examples, latents.detach().requires_grad_()
    true, travel = examples.table[frames], examples.layout.parts["travel"]
    rows = stage.decompress(examples.features[frames], latents)
    places = stage.kinematics(rows)[0] - examples.targets(true)[0]
    astray = ASTRAY * (rows - true[:, :rows.shape[1]])[:, travel][:, :2]
    squares = torch.cat([places.square().sum(0), astray.square().sum(1)[None]]) + 1e-12
    off = (squares ** (POWER / 2)).mean(0) ** (1 / POWER)
    return off.detach(), torch.autograd.grad(off.sum(), latents)[0]


def _around(following):
    """The frames before and after each, as indices; where there is none, the frame itself."""
    before = np.arange(len(following))
    before[following] = np.arange(len(following))
    return torch.as_tensor(before), torch.as_tensor(following)
