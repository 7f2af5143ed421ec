# SPDX-License-Identifier: GPL-3.0-or-later
"""Matchers that play what networks have learned: DMM with the Decompressor, LMM with no database at all."""

from dataclasses import dataclass

import numpy as np

from ..matching.schema import weights_of
from ..motion import quat
from ..playback.matcher import MotionMatcher, Where
from ..playback.pose import Pose
from .network import Network
from .stepping import Stepping

# So many frames, an even number, are made at once: fewer than playback could look ahead, since each one costs, also if
# it is not played.
AT_ONCE = 10


class DecompressedMatcher(MotionMatcher):
    """Motion Matching as it is, but poses come from the Decompressor (section 4.1): of the database only its features
    are looked at, and latents take the place of its poses.
    """

    def __init__(self, motion, search, count, networks, states, frames=0):
        """states: (N, D + Z) features and latents of the database's frames."""
        super().__init__(motion, search, count, frames)
        self._states, self._networks = states, networks
        self._strip = Strip(networks, states[self.frames], self._following)

    def pose(self):
        return self._strip.pose()

    def contacts(self):
        return self._strip.contacts()

    def coming(self, who):
        return self._strip.coming(who)

    def advance(self):
        self._strip.advance()
        return super().advance()

    def match(self, who, queries, stay=0.0, must=None, fade=0.0):
        before = self.frames.copy()
        jumped = super().match(who, queries, stay, must)
        count, self.faded = fading_frames(self._networks, fade), ()
        if count and jumped:
            self.faded = jumped
            self._strip.fade(jumped, self._states[self.frames[jumped]], self._from(before[jumped], count))
        else:
            self._strip.put(jumped, self._states[self.frames[jumped]])
        return jumped

    def _following(self, who, _states):
        return self._from(self.frames[who], AT_ONCE + 1)[1:]

    def _from(self, frames, count):
        """(count, W, D + Z) of frames (W,) and those that follow them."""
        frames = [frames]
        for _ in range(count - 1):
            frames.append(self.motion.following[frames[-1]])
        return self._states[np.array(frames)]


