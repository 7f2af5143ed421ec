# SPDX-License-Identifier: GPL-3.0-or-later
"""Going on without a database: the Stepper is asked again and again, with its own answers."""

from functools import cache

import numpy as np

from .network import Network

# A Stepper learns to go on by so few and so many frames at once (section 7.1 of Learned Motion Matching).
REACHES = 0.4, 2.5
# How much of the states around it is in one in the middle of two: a cubic goes through four, at either end a parabola
# through three.
INNER, FIRST, LAST = np.array([-1, 9, 9, -1]) / 16, np.array([3, 6, -1]) / 8, np.array([-1, 6, 3]) / 8
# Where two of these meet there is a bend, which is seen as a jolt where the Stepper finds back from what the Projector
# has answered. So each frame is that of the parabola which is nearest to five frames: it in their middle, or beside it.
SMOOTH, BESIDE = np.array([-3, 12, 17, 12, -3]) / 35, np.array([9, 13, 12, 6, -5]) / 35


class Stepping:
    """What follows states (K, D + Z): features and latents.

    Where a Stepper goes on by two frames at once, those between are seen from the ones around them: half of the work,
    and it errs half as often.
    """

    def __init__(self, weights, limits, stride=1, count=1):
        """limits: (2, D + Z) states never leave; stride: frames that the Stepper goes on by, 1 or 2; count: rows for
        which memory is made ready."""
        self._network, self._limits, self._stride = Network(weights, count), limits, stride
        self._known = np.empty((count, weights.inputs), dtype=np.float32)

    def __call__(self, states, count, step=1.0):
        """(count, K, D + Z) the next ones, each a step of so many frames on; an even count."""
        rows = np.empty((count, *states.shape), dtype=np.float32)
        if self._stride == 1 or step * self._stride > REACHES[1]:
            self._go_on(states, rows, step)
        else:
            self._go_on(states, rows[1::2], 2 * step)
            known = np.concatenate([states[None], rows[1::2]])
            rows[:] = self._within(np.tensordot(_frames_of(count // 2), known, 1))
        return rows

    def next(self, states):
        """(K, D + Z) the frame that follows, by itself."""
        rows = np.empty((1, *states.shape), dtype=np.float32)
        self._go_on(states, rows, 1.0)
        return rows[0]

    def _go_on(self, states, rows, step):
        """Into rows what follows states, step by step."""
        if len(states) > len(self._known):
            self._known = np.empty((len(states), self._known.shape[1]), dtype=np.float32)
        known = self._known[:len(states)]
        known[:, -1] = step
        for row in rows:
            known[:, :-1] = states
            change = self._network(known)
            change *= np.float32(step)
            states = self._within(np.add(states, change, out=row))

    def _within(self, states):
        """States, changed: never out of what the data holds."""
        least, most = self._limits
        return np.minimum(np.maximum(states, least, out=states), most, out=states)


@cache
def _frames_of(count):
    """(2 count, count + 1) what makes all frames of the one before so many states, which are two frames apart, and
    these; the last frame is the last state."""
    states = np.zeros((2 * count + 1, count + 1))
    states[::2], states[1::2] = np.eye(count + 1), _between(count)
    frames = states.copy()
    if count > 1:
        frames[2:-2] = sum(share * states[at:at + 2 * count - 3] for at, share in enumerate(SMOOTH))
        frames[1], frames[-2] = BESIDE @ states[:5], BESIDE[::-1] @ states[-5:]
    return frames[1:].astype(np.float32)


def _between(count):
    """(count, count + 1) what makes those between of so many states and the one before them."""
    shares = np.zeros((count, count + 1), dtype=np.float32)
    if count == 1:
        shares[:] = 0.5
        return shares
    shares[0, :3], shares[-1, -3:] = FIRST, LAST
    for row in range(1, count - 1):
        shares[row, row - 1:row + 3] = INNER
    return shares
