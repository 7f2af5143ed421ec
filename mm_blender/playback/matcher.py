# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion Matching: which frame of the database is played, for K characters that share it."""

import numpy as np

from ..control.speeds import root_velocities
from .pose import Pose

# Seconds around the frame that is playing which are not jumped to.
AROUND = 1 / 3


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
        self._tables = (self.positions, database.rotations, self.velocities, spins, self.travel, database.contacts)
        self.bounds = np.array([[part.start, part.stop - 1] for part in database.ranges])
        # The frame that follows each one; a clip's last frame is its own successor, and `ends` says so.
        self.following = np.arange(1, len(database) + 1)
        self.ends = np.zeros(len(database), dtype=bool)
        for part in database.ranges:
            self.following[part.stop - 1] = part.start + 1 if part.loop and len(part) > 1 else part.stop - 1
            self.ends[part.stop - 1] = not part.loop

    def at(self, frames):
        return Pose(*(table.take(frames, axis=0) for table in self._tables))


class MotionMatcher:
    """Plays frames (K,) of the database and jumps where the search finds better ones.

    searches  the Search of each one: characters may have tag queries of their own
    costs     (K,) what going on cost at the last search (equation 1)
    starved   (K,) who stands at a clip's end because the search may enter no frame at all
    """

    def __init__(self, motion, search, count, frames=0):
        self.motion, self.searches, self._wanted = motion, [search] * count, [None] * count
        self.costs = np.zeros(count)
        self.frames = np.full(count, frames, dtype=np.int64)
        self.starved = np.zeros(count, dtype=bool)

    def allow(self, index, search, wanted=None):
        """A character's own Search; frames that are not wanted (N,) are left as soon as it finds one."""
        self.searches[index], self._wanted[index] = search, wanted

    def features(self):
        """(K, D) normalised features of what is playing."""
        return self.motion.database.features[self.frames]

    def pose(self):
        return self.motion.at(self.frames)

    def advance(self):
        """One frame on; (K,) who came to the end of a clip and has to search."""
        self.frames = self.motion.following.take(self.frames)
        return self.motion.ends.take(self.frames)

    def match(self, who, queries, stay=0.0, must=None):
        """Search for the characters `who` (indices) with their queries (len(who), D); who jumped, as indices.

        stay: how much better another frame has to be, as a share of the cost of going on (equation 1 for both).
        must: (len(who),) those that cannot stay, because their clip ends; nor can those in frames that are not wanted
        """
        who = np.asarray(who)
        must = np.zeros(len(who), dtype=bool) if must is None else must
        must = must | [self._wanted[index] is not None and not self._wanted[index][self.frames[index]] for index in who]
        jumped = []
        for search in dict.fromkeys(self.searches[index] for index in who):
            asks = [row for row, index in enumerate(who) if self.searches[index] is search]
            jumped += self._match(search, who[asks], queries[asks], stay, must[asks])
        return sorted(jumped)

    def _match(self, search, who, queries, stay, must):
        """match() for characters with the same Search."""
        here = self.frames[who]
        self.costs[who] = search.cost(queries, here)
        limits = np.where(must, np.inf, self.costs[who] * (1 - stay))
        jumped = []
        for index, found in enumerate(_nearest(search, queries, self._around(here), limits)):
            if found is None and must[index]:  # only frames around this one are allowed: better these than none
                found = search.nearest(queries[index])
            self.starved[who[index]] = found is None and must[index]
            if found is not None and found.frame != here[index]:
                self.frames[who[index]] = found.frame
                self.costs[who[index]] = found.cost
                jumped.append(int(who[index]))
        return jumped

    def _around(self, frames):
        """(len(frames), 2) first and last frame of what lies so near in the same clip that a jump would stutter."""
        database = self.motion.database
        near = int(AROUND * database.rate)
        clips = self.motion.bounds[database.range_of_frame[frames]]
        return np.column_stack([np.maximum(clips[:, 0], frames - near), np.minimum(clips[:, 1], frames + near)])


def _nearest(search, queries, besides, limits):
    if len(queries) == 1:
        return [search.nearest(queries[0], besides[0], limits[0])]
    return search.nearest_many(queries, besides, limits)
