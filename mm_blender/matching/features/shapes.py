# SPDX-License-Identifier: GPL-3.0-or-later
"""What features are drawn with: segments (N, 2, 3) in the world."""

import numpy as np

CROSS = 0.035  # metres from the middle of a cross to its ends, and of a ring
SPEED = 0.25  # a velocity's arrow leads to where the bone would be after so many seconds
POINTING = 0.25  # metres that the arrow of a direction is long
HEAD = 0.3  # an arrow's head as a part of its length
LARGEST_HEAD = 0.07  # metres


def arrow(start, along):
    """The segments (3, 2, 3) of an arrow; its head lies level, or upright where the arrow itself is steep."""
    length = np.linalg.norm(along)
    end = start + along
    if length < 1e-6:
        return np.array([[start, end]] * 3)
    straight = along / length
    side = np.cross(straight, (0, 0, 1) if abs(straight[2]) < 0.9 else (1, 0, 0))
    side /= np.linalg.norm(side)
    back = end - min(HEAD * length, LARGEST_HEAD) * straight
    out = min(HEAD * length, LARGEST_HEAD) / 2 * side
    return np.array([[start, end], [end, back + out], [end, back - out]])


def cross(place):
    """The segments (3, 2, 3) of a cross in space."""
    return np.stack([place - CROSS * np.eye(3), place + CROSS * np.eye(3)], axis=1)


def ring(place):
    """The segments (8, 2, 3) of a ring that lies level."""
    points = [place + CROSS * np.array([np.cos(angle), np.sin(angle), 0]) for angle in np.arange(9) * (np.pi / 4)]
    return np.stack([points[:-1], points[1:]], axis=1)
