# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys as a stick: what is held down, and the facing that is kept and turned while strafing."""

import numpy as np

from .device import Device
from .stick import Stick

# What keys can be given to; the last ones happen when they are pressed, the others last as long as they are held.
HELD = ("forward", "back", "left", "right", "run", "crouch", "strafe", "turn_left", "turn_right")
NUMBERED = tuple(f"gait_{number}" for number in range(1, 10))
PRESSED = ("toggle_strafe", "next_gait", *NUMBERED, "keep", "cancel")
CONTROLS = HELD + PRESSED
# How fast the facing is turned while strafing (rad/s).
TURNING = np.radians(150)


class Keyboard(Device):
    """The keys that are held. Two keys may have the same control: it lasts until both are released."""

    name = "Keyboard"

    def __init__(self):
        self._controls = {}  # key → control
        self._facing = None  # the yaw that is kept while strafing

    @property
    def held(self):
        """The controls that are held."""
        return set(self._controls.values())

    @property
    def in_use(self):
        return bool(self._controls)

    def press(self, key, control):
        self._controls[key] = control

    def release(self, key):
        """Whether that key was held."""
        return self._controls.pop(key, None) is not None

    def release_all(self, besides=()):
        """Let go of everything besides some keys: no release arrives from a window that has lost the focus."""
        self._controls = {key: control for key, control in self._controls.items() if key in besides}

    def poll(self, heading=0.0, facing=0.0, seconds=0.0, strafe=False):
        """The Stick now; the facing is kept from the moment on when strafing begins."""
        held = self.held
        move = np.array([("right" in held) - ("left" in held), ("forward" in held) - ("back" in held)], dtype=float)
        move /= max(1.0, np.hypot(*move))
        strafe = strafe or "strafe" in held
        if not strafe:
            self._facing = None
            return Stick(*move, run=float("run" in held), crouch=float("crouch" in held))
        if self._facing is None:
            self._facing = facing
        self._facing += TURNING * seconds * (("turn_left" in held) - ("turn_right" in held))
        face = self._facing - heading
        return Stick(*move, -np.sin(face), np.cos(face), float("run" in held), 1.0, float("crouch" in held))
