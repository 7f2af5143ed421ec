# SPDX-License-Identifier: GPL-3.0-or-later
"""Inertialisation: a jump from one pose to another becomes an offset that decays, so nothing pops.

At a transition the offset is what was played minus what is played from now on, with its velocity; it decays and is laid
over the new motion. Offsets of transitions that overlap are taken together, because what was played already has the
older offset in it.

Equations 3.29 to 3.32 of Motion Matching for Character Animation and Virtual Reality Avatars in Unity, with two
departures. Offsets of rotations turn in the parent's frame, d t instead of t d, as the velocities of a Pose do. And the
speed of an offset is how it changed in the last step, not the difference of two angular velocities (3.30): that is no
speed of the way between two rotations which are far apart.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from ..motion import quat, spring
from .pose import Pose

KINDS = ("spring", "quintic")  # of offsets


@dataclass(frozen=True)
class Blend:
    """How a transition is smoothed.

    kind       "spring": soon and soft; "quintic": done after a fixed time; "latent": by poses that lie
               between the two, as networks know them, and a spring for what has no latents
    halflife   seconds in which half of a spring's offset is gone
    duration   seconds after which nothing is left of a quintic's offset
    overshoot  whether a fast motion may swing past the new pose before it settles; where it may not, it is stopped
    fade       seconds that a blend of latents takes
    """

    kind: str = "spring"
    halflife: float = 0.1
    duration: float = 0.4
    overshoot: bool = True
    fade: float = 0.3

    @cached_property
    def of_offsets(self):
        """What is laid over the motion."""
        return replace(self, kind="spring") if self.kind == "latent" else self

    @property
    def of_latents(self):
        """Seconds that a blend of latents is to take; 0 where there is to be none."""
        return self.fade if self.kind == "latent" else 0.0


class Inertia:
    """The offsets of K characters, all joints in one table: rotations, then positions, then the root's travel.

    Offsets of rotations are quaternions' logarithms, half of the scaled angle axis.

    slower  (J,) how many times longer the rotation of each joint takes along a spring than the Blend says
    """

    def __init__(self, pose: Pose, blend=None, slower=None):
        self.blend = blend or Blend()
        self._joints, self._moving = pose.rotations.shape[1], pose.positions.shape[1]
        self._all = np.arange(self._joints + self._moving + 1)[:, None]
        self._slower = np.ones(len(self._all))
        self._slower[:self._joints] = 1.0 if slower is None else slower
        # Joints that are equally slow are a group. Offset and speed of a joint are in the columns of its group, with
        # zeros in those of the others: so what becomes of all of them is a single product.
        self._paces, self._longest = tuple(np.unique(self._slower).tolist()), 1
        self._groups = (self._slower[:, None] == self._paces).astype(np.float32)[..., None]  # (P, G, 1)
        # x, y and z come first, and then characters: what is worked out at once lies together.
        shape = (3, self._joints + self._moving + 1, len(pose.rotations))
        self._state = np.zeros((*shape, 2 * len(self._paces)), dtype=np.float32)
        # A quintic starts anew at each transition: how it started, offsets and speeds, and how long ago.
        self._start = np.zeros((2, *shape), dtype=np.float32)
        self._age = np.full(shape[1:], np.inf, dtype=np.float32)

    def change(self, blend):
        """Another Blend from now on. A quintic, which has a beginning, begins with what is left of the offsets."""
        if blend.kind == "quintic":
            groups = self._state.reshape(*self._state.shape[:-1], -1, 2)
            self._start[:], self._age[:] = np.moveaxis(groups.sum(axis=-2), -1, 0), 0
        self.blend = blend

    def transition(self, who, rotations, positions, travel, new: Pose, dt):
        """Characters `who` (indices) jump.

        rotations, positions, travel  what they played two and one steps of dt ago, (W, 2, …)
        new                           what the database has for them now
        """
        state = np.zeros((3, len(self._all), len(who), 2), dtype=np.float32)
        state[:, :self._joints, :, 0], state[:, :self._joints, :, 1] = _turns(rotations, new.rotations, new.spins, dt)
        earlier, last = positions.swapaxes(0, 1)
        state[:, self._joints:-1, :, 0] = (last - (new.positions - new.velocities * dt)).T
        state[:, self._joints:-1, :, 1] = ((last - earlier) / dt - new.velocities).T
        state[:, -1, :, 0] = (travel[:, 1] - new.travel).T
        self._begin(self._all, who, state)

    def resume(self, who, joints, shown, new: Pose, dt):
        """Some joints of a character jump: they were shown with other rotations than those that were played.

        shown  (2, P, 4) two and one steps of dt ago
        new    what the database has now, for all characters
        """
        turns = _turns(shown[None], new.rotations[None, who, joints], new.spins[None, who, joints], dt)
        self._begin(joints[:, None], [who], np.stack(turns, axis=-1))

    def _begin(self, joints, who, state):
        """Offsets and speeds (3, P, W, 2) of some joints (P, 1) of characters `who` (indices)."""
        if self.blend.kind == "spring" and not self.blend.overshoot:
            state[..., 1] = spring_speed_limit(state[..., 0], state[..., 1], self.blend.halflife * self._slower[joints])
        self._put(joints, who, state)
        if self.blend.kind == "quintic":
            self._start[:, :, joints, who] = state.transpose(3, 0, 1, 2)
            self._age[joints, who] = 0

    def _put(self, joints, who, state):
        """Offsets and speeds, as _begin() has them, into the columns of their groups."""
        columns = self._groups[joints] * state[..., None, :]
        self._state[:, joints, who] = columns.reshape(*columns.shape[:3], -1)

    def go_on(self, who, steps, dt):
        """Characters `who` (indices) have played so many steps of dt each."""
        for index, count in zip(who, steps):
            if self.blend.kind == "spring":
                self._state[:, :, index] = self._state[:, :, index] @ self._decay(count, dt)[0][count]
            else:
                self._age[:, index] += np.float32(dt) * count
                state = np.stack(quintic(*self._start[..., index], self._age[:, index], self.blend.duration,
                                         self.blend.overshoot), axis=-1)
                self._put(self._all, [index], state[:, :, None])

    def over(self, who, positions, rotations, travel, dt):
        """What characters `who` (indices) would play, (W, N, …) in the next N steps of dt, as the motion has it: with
        what is left of their offsets by then."""
        count = travel.shape[1]
        if self.blend.kind == "spring":
            state = self._state.take(who, axis=2)
            offsets = state.reshape(-1, state.shape[-1]).dot(self._decay(count, dt)[1][:, :count])
            offsets = offsets.reshape(*state.shape[:-1], count)
        else:
            ages = self._age[:, who, None] + dt * np.arange(1, count + 1, dtype=np.float32)
            offsets = quintic(*self._start[..., who, None], ages, self.blend.duration, self.blend.overshoot)[0]
        turned = quat.mul(quat.exp(offsets[:, :self._joints], axis=0),
                          np.ascontiguousarray(rotations.transpose(3, 2, 0, 1)), axis=0)
        return (positions + offsets[:, self._joints:-1].transpose(2, 3, 1, 0), turned.transpose(2, 3, 1, 0),
                travel + offsets[:, -1].transpose(1, 2, 0))

    def _decay(self, count, dt):
        """_decay_of() for at least so many steps of dt."""
        self._longest = max(self._longest, count)
        return _decay_of(self._paces, self.blend.halflife, dt, self._longest)


@lru_cache(maxsize=32)
def _decay_of(paces, halflife, dt, count):
    """What becomes of the columns of a state whose groups have these paces (G,) within steps of dt: (count + 1, 2 G,
    2 G) after none to count, and the offsets alone, (2 G, count), after one to count."""
    after = np.zeros((count + 1, 2 * len(paces), 2 * len(paces)), dtype=np.float32)
    for group, pace in enumerate(paces):
        part = slice(2 * group, 2 * group + 2)
        ends = [spring.decay(*begin, halflife * pace, dt * np.arange(count + 1)) for begin in np.eye(2)]
        after[:, part, part] = np.array(ends).transpose(2, 0, 1)
    return after, after[1:, :, ::2].sum(axis=-1).T.copy()


# What a quaternion's components are multiplied with for the opposite rotation; and how many halves of dt ago it was.
_OPPOSITE = np.array([1, -1, -1, -1], dtype=np.float32).reshape(4, 1, 1)
_AGO = np.array([2, 1], dtype=np.float32).reshape(2, 1, 1)


def _turns(shown, rotations, spins, dt):
    """Offsets and speeds, each (3, P, W), half angles, of what W characters showed two and one steps of dt ago,
    (W, 2, P, 4), to a motion that is at these rotations (W, P, 4) now.

    Both are equation 3.29, one step apart; equation 3.30 is their difference.
    """
    # Components first, then two and one steps ago: what was shown, after taking back where the motion was then.
    back = np.multiply(rotations.T, _OPPOSITE, order="C")[:, None]
    ahead = np.multiply(spins.T[:, None], _AGO * np.float32(dt / 2), order="C")
    turns = np.ascontiguousarray(shown.transpose(3, 1, 2, 0))
    turns = quat.mul(quat.mul(turns, back, axis=0), quat.exp(ahead, axis=0), axis=0)
    then, now = turns[:, 0], turns[:, 1]
    now *= np.copysign(1, now[0])
    then *= np.copysign(1, np.add.reduce(now * then))
    before, found = quat.log(turns, axis=0).swapaxes(0, 1)
    return found, (found - before) / dt


def quintic(x0, v0, t, duration, overshoot=True):
    """Offset and velocity at the time t of a polynomial that starts with x0 and v0 and has come to rest at zero after
    `duration`: the equations of section 3.4 of Motion Matching for Responsive Animation for Digital Humans with their
    names, for each number by itself and not along the offset.

    Without overshoot the time t1 is limited to -5 x0 / v0, as there. Two things differ. An offset that first grows
    keeps its velocity, since a velocity that is dropped is a pop. And a0 has t1 where Δt is printed: with that of a
    frame it would be hundreds of times what the polynomial can take back.
    """
    t1 = np.full_like(x0, duration)
    if not overshoot:
        back = x0 * v0 < 0
        t1 = np.where(back, np.minimum(-5 * x0 / np.where(back, v0, 1), duration), duration)
        v0 = np.where((x0 == 0) | (t1 < 1e-3), 0, v0)
        t1 = np.maximum(t1, 1e-3)
    a0 = (-8 * v0 * t1 - 20 * x0) / t1 ** 2
    a0 = np.where(a0 * v0 < 0, np.where(a0 * x0 > 0, a0, 0), 0)
    a = -(a0 * t1 ** 2 + 6 * v0 * t1 + 12 * x0) / (2 * t1 ** 5)
    b = (3 * a0 * t1 ** 2 + 16 * v0 * t1 + 30 * x0) / (2 * t1 ** 4)
    c = -(3 * a0 * t1 ** 2 + 12 * v0 * t1 + 20 * x0) / (2 * t1 ** 3)
    t = np.minimum(t, t1)
    offset = ((((a * t + b) * t + c) * t + a0 / 2) * t + v0) * t + x0
    speed = (((5 * a * t + 4 * b) * t + 3 * c) * t + a0) * t + v0
    over = t >= t1
    return np.where(over, 0, offset), np.where(over, 0, speed)


def spring_speed_limit(x0, v0, halflife):
    """The speed v0, no faster towards zero than a critically damped spring can stop without passing it."""
    most = np.abs(x0) * (spring.damping(halflife) / 2)
    return np.where(x0 > 0, np.maximum(v0, -most), np.minimum(v0, most))
