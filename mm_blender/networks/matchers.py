# SPDX-License-Identifier: GPL-3.0-or-later
"""Matchers that play what networks have learned: DMM with the Decompressor, LMM with no database at all."""

from dataclasses import dataclass

import numpy as np

from ..matching.schema import weights_of
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
        now, after = self.frames, self.motion.following[self.frames]
        return self._poses.between(*(self._poses.of(self._states[frames]) for frames in (now, after)))

    def contacts(self):
        return self._poses.of(self._states[self.frames]).contacts.tolist()

    def coming(self, who):
        return self._poses.of(self._states[self.frames[who]]).alone()


class LearnedMatcher:
    """Learned Motion Matching (section 4): the Stepper goes on, the Projector jumps, the Decompressor shows it.

    Has what a MotionMatcher has; `frames` are -1, since there are none. What a character may play is not a Search but
    the combinations of tags (U,) that its query allows, as Networks.allowed() has them. The Projector is told which
    they are; what it answers is looked at with the tags that the Decompressor sees in it, and not taken if they are
    not allowed. So no motion begins that a query forbids, as far as tags are recognised.
    """

    def __init__(self, networks, count=1, state=None):
        """state: features and latents (D + Z) or (K, D + Z) to begin with, or None for those of the networks."""
        self.networks, self._size = networks, networks.schema.size
        self.costs, self.frames = np.zeros(count), np.full(count, -1)
        self.starved = np.zeros(count, dtype=bool)
        self._weights = weights_of(networks.schema).astype(np.float32)
        self._poses = Poses(networks, count)
        self._stepper, self._projector = Network(networks.stepper, count), Network(networks.projector, count)
        self._signs = np.where(networks.combinations, 1, -1).T.astype(np.float32)
        self._allowed = np.ones((count, len(networks.combinations)), dtype=np.float32)
        self._strict = np.zeros(count, dtype=bool)
        # Features, latents and, last, how many frames a step takes: the Stepper's input as it is.
        self._now = np.ones((count, networks.stepper.inputs), dtype=np.float32)
        self._now[:, :-1] = networks.start if state is None else state
        self._next = self._step(self._now, self._now.copy())
        # What they look like. The next one is shown in the next frame: so each is decompressed once.
        self._shown, self._coming = (self._poses.of(states[:, :-1]) for states in (self._now, self._next))

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
        return self._poses.between(self._shown, self._coming)

    def contacts(self):
        return self._shown.contacts.tolist()

    def coming(self, who):
        """As MotionMatcher.coming(): only this frame is known."""
        return self._shown.take(who).alone()

    def tags(self):
        """For each character the names of the tags that hold."""
        marks = self.networks.combinations[self._combinations(self._shown)]
        return [tuple(name for name, set_ in zip(self.networks.tags, row) if set_) for row in marks]

    def advance(self, step=1.0):
        """On by so many frames (section 7.1); nobody ever comes to an end."""
        if step != 1.0:
            self._now[:, -1] = step
            self._coming = self._poses.of(self._step(self._now, self._next)[:, :-1])
        self._now, self._next = self._next, self._now
        self._shown, self._coming = self._coming, self._poses.of(self._step(self._now, self._next)[:, :-1])
        return np.zeros(len(self.frames), dtype=bool)

    def match(self, who, queries, stay=0.0, must=None):
        """As MotionMatcher.match(): the Projector's answer is taken where it is better than going on."""
        who = np.asarray(who)
        answers = self._project(queries, self._allowed[who])
        self.costs[who] = going_on = self._cost(queries, self._now[who, :-1])
        costs = self._cost(queries, answers)
        better = costs < going_on * (1 - stay)
        if must is not None:
            better |= must
        better |= self._strict[who] & ~self._fits(self._shown.take(who), who)
        if not better.any():
            return []
        shown = self._poses.of(answers)
        better &= self._fits(shown, who)
        jumped = who[better]
        self.costs[jumped], self._now[jumped, :-1] = costs[better], answers[better]
        self._next[jumped] = after = self._step(self._now[jumped], self._now[jumped])
        self._shown.put(jumped, shown.take(better))
        self._coming.put(jumped, self._poses.of(after[:, :-1]))
        return jumped.tolist()

    def _fits(self, shown, who):
        """(len(who),) whether the tags of what is shown are allowed to each."""
        return self._allowed[who, self._combinations(shown)] > 0

    def _combinations(self, shown):
        """(K,) the combination of tags that each one most likely has."""
        return shown.tags.dot(self._signs).argmax(axis=1)

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


@dataclass(eq=False)
class Shown:
    """Decompressed states: what a Pose is made of, and the tags (K, T), above zero where one holds."""

    positions: np.ndarray
    rotations: np.ndarray
    travel: np.ndarray
    contacts: np.ndarray
    tags: np.ndarray

    def take(self, who):
        return Shown(*(part[who] for part in vars(self).values()))

    def alone(self):
        """Positions, rotations and travel of a single frame, (K, 1, …)."""
        return self.positions[:, None], self.rotations[:, None], self.travel[:, None]

    def put(self, who, other):
        for name, part in vars(self).items():
            part[who] = getattr(other, name)


class Poses:
    """Decompresses states: features and latents (K, D + Z)."""

    def __init__(self, networks, count=1):
        self._rate, self._layout = networks.rate, networks.layout
        self._network = Network(networks.decompressor, count)

    def of(self, states):
        layout, rows = self._layout, self._network(states)
        return Shown(layout.positions(rows).copy(), layout.rotations(rows), layout.travel(rows).copy(),
                     layout.contacts_of(rows), layout.tags_of(rows).copy())

    def between(self, now, following):
        """The Pose of what is shown now, with the velocities that lead to the following frame."""
        turns = quat.absolute(quat.mul(following.rotations, quat.inv(now.rotations)))
        return Pose(now.positions.copy(), now.rotations.copy(), (following.positions - now.positions) * self._rate,
                    quat.to_scaled_angle_axis(turns) * self._rate, now.travel.copy(), now.contacts.copy())
