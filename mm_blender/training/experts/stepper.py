# SPDX-License-Identifier: GPL-3.0-or-later
"""The second model's Stepper: experts alone, which learn to go on from starts that are off (section 5.8)."""

import numpy as np
import torch

from ..stepper import StepperStage
from .layers import Experts, Soft

# One layer for the two of table 8, of units that switch themselves; and so many times the experts of the others. On
# LAFAN1 with its mirror image, after 200 seconds, two seconds from a noisy start were 8.3 cm off with 16 experts of 96,
# 8.2 with 32 of 64, 7.7 with 32 of 96 or 64 of 64, 7.2 with 32 of 128; with gated units 8.3 with 16 of (48, 32), 7.7
# with 32 of (64, 32).
EXPERT, MORE = (Soft(128),), 2
# It goes on by two frames at once, which the paper's does not: 7.0 cm with 32 experts of 96 instead of 7.7, 6.4 with 32
# of 128 instead of 7.2, in half of the time. Frames between are 0.124 cm off where all of them are 0.117.
STRIDE = 2
# Frames of a window, reached in steps as those of the first model are. The paper ends with 30: with experts of 64 these
# were 8.4 cm, 7.9 where a tenth of the time went to windows of 90, 7.2 with a quarter for those of 120.
WINDOWS = ((0.0, 4), (0.15, 10), (0.3, 30), (0.5, 60), (0.75, 120))
# Where a window is long a batch has few rows for each expert, and four times as many take half as long again. With 2048
# 11,400 iterations came to 9.2 cm, where 550 of these came to 8.9.
STEPS_PER_BATCH = 8192
# The most noise at the start, as a share of what features and latents vary by (lambda of equations 26 and 27).
NOISE = 0.15


class ExpertStepperStage(StepperStage):
    stride = STRIDE

    def __init__(self, examples, latents, seed, experts=32, noise=NOISE):
        torch.manual_seed(seed)
        size, self._noise, self._balances = examples.features.shape[1] + latents.shape[1], noise, []
        super().__init__(examples, latents, seed, windows=WINDOWS, steps=STEPS_PER_BATCH,
                         networks={"stepper": Experts(MORE * experts, size + 1, *EXPERT, size)})

    def losses(self, share, rng):
        self._balances = []
        losses = super().losses(share, rng)
        return {**losses, "balance": sum(self._balances) / len(self._balances)}

    def begin(self, state, rng):
        """Equations 26 to 29, with anything from no noise to all of it: starts that are right are left right."""
        size = self._noise * rng.random((len(state), 1), dtype=np.float32)
        noise = size * rng.standard_normal(tuple(state.shape), dtype=np.float32)
        return state + torch.as_tensor(noise, device=state.device) * self._scale

    def change(self, known):
        answers, balance = self.networks["stepper"].routed(known)
        self._balances.append(balance)
        return answers
