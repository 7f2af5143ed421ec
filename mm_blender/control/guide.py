# SPDX-License-Identifier: GPL-3.0-or-later
"""Who says where a character should go: a stick, a curve, somebody to follow, trackers, a partner's clip.

Each of them is one class. Where a character should be is called its simulated root: the character is pulled towards it,
and the search looks for motion that takes the path of it. Places on the ground are x + yi in metres, yaws are radians.
"""

from typing import Protocol

from .intent import Intent, jumps


class Guide(Protocol):
    """Guides one character. A new guide derives from this class, and has place(), step() and path() of its own.

    The Player calls step() once a frame, and then reads the others.

    root    (place, yaw) where the character should be
    intent  the Intent: how fast it should go which way, what it should face, its gait and its tags; another object
            whenever any of that changes
    size    how many times as large as a person its character is; the Player says it
    """

    root: tuple
    intent: Intent
    size: float = 1.0
    _searched: Intent = Intent(0j, 0.0)

    def place(self, place, yaw, velocity=0j, turning=0.0):
        """The character was put somewhere, and stands there as if it had always been there; or it goes on there like
        this, as if it always had."""

    def step(self, body):
        """One frame on; body: what can be seen of the character, a Body, as it was shown last."""

    def path(self, times):
        """[(place, yaw)] at times from now, in their order: ahead if the intent stays, behind as it was."""

    def heights(self, times):
        """How high the hips should be above the ground (m) at times from now; None for as high as usual."""

    @property
    def jumped(self):
        """Whether the intent is so different from that of the last search that the next one cannot wait."""
        asked, now = self._searched, self.intent  # the same object as long as nothing has changed
        return asked is not now and jumps(asked, now, self.size)

    def searched(self):
        """Motion for the intent has just been searched for."""
        self._searched = self.intent