class LearnedMatcher:
    """Learned Motion Matching (section 4): the Stepper goes on, the Projector jumps, the Decompressor shows it.

    Has what a MotionMatcher has; `frames` are -1, since there are none. What a character may play is not a Search but
    the combinations of tags (U,) that its query allows, as Networks.allowed() has them. The Projector is told which
    they are; what it answers is looked at with the tags that the Decompressor sees in it, and not taken if they are
    not allowed. So no motion begins that a query forbids, as far as tags are recognised.

    fade   seconds in which a jump goes over by a blend of latents; 0 where it is to be inertialised
    faded  indices of those that jumped so at the last search
    """

    fade, faded = 0.0, ()

    def __init__(self, networks, count=1, begin=None, step=1.0):
        """begin: features and latents (D + Z) or (K, D + Z), or None for those of the networks.
        step: how many frames of the data it goes on each time (section 7.1), which need not be whole."""
        self.networks, self._size = networks, networks.schema.size
        self.costs, self.frames, self.faded = np.zeros(count), np.full(count, -1), ()
        self.starved = self._nobody = np.zeros(count, dtype=bool)
        self._weights = weights_of(networks.schema).astype(np.float32)
        self._stepping = Stepping(networks.stepper, networks.limits, networks.stride, count)
        self._projector = Network(networks.projector, count)
        self._signs = np.where(networks.combinations, 1, -1).T.astype(np.float32)
        self.allowed = np.ones((count, len(networks.combinations)), dtype=np.float32)
        self._strict = np.zeros(count, dtype=bool)
        self._asks = np.empty((count, networks.projector.inputs), dtype=np.float32)
        begin = np.tile(networks.start, (count, 1)) if begin is None else begin
        self._strip = Strip(networks, begin, self._following, step)

    def allow(self, index, search, wanted=None):
        """search: the combinations of tags (U,) that a character may jump to; what it plays is left at the next search
        if it is none of those, where `wanted` is given."""
        self.allowed[index], self._strict[index] = search, wanted is not None

    def features(self):
        """(K, D) normalised features of what is playing."""
        return self._strip.states()[:, :self._size]

    def states(self):
        """(K, D + Z) features and latents of what is playing."""
        return self._strip.states()

    def where(self, index):
        state = self._strip.states()[index]
        return Where(state[:self._size], -1, state, self.networks)

    def pose(self):
        return self._strip.pose()

    def contacts(self):
        return self._strip.contacts()

    def coming(self, who):
        return self._strip.coming(who)

    def tags(self, index):
        """The names of the tags that hold for a character."""
        marks = self.networks.combinations[self._combinations(self._strip.shown())[index]]
        return tuple(name for name, set_ in zip(self.networks.tags, marks) if set_)

    def likely(self, index):
        """Tag → how likely it holds for a character, each by itself (section 5.5)."""
        return dict(zip(self.networks.tags, (1 / (1 + np.exp(-self._strip.shown([index]).tags[0]))).tolist()))

    def advance(self):
        """On by a step; nobody ever comes to an end."""
        self._strip.advance()
        return self._nobody

    def change_step(self, step):
        """From now on it goes on by so many frames of the data each time."""
        if step != self._strip.step:
            self._strip.forget(step)

    def match(self, who, queries, stay=0.0, must=None, fade=0.0):
        """The Projector's answer is taken where it is better than going on."""
        who, self.faded = np.asarray(who), ()
        answers = self._project(queries, self.allowed[who])
        self.costs[who] = going_on = self._cost(queries, self._strip.states()[who])
        costs = self._cost(queries, answers)
        better = costs < going_on * (1 - stay)
        if must is not None:
            better |= must
        if self._strict.any():
            better |= self._strict[who] & ~self._fits(self._strip.shown(who), who)
        if not better.any():
            return []
        shown = self._strip.poses.of(answers)
        better &= self._fits(shown, who)
        jumped = who[better]
        self.costs[jumped] = costs[better]
        count = fading_frames(self.networks, fade / self._strip.step)
        if count and len(jumped):
            self.faded = jumped.tolist()
            self._strip.fade(jumped, answers[better], self.predicted(jumped, count))
        else:
            self._strip.put(jumped, answers[better], shown.take(better))
        return jumped.tolist()

    def predicted(self, who, count):
        """(count, W, D + Z) the states of characters `who` (indices) in this frame and the next ones, if they go on.
        Stepper and data part with time: two seconds are worth looking at, with experts."""
        rows = [self._strip.states()[who][None]]
        while sum(map(len, rows)) < count:
            rows.append(self._following(who, rows[-1][-1]))
        return np.concatenate(rows)[:count]

    def _fits(self, shown, who):
        """(len(who),) whether the tags of what is shown are allowed to each."""
        return self.allowed[who, self._combinations(shown)] > 0

    def _combinations(self, shown):
        """(K,) the combination of tags that each one most likely has."""
        return shown.tags.dot(self._signs).argmax(axis=1)

    def _cost(self, queries, states):
        """Equation 1."""
        return (((queries - states[:, :self._size]) * self._weights) ** 2).sum(axis=1)

    def _project(self, queries, allowed):
        """(W, D + Z) what to jump to. The Projector's answer is a little off, and who goes on from it as it is jumps
        again and again, also where it is back in the same motion. The Stepper has learned to find back from there: the
        frame that it makes of the answer costs honestly. With it feet that step slide by a tenth less, and it jumps a
        fifth less often (docs/experts.md)."""
        asks = self._asks[:len(queries)]
        asks[:, :self._size], asks[:, self._size:] = queries, allowed
        return self._stepping.next(np.clip(self._projector(asks), *self.networks.limits))

    def _following(self, _who, states):
        return self._stepping(states, AT_ONCE, self._strip.step)


def fading_frames(networks, seconds):
    """How many frames a blend of latents takes; none with networks of the first model, whose encoder is not held to a
    Lipschitz bound: nothing promises that what lies between two of their poses is a pose (section 6.3)."""
    return round(seconds * networks.rate) if networks.model == "moe" else 0


