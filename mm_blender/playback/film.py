# SPDX-License-Identifier: GPL-3.0-or-later
"""What was played, frame by frame: as a Clip to keep, and as a Trace to measure."""

from dataclasses import dataclass

import numpy as np

from ..motion import quat
from ..motion.clip import Clip


@dataclass(eq=False)
class Trace:
    """What happened at each of F frames.

    frames      (F,) of the database, that were played; -1 for what was learned
    jumped      (F,) whether playback jumped there from somewhere else
    wanted      (F, 3) velocity in the world and yaw that the stick asked for
    simulated   (F, 3) place and yaw of the simulated root
    contacts    (F, C) whether the source says that each foot stands
    planted     (F, C) whether each foot is held in place
    """

    frames: np.ndarray
    jumped: np.ndarray
    wanted: np.ndarray
    simulated: np.ndarray
    contacts: np.ndarray
    planted: np.ndarray


class Film:
    """Collects what a Player shows of its K characters."""

    def __init__(self, player):
        self.player, self._rows = player, []

    def __len__(self):
        return len(self._rows)

    def take(self):
        """One more frame."""
        player, guides = self.player, self.player.guides
        # What a Player has shown it does not change afterwards. Python's garbage collector has nothing to look through
        # in arrays and in tuples of numbers; lists would make it stop a drive of minutes for a tenth of a second.
        self._rows.append((
            player.matcher.frames, player.jumped,
            tuple([(guide.intent.velocity, guide.intent.yaw) for guide in guides]),
            tuple([guide.root for guide in guides]), tuple(map(tuple, player.contacts)), tuple(player.feet.held()),
            tuple(player.roots), tuple(player.heights), player.moving, player.rotations))

    def trace(self, index=0):
        """The Trace of one of the characters."""
        frames, jumped, wishes, simulated, contacts, planted = self._columns(index)[:6]
        return Trace(frames, jumped, _numbers(wishes), _numbers(simulated), contacts, planted)

    def clip(self, index=0, name="drive"):
        """What one of the characters played, with the database's own skeleton, root first."""
        database = self.player.motion.database
        planted, roots, heights, moving, rotations = self._columns(index)[5:]
        x, y, yaws = _numbers(roots).T
        positions = np.broadcast_to(database.fixed, (len(roots), *database.fixed.shape)).copy()
        positions[:, self.player.motion.moving], positions[:, 0] = moving, np.column_stack([x, y, heights])
        rotations[:, 0] = quat.from_yaw(yaws)
        return Clip(name, database.skeleton, database.rate, positions, rotations, contacts=planted)

    def _columns(self, index):
        """What was collected for one of the characters, each (F, …)."""
        return [np.array([frame[index] for frame in column]) for column in zip(*self._rows)]


def _numbers(roots):
    """(F, 3) x, y and yaw of roots or wishes (F, 2), whose places or velocities are x + yi."""
    places, yaws = roots.T
    return np.column_stack([places.real, places.imag, yaws.real])
