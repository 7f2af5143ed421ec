# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose as one row of numbers: what the Decompressor makes, and how it is read."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..motion import quat


@dataclass(frozen=True)
class Layout:
    """Where the parts of a pose lie in its row.

    joints    J, the root among them; its own rotation and position are no part of the row
    moving    how many joints below the root have positions of their own
    contacts  how many feet are followed
    tags      how many tags
    """

    joints: int
    moving: int
    contacts: int
    tags: int = 0

    @cached_property
    def parts(self):
        """Name → slice. Contacts and tags are above zero where they hold."""
        sizes = {"rotations": 6 * (self.joints - 1), "positions": 3 * self.moving, "travel": 3,
                 "contacts": self.contacts, "tags": self.tags}
        ends = np.cumsum(list(sizes.values())).tolist()
        return {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends)}

    @property
    def size(self):
        return self.parts["tags"].stop

    def rows(self, positions, rotations, travel, contacts, tags):
        """(N, R) of local positions (N, M, 3) of the moving joints, local rotations (N, J, 4), travel (N, 3), contacts
        (N, C) and tags (N, T)."""
        count = len(rotations)
        axes = quat.to_two_axis(rotations[:, 1:]).reshape(count, -1)
        signs = [np.where(marks, 1, -1).reshape(count, -1) for marks in (contacts, tags)]
        return np.concatenate([axes, positions.reshape(count, -1), travel, *signs], axis=1).astype(np.float32)

    def positions(self, rows):
        return rows[:, self.parts["positions"]].reshape(len(rows), self.moving, 3)

    def rotations(self, rows):
        """(N, J, 4) local rotations; the root's is none."""
        rotations = quat.identity((len(rows), self.joints))
        axes = rows[:, self.parts["rotations"]].reshape(len(rows), self.joints - 1, 3, 2)
        rotations[:, 1:] = quat.from_two_axis(axes)
        return rotations

    def travel(self, rows):
        return rows[:, self.parts["travel"]]

    def contacts_of(self, rows):
        return rows[:, self.parts["contacts"]] > 0

    def tags_of(self, rows):
        """(N, T) above zero where a tag holds, the more certain the larger."""
        return rows[:, self.parts["tags"]]