class Strip:
    """The next frames that K characters play, decompressed several at once: a call of NumPy costs more than a few
    numbers more in it. They are worked out when somebody wants to know what comes.

    While a character fades from what it played before, what is shown lies between the two (equations 31 to 33).

    step  how many frames of the data lie between two of them
    """

    def __init__(self, networks, states, following, step=1.0):
        """states: (K, D + Z) to begin with; following(who, states): (AT_ONCE, W, D + Z) what comes after states
        (W, D + Z), of characters `who`."""
        self.poses, self._following, self.step = Poses(networks, len(states)), following, step
        shown = self.poses.of(np.asarray(states, dtype=np.float32))
        # Rows first. The last one is there to know how the one before moves; played it is as the first of the next.
        self._states = np.empty((AT_ONCE + 1, *states.shape), dtype=np.float32)
        self._shown = Shown(*(np.empty((AT_ONCE + 1, *part.shape), dtype=part.dtype) for part in shown.parts()))
        self._all = np.arange(len(states))
        self._at = np.zeros(len(states), dtype=np.int64)  # the row that is played
        self._alone = np.ones(len(states), dtype=bool)  # who has but one row
        self._old = {}  # of those who fade, what they played before: rows (F, D + Z), the first for row 0
        self._weights = {}  # of those who fade, how much of the new (F,) is in each of these
        self.put(self._all, states, shown)

    def put(self, who, states, shown=None):
        """Characters `who` (indices) play these states (W, D + Z) from now on."""
        for index in who if self._old else ():
            self._old.pop(int(index), None)
        self._begin(who, states, shown)

    def fade(self, who, states, old):
        """The same, but for some frames the new motion is mixed with the old one (F, W, D + Z), more and more."""
        shown, count = self.shown(who), len(old)
        share = np.linspace(0, 1, count, endpoint=False, dtype=np.float32)
        for column, index in enumerate(map(int, who)):
            # What was played may itself be a mixture: all are weighed together.
            mixed = self._mixed(index, old[:, column], self._at[index])
            self._old[index], self._weights[index] = mixed, share * share * (3 - 2 * share)
        self._begin(who, states, shown)

    def forget(self, step):
        """What comes, comes in steps of another length."""
        self.put(self._all, self.states(), self.shown())
        self.step = step

    def _begin(self, who, states, shown):
        if len(who):
            self._at[who], self._alone[who] = 0, True
            self._states[0, who] = states
            self._shown.put((0, who), shown or self.poses.of(self._states[0, who]))

    def _mixed(self, index, states, begin):
        """States (N, D + Z) of one character, from row `begin` on, as they are shown."""
        if index not in self._old:
            return states
        old, weights = self._old[index][begin:], self._weights[index][begin:]
        states, count = states.copy(), min(len(old), len(states))
        states[:count] = old[:count] + weights[:count, None] * (states[:count] - old[:count])
        return states

    def _go_round(self, who):
        """The last row is the first one of the next."""
        for index in map(int, who) if self._old else ():
            if index in self._old:
                self._old[index], self._weights[index] = self._old[index][AT_ONCE:], self._weights[index][AT_ONCE:]
                if not len(self._old[index]):
                    del self._old[index]
        self._begin(who, self._states[AT_ONCE, who], self._shown.take((AT_ONCE, who)))

    def advance(self):
        """One row on."""
        self._look_ahead(self._all)
        self._at += 1
        who = np.flatnonzero(self._at == AT_ONCE)
        if len(who):
            self._go_round(who)

    def states(self):
        """(K, D + Z) of what is played."""
        return self._states[self._at, self._all]

    def shown(self, who=None, after=0):
        """What characters `who` (indices) or all of them show now, or so many rows after."""
        who = self._all if who is None else who
        return self._shown.take((self._at[who] + after, who))

    def contacts(self):
        return self._shown.contacts[self._at, self._all].tolist()

    def pose(self):
        self._look_ahead(self._all)
        return self.poses.between(self.shown(), self.shown(after=1), self.step)

    def coming(self, who):
        """As MotionMatcher.coming()."""
        who = np.asarray(who)
        self._look_ahead(who)
        at = self._at[who, None]
        rows = at + np.arange(AT_ONCE - at.max())
        shown = self._shown
        return tuple(part[rows, who[:, None]] for part in (shown.positions, shown.rotations, shown.travel))

    def _look_ahead(self, who):
        who = who[self._alone[who]]
        if len(who):
            rows = self._following(who, self._states[0, who])
            self._states[1:, who] = rows
            for column, index in enumerate(map(int, who)) if self._old else ():
                rows[:, column] = self._mixed(index, rows[:, column], 1)
            shown = self.poses.of(rows.reshape(-1, rows.shape[-1]))
            self._shown.put((slice(1, None), who), shown.reshaped(AT_ONCE, len(who)))
            self._alone[who] = False


@dataclass(eq=False)
class Shown:
    """Decompressed states: what a Pose is made of, and the tags (…, T), above zero where one holds."""

    positions: np.ndarray
    rotations: np.ndarray
    travel: np.ndarray
    contacts: np.ndarray
    tags: np.ndarray

    def parts(self):
        return self.positions, self.rotations, self.travel, self.contacts, self.tags

    def take(self, index):
        return Shown(*(part[index] for part in self.parts()))

    def put(self, index, other):
        for part, new in zip(self.parts(), other.parts()):
            part[index] = new

    def reshaped(self, *shape):
        return Shown(*(part.reshape(*shape, *part.shape[1:]) for part in self.parts()))


class Poses:
    """Decompresses states: features and latents (K, D + Z)."""

    def __init__(self, networks, count=1):
        self._rate, self._layout = networks.rate, networks.layout
        self._network = Network(networks.decompressor, count * AT_ONCE)

    def of(self, states):
        layout, rows = self._layout, self._network(states)
        return Shown(layout.positions(rows).copy(), layout.rotations(rows), layout.travel(rows).copy(),
                     layout.contacts_of(rows), layout.tags_of(rows).copy())

    def between(self, now, following, step=1.0):
        """The Pose of what is shown now, with the velocities that lead to what follows after so many frames."""
        turns, rate = quat.absolute(quat.mul(following.rotations, quat.inv(now.rotations))), self._rate / step
        return Pose(now.positions, now.rotations, (following.positions - now.positions) * rate,
                    quat.to_scaled_angle_axis(turns) * rate, now.travel, now.contacts)
