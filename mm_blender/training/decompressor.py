# SPDX-License-Identifier: GPL-3.0-or-later
"""Compressor and Decompressor: what is missing from the features goes through a few latents (algorithm 1)."""

import numpy as np
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as crossed

from .examples import LEAST, spread
from .kinematics import Kinematics
from .stage import Stage, layers, to_weights

LATENTS, HIDDEN, COMPRESSOR = 32, 512, 256
PAIRS = 256
# Weights of the losses. Each is divided by its own size in the data: a network that knows nothing has 1 in all of them.
# What is seen counts most: where the joints are.
WEIGHTS = {"local rotations": 0.5, "local positions": 1.0, "local travel": 4.0, "character axes": 1.0,
           "character places": 8.0}
SPEED, MARKS, REGULAR = 0.2, 0.1, 1e-3
# Every so many iterations it is looked, at one frame of so many, how far poses are off. What is far off is learned from
# more often, by this power of it, and by this share nothing is: it brings down the largest errors and hardly the mean.
LOOK, APART, POWER, ALIKE = 300, 16, 1.0, 0.2


class DecompressorStage(Stage):
    """Algorithm 1, in batches of pairs of frames."""

    name, error = "decompressor", "new_motion_cm"

    def __init__(self, examples, seed, threads=1, latents=LATENTS, hidden=HIDDEN, compressor=(COMPRESSOR,),
                 pairs=PAIRS, networks=None):
        """networks: others than those of the paper."""
        size, rows = examples.features.shape[1], examples.layout.size
        torch.manual_seed(seed)
        networks = networks or {
            "compressor": layers(examples.table.shape[1], *compressor, latents, activation=nn.ELU),
            "decompressor": layers(size + latents, hidden, rows)}
        super().__init__(networks, seed, examples.device, threads, matrices=True)
        self.examples, self.latents, self._pairs = examples, latents, pairs
        database = examples.database
        self.kinematics = Kinematics(database.skeleton, examples.layout, examples.moving, database.fixed,
                                     examples.device)
        self._starts, self._chances = examples.starts(1), None
        self._measure()

    def losses(self, share, rng):
        examples, frames = self.examples, self.drawn(rng)
        batch = examples.table[frames]
        latents = self.compress(batch)
        return {**self._pose_losses(self.decompress(examples.features[frames], latents), batch),
                **self._regular(latents)}

    def drawn(self, rng):
        """A thread's part of a batch: frames, and then the ones that follow them."""
        count = -(-self._pairs // len(self.rngs))
        if self._chances is None:
            first = rng.choice(self._starts, count)
        else:
            first = self._starts[np.searchsorted(self._chances, rng.random(count) * self._chances[-1])]
        return torch.as_tensor(np.concatenate([first, self.examples.following[first]]))

    def _descend(self, share):
        if self.iterations >= LOOK and (self._chances is None or self.iterations % LOOK == 0):
            self._look()
        return super()._descend(share)

    def _look(self):
        """Sets the running sum of how often each frame that can be a start is drawn."""
        some = torch.as_tensor(self._starts[::APART])
        off = np.concatenate([self._off_by(frames) for frames in some.split(2048)])
        chances = ALIKE + (1 - ALIKE) * (off / off.mean()) ** POWER
        self._chances = np.cumsum(np.repeat(chances, APART)[:len(self._starts)])

    @torch.no_grad()
    def _off_by(self, frames):
        """(F,) metres that joints are off, on average over them."""
        batch = self.examples.table[frames]
        rows = self.decompress(self.examples.features[frames], self.compress(batch))
        places = self.kinematics(rows)[0] - self.examples.targets(batch)[0]
        return places.norm(dim=0).mean(0).cpu().numpy()

    def compress(self, batch):
        return self.networks["compressor"]((batch - self._mean) / self._scale)

    def decompress(self, features, latents):
        return self.networks["decompressor"](torch.cat([features, latents], 1)) * self._span + self._centre

    def all_latents(self):
        """(N, Z) of every frame."""
        with torch.no_grad():
            return torch.cat([self.compress(part) for part in self.examples.table.split(4096)])

    def weights(self):
        inputs = self.examples.features.shape[1] + self.latents
        return to_weights(self.networks["decompressor"], torch.zeros(inputs), torch.ones(inputs), self._centre,
                          self._span)

    def _measure(self):
        """Means and sizes of everything, from the data itself."""
        examples, parts = self.examples, self.examples.layout.parts
        self._mean, self._scale = spread(examples.table)
        self._centre, self._span = spread(examples.rows)
        for name in ("contacts", "tags"):
            self._centre[parts[name]], self._span[parts[name]] = 0, 1
        starts = torch.as_tensor(self._starts[::max(1, len(self._starts) // 20000)])
        pairs = [examples.table[starts], examples.table[torch.as_tensor(examples.following[starts])]]
        changes = (pairs[1] - pairs[0]).abs().mean(0).clamp(min=LEAST / 60)
        self._changes = changes[:examples.layout.size]
        places, axes = zip(*map(examples.targets, pairs))
        self._sizes = {"places": _far(_from_mean(places[0])), "axes": _size(_from_mean(axes[0])),
                       "place_speeds": _far(places[1] - places[0]), "axis_speeds": _size(axes[1] - axes[0])}
        features = examples.features[torch.as_tensor(examples.following[starts])] - examples.features[starts]
        self._feature_changes = features.abs().mean()

    def _pose_losses(self, rows, batch):
        examples, parts, sizes = self.examples, self.examples.layout.parts, self._sizes
        wrong = rows - batch[:, :examples.layout.size]
        apart, between = wrong.abs().mean(0) / self._span, pairwise(wrong, 0).abs().mean(0) / self._changes
        losses = {}
        for name in ("rotations", "positions", "travel"):
            if parts[name].stop > parts[name].start:
                losses[f"local {name}"] = apart[parts[name]].mean()
                losses[f"local {name} speed"] = SPEED * between[parts[name]].mean()
        for name in ("contacts", "tags"):
            if parts[name].stop > parts[name].start:
                losses[name] = MARKS * crossed(rows[:, parts[name]], (batch[:, parts[name]] > 0).float())
        missed = [mine - true for mine, true in zip(self.kinematics(rows), examples.targets(batch))]
        for name, speed, size, off in zip(("places", "axes"), ("place_speeds", "axis_speeds"), (_far, _size), missed):
            losses[f"character {name}"] = size(off) / sizes[name]
            losses[f"character {name} speed"] = SPEED * size(pairwise(off, -1)) / sizes[speed]
        return {name: WEIGHTS.get(name.removesuffix(" speed"), 1.0) * loss for name, loss in losses.items()}

    def _regular(self, latents):
        change = pairwise(latents, 0).abs().mean()
        return {"latent size": REGULAR * (latents ** 2).mean(), "latent sparsity": REGULAR * latents.abs().mean(),
                "latent speed": REGULAR * change / self._feature_changes}


def pairwise(values, dim):
    """From the first half to the second: the change from each frame to the one that follows it."""
    first, second = values.chunk(2, dim)
    return second - first


def _from_mean(columns):
    """Numbers (…, F) less their means over the frames."""
    return columns - columns.mean(-1, keepdim=True)


def _size(columns):
    return columns.abs().mean()


def _far(columns):
    """How long vectors (3, J, F) are: in each frame those that are longest count most, as they do to the eye."""
    return torch.sqrt((columns * columns).sum(0).mean(0) + 1e-10).mean()
