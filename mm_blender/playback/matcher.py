# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion Matching: which frame of the database is played, for K characters that share it."""

import numpy as np

from ..control.speeds import root_velocities
from .pose import Pose


class Motion:
    """A database as playback needs it: one row of numbers per frame, ready to be looked up."""

    def __init__(self, database):
        self.database = database
        velocities, spins = database.velocities
        below = np.flatnonzero(database.moving != 0)
        self.moving = database.moving[below]
        self.positions = np.ascontiguousarray(database.positions[:, below])
        self.velocities = np.ascontiguousarray(velocities[:, below])
        self.spins = spins
        self.travel = root_velocities(database)
        # The frame that follows each one; a clip's last frame is its own successor, and `ends` says so.
        self.following = np.arange(1, len(database) + 1)
        self.ends = np.zeros(len(database), dtype=bool)
        for part in database.ranges:
            self.following[part.stop - 1] = part.start + 1 if part.loop and len(part) > 1 else part.stop - 1
            self.ends[part.stop - 1] = not part.loop

    def at(self, frames):
        return Pose(self.positions[frames], self.database.rotations[frames], self.velocities[frames],
                    self.spins[frames], self.travel[frames], self.database.contacts[frames])


class MotionMatcher:
    """Plays frames (K,) of the database and jumps where the search finds better ones.

    starved  (K,) who stands at a clip's end because the search may enter no frame at all
    """

    def __init__(self, motion, search, count, frames=0):
        self.motion, self.search = motion, search
        self.frames = np.full(count, frames, dtype=np.int64)
        self.starved = np.zeros(count, dtype=bool)

    def features(self):
        """(K, D) normalised features of what is playing."""
        return self.motion.database.features[self.frames]

    def pose(self):
        return self.motion.at(self.frames)

    def advance(self):
        """One frame on; (K,) who came to the end of a clip and has to search."""
        self.frames = self.motion.following[self.frames]
        return self.motion.ends[self.frames]

    def match(self, who, queries, stay=0.0, must=None):
        """Search for the characters `who` (indices) with their queries (len(who), D); who jumped, as indices.

        stay: how much better another frame has to be, as a share of the cost of going on (equation 1 for both).
        must: (len(who),) those that cannot stay, because their clip ends
        """
        jumped = []
        for index, (character, query) in enumerate(zip(who, queries)):
            here = int(self.frames[character])
            free = must is not None and must[index]
            limit = np.inf if free else self.search.cost(query, here) * (1 - stay)
            found = self.search.nearest(query, besides=self._around(here), at_most=limit)
            if found is None and free:  # only frames around this one are allowed: better these than none
                found = self.search.nearest(query)
            self.starved[character] = found is None and free
            if found is not None and found.frame != here:
                self.frames[character] = found.frame
                jumped.append(character)
        return jumped

    def _around(self, frame, seconds=1 / 3):
        """The frames of the same clip that lie so near that jumping to them would only stutter."""
        part = self.motion.database.ranges[self.motion.database.range_of_frame[frame]]
        near = int(seconds * self.motion.database.rate)
        return max(part.start, frame - near), min(part.stop - 1, frame + near)
