# SPDX-License-Identifier: GPL-3.0-or-later
"""How far poses are off (sections 5.2 to 5.5). Components come first, then joints, then frames."""

import torch

from ..kinematics import cross

# Angles are kept from half a turn, where their gradient is without bounds.
NEAR_HALF = 1 - 1e-4


def joints_off(wrong, weights):
    """L1 distances of vectors (3, J, F) with weights (J, 1), equations 16 and 20."""
    return (wrong.abs().sum(0) * weights).mean()


def angles_off(mine, true, weights):
    """Geodesic distances of rotations (3, 3, J, F) as parts of a turn, equations 46 and 47.

    By the chord: the arc cosine of the trace has hardly a digit left where the two are close.
    """
    square = (mine - true).square().sum((0, 1)) / 8
    return (torch.asin(torch.sqrt(square + 1e-10).clamp(max=NEAR_HALF)) * weights).mean() / torch.pi


def lengths_off(axes, weights):
    """How far axes (3, 2, J, F), as a network has made them, are from unit length, equation 17."""
    return ((1 - torch.sqrt(axes.square().sum(0) + 1e-10)).abs().sum(0) * weights).mean()


def standing_off(wrong, travel, places, stand, rate):
    """How wrong the velocities over the ground are of feet that stand (C, F), equation 21.

    wrong   (3, C, F) by how much they move too far from this frame to the next, seen from the root
    travel  (3, F) how wrong the root's velocity is: right, forward, turning
    places  (3, C, F) where they are
    """
    right, forward, turning = travel
    over = torch.stack([right - turning * places[1], forward + turning * places[0], torch.zeros_like(places[2])])
    speed = torch.sqrt((over + wrong * rate).square().sum(0) + 1e-8)
    return (speed * stand).sum() / stand.sum().clamp(min=1)


def rotations_of(axes):
    """(3, 3, J, F) of the first two axes (3, 2, J, F)."""
    x, y = axes.unbind(1)
    return torch.stack([x, y, cross(x, y)], 1)
