# SPDX-License-Identifier: GPL-3.0-or-later
"""What K characters will play in the next frames, worked out for all of them at once.

Until somebody jumps it is known what is played: frames of the database follow each other, offsets decay. A call of
NumPy costs more than the few numbers of one frame in it, so several frames are worked out together and looked up one
by one. They are worked out anew when they are used up, at a jump, and when a foot is let go.
"""

import numpy as np

from .matcher import PLANNED
from .pose import Pose

# Characters with at most so many planned frames left are planned anew together with the others: that costs less.
SOON = 3
# The two rows before them are what was played before: what a jump is compared with.
BEFORE = 2


class Lookahead:
    """The coming frames of K characters, inertialised: step() goes on to the next one.

    What it has of this frame: rotations() and positions() as in a Pose, travel() of the roots, the limbs() that the
    characters stand on and how their joints are turned, turns().
    """

    def __init__(self, pose: Pose, limbs, inertia, dt):
        self._limbs, self._inertia, self._dt = limbs, inertia, dt
        count = len(pose.rotations)
        # One row for each frame, (K, BEFORE + PLANNED, …), and the same with the rows of all one after the other.
        self._parts = [np.repeat(part[:, None], BEFORE + PLANNED, axis=1).astype(np.float32)
                       for part in (pose.rotations, pose.positions, pose.travel)]
        shape = count, BEFORE + PLANNED, len(limbs)
        more = [np.zeros((*shape, *each), dtype=np.float32) for each in ((6, 3), (2, 4, 4), (3,))]
        self._tables = [*self._parts, *more, self._parts[2].copy()]
        self._rows = [table.reshape(count * (BEFORE + PLANNED), *table.shape[2:]) for table in self._tables]
        # Of each one the first of its rows and the one that is played, among the rows of all, and where its own end;
        # and which rows are played in the coming frames, until somebody has none left.
        self._first = np.arange(count) * (BEFORE + PLANNED)
        self._here, self._end = self._first + (BEFORE - 1), [BEFORE] * count
        self._played = iter(())
        self._all_anew = self._first + BEFORE + np.arange(PLANNED)[:, None]  # the same if all begin together

    def begin_from(self, index, shown):
        """A character was Shown like this until now: what a jump is compared with."""
        for part, before in zip(self._parts, (shown.rotations, shown.positions, shown.travel)):
            part[index, :BEFORE] = before

    def step(self, matcher, blend, jumped=(), resumed=(), faded=()):
        """One frame on, to what the matcher plays now.

        blend    the Blend from now on
        jumped   indices of those that have jumped there
        resumed  joints that go on from how they were shown: (character, joints (P,), their rotations two frames and
                 one frame ago (2, P, 4))
        faded    indices of those whose matcher itself goes over to what it has jumped to
        """
        same = blend is self._inertia.blend or blend == self._inertia.blend  # the first is quicker, and usual
        here = next(self._played, None)
        if here is None or jumped or resumed or faded or not same:
            anew = {*jumped, *faded, *(index for index, *_ in resumed)} if same else range(len(self._end))
            self._plan(matcher, None if same else blend, jumped, resumed, anew)
            here = next(self._played)
        self._here = here

    def rotations(self):
        """(K, J, 4) of this frame, a copy."""
        return self._rows[0].take(self._here, axis=0)

    def positions(self):
        """(K, M, 3) of this frame, a copy."""
        return self._rows[1].take(self._here, axis=0)

    def travel(self):
        """(K, 3) of this frame, a copy."""
        return self._rows[2].take(self._here, axis=0)

    def limbs(self):
        """[character][limb] the limbs of this frame, in the order of Posed."""
        return self._rows[3].take(self._here, axis=0).tolist()

    def turns(self):
        """(K, L, 2, 4, 4) how the limbs' joints are turned in this frame, as limbs.turned() takes it."""
        return self._rows[4].take(self._here, axis=0)

    def own(self):
        """What the motion alone has, without what is left of transitions: [character][limb] each toe, and [character]
        the travel of the root; all (3,), seen from the root."""
        return tuple(rows.take(self._here, axis=0).tolist() for rows in self._rows[5:])

    def _plan(self, matcher, blend, jumped, resumed, anew):
        """Work out the rows of those who need it, and of those who soon will; blend: a new one, or None."""
        at = (self._here - self._first + 1).tolist()
        who = [index for index, (row, end) in enumerate(zip(at, self._end)) if end - row <= SOON or index in anew]
        self._begin_here([(index, at[index] - BEFORE) for index in who], jumped)
        if blend is not None:
            self._inertia.change(blend)
        if jumped or resumed:
            self._change(matcher.pose(), jumped, resumed)
        self._work_out(matcher, who)
        rows = [BEFORE if index in who else row for index, row in enumerate(at)]
        left = min(end - row for row, end in zip(rows, self._end))
        played = self._all_anew[:left]
        self._played = iter(played if len(who) == len(at) else played + (np.array(rows) - BEFORE))

    def _change(self, pose, jumped, resumed):
        """Offsets to what the database has now."""
        if jumped:
            before = (part[jumped, :BEFORE] for part in self._parts)
            self._inertia.transition(jumped, *before, pose.of(jumped), self._dt)
        for index, joints, shown in resumed:
            self._parts[0][index, :BEFORE, joints] = shown.swapaxes(0, 1)
            self._inertia.resume(index, joints, shown, pose, self._dt)

    def _begin_here(self, played, jumped):
        """Let what was played before be what was played before this frame: (character, rows that it has played)."""
        played = [each for each in played if each[1]]
        # A jump leaves nothing of the offsets from before.
        if going_on := [each for each in played if each[0] not in jumped]:
            self._inertia.go_on(*zip(*going_on), self._dt)
        for index, first in played:
            for part in self._parts:
                part[index, :BEFORE] = part[index, first:first + BEFORE]

    def _work_out(self, matcher, who):
        own = matcher.coming(who)
        positions, rotations, travel = self._inertia.over(who, *own, self._dt)
        # As it is played, and as the motion alone has it: both at once.
        limbs, turns = self._limbs.seen_from_root(np.concatenate([positions, own[0]]),
                                                  np.concatenate([rotations, own[1]]))
        found = (rotations, positions, travel, limbs[:len(who)], turns[:len(who)], limbs[len(who):, ..., -1, :], own[2])
        end = BEFORE + travel.shape[1]
        for table, part in zip(self._tables, found):
            table[who, BEFORE:end] = part
        for index in who:
            self._end[index] = end
