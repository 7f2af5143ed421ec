# SPDX-License-Identifier: GPL-3.0-or-later
"""What networks learn from: the frames of a database, all in memory, some of each clip held back."""

from functools import cached_property

import numpy as np
import torch

from ..control.speeds import root_velocities
from ..matching.search import enterable
from ..matching.tags import BUILT_IN
from ..motion import quat
from ..motion.skeleton import forward_velocities
from ..networks.layout import Layout

# This share of each clip, in one piece, is never learned from: errors are measured there.
HELD = 0.05
# Numbers that change less than this (metres, or axes of unit length) are not blown up to the size of the others.
LEAST = 1e-3


class Examples:
    """N frames as tensors.

    features   (N, D) as the database has them
    rows       (N, R) poses, see Layout
    table      (N, I) what the Compressor sees: rows, local velocities, and places, axes and velocities in the
               character's space (Y and Q of algorithm 1)
    places     (N, 3, J - 1) of the joints below the root, in the character's space, in the order of the tree's levels;
               a part of the table, as axes (N, 3, 2, J - 1) are
    held       (N,) frames that are held back
    following  (N,) the next frame; a clip's last frame is its own, unless it loops
    """

    def __init__(self, database, device="cpu"):
        self.database, self.device = database, torch.device(device)
        self.tags = tuple(name for name in database.tags if name not in BUILT_IN)
        self.moving = database.moving[database.moving != 0]
        self.layout = Layout(len(database.skeleton), len(self.moving), database.contacts.shape[1], len(self.tags))
        self.features = torch.as_tensor(database.features, device=device)
        self.table = torch.as_tensor(self._table(), device=device)
        self.rows = self.table[:, :self.layout.size]
        self.held = _held_back(database)
        self.following = _following(database)
        self.free, _ = enterable(database)

    def __len__(self):
        return len(self.features)

    @property
    def joints(self):
        return self.layout.joints - 1

    @property
    def places(self):
        return self.table[:, self._parts["places"]].reshape(-1, 3, self.joints)

    @property
    def axes(self):
        return self.table[:, self._parts["axes"]].reshape(-1, 3, 2, self.joints)

    def targets(self, batch):
        """Places (3, J - 1, F) and axes (3, 2, J - 1, F) of some rows of the table, as Kinematics makes them."""
        columns = batch.t()
        return (columns[self._parts["places"]].reshape(3, self.joints, -1),
                columns[self._parts["axes"]].reshape(3, 2, self.joints, -1))

    @cached_property
    def marks(self):
        """(N, T) which tags each frame has."""
        masks = [self.database.tags[name] for name in self.tags]
        return np.stack(masks, axis=1) if masks else np.zeros((len(self.features), 0), dtype=bool)

    @cached_property
    def combinations(self):
        """(U, T) bool: the combinations of tags of frames that may be entered; and (N,) which one each frame has,
        -1 for one that only frames have which may not be entered."""
        found = np.unique(self.marks[self.free], axis=0)
        numbers = {row.tobytes(): number for number, row in enumerate(found)}
        return found, np.array([numbers.get(row.tobytes(), -1) for row in self.marks])

    def starts(self, length, held=False):
        """Frames from which a window of that many steps stays within its clip (a loop goes round). Those to learn from
        touch no frame that is held back; those that are held back begin in one."""
        frames = ends = np.arange(len(self))
        inside, clean = np.ones(len(self), dtype=bool), ~self.held
        for _ in range(length):
            after = self.following[ends]
            inside &= after != ends
            ends = after
            clean &= ~self.held[ends]
        return frames[inside & (self.held if held else clean)]

    def window(self, starts, length):
        """(length + 1, B) frames of windows."""
        frames = [starts]
        for _ in range(length):
            frames.append(self.following[frames[-1]])
        return np.stack(frames)

    def _table(self):
        database, layout = self.database, self.layout
        below = np.flatnonzero(database.moving != 0)
        rows = layout.rows(database.positions[:, below], database.rotations, root_velocities(database),
                           database.contacts, self.marks)
        velocities, spins = database.velocities
        whole = np.zeros((len(rows), layout.joints, 3), dtype=np.float32)
        whole[:, database.moving] = velocities
        positions, rotations, spins = database.local_positions(slice(None)), database.rotations.copy(), spins.copy()
        positions[:, 0] = whole[:, 0] = spins[:, 0] = 0
        rotations[:, 0] = quat.identity()
        places, turns, speeds, turning = forward_velocities(database.skeleton, positions, rotations, whole, spins)
        order = np.concatenate(database.skeleton.levels)
        pieces = {"rows": rows, "velocities": whole[:, self.moving], "spins": spins[:, 1:],
                  "places": np.moveaxis(places[:, order], 1, -1),
                  "axes": np.moveaxis(quat.to_two_axis(turns[:, order]), 1, -1), "speeds": speeds[:, 1:],
                  "turning": turning[:, 1:]}
        pieces = {name: piece.reshape(len(rows), -1) for name, piece in pieces.items()}
        ends = np.cumsum([piece.shape[1] for piece in pieces.values()]).tolist()
        self._parts = {name: slice(end - piece.shape[1], end) for (name, piece), end in zip(pieces.items(), ends)}
        return np.concatenate(list(pieces.values()), axis=1, dtype=np.float32)


def spread(values):
    """Mean and standard deviation of each column of (N, C); what hardly changes counts as if it changed a little."""
    return values.mean(0), values.std(0).clamp(min=LEAST)


def _following(database):
    following = np.arange(1, len(database) + 1)
    for part in database.ranges:
        following[part.stop - 1] = part.start + 1 if part.loop and len(part) > 1 else part.stop - 1
    return following


def _held_back(database):
    """The same frames for every training, so that errors can be compared; a mirrored piece and its original hold back
    the same ones: nothing is measured whose mirror image was learned."""
    rng, held, begins = np.random.default_rng(0), np.zeros(len(database), dtype=bool), {}
    for part in database.ranges:
        count, piece = round(HELD * len(part)), (part.source, part.source_start)
        if piece not in begins:
            begins[piece] = int(rng.integers(0, len(part) - count + 1))
        start = part.start + begins[piece]
        held[start:start + count] = True
    return held
