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
        # Springs are linear: a step is one product with all that they depend on, the wish included.
        self._moves, self._turns = np.zeros((4, count, 2)), np.zeros((3, count))
        self.positions, self.velocities, self.accelerations, self._wish = self._moves
        self.yaws, self.spins, self._wanted_yaws = self._turns
        kept = int(np.ceil(memory / step)) + 2
        self._path, self._newest = np.zeros((kept, count, 3)), 0  # a ring of x, y, yaw; older ones follow the newest

    def place(self, positions, yaws):
        """Put the roots somewhere, at rest, as if they had always been there."""
        self._moves[:], self._turns[:] = 0, 0
        self.positions[:], self.yaws[:] = positions, yaws
        self._path[..., :2], self._path[..., 2] = self.positions, self.yaws

    def step(self, velocities, yaws, halflife=(VELOCITY, FACING)):
        """Go on by one step towards wanted velocities (K, 2) and yaws (K,)."""
        self._want(velocities, yaws)
        self._moves[:3] = _product(spring.velocity_step(halflife[0], self.step_time), self._moves)
        self._turns[:2] = spring.towards_step(halflife[1], self.step_time).dot(self._turns)
        self._newest = (self._newest or len(self._path)) - 1
        now = self._path[self._newest]
        now[:, :2], now[:, 2] = self.positions, self.yaws

    def at(self, times, velocities, yaws, halflife=(VELOCITY, FACING)):
        """Positions (K, T, 2) and yaws (K, T) at times (T,) from now: ahead if the wish stays, behind as it was."""
        self._want(velocities, yaws)
        times = np.asarray(times, dtype=np.float64)
        ahead = tuple(np.maximum(times, 0).tolist())
        positions = _product(spring.velocity_step(halflife[0], ahead)[:, 0], self._moves).swapaxes(0, 1)
        angles = spring.towards_step(halflife[1], ahead)[:, 0].dot(self._turns).T
        if (past := times < 0).any():
            behind = self._before(-times[past])
            positions[:, past], angles[:, past] = behind[..., :2], behind[..., 2]
        return positions, angles

    def _want(self, velocities, yaws):
        self._wish[:] = velocities
        np.add(self.yaws, wrapped(yaws - self.yaws), out=self._wanted_yaws)

    def _before(self, ages):
        at = np.clip(ages / self.step_time, 0, len(self._path) - 1.001)
        low = at.astype(int)
        part = (at - low)[:, None, None]
        newer, older = ((self._newest + low + more) % len(self._path) for more in (0, 1))
        return ((1 - part) * self._path[newer] + part * self._path[older]).swapaxes(0, 1)


def wrapped(angles):
    """The same angles in ±π."""
    return (angles + np.pi) % (2 * np.pi) - np.pi


def _product(matrix, state):
    """A matrix (R, S) times a state (S, K, 2)."""
    return matrix.dot(state.reshape(len(state), -1)).reshape(len(matrix), *state.shape[1:])
