# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion Matching: which frame of the database is played, for K characters that share it."""

import math

import numpy as np

from ..control.speeds import root_velocities
from .pose import Pose
from .protocols import Where

# So many frames, this one included, are known to come if nobody jumps. It is twice as many as usually lie between two
# changes of plan: in a call of NumPy some more frames cost little, and another plan costs a lot.
PLANNED = 20
# Seconds around the frame that is playing which are not jumped to.
AROUND = 1 / 3
# Fewer queries than these are answered sooner one by one.
FEW_QUERIES = 12
# Another frame has to be better at least by this share of the cost of going on: frames that clips have in common cost
# the same but for rounding, and a jump between them is a jump for nothing.
BETTER = 1e-3


class BakedMotion:
    """A database as playback needs it: one row of numbers per frame, ready to be looked up.

    What a MotionMatcher looks up, here and on another character (retarget.RetargetedFrames):

    features, tags, contacts, range_of_frame  as in a Database
    following, ends  (N,) the frame that comes after each one; whether it is the last of its clip
    bounds           of each range: its first frame, its last one, and whether it is a loop
    near             so many frames are not jumped to before and after the one that is playing
    """

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
        self.features, self.tags, self.contacts = database.features, database.tags, database.contacts
        self.range_of_frame = database.range_of_frame
        self.bounds = [(part.start, part.stop - 1, part.loop) for part in database.ranges]
        self.near = int(AROUND * database.rate)
        # A clip's last frame is its own successor.
        self.following = np.arange(1, len(database) + 1)
        self.ends = np.zeros(len(database), dtype=bool)
        for part in database.ranges:
            self.following[part.stop - 1] = part.start + 1 if part.loop and len(part) > 1 else part.stop - 1
            self.ends[part.stop - 1] = not part.loop
        self._coming = np.empty((len(database), PLANNED), dtype=np.int32)
        self._coming[:, 0] = np.arange(len(database))
        for step in range(1, PLANNED):
            self._coming[:, step] = self.following[self._coming[:, step - 1]]

    def coming(self, frames):
        """Positions, rotations and travel (K, PLANNED, …), as in a Pose, of frames (K,) and those that follow."""
        frames = self.following_frames(frames)
        return tuple(table.take(frames, axis=0) for table in (self.positions, self.database.rotations, self.travel))

    def following_frames(self, frames):
        """(K, PLANNED) frames (K,) and those that follow."""
        return self._coming.take(frames, axis=0)

    def at(self, frames):
        return Pose(*(table.take(frames, axis=0) for table in self._tables))

    def matcher(self, search, count, begin=None):
        return MotionMatcher(self, search, count, 0 if begin is None else begin)

    def stance(self, limbs):
        sample = np.arange(0, len(self.database), max(1, len(self.database) // 5000))
        return limbs.stance(self.positions[sample], self.database.rotations[sample], self.database.contacts[sample])


class MotionMatcher:
    """The Matcher that plays frames of the database and jumps where the search finds better ones.

    searches  the Search of each one: characters may have tag queries of their own
    """

    faded = ()  # frames are not blended: see LearnedMatcher

    def __init__(self, motion, search, count, frames=0):
        self.motion, self.searches, self._wanted = motion, [search] * count, [None] * count
        self.costs = np.zeros(count)
        self.frames = np.full(count, frames, dtype=np.int64)
        self.starved = np.zeros(count, dtype=bool)

    def allow(self, index, search, wanted=None):
        self.searches[index], self._wanted[index] = search, wanted

    def features(self):
        return self.motion.features.take(self.frames, axis=0)

    def where(self, index):
        frame = int(self.frames[index])
        return Where(self.motion.features[frame], frame)

    def tags(self, index):
        frame = self.frames[index]
        return tuple(name for name, mask in self.motion.tags.items() if mask[frame])

    def pose(self):
        return self.motion.at(self.frames)

    def contacts(self):
        return self.motion.contacts.take(self.frames, axis=0).tolist()

    def coming(self, who):
        return self.motion.coming(self.frames.take(who))

    def advance(self):
        self.frames = self.motion.following.take(self.frames)
        return self.motion.ends.take(self.frames)

    def match(self, who, queries, stay=0.0, must=None, fade=0.0):
        asks = {}  # of each Search
        for row, index in enumerate(who):
            frame, wanted = self.frames.item(index), self._wanted[index]
            leave = (must is not None and must[row]) or (wanted is not None and not wanted[frame])
            asks.setdefault(self.searches[index], []).append((queries[row], int(index), frame, leave))
        return sorted(index for search, rows in asks.items() for index in self._match(search, rows, stay))

    def _match(self, search, rows, stay):
        """match() for characters with the same Search: (query, index, frame, whether it must leave)"""
        costs = [search.cost(query, frame) for query, _, frame, _ in rows]
        share = 1 - max(stay, BETTER)
        asks = [(query, self.around(frame), math.inf if must else cost * share)
                for cost, (query, _, frame, must) in zip(costs, rows)]
        jumped = []
        for cost, (query, index, frame, must), found in zip(costs, rows, _nearest(search, asks)):
            if found is None and must:  # only frames around this one are allowed: better these than none
                found = search.nearest(query)
            self.starved[index] = found is None and must
            self.costs[index] = cost
            if found is not None and found.frame != frame:
                self.frames[index], self.costs[index] = found.frame, found.cost
                jumped.append(index)
        return jumped

    def around(self, frame):
        """What lies so near in the same clip that a jump would stutter, as Search.nearest() leaves it out: first and
        last frame, and those beyond the seam of a clip that goes round. Its last frame is its first one again."""
        first, last, loop = self.motion.bounds[self.motion.range_of_frame.item(frame)]
        before, after = frame - self.motion.near, frame + self.motion.near
        around = max(first, before), min(last, after)
        if loop and before < first:
            around += max(first, last + before - first), last
        if loop and after > last:
            around += first, min(last, first + after - last)
        return around


class MixedMatcher:
    """Characters that are played by several matchers, as one: of each part the matcher, and who they are."""

    def __init__(self, parts):
        """parts: [(matcher, indices of its characters)]"""
        self._parts = [(matcher, np.asarray(who)) for matcher, who in parts]
        self._order = np.argsort(np.concatenate([who for _, who in self._parts]))
        self._players = {int(index): (matcher, row) for matcher, who in self._parts for row, index in enumerate(who)}
        self.faded = ()

    @property
    def frames(self):
        return self._gathered(matcher.frames for matcher, _ in self._parts)

    @property
    def costs(self):
        return self._gathered(matcher.costs for matcher, _ in self._parts)

    @property
    def starved(self):
        return self._gathered(matcher.starved for matcher, _ in self._parts)

    def allow(self, index, search, wanted=None):
        matcher, row = self._players[index]
        matcher.allow(row, search, wanted)

    def where(self, index):
        matcher, row = self._players[index]
        return matcher.where(row)

    def tags(self, index):
        matcher, row = self._players[index]
        return matcher.tags(row)

    def features(self):
        return self._gathered(matcher.features() for matcher, _ in self._parts)

    def pose(self):
        poses = [vars(matcher.pose()).values() for matcher, _ in self._parts]
        return Pose(*map(self._gathered, zip(*poses)))

    def contacts(self):
        return self._gathered(matcher.contacts() for matcher, _ in self._parts).tolist()

    def coming(self, who):
        asked = [(matcher, rows, there) for matcher, rows, there in self._split(who) if len(rows)]
        found = [matcher.coming(rows) for matcher, rows, _ in asked]
        count = min(travel.shape[1] for *_, travel in found)
        order = np.argsort(np.concatenate([there for *_, there in asked]))
        return tuple(np.concatenate([part[:, :count] for part in parts])[order] for parts in zip(*found))

    def advance(self):
        return self._gathered(matcher.advance() for matcher, _ in self._parts)

    def match(self, who, queries, stay=0.0, must=None, fade=0.0):
        must = np.zeros(len(who), dtype=bool) if must is None else np.asarray(must)
        jumped, self.faded = [], []
        for (_, mine), (matcher, rows, there) in zip(self._parts, self._split(who)):
            if len(rows):
                jumped += mine[matcher.match(rows, queries[there], stay, must[there], fade)].tolist()
                self.faded += mine[list(matcher.faded)].tolist()
        return sorted(jumped)

    def _split(self, who):
        """Of each part the matcher, the rows in it of those of `who` (indices) that it plays, and where in `who` they
        are."""
        for matcher, mine in self._parts:
            there = np.flatnonzero(np.isin(who, mine))
            yield matcher, np.searchsorted(mine, np.asarray(who)[there]), there

    def _gathered(self, parts):
        """What each part has of its characters, in the order of all."""
        return np.concatenate(list(parts))[self._order]


def _nearest(search, asks):
    """The Match of each (query, besides, limit), or None: nothing is better than what is exactly as wanted, as where
    somebody stands."""
    asked = [ask for ask in asks if ask[2] > 0]
    one_by_one = len(asked) < FEW_QUERIES
    found = iter([search.nearest(*ask) for ask in asked] if one_by_one else search.nearest_many(*zip(*asked)))
    return [next(found) if limit > 0 else None for _, _, limit in asks]
