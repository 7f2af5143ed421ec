# SPDX-License-Identifier: GPL-3.0-or-later
"""What a guide sees of the character that it guides, or of another one that it guides it after. Read only."""

from ..motion import quat
from ..motion.skeleton import forward


class Body:
    """A character that a Player plays, as it is shown now."""

    def __init__(self, player, index):
        self._player, self._index = player, index

    @property
    def root(self):
        """(place, yaw), the place as x + yi."""
        return self._player.roots[self._index]

    @property
    def height(self):
        """Of the ground that it stands on."""
        return self._player.heights[self._index]

    @property
    def character(self):
        """The Character, whose roles name its joints."""
        return self._player.motion.database.character

    def features(self):
        """(D,) normalised, of what is playing."""
        return self._player.matcher.features()[self._index]

    def joints(self):
        """(J, 3) where its joints are, seen from its root."""
        player, index = self._player, self._index
        database = player.motion.database
        positions, rotations = database.fixed.copy(), player.rotations[index].copy()
        positions[player.motion.moving], positions[0] = player.moving[index], 0
        rotations[0] = quat.identity()
        return forward(database.skeleton, positions[None], rotations[None])[0][0]
