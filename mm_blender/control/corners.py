# SPDX-License-Identifier: GPL-3.0-or-later
"""How a motion takes corners: how fast it turns while it goes, and how hard it leans into a curve."""

from dataclasses import dataclass

import numpy as np

from .speeds import root_velocities

# Of frames that go so fast at least (m/s), these percentiles count; with fewer seconds of them nothing is known.
GOING, TURNS, LEANS, ENOUGH = 0.4, 97, 98, 5.0


@dataclass(frozen=True)
class Corners:
    """turning    radians per second while it goes
    sideways   metres per second squared towards the middle of a curve

    Nobody turns slower than `LEAST`, else no corner would ever be passed.
    """

    turning: float = 2.2
    sideways: float = 4.0

    def fastest(self, bends):
        """(N,) m/s at which a path that bends like this (N,), radians per metre, can be followed."""
        bends = np.maximum(bends, 1e-6)
        return np.minimum(self.turning / bends, np.sqrt(self.sideways / bends))


LEAST = Corners(1.2, 1.0)


def measure(database):
    """The Corners of a database."""
    right, forward, turning = root_velocities(database).T
    speed, turning = np.hypot(right, forward), np.abs(turning)
    going = speed > GOING
    if going.sum() < ENOUGH * database.rate:
        return Corners()
    return Corners(max(LEAST.turning, round(float(np.percentile(turning[going], TURNS)), 2)),
                   max(LEAST.sideways, round(float(np.percentile((speed * turning)[going], LEANS)), 2)))
