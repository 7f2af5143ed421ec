# SPDX-License-Identifier: GPL-3.0-or-later
"""Stepper: from the features and latents of one frame to those of the next, fed with its own answers (algorithm 2)."""

import numpy as np
import torch

from ..networks.stepping import REACHES
from .muon import FEWER_TURNS
from .stage import Stage, layers, to_weights

HIDDEN = 512
# Windows of 2 N frames (N between searches) and more come last; shorter ones, more of them, teach the same sooner.
WINDOWS = ((0.0, 4), (0.3, 10), (0.6, 20), (0.8, 40))
STEPS_PER_BATCH = 2048
# Other frame rates (section 7.1): this share of the batches takes steps of other lengths.
OTHER_RATES, OTHER_WINDOW = 0.2, 20


class StepperStage(Stage):
    """Algorithm 2. State is what features and latents are together: (D + Z).

    stride  by how many frames it goes on at once
    """

    # By what was learned from, which is what will be played: what comes next in other motion nobody knows for certain.
    name, error = "stepper", "drift_1s_learned_cm"
    stride = 1

    def __init__(self, examples, latents, seed, hidden=HIDDEN, windows=WINDOWS, steps=STEPS_PER_BATCH, networks=None):
        """networks: another one than that of the paper."""
        self.examples, self.states = examples, torch.cat([examples.features, latents], 1)
        size = self.states.shape[1]
        torch.manual_seed(seed)
        networks = networks or {"stepper": layers(size + 1, hidden, hidden, size)}
        super().__init__(networks, seed, examples.device, matrices=True, turns=FEWER_TURNS)
        self._parts = slice(0, examples.features.shape[1]), slice(examples.features.shape[1], size)
        # Where clips are too short for a window, the one before it stays.
        self._windows = [(share, length, starts) for share, length in windows if len(starts := examples.starts(length))]
        self._steps = steps
        self._far = examples.starts(int(OTHER_WINDOW * REACHES[1]))
        self._measure()

    def losses(self, share, rng):
        stride, (_, frames, starts) = self.stride, [window for window in self._windows if share >= window[0]][-1]
        length = frames // stride
        if len(self._far) and rng.random() < OTHER_RATES:
            stride, starts, length = float(rng.uniform(*REACHES)), self._far, min(length, OTHER_WINDOW)
        true = self.window(rng.choice(starts, self._steps // length), length, stride)
        states = self.run(self.begin(true[0], rng), length, stride)
        wrong = states - true
        # Both are as many frames' as a step takes.
        between = (wrong[1:] - wrong[:-1]) / (self._changes * stride)
        losses = {}
        for name, part in zip(("features", "latents"), self._parts):
            losses[name] = (wrong[1:, :, part] / self._scale[part]).abs().mean() * self._balance
            losses[f"{name} speed"] = between[..., part].abs().mean()
        return losses

    def run(self, state, length, stride=1):
        """(length + 1, B, D + Z): a state (B, D + Z) and those that follow it."""
        states = [state]
        step = torch.full((len(state), 1), float(stride), device=state.device)
        for _ in range(length):
            known = torch.cat([(states[-1] - self._mean) / self._scale, step - 1], 1)
            states.append(states[-1] + stride * (self.change(known) * self._span + self._centre))
        return torch.stack(states)

    def begin(self, state, rng):
        """What a window begins with, of the true state (B, D + Z)."""
        return state

    def change(self, known):
        """(B, D + Z) what the network makes of its input (B, D + Z + 1)."""
        return self.networks["stepper"](known)

    def weights(self):
        one = torch.ones(1, device=self._mean.device)
        return to_weights(self.networks["stepper"], torch.cat([self._mean, one]), torch.cat([self._scale, one]),
                          self._centre, self._span)

    def window(self, starts, length, stride):
        """True states (length + 1, B, D + Z), between frames where the stride is not a whole number."""
        frames = self.examples.window(starts, int(np.ceil(length * stride)))
        at = np.arange(length + 1) * stride
        low = np.minimum(at.astype(int), len(frames) - 1)
        high = np.minimum(low + 1, len(frames) - 1)
        part = torch.as_tensor(at - low, dtype=torch.float32, device=self.states.device)[:, None, None]
        states = self.states[torch.as_tensor(frames[low])]
        if isinstance(stride, int):
            return states
        return states + part * (self.states[torch.as_tensor(frames[high])] - states)

    def _measure(self):
        self._mean, self._scale = self.states.mean(0), self.states.std(0).clamp(min=1e-3)
        starts = self.examples.starts(1)
        changes = self.states[torch.as_tensor(self.examples.following[starts])] - self.states[torch.as_tensor(starts)]
        self._centre, self._span = changes.mean(0), changes.std(0).clamp(min=1e-5)
        self._changes = changes.abs().mean(0).clamp(min=1e-5)
        # Values and changes get roughly equal weight: a value is off by as much as some steps have changed it.
        self._balance = (self._scale / self._changes).median().clamp(max=20.0)
