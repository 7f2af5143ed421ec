# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixed steps at the database's rate, shown smoothly at whatever rate a screen has."""

import math

import numpy as np

# No more than so many seconds are played in one go: after a stall the character goes on from where it was.
LONGEST = 0.25
# A step that is this near (s) is taken, so that rounding does not make a screen of the same rate miss one.
SOON = 1e-6


class Live:
    """Lets a Player go on along with the clock; what is shown lies between its last two steps.

    The last step is never behind the clock, and less than one step ahead of it.
    """

    def __init__(self, player, step=None):
        """step: what goes on by one frame, where that is more than the Player's own step"""
        self.player, self._step = player, step or player.step
        self._ahead = 0.0  # seconds
        self._last = self._previous = self._now()

    def advance(self, seconds):
        """Go on by so many seconds; how many steps that took."""
        self._ahead -= min(max(seconds, 0.0), LONGEST)
        steps = 0
        while self._ahead < -SOON:
            self._step()
            self._ahead += self.player.dt
            self._previous, self._last = self._last, self._now()
            steps += 1
        return steps

    def shown(self):
        """As of now, as a Player has them: roots [(place, yaw)] and heights [number], positions (K, M, 3) of the moving
        joints and rotations (K, J, 4)."""
        share = 1 - self._ahead / self.player.dt
        if share >= 1 - SOON:
            return self._last
        (roots, heights, positions, rotations), last = self._previous, self._last
        return ([_on_the_way(*each, share) for each in zip(roots, last[0])],
                [height + share * (other - height) for height, other in zip(heights, last[1])],
                positions + share * (last[2] - positions), _nlerp(rotations, last[3], share))

    def _now(self):
        player = self.player
        return player.roots, player.heights, player.moving, player.rotations


def _on_the_way(root, other, share):
    """A root between two others, turned the shorter way round."""
    (place, yaw), (goal, goal_yaw) = root, other
    return place + share * (goal - place), yaw + share * math.remainder(goal_yaw - yaw, math.tau)


def _nlerp(a, b, share):
    """Between rotations that are near each other, the shorter way round."""
    signed = np.where(np.einsum("...i,...i->...", a, b)[..., None] < 0, -b, b)
    mixed = a + share * (signed - a)
    return mixed / np.sqrt(np.einsum("...i,...i->...", mixed, mixed))[..., None]
