# SPDX-License-Identifier: GPL-3.0-or-later
"""The second model's poses: an encoder of Lipschitz layers, a decoder of experts (sections 4.2.1 and 5)."""

import numpy as np
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as crossed

from ..decompressor import LATENTS, DecompressorStage, pairwise
from .layers import Between, Experts, Hidden, bound, encoder
from .losses import angles_off, joints_off, lengths_off, rotations_of, standing_off
from .votes import joint_weights

# Layers of tables 2 to 4, the encoder's scaled to the fewer joints. It sees how poses move too, as the Compressor does:
# without that the root's velocity is off by twice as much. Gated units, and some numbers that stay as they are, stand
# for 256 GELUs: poses are nearer with 0.6 of the work (LAFAN1, 70 seconds: 0.246 cm with 96 and 32 of them, 0.262).
ENCODER, EXPERT, WIDE = (256,), 64, Hidden(64, 48)
PAIRS = 256
# Weights of the losses. Each is divided by what it is where a pose is taken for another one of the data.
WEIGHTS = {"local positions": 1.0, "local rotations": 1.0, "local travel": 2.0, "character positions": 8.0,
           "character rotations": 1.0, "speeds": 0.2, "standing": 0.1}
MARKS = 0.1
# Of the latents: their size, its square and their speed (equations 22 to 24), and the encoder's bound (25).
SIZE, SQUARE, SPEED, BOUND = 1e-3, 1e-3, 1e-3, 1e-5


class ExpertDecompressorStage(DecompressorStage):
    def __init__(self, examples, seed, threads=1, experts=32, voting=True, lipschitz=True):
        torch.manual_seed(seed)
        first = Experts(experts, examples.features.shape[1] + LATENTS, EXPERT)
        super().__init__(examples, seed, threads, pairs=PAIRS, networks={
            "compressor": encoder(examples.table.shape[1], *ENCODER, LATENTS, lipschitz=lipschitz),
            "decompressor": nn.Sequential(first, nn.Linear(EXPERT, WIDE.made), Between(WIDE),
                                          nn.Linear(WIDE.seen, examples.layout.size))})
        self._weigh(voting)

    def losses(self, share, rng):
        examples, networks, frames = self.examples, self.networks, self.drawn(rng)
        batch = examples.table[frames]
        latents = self.compress(batch)
        experts, *others = networks["decompressor"]
        values, balance = experts.routed(torch.cat([examples.features[frames], latents], 1))
        for layer in others:
            values = layer(values)
        rows = values * self._span + self._centre
        off = self._off(rows, batch)
        return {**{name: WEIGHTS[name.split(",")[0]] * loss / self._usual[name] for name, loss in off.items()},
                **self._marks_off(rows, batch), **self._regular(latents), "balance": balance,
                "bound": BOUND * bound(networks["compressor"])}

    def _weigh(self, voting):
        """Weights of the joints, and how large the losses are where a pose is taken for another one."""
        database, examples = self.examples.database, self.examples
        own, seen = joint_weights(database.skeleton.parents)
        own, seen = (own, seen) if voting else (np.ones_like(own), np.ones_like(seen))
        order = np.concatenate(database.skeleton.levels)
        self._own, self._shown = (torch.as_tensor(part[order - 1, None], dtype=torch.float32, device=self.device)
                                  for part in (own, seen))
        moving = own[self.examples.moving - 1, None] if len(examples.moving) else np.ones((0, 1))
        self._own_moving = torch.as_tensor(moving, dtype=torch.float32, device=self.device)
        roles = database.character.contact_roles()
        self._feet = torch.as_tensor([order.tolist().index(database.character.joint(role)) for role in roles],
                                     dtype=torch.long, device=self.device)
        chosen = np.random.default_rng(0).choice(self._starts, min(2048, len(self._starts)), replace=False)
        batch = examples.table[torch.as_tensor(np.concatenate([chosen, examples.following[chosen]]))]
        others = torch.cat([part.roll(1, 0) for part in batch.chunk(2)])[:, :examples.layout.size]
        with torch.no_grad():
            self._usual = {name: loss.clamp(min=1e-6) for name, loss in self._off(others, batch).items()}

    def _off(self, rows, batch):
        """Name → how far poses (F, R) are off, without weights of the losses. What is named "speeds" is of pairs."""
        examples, parts, rate = self.examples, self.examples.layout.parts, self.examples.database.rate
        kinematics, wrong = self.kinematics, (rows - batch[:, :examples.layout.size]).t()
        axes, true_axes = kinematics.axes(rows), kinematics.axes(batch)
        local = kinematics.local(axes)
        placed, (places, seen_axes) = kinematics.placed(rows, local), examples.targets(batch)
        seen, travel = placed[:, 3] - places, wrong[parts["travel"]]
        off = {"local rotations": angles_off(local, rotations_of(true_axes), self._own) + lengths_off(
                   axes, self._own),
               "character rotations": angles_off(placed[:, :3], rotations_of(seen_axes), self._shown),
               "character positions": joints_off(seen, self._shown),
               "local travel": (travel.abs().mean(1) / self._span[parts["travel"]]).mean(),
               "speeds, of positions": joints_off(pairwise(seen, -1), self._shown),
               "speeds, of rotations": joints_off(pairwise(axes - true_axes, -1).flatten(1, 2), self._own.repeat(2, 1))}
        if self.examples.moving.size:
            own = wrong[parts["positions"]].unflatten(0, (-1, 3)).transpose(0, 1)
            off["local positions"] = joints_off(own, self._own_moving)
            off["speeds, of local positions"] = joints_off(pairwise(own, -1), self._own_moving)
        if len(self._feet):
            half = rows.shape[0] // 2
            off["standing"] = standing_off(pairwise(seen, -1)[:, self._feet], travel[:, :half],
                                           places[:, self._feet, :half],
                                           (batch[:half, parts["contacts"]] > 0).t().float(), rate)
        return off

    def _marks_off(self, rows, batch):
        parts = self.examples.layout.parts
        return {name: MARKS * crossed(rows[:, parts[name]], (batch[:, parts[name]] > 0).float())
                for name in ("contacts", "tags") if parts[name].stop > parts[name].start}

    def _regular(self, latents):
        change = pairwise(latents, 0).abs().mean()
        return {"latent size": SIZE * latents.abs().mean(), "latent square": SQUARE * latents.square().mean(),
                "latent speed": SPEED * change / self._feature_changes}
