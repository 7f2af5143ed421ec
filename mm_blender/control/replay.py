# SPDX-License-Identifier: GPL-3.0-or-later
"""A recording in place of a hand; it keeps the take at its end."""

from .device import Device


class Replay(Device):
    """A Recording as a device."""

    name, in_world = "Recording", True

    def __init__(self, recording):
        self._recording, self._seconds = recording, 0.0

    def poll(self, heading=0.0, facing=0.0, seconds=0.0, strafe=False):
        before, end = self._seconds, self._recording.duration
        stick = self._recording.at(before)
        self._seconds += seconds
        self.pressed = {"keep"} if before <= end < self._seconds else set()
        return stick
