# SPDX-License-Identifier: GPL-3.0-or-later
"""The ground plane in plain numbers: a place is x + yi, a yaw is an angle. For few of them that is several times faster
than arrays."""

import math

import numpy as np


def to_numbers(points):
    """Points (K, 2) as a list of x + yi."""
    return [complex(x, y) for x, y in points.tolist()]


def to_points(numbers):
    """Numbers x + yi as points (K, 2)."""
    return np.array(numbers, dtype=np.complex128).view(np.float64).reshape(-1, 2)


def wrapped(angles):
    """The same angles in ±π."""
    return (angles + np.pi) % (2 * np.pi) - np.pi


def nearest_turn(yaw, other):
    """The same yaw, less than half a turn from the other."""
    return other + math.remainder(yaw - other, math.tau)
