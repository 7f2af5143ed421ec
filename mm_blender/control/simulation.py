# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated root: a point that springs towards what the person wants, and where it will be.

All arrays begin with the number of characters K, so that a crowd costs little more than one.
"""

import numpy as np

from ..motion import spring

# Half-lives in seconds: how soon the velocity and the facing reach what is wanted.
VELOCITY, FACING = 0.16, 0.22


class Simulation:
    """positions (K, 2), velocities (K, 2), yaws (K,) of the simulated roots, and the paths that they took."""

    def __init__(self, count, step, memory=1.0):
        self.step_time = step
        self.positions, self.velocities, self.accelerations = (np.zeros((count, 2)) for _ in range(3))
        self.yaws, self.spins = np.zeros(count), np.zeros(count)
        kept = int(np.ceil(memory / step)) + 2
        self._path = np.zeros((kept, count, 3))  # x, y, yaw; newest first

    def place(self, positions, yaws):
        """Put the roots somewhere, at rest, as if they had always been there."""
        self.positions[:], self.yaws[:] = positions, yaws
        for moving in (self.velocities, self.accelerations, self.spins):
            moving[:] = 0
        self._path[:] = self._now()

    def step(self, velocities, yaws, halflife=(VELOCITY, FACING)):
        """Go on by one step towards wanted velocities (K, 2) and yaws (K,)."""
        dt = self.step_time
        self.positions, self.velocities, self.accelerations = spring.velocity_towards(
            self.positions, self.velocities, self.accelerations, velocities, halflife[0], dt)
        goals = self.yaws + wrapped(yaws - self.yaws)
        self.yaws, self.spins = spring.towards(self.yaws, self.spins, goals, halflife[1], dt)
        self._path[1:] = self._path[:-1]
        self._path[0] = self._now()

    def at(self, times, velocities, yaws, halflife=(VELOCITY, FACING)):
        """Positions (K, T, 2) and yaws (K, T) at times (T,) from now: ahead if the wish stays, behind as it was."""
        times = np.asarray(times, dtype=np.float64)
        ahead = np.maximum(times, 0)[None, :, None]
        positions, _, _ = spring.velocity_towards(
            self.positions[:, None], self.velocities[:, None], self.accelerations[:, None], velocities[:, None],
            halflife[0], ahead)
        goals = (self.yaws + wrapped(yaws - self.yaws))[:, None]
        angles, _ = spring.towards(self.yaws[:, None], self.spins[:, None], goals, halflife[1], ahead[..., 0])
        if (past := times < 0).any():
            behind = self._before(-times[past])
            positions[:, past], angles[:, past] = behind[..., :2], behind[..., 2]
        return positions, angles

    def _before(self, ages):
        at = np.clip(ages / self.step_time, 0, len(self._path) - 1.001)
        low = at.astype(int)
        part = (at - low)[:, None, None]
        return ((1 - part) * self._path[low] + part * self._path[low + 1]).swapaxes(0, 1)

    def _now(self):
        return np.concatenate([self.positions, self.yaws[:, None]], axis=-1)


def wrapped(angles):
    """The same angles in ±π."""
    return (angles + np.pi) % (2 * np.pi) - np.pi
