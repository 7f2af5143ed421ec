# SPDX-License-Identifier: GPL-3.0-or-later
"""Projector: from a query to the features and latents of the frame that is nearest to it (algorithm 3).

Tags: the Projector's input says which combinations of tags (U,) are allowed, and its targets are the nearest frames
among those that have one of them. It is taught with everything allowed, with each tag and without each tag, and with
some of the combinations by chance, so that it understands any query that is made of tags.
"""

import numpy as np
import torch

from ..matching.tags import select
from ..playback.library import search_of
from .muon import FEWER_TURNS
from .stage import Stage, layers, to_weights

HIDDEN, HIDDEN_LAYERS = 512, 4
BATCH = 512
# This share of the queries comes from driving, with a little noise; the others are frames with noise (algorithm 3).
DRIVEN, DRIVEN_NOISE = 0.7, 0.1
# What is wanted while driving could as well be wanted so many seconds sooner or later, in another pose.
SOONER = 0.2
# So many queries and their nearest frames are kept; after as many iterations some of them are replaced by new ones.
POOL, RENEWED, EVERY = 65536, 256, 8
# Queries without any limit by tags; the others are spread over the limits.
UNLIMITED = 0.4


class ProjectorStage(Stage):
    """Algorithm 3, with exact nearest frames by our own search."""

    # How far answers are from the query says little once they are as near as frames are: half-way between two frames
    # one is nearer than at either. How far they are from all frames goes on to fall.
    name, error = "projector", "projector_stray"

    def __init__(self, examples, latents, driven, seed, hidden=HIDDEN, batch=BATCH, networks=None):
        """driven: what queries.of_chance() has heard; networks: another one than that of the paper."""
        self.examples, self.states = examples, torch.cat([examples.features, latents], 1)
        self._size, combinations = examples.features.shape[1], len(examples.combinations[0])
        torch.manual_seed(seed)
        networks = networks or {
            "projector": layers(self._size + combinations, *[hidden] * HIDDEN_LAYERS, self.states.shape[1])}
        super().__init__(networks, seed, examples.device, matrices=True, turns=FEWER_TURNS)
        self._batch = batch
        self.search = search_of(examples.database)
        self.limits = Limits(examples)
        self._driven = driven[0], self.limits.numbers(driven[1]), driven[2]
        # What a hand wants differs from the frame that is playing; the rest of a query is that frame's.
        self._wishes = driven[0] != examples.database.features[driven[2]]
        self._measure()
        self._pool = _Pool(self)

    def losses(self, share, rng):
        if self.iterations % EVERY == 0:
            self._pool.renew(RENEWED, rng)
        queries, allowed, frames = self._pool.some(self._batch, rng)
        answers, true = self.project(queries, allowed), self.states[frames]
        wrong = ((answers - true) / self._scale).abs()
        away, nearest = (self._cost(queries, states) for states in (answers, true))
        # Equation of algorithm 3, its squares as distances: a cost of thousands would drown all others.
        far = (torch.sqrt(away + 1e-6) - torch.sqrt(nearest + 1e-6)).abs().mean()
        return {"features": wrong[:, :self._size].mean(), "latents": wrong[:, self._size:].mean(),
                "distance": far / self._distance}

    def project(self, queries, allowed):
        known = torch.cat([(queries - self._mean[:self._size]) / self._scale[:self._size], allowed], 1)
        return self.answer(known) * self._scale + self._mean

    def answer(self, known):
        """(B, D + Z) what the network makes of its input (B, D + U)."""
        return self.networks["projector"](known)

    def weights(self):
        combinations = torch.zeros(len(self.examples.combinations[0]), device=self._mean.device)
        return to_weights(self.networks["projector"], torch.cat([self._mean[:self._size], combinations]),
                          torch.cat([self._scale[:self._size], combinations + 1]), self._mean, self._scale)

    def queries(self, count, rng):
        """New queries (count, D) and the number of the limit of each."""
        features = self.examples.database.features
        frames = rng.choice(np.flatnonzero(self.examples.free), count)
        noise = rng.uniform(0, 1, (count, 1)) * rng.normal(size=(count, self._size))
        limits = self.limits.chosen(rng, frames)
        which = rng.integers(0, len(self._driven[0]), count)
        others = self._sooner_or_later(self._driven[2][which], rng)
        driven = np.where(self._wishes[which], self._driven[0][which], features[others])
        from_driving = rng.random(count) < DRIVEN
        queries = np.where(from_driving[:, None], driven + DRIVEN_NOISE * noise, features[frames] + noise)
        return queries.astype(np.float32), np.where(from_driving, self._driven[1][which], limits)

    def _sooner_or_later(self, frames, rng):
        """Other frames of the same clips."""
        database = self.examples.database
        bounds = np.array([[part.start, part.stop - 1] for part in database.ranges])[database.range_of_frame[frames]]
        most = round(SOONER * database.rate)
        return np.clip(frames + rng.integers(-most, most + 1, len(frames)), *bounds.T)

    def nearest(self, queries, limits):
        """(count,) the nearest frame of each query among those that its limit allows."""
        frames = np.empty(len(queries), dtype=np.int64)
        for limit in np.unique(limits):
            rows = np.flatnonzero(limits == limit)
            self.search.set_allowed(self.limits.frames(limit))
            frames[rows] = [match.frame for match in self.search.nearest_many(queries[rows])]
        return frames

    def _cost(self, queries, states):
        return (((queries - states[:, :self._size]) * self._feature_weights) ** 2).sum(1)

    def _measure(self):
        self._mean, self._scale = self.states.mean(0), self.states.std(0).clamp(min=1e-3)
        self._feature_weights = torch.as_tensor(self.search.weights, dtype=torch.float32, device=self._mean.device)
        # How far a frame is from the middle of all.
        middle = (self.states[:, :self._size] - self._mean[:self._size]) * self._feature_weights
        self._distance = middle.norm(dim=1).mean()


