# SPDX-License-Identifier: GPL-3.0-or-later
"""Matchers that play what networks have learned: DMM with the Decompressor, LMM with no database at all."""

import numpy as np

from ..motion import quat
from ..playback.matcher import MotionMatcher
from ..playback.pose import Pose
from .network import Network


class DecompressedMatcher(MotionMatcher):
    """Motion Matching as it is, but poses come from the Decompressor (section 4.1): of the database only its features
    are looked at, and latents (N, Z) take the place of its poses."""

    def __init__(self, motion, search, count, networks, latents, frames=0):
        super().__init__(motion, search, count, frames)
        self._poses = Poses(networks, count)
        self._states = np.concatenate([motion.database.features, latents], axis=1, dtype=np.float32)

    def pose(self):
        return self._poses.of(self._states[self.frames], self._states[self.motion.following[self.frames]])


class LearnedMatcher:
    """Learned Motion Matching (section 4): the Stepper goes on, the Projector jumps, the Decompressor shows it.

    Has what a MotionMatcher has; `frames` are -1, since there are none. What a character may play is not a Search but
    the combinations of tags (U,) that its query allows, as Networks.allowed() has them. The Projector is told which
    they are; what it answers is looked at with the tags that the Decompressor sees in it, and not taken if they are
    not allowed. So no motion begins that a query forbids, as far as tags are recognised.
    """

    def __init__(self, networks, count, weights, state=None):
        """weights: (D,) of the features, as a Search has them; state: (D + Z) to begin with, or None."""
        self.networks, self._size = networks, networks.schema.size
        self.costs, self.frames = np.zeros(count), np.full(count, -1)
        self.starved = np.zeros(count, dtype=bool)
        self._weights = np.asarray(weights, dtype=np.float32)
        self._poses = Poses(networks, count)
        self._stepper, self._projector = Network(networks.stepper, count), Network(networks.projector, count)
        self._signs = np.where(networks.combinations, 1, -1).T.astype(np.float32)
        self._allowed = np.ones((count, len(networks.combinations)), dtype=np.float32)
        self._strict = np.zeros(count, dtype=bool)
        # Features, latents and, last, how many frames a step takes: the Stepper's input as it is.
        self._now = np.ones((count, networks.stepper.inputs), dtype=np.float32)
        self._now[:, :-1] = self._project(np.zeros((count, self._size)), self._allowed) if state is None else state
        self._next = self._now.copy()
        self._step(self._now, self._next)

    def allow(self, index, allowed, wanted=None):
        """The combinations of tags (U,) that a character may jump to; what it plays is left at the next search if
        it is none of those, where `wanted` is given."""
        self._allowed[index], self._strict[index] = allowed, wanted is not None

    def features(self):
        """(K, D) normalised features of what is playing."""
        return self._now[:, :self._size].copy()

    def states(self):
        """(K, D + Z) features and latents of what is playing."""
        return self._now[:, :-1].copy()

    def pose(self):
        return self._poses.of(self._now[:, :-1], self._next[:, :-1])

    def tags(self):
        """For each character the names of the tags that hold."""
        marks = self.networks.combinations[self._poses.combinations(self._now[:, :-1], self._signs)]
        return [tuple(name for name, set_ in zip(self.networks.tags, row) if set_) for row in marks]

    def advance(self, step=1.0):
        """On by so many frames (section 7.1); nobody ever comes to an end."""
        if step != 1.0:
            self._now[:, -1] = step
            self._step(self._now, self._next)
        self._now, self._next = self._next, self._now
        self._step(self._now, self._next)
        return np.zeros(len(self.frames), dtype=bool)

    def match(self, who, queries, stay=0.0, must=None):
        """As MotionMatcher.match(): the Projector's answer is taken where it is better than going on."""
        who = np.asarray(who)
        going_on = self._now[who, :-1]
        answers = self._project(queries, self._allowed[who])
        self.costs[who] = costs = self._cost(queries, going_on)
        better = self._cost(queries, answers) < costs * (1 - stay)
        if must is not None:
            better |= must
        better |= self._strict[who] & ~self._fits(going_on, who)
        better &= self._fits(answers, who)
        jumped = who[better]
        if len(jumped):
            self.costs[jumped] = self._cost(queries[better], answers[better])
            self._now[jumped, :-1] = answers[better]
            self._next[jumped] = self._step(self._now[jumped], self._now[jumped])
        return jumped.tolist()

    def _fits(self, states, who):
        """(len(who),) whether the tags of states are allowed to each."""
        if self._signs.shape[1] == 1:
            return np.ones(len(who), dtype=bool)
        return self._allowed[who, self._poses.combinations(states, self._signs)] > 0

    def _cost(self, queries, states):
        """Equation 1."""
        return (((queries - states[:, :self._size]) * self._weights) ** 2).sum(axis=1)

    def _project(self, queries, allowed):
        rows = np.concatenate([queries, allowed], axis=1, dtype=np.float32)
        return np.clip(self._projector(rows), *self.networks.limits)

    def _step(self, now, after):
        """Writes the states that follow `now` into `after`; never out of what the data holds."""
        change = self._stepper(now)
        change *= now[:, -1:]
        np.add(now[:, :-1], change, out=after[:, :-1])
        np.clip(after[:, :-1], *self.networks.limits, out=after[:, :-1])
        after[:, -1] = 1
        return after


class Poses:
    """Decompresses states: features and latents (K, D + Z)."""

    def __init__(self, networks, count=1):
        self._rate, self._layout = networks.rate, networks.layout
        self._network = Network(networks.decompressor, 2 * count)

    def of(self, now, following):
        """The Pose of states, which moves towards that of the following ones."""
        layout, count = self._layout, len(now)
        rows = self._network(np.concatenate([now, following]))
        positions, rotations = layout.positions(rows), layout.rotations(rows)
        turns = quat.mul(rotations[count:], quat.inv(rotations[:count]))
        spins = quat.to_scaled_angle_axis(quat.absolute(turns)) * self._rate
        return Pose(positions[:count].copy(), rotations[:count], (positions[count:] - positions[:count]) * self._rate,
                    spins, layout.travel(rows[:count]).copy(), layout.contacts_of(rows[:count]))

    def combinations(self, states, signs):
        """(K,) which combination of tags each state is most likely of; signs (T, U): 1 where one has a tag, or -1."""
        return (self._layout.tags_of(self._network(states)) @ signs).argmax(axis=1)
