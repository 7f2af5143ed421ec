# SPDX-License-Identifier: GPL-3.0-or-later
"""What was wanted, asked, chosen and shown in each frame: one Frame, a Clip to keep, or a Trace to measure."""

from dataclasses import dataclass

import numpy as np

from ..motion import quat
from ..motion.clip import Clip
from .columns import Columns
from .contact import HELD

WAYS = "wanted", "simulated", "root"


@dataclass(eq=False)
class Trace:
    """What happened at each of F frames.

    frames      (F,) of the database, that were played; -1 for what was learned
    jumped      (F,) whether playback jumped there from somewhere else
    wanted      (F, 3) velocity in the world and yaw that the guide asked for
    simulated   (F, 3) place and yaw of the simulated root
    contacts    (F, L) whether the source says that each limb stands
    feet        (F, L) how it is with each limb, as contact.STATES has it
    """

    frames: np.ndarray
    jumped: np.ndarray
    wanted: np.ndarray
    simulated: np.ndarray
    contacts: np.ndarray
    feet: np.ndarray

    @property
    def planted(self):
        """(F, L) whether each limb is held in place."""
        return self.feet == HELD


@dataclass(eq=False)
class Frame:
    """One frame of one character.

    wanted, simulated  as in a Trace, (3,) each
    asked              (D,) the query, normalised; None if nothing was searched in this frame
    chosen             the frame of the database that is played; -1 for what was learned
    cost               of it, at the last search (equation 1 of Learned Motion Matching)
    jumped             whether playback jumped there from somewhere else
    contacts           (L,) whether the source says that each limb stands
    feet               (L,) how it is with each limb, as contact.STATES has it
    root, height       (3,) place and yaw that are shown, and how high the character stands
    moving, rotations  (M, 3) and (J, 4) as a Player has them
    """

    wanted: np.ndarray
    simulated: np.ndarray
    asked: np.ndarray | None
    chosen: int
    cost: float
    jumped: bool
    contacts: np.ndarray
    feet: np.ndarray
    root: np.ndarray
    height: float
    moving: np.ndarray
    rotations: np.ndarray


class FrameRecord:
    """Everything that a Player has done with its K characters, frame by frame.

    An hour of it is about 110 MB for a character of 23 joints: all but the latest seconds are on the disk. Python's
    garbage collector has nothing to look through in arrays; rows of Python's own would make it stop a drive of minutes
    for a tenth of a second.
    """

    def __init__(self, player):
        self._player = player
        count = len(player.roots)
        way = np.complex128, (count, 2)  # velocity or place, as x + yi, and yaw
        self._frames = Columns([
            ("wanted", *way), ("simulated", *way), ("root", *way), ("chosen", np.int32, (count,)),
            ("cost", np.float32, (count,)), ("jumped", np.bool_, (count,)),
            ("contacts", np.bool_, np.shape(player.contacts)), ("feet", np.uint8, np.shape(player.contacts)),
            ("height", np.float32, (count,)), ("moving", np.float32, player.moving.shape),
            ("rotations", np.float32, player.rotations.shape)])
        # Most frames ask nothing.
        self._asked = Columns([("frame", np.int32), ("who", np.int32),
                               ("query", np.float32, (player.motion.database.schema.size,))])

    def __len__(self):
        return len(self._frames)

    @property
    def trouble(self):
        """Why not all can go to the disk, as a sentence; empty if it can."""
        return self._frames.trouble or self._asked.trouble

    def add(self):
        """One more frame: what the Player shows now."""
        player = self._player
        wanted = [(guide.intent.velocity, guide.intent.yaw) for guide in player.guides]
        for index, query in zip(*player.asked):
            self._asked.add((len(self._frames), index, query))
        self._frames.add((
            wanted, [guide.root for guide in player.guides], player.roots, player.matcher.frames, player.matcher.costs,
            player.jumped, player.contacts, player.feet.states(), player.heights, player.moving, player.rotations))

    def frame(self, at, index=0):
        """The Frame of one of the characters; at: its number, or counted back from the end if it is negative."""
        row = self.row(at, index)
        for way in WAYS:
            row[way] = _numbers(row[way])
        frames, queries = self.asked(index)
        found = np.flatnonzero(frames == range(len(self))[at])
        return Frame(asked=queries[found[0]] if len(found) else None, **row)

    def row(self, at, index=0):
        """{name: what one of the characters has in a frame}, as it is stored."""
        return {name: part[index] for name, part in self._frames.row(at).items()}

    def searches(self, index, most):
        """The latest searches of a character in so many frames, the last one first: how many frames ago each was (1 is
        now), whether it jumped, and its query. None of a frame that nothing came before."""
        first = max(len(self) - most, 1)
        for at in range(len(self._asked) - 1, -1, -1):
            asked = self._asked.row(at)
            if asked["frame"] < first:
                return
            if asked["who"] == index:
                row = self.row(int(asked["frame"]), index)
                yield len(self) - int(asked["frame"]), bool(row["jumped"]), asked["query"]

    def asked(self, index=0):
        """The frames (S,) in which one of the characters searched, and its queries (S, D), normalised."""
        mine = self._asked.column("who") == index
        return self._asked.column("frame")[mine], self._asked.column("query")[mine]

    def trace(self, index=0):
        """The Trace of one of the characters."""
        return Trace(*(self._column(name, index) for name in (
            "chosen", "jumped", "wanted", "simulated", "contacts", "feet")))

    def clip(self, index=0, name="drive"):
        """What one of the characters played, with the database's own skeleton, root first."""
        motion = self._player.motion
        positions = np.empty((len(self), *motion.database.fixed.shape), dtype=np.float32)
        positions[:] = motion.database.fixed
        for rows, moving in self._frames.parts("moving", index):
            positions[rows, motion.moving] = moving
        x, y, yaws = self._column("root", index).T
        positions[:, 0] = np.column_stack([x, y, self._column("height", index)])
        rotations = self._column("rotations", index)
        rotations[:, 0] = quat.from_yaw(yaws)
        return Clip(name, motion.database.skeleton, motion.database.rate, positions, rotations,
                    contacts=self._column("feet", index) == HELD)

    def _column(self, name, index):
        column = self._frames.column(name, index)
        return _numbers(column) if name in WAYS else column


def _numbers(ways):
    """(…, 3) x, y and yaw of ways (…, 2), whose places or velocities are x + yi."""
    places, yaws = ways[..., 0], ways[..., 1]
    return np.stack([places.real, places.imag, yaws.real], axis=-1)