class Limits:
    """What may be answered: sets of combinations of tags, numbered; 0 allows all.

    allowed  (L, U) bool
    """

    CHANCE = 16

    def __init__(self, examples):
        self._examples = examples
        combinations, self._of_frame = examples.combinations
        rows = [np.ones(len(combinations), dtype=bool)]
        for column in range(combinations.shape[1]):
            rows += [combinations[:, column], ~combinations[:, column]]
        if len(combinations) > 2:
            rng = np.random.default_rng(0)
            rows += list(rng.random((self.CHANCE, len(combinations))) < rng.uniform(0.1, 0.9, (self.CHANCE, 1)))
        self.allowed = np.unique([row for row in rows if row.any()], axis=0)
        self.allowed = self.allowed[np.argsort(~self.allowed.all(axis=1), kind="stable")]

    def frames(self, number):
        """(N,) the frames that may be entered and that a limit allows."""
        return self._examples.free & (self._of_frame >= 0) & self.allowed[number][self._of_frame]

    def numbers(self, queries):
        """(Q,) which limit each tag query is; those that are new are added."""
        names, known = self._examples.tags, {row.tobytes(): number for number, row in enumerate(self.allowed)}
        found = {}
        for query in dict.fromkeys(queries):
            row = self._select(query, names)
            if row.tobytes() not in known:
                known[row.tobytes()] = len(self.allowed)
                self.allowed = np.concatenate([self.allowed, row[None]])
            found[query] = known[row.tobytes()]
        return np.array([found[query] for query in queries])

    def chosen(self, rng, frames):
        """(count,) a limit for each of some frames."""
        limits = rng.integers(0, len(self.allowed), len(frames))
        return np.where(rng.random(len(frames)) < UNLIMITED, 0, limits)

    def _select(self, query, names):
        combinations = self._examples.combinations[0]
        chosen = select(query, {name: combinations[:, column] for column, name in enumerate(names)}, len(combinations))
        return chosen if chosen.any() else np.ones(len(combinations), dtype=bool)


class _Pool:
    """Queries whose nearest frames are known, the oldest replaced first."""

    def __init__(self, stage):
        self._stage, self._count, self._at = stage, 0, 0
        device = stage.states.device
        self._queries = torch.empty((POOL, stage._size), device=device)
        self._limits, self._frames = torch.empty(POOL, dtype=torch.long), torch.empty(POOL, dtype=torch.long)
        self.renew(8 * BATCH, stage.rngs[0])

    def renew(self, count, rng):
        queries, limits = self._stage.queries(count, rng)
        frames = self._stage.nearest(queries, limits)
        where = torch.as_tensor((self._at + np.arange(count)) % POOL)
        self._queries[where] = torch.as_tensor(queries, device=self._queries.device)
        self._limits[where] = torch.as_tensor(limits)
        self._frames[where] = torch.as_tensor(frames)
        self._at, self._count = (self._at + count) % POOL, min(self._count + count, POOL)

    def some(self, count, rng):
        rows = torch.as_tensor(rng.integers(0, self._count, count))
        allowed = self._stage.limits.allowed[self._limits[rows].numpy()]
        return (self._queries[rows], torch.as_tensor(allowed, dtype=torch.float32, device=self._queries.device),
                self._frames[rows])
