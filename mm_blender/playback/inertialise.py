# SPDX-License-Identifier: GPL-3.0-or-later
"""Inertialisation: a jump from one pose to another becomes an offset that decays, so nothing pops.

At a transition the offset is what was played minus what is played from now on, with its velocity; it decays and is laid
over the new motion. Offsets of transitions that overlap are taken together, because what was played already has the
older offset in it.
"""

from dataclasses import dataclass

import numpy as np

from ..motion import quat, spring
from .pose import Pose

KINDS = ("spring", "quintic")
# So many tables of what decays how are kept ready.
READY = 32


@dataclass(frozen=True)
class Blend:
    """How a transition is smoothed.

    kind       "spring": soon and soft; "quintic": done after a fixed time
    halflife   seconds in which half of a spring's offset is gone
    duration   seconds after which nothing is left of a quintic's offset
    overshoot  whether a fast motion may swing past the new pose before it settles; where it may not, it is stopped
    """

    kind: str = "spring"
    halflife: float = 0.1
    duration: float = 0.4
    overshoot: bool = True


class Inertia:
    """The offsets of K characters, all joints in one table: rotations, then positions, then the root's travel.

    slower  (J,) how many times longer the rotation of each joint takes along a spring than the Blend says
    """

    def __init__(self, pose: Pose, blend=None, slower=None):
        self.blend = blend or Blend()
        self._joints, self._moving = pose.rotations.shape[1], pose.positions.shape[1]
        self._slower = np.ones((self._joints + self._moving + 1, 1))
        self._slower[:self._joints, 0] = 1.0 if slower is None else slower
        self._decays = {}  # of half-life, step and how many steps
        shape = (len(pose.rotations), self._joints + self._moving + 1, 3)
        self._state = np.zeros((2, *shape), dtype=np.float32)  # offsets and speeds
        # A quintic starts anew at each transition: how it started, and how long ago.
        self._start = self._state.copy()
        self._age = np.full((*shape[:2], 1), np.inf, dtype=np.float32)

    def transition(self, who, last: Pose, earlier: Pose, new: Pose, dt):
        """Characters `who` (a boolean or index array) jump: `new` is what the database has now, `last` and `earlier`
        what was played one and two steps of dt before."""
        who = np.asarray(who)
        turns, places = slice(0, self._joints), slice(self._joints, -1)
        offsets, speeds = self._state[:, who]
        offsets[:, turns], speeds[:, turns] = _turns(last.rotations[who], earlier.rotations[who], new.rotations[who],
                                                     new.spins[who], dt)
        offsets[:, places] = last.positions[who] - (new.positions[who] - new.velocities[who] * dt)
        speeds[:, places] = (last.positions[who] - earlier.positions[who]) / dt - new.velocities[who]
        offsets[:, -1], speeds[:, -1] = last.travel[who] - new.travel[who], 0
        self._begin((who,), offsets, speeds)

    def resume(self, who, joints, shown, shown_before, new: Pose, dt):
        """Some joints of one character jump: they were shown with other rotations than those that were played.

        shown, shown_before  (P, 4) one and two steps of dt ago
        new                  what the database has now, for all characters
        """
        self._begin((who, joints), *_turns(shown, shown_before, new.rotations[who, joints], new.spins[who, joints], dt))

    def _begin(self, which, offsets, speeds):
        if self.blend.kind == "spring" and not self.blend.overshoot:
            speeds = spring_speed_limit(offsets, speeds, self.blend.halflife * self._slower[which[1:]])
        self._state[0][which], self._state[1][which] = offsets, speeds
        if self.blend.kind == "quintic":
            self._start[0][which], self._start[1][which] = offsets, speeds
            self._age[which] = 0

    def go_on(self, who, steps, dt):
        """Characters `who` (indices) have played so many steps of dt each."""
        if self.blend.kind == "spring":
            decay = self._decay(max(steps), dt)[:, :, steps]
            self._state[:, who] = (decay * self._state[:, who]).sum(axis=1)
        else:
            self._age[who] += np.float32(dt) * np.reshape(steps, (-1, 1, 1))
            self._state[:, who] = quintic(*self._start[:, who], self._age[who], self.blend.duration,
                                          self.blend.overshoot)

    def over(self, who, positions, rotations, travel, dt):
        """What characters `who` (indices) would play, (W, N, …) in the next N steps of dt, as the motion has it: with
        what is left of their offsets by then."""
        count = travel.shape[1]
        if self.blend.kind == "spring":
            offset, speed = self._state[:, who, None]
            left, grown = self._decay(count, dt)[0, :, 1:]
            offsets = left * offset + grown * speed
        else:
            ages = self._age[who, None] + (dt * np.arange(1, count + 1, dtype=np.float32))[:, None, None]
            offsets = quintic(*self._start[:, who, None], ages, self.blend.duration, self.blend.overshoot)[0]
        turns = quat.from_scaled_angle_axis(offsets[:, :, :self._joints])
        return (positions + offsets[:, :, self._joints:-1], quat.mul(turns, rotations),
                travel + offsets[:, :, -1])

    def _decay(self, count, dt):
        """(2, 2, count + 1, J + M + 1, 3) what becomes of offsets and speeds within none to count steps of dt."""
        key = self.blend.halflife, dt, count
        if key not in self._decays:
            times = dt * np.arange(count + 1)[:, None, None]
            ends = [spring.decay(*begin, self.blend.halflife * self._slower, times) for begin in np.eye(2)]
            self._decays = self._decays if len(self._decays) < READY else {}
            self._decays[key] = np.repeat(np.array(ends, dtype=np.float32).swapaxes(0, 1), 3, axis=-1)
        return self._decays[key]


def _turns(shown, shown_before, rotations, spins, dt):
    """Offset and speed (…, 3) of what was shown one and two steps of dt ago to a motion that is at these rotations now.

    The speed is taken between the two offsets: where they are large, spins of two motions cannot be subtracted.
    """
    step = quat.from_scaled_angle_axis(spins * -dt)
    before = quat.mul(step, rotations)
    now, then = quat.mul(shown, quat.inv(before)), quat.mul(shown_before, quat.inv(quat.mul(step, before)))
    now = quat.absolute(now)
    then = np.where((now * then).sum(-1, keepdims=True) < 0, -then, then)
    offset = quat.to_scaled_angle_axis(now)
    return offset, (offset - quat.to_scaled_angle_axis(then)) / dt


def quintic(x0, v0, t, duration, overshoot=True):
    """Offset and velocity at the time t of a polynomial that starts with x0 and v0 and has come to rest at zero after
    `duration`: equations of section 3.4 of Motion Matching for Digital Humans, for each number by itself.

    The start acceleration is zero, as the paper has it, unless the polynomial would then pass zero on its way. Without
    overshoot the time is limited to -5 x0 / v0, as there; an offset that first grows keeps its velocity, since a
    velocity that is dropped is a pop.
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
