# SPDX-License-Identifier: GPL-3.0-or-later
"""A private Python with torch, made in the background when the artist wants it.

The zips for Blender's extensions platform leave this file out: see dev.py.
"""

import os
import sys
import time

import bpy

from ...errors import MotionError
from ...training.watching import environment
from ...training.watching.child import Child
from ...training.watching.pythons import on_path, python_in
from ..screen import redraw_panels, redraw_preferences
from . import pythons

NOT_ALLOWED = "Allow Online Access first: Preferences, System, Network"

_making = None  # the environment that is being made, and what went wrong with the last one
_trouble = ""


def making():
    """How far the environment is that is being made, as a share and a text; None if none is."""
    return environment.progress(_making.said()) if _making is not None else None


def trouble():
    """Why it could not be made, in a sentence."""
    return _trouble


def forget():
    """What went wrong is not said any more."""
    global _trouble
    _trouble = ""


def log():
    """The last lines of what making it has said."""
    return [line for line in _making.said() if not line.startswith("Progress ")] if _making is not None else []


def make(waiting=False):
    """Make it, in the background unless a script waits for it."""
    global _making
    if not bpy.app.online_access:
        raise MotionError(f"{NOT_ALLOWED}.")
    if _making is not None:
        raise MotionError("The environment is being made already.")
    maker = _maker(waiting)
    forget()
    folder = pythons.private_folder()
    _making = Child(maker, ["-m", "mm_blender.training.watching.environment", folder],
                    os.path.join(os.path.dirname(folder), "log.txt"))
    if not waiting:
        bpy.app.timers.register(tick, first_interval=0.0, persistent=True)
    while waiting and tick() is not None:
        time.sleep(0.05)
    if waiting and _trouble:
        raise MotionError(_trouble)


def stop():
    """Leave it half made: it is not used, and made anew the next time."""
    global _making
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    if _making is not None:
        _making.let_go()
        _making.end()
        _making = None


def tick():
    """One look; returns the seconds until the next one, or None when it is made or has failed."""
    global _making, _trouble
    if _making is not None and (code := _making.code()) is not None:
        _trouble = environment.trouble(_making.said()) if code else ""
        _making = None
        pythons.ask_again(python_in(pythons.private_folder()))
    redraw_panels()
    redraw_preferences()
    return pythons.EVERY if _making is not None else None


def _maker(waiting):
    """A Python that can make environments."""
    if pythons.chosen():
        raise MotionError(f'"{pythons.chosen()}" was chosen as the Python that trains: leave that empty in the '
                          "preferences.")
    for path in (sys.executable, *on_path()):
        answer = pythons.answer_of(path) if waiting else pythons.known_answer(path)
        if answer is not None and answer.makes:
            return path
    raise MotionError("No Python was found that can make an environment: install Python 3.11 or later with venv and "
                      "pip, or choose one with torch in the preferences.")
