# SPDX-License-Identifier: GPL-3.0-or-later
"""The second model's Stepper: experts alone, which learn to go on from starts that are off (section 5.8)."""

import numpy as np
import torch

from ..stepper import StepperStage
from .layers import Experts

# Table 8.
EXPERT = (64,)
# Frames of a window, reached in steps as those of the first model are. The paper ends with 30; with some longer ones at
# the end two seconds from a noisy start were 7.9 instead of 8.4 cm off (LAFAN1, 200 seconds of work).
WINDOWS = ((0.0, 4), (0.2, 10), (0.4, 30), (0.7, 60), (0.9, 90))
STEPS_PER_BATCH = 2048
# The most noise at the start, as a share of what features and latents vary by (lambda of equations 26 and 27).
NOISE = 0.15


class ExpertStepperStage(StepperStage):
    def __init__(self, examples, latents, seed, experts=32, noise=NOISE):
        torch.manual_seed(seed)
        size, self._noise, self._balances = examples.features.shape[1] + latents.shape[1], noise, []
        super().__init__(examples, latents, seed, windows=WINDOWS, steps=STEPS_PER_BATCH,
                         networks={"stepper": Experts(experts, size + 1, *EXPERT, size)})

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
