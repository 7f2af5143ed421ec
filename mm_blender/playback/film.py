# SPDX-License-Identifier: GPL-3.0-or-later
"""What was played, frame by frame: as a Clip to keep, and as a Trace to measure."""

from dataclasses import dataclass

import numpy as np

from ..motion import quat
from ..motion.clip import Clip


@dataclass(eq=False)
class Trace:
    """What happened at each of F frames.

    frames      (F,) of the database, that were played
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

    def take(self, velocities, yaws):
        """One more frame, for which these velocities (K, 2) and yaws (K,) were wanted."""
        player, simulation = self.player, self.player.simulation
        # What a Player has shown it does not change afterwards: only wishes have to be copied.
        self._rows.append((
            player.matcher.frames, player.jumped, velocities.copy(), yaws.copy(), simulation.positions, simulation.yaws,
            player.played.contacts, player.feet.locked, player.positions, player.heights, player.yaws,
            player.played.positions, player.rotations))

    def trace(self, index=0):
        """The Trace of one of the characters."""
        frames, jumped, velocities, yaws, places, turns, contacts, planted = self._columns(index)[:8]
        return Trace(frames, jumped, np.column_stack([velocities, yaws]), np.column_stack([places, turns]), contacts,
                     planted)

    def clip(self, index=0, name="drive"):
        """What one of the characters played, with the database's own skeleton, root first."""
        database = self.player.motion.database
        planted, places, heights, yaws, moving, rotations = self._columns(index)[7:]
        positions = np.broadcast_to(database.fixed, (len(places), *database.fixed.shape)).copy()
        positions[:, self.player.motion.moving], positions[:, 0] = moving, np.column_stack([places, heights])
        rotations[:, 0] = quat.from_yaw(yaws)
        return Clip(name, database.skeleton, database.rate, positions, rotations, contacts=planted)

    def _columns(self, index):
        """What was collected for one of the characters, each (F, …)."""
        return [np.array([frame[index] for frame in column]) for column in zip(*self._rows)]
