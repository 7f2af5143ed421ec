# SPDX-License-Identifier: GPL-3.0-or-later
"""Which gamepads there are, for the preferences: looked at from a timer, because SDL takes its time to start."""

import time

import bpy

from ...control.gamepad import Gamepads
from ..screen import redraw_preferences
from .session import current

TRUSTED = 10.0  # seconds for which an answer is taken as it is

_answer, _found = "", -TRUSTED


def sentence():
    """The gamepads that are plugged in, or why there are none; empty while that is being found out."""
    session = current()
    if session is not None and session.gamepads is not None:
        return _told(session.gamepads)
    if time.monotonic() - _found > TRUSTED and not bpy.app.timers.is_registered(look):
        bpy.app.timers.register(look, first_interval=0.0)
    return _answer


def look():
    """Which gamepads are there; Blender's timer asks once for all panels."""
    global _answer, _found
    pads = Gamepads.open()
    _answer, _found = _told(pads), time.monotonic()
    if pads is not None:
        pads.close()
    redraw_preferences()


def _told(pads):
    if pads is None:
        return Gamepads.reason()
    return ", ".join(pads.names) or pads.notice or "No gamepad is plugged in. One can be plugged in at any time."


def register():
    """Nothing is looked for until somebody asks."""


def unregister():
    if bpy.app.timers.is_registered(look):
        bpy.app.timers.unregister(look)
