# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person steers with: keys, gamepads, a recording. Each of them is one class."""

from collections.abc import Set
from typing import Protocol

from .stick import Stick


class Device(Protocol):
    """A new device derives from this class, and has a name and poll() of its own; of the rest what it needs.

    name      as the person reads it
    in_use    whether hands are on it now
    in_world  whether its sticks are seen from the world, and not from the view or the character
    pressed   which of "toggle_strafe", "next_gait", "keep" and "cancel" were pressed between the last two polls
    look      (x, y) how far the view is to be orbited: right, up
    notice    a sentence that the person should know, or nothing
    """

    name: str
    in_use: bool = False
    in_world: bool = False
    pressed: Set[str] = frozenset()
    look: tuple = 0.0, 0.0
    notice: str = ""

    def poll(self, heading=0.0, facing=0.0, seconds=0.0, strafe=False) -> Stick | None:
        """The Stick now, or None while there is none. On the main thread, once a frame.

        heading  yaw that forward means
        facing   yaw of the character
        seconds  since the last call
        strafe   strafe also without a key or a button
        """

    def close(self):
        """Let go of it."""
