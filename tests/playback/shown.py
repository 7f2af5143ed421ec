# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the joints of characters are that a Player shows, by the kinematics of their whole skeleton."""

import numpy as np

from mm_blender.motion import quat
from mm_blender.motion.skeleton import forward


def joints_of(player):
    """(K, J, 3) in the world."""
    database = player.motion.database
    roots = np.column_stack([player.positions, player.heights])
    return joints_at(database, player.motion.moving, roots, player.yaws, player.moving, player.rotations)


def joints_at(database, moving, roots, yaws, positions, rotations):
    """The same of K roots (K, 3), (K,), positions (K, M, 3) of the moving joints and rotations (K, J, 4)."""
    local = np.broadcast_to(database.fixed, (len(roots), *database.fixed.shape)).copy()
    local[:, moving], local[:, 0] = positions, roots
    rotations = rotations.copy()
    rotations[:, 0] = quat.from_yaw(yaws)
    return forward(database.skeleton, local, rotations)[0]
