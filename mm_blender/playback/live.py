# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixed steps at the database's rate, shown smoothly at whatever rate a screen has."""

import numpy as np

from ..control.simulation import wrapped

# No more than so many seconds are played in one go: after a stall the character goes on from where it was.
LONGEST = 0.25
# A step that is this near (s) is taken, so that rounding does not make a screen of the same rate miss one.
SOON = 1e-6


class Live:
    """Steps a Player along with the clock; what is shown lies between its last two steps.

    The last step is never behind the clock, and less than one step ahead of it.
    """

    def __init__(self, player, film=None):
        """film: a Film to which every step is added."""
        self.player, self._film = player, film
        self._ahead = 0.0  # seconds
        self._last = self._previous = self._now()

    def advance(self, seconds, velocities, yaws):
        """Go on by so many seconds with wanted velocities (K, 2) and yaws (K,); how many steps that took."""
        self._ahead -= min(max(seconds, 0.0), LONGEST)
        steps = 0
        while self._ahead < -SOON:
            self.player.step(velocities, yaws)
            if self._film is not None:
                self._film.take(velocities, yaws)
            self._ahead += self.player.dt
            self._previous, self._last = self._last, self._now()
            steps += 1
        return steps

    def shown(self):
        """Roots (K, 3) and yaws (K,), positions (K, M, 3) of the moving joints and rotations (K, J, 4), as of now."""
        share = 1 - self._ahead / self.player.dt
        if share >= 1 - SOON:
            return self._last
        (roots, yaws, positions, rotations), last = self._previous, self._last
        return (roots + share * (last[0] - roots), yaws + share * wrapped(last[1] - yaws),
                positions + share * (last[2] - positions), _nlerp(rotations, last[3], share))

    def _now(self):
        player = self.player
        roots = np.array([(place.real, place.imag, height, yaw)
                          for (place, yaw), height in zip(player.roots, player.heights.tolist())])
        return roots[:, :3], roots[:, 3], player.moving, player.rotations


def _nlerp(a, b, share):
    """Between rotations that are near each other, the shorter way round."""
    signed = np.where(np.einsum("...i,...i->...", a, b)[..., None] < 0, -b, b)
    mixed = a + share * (signed - a)
    return mixed / np.sqrt(np.einsum("...i,...i->...", mixed, mixed))[..., None]
