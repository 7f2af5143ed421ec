# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose that a matcher hands to playback, for K characters at once."""

from dataclasses import dataclass

import numpy as np


@dataclass(eq=False)
class Pose:
    """What is played this frame, and how it moves.

    positions   (K, M, 3) local positions of the moving joints below the root
    rotations   (K, J, 4) local rotations; joint 0, the root, is not used
    velocities  (K, M, 3) of the positions
    spins       (K, J, 3) angular velocities of the rotations
    travel      (K, 3) velocity of the root, seen from itself: right, forward, turning (rad/s)
    contacts    (K, L) whether each limb stands
    """

    positions: np.ndarray
    rotations: np.ndarray
    velocities: np.ndarray
    spins: np.ndarray
    travel: np.ndarray
    contacts: np.ndarray

    def of(self, who):
        """The same of characters `who` (indices) alone."""
        if len(who) == len(self.travel):
            return self
        return Pose(*(part.take(who, axis=0) for part in vars(self).values()))


@dataclass(eq=False)
class Shown:
    """How a character was shown before it is played.

    positions  (2, M, 3) of its moving joints, one frame of the motion ago and now
    rotations  (2, J, 4) the same of all joints
    travel     (3,) velocity of the root, as a Pose has it
    features   (D,) normalised, where something of the motion may be found that goes on like this; None at rest
    """

    positions: np.ndarray
    rotations: np.ndarray
    travel: np.ndarray
    features: np.ndarray | None = None
