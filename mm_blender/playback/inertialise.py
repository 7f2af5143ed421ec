# SPDX-License-Identifier: GPL-3.0-or-later
"""Inertialisation: a jump from one pose to another becomes an offset that decays, so nothing pops.

At a transition the offset is what was played minus what is played from now on, with its velocity; every frame it decays
and is laid over the new motion. Offsets of transitions that overlap are taken together, because what was played
already has the older offset in it.
"""

from dataclasses import dataclass

import numpy as np

from ..motion import quat, spring
from .pose import Pose

KINDS = ("spring", "quintic")


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
    """The offsets of K characters, all joints in one table: rotations, then positions, then the root's travel."""

    def __init__(self, pose: Pose, blend=None):
        self.blend = blend or Blend()
        self._joints, self._moving = pose.spins.shape[1], pose.positions.shape[1]
        shape = (len(pose.spins), self._joints + self._moving + 1, 3)
        self._state = np.zeros((2, *shape), dtype=np.float32)  # offsets and speeds
        # A quintic starts anew at each transition: how it started, and how long ago.
        self._start = self._state.copy()
        self._age = np.full((*shape[:2], 1), np.inf, dtype=np.float32)

    def transition(self, who, played: Pose, new: Pose, dt):
        """Characters `who` (a boolean or index array) jump: `played` is what they showed one step of dt before, `new`
        what the database has now. Both are compared one step before, where the old motion is known."""
        who = np.asarray(who)
        turns, places = slice(0, self._joints), slice(self._joints, -1)
        before = quat.mul(quat.from_scaled_angle_axis(new.spins[who] * -dt), new.rotations[who])
        offsets, speeds = self._state[:, who]
        offsets[:, turns] = quat.shortest_turn(before, played.rotations[who])
        offsets[:, places] = played.positions[who] - (new.positions[who] - new.velocities[who] * dt)
        offsets[:, -1] = played.travel[who] - new.travel[who]
        speeds[:, turns] = played.spins[who] - new.spins[who]
        speeds[:, places] = played.velocities[who] - new.velocities[who]
        speeds[:, -1] = 0
        self._begin((who,), offsets, speeds)

    def resume(self, who, joints, shown, shown_before, new: Pose, dt):
        """Some joints of one character jump: they were shown with other rotations than those that were played.

        shown, shown_before  (P, 4) one and two steps of dt ago
        new                  what the database has now, for all characters
        """
        spins, rotations = new.spins[who, joints], new.rotations[who, joints]
        before = quat.mul(quat.from_scaled_angle_axis(spins * -dt), rotations)
        self._begin((who, joints), quat.shortest_turn(before, shown),
                    quat.shortest_turn(shown_before, shown) / dt - spins)

    def _begin(self, which, offsets, speeds):
        if self.blend.kind == "spring" and not self.blend.overshoot:
            speeds = spring_speed_limit(offsets, speeds, self.blend.halflife)
        self._state[0][which], self._state[1][which] = offsets, speeds
        if self.blend.kind == "quintic":
            self._start[0][which], self._start[1][which] = offsets, speeds
            self._age[which] = 0

    def apply(self, pose: Pose, dt):
        """The pose with what is left of the offsets, after they have decayed for dt seconds."""
        blend = self.blend
        if blend.kind == "spring":
            self._state = spring.decayed(self._state, blend.halflife, dt)
        else:
            self._age += dt
            self._state = np.stack(quintic(*self._start, self._age, blend.duration, blend.overshoot))
        offsets, speeds = self._state
        turns, places = slice(0, self._joints), slice(self._joints, -1)
        return Pose(pose.positions + offsets[:, places],
                    quat.mul(quat.from_scaled_angle_axis(offsets[:, turns]), pose.rotations),
                    pose.velocities + speeds[:, places], pose.spins + speeds[:, turns],
                    pose.travel + offsets[:, -1], pose.contacts)


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
