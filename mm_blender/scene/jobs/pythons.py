# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python that trains: chosen, or looked for in the background; and a private one, made when the artist wants it."""

import os
import sys
import time

import bpy

from ...errors import MotionError
from ...training.watching import environment
from ...training.watching.child import Child
from ...training.watching.pythons import Question, on_path
from ..own_folder import own_folder
from ..screen import redraw_panels, redraw_preferences

EVERY = 0.25  # seconds between looks
CHOSEN = "MM_TORCH_PYTHON"  # for machines without a person who could choose
NOT_ALLOWED = "Allow Online Access first: Preferences, System, Network"

_answers = {}  # path of a Python → its Answer
_question = None  # the one that is being asked
_making = None  # the private environment that is being made, and what went wrong with it
_trouble = ""


def chosen():
    """The Python that was chosen in the preferences or by the environment; empty if it is to be looked for."""
    addon = bpy.context.preferences.addons.get(__package__.partition(".mm_blender")[0])
    chosen = addon.preferences.torch_python.strip() if addon is not None else ""
    return os.path.abspath(bpy.path.abspath(chosen)) if chosen else os.environ.get(CHOSEN, "")


def candidates():
    """The Pythons that may have torch, the best one first."""
    if chosen():
        return [chosen()]
    private = environment.python_in(private_folder())
    found = [*([private] if os.path.isfile(private) else []), sys.executable, *on_path()]
    return list(dict.fromkeys(path for path in found if path))


def private_folder():
    """Where the private environment is, or would be."""
    return os.path.join(own_folder("python"), "environment")


def found():
    """The Answer of the Python that will train; None if there is none, or as long as that is not known."""
    return next((_answers[path] for path in candidates() if path in _answers and not _answers[path].trouble), None)


def searching():
    """Whether some Python has still to be asked; begins to look if nobody does."""
    if found() is not None or all(path in _answers for path in candidates()):
        return False
    _look_on()
    return True


def sentence():
    """Which torch there is, or what is wrong; empty while that is being found out."""
    if (answer := found()) is not None:
        return answer.sentence
    if searching():
        return ""
    if chosen():
        return f"{_answers[chosen()].trouble} Choose another Python in the preferences."
    broken = next((answer.trouble for answer in _answers.values() if "cannot load" in answer.trouble), "")
    return broken or "No Python with torch was found: make a private one, or choose one in the preferences."


def test():
    """Ask again."""
    global _trouble
    if _question is None:
        _answers.clear()
        _trouble = ""
        _look_on()


def wait():
    """Look to the end, for scripts."""
    while searching():
        tick()
        time.sleep(0.05)


# The private environment

def making():
    """How far the private environment is that is being made, as a share and a text; None if none is."""
    return environment.progress(_making.said()) if _making is not None else None


def trouble():
    """Why the private environment could not be made, in a sentence."""
    return _trouble


def make(waiting=False):
    """Make the private environment, in the background unless a script waits for it."""
    global _making, _trouble
    if not bpy.app.online_access:
        raise MotionError(f"{NOT_ALLOWED}.")
    if _making is not None:
        raise MotionError("The environment is being made already.")
    maker = _maker(waiting)
    _trouble = ""
    folder = private_folder()
    _making = Child(maker, ["-m", "mm_blender.training.watching.environment", folder],
                    os.path.join(os.path.dirname(folder), "log.txt"))
    _look_on()
    while waiting and _making is not None:
        tick()
        time.sleep(0.05)
    if waiting and _trouble:
        raise MotionError(_trouble)


def stop_making():
    """Leave it half made: it is not used, and made anew the next time."""
    global _making
    if _making is not None:
        _making.let_go()
        _making.end()
        _making = None


def log():
    """The last lines of what making the environment has said."""
    return [line for line in _making.said() if not line.startswith("Progress ")] if _making is not None else []


def _maker(waiting):
    """A Python that can make environments."""
    if chosen():
        raise MotionError(f'"{chosen()}" was chosen as the Python that trains: leave that empty in the preferences.')
    for path in (sys.executable, *on_path()):
        if waiting and path not in _answers:
            _answers[path] = _asked(path)
        if path in _answers and _answers[path].makes:
            return path
    raise MotionError("No Python was found that can make an environment: install Python 3.11 or later with venv and "
                      "pip, or choose one with torch in the preferences.")


def _asked(path):
    """The answer of a Python, waited for."""
    question = _questioned(path)
    while question.answer() is None:
        time.sleep(0.05)
    return question.answer()


def _questioned(path):
    return Question(path, os.path.join(bpy.app.tempdir, "mm_python.txt"))


# The timer

def _look_on():
    if not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=0.0, persistent=True)


def tick():
    """One look; returns the seconds until the next one, or None when nothing is under way."""
    _ask()
    _look_at_making()
    redraw_panels()
    redraw_preferences()
    return EVERY if _question is not None or _making is not None else None


def _ask():
    global _question
    if _question is None:
        path = next((path for path in candidates() if path not in _answers), None)
        if path is None or found() is not None:
            return
        _question = _questioned(path)
    if (answer := _question.answer()) is not None:
        _answers[_question.python] = answer
        _question = None
        _ask()


def _look_at_making():
    global _making, _trouble
    if _making is None or (code := _making.code()) is None:
        return
    _trouble = environment.trouble(_making.said()) if code else ""
    _making = None
    _answers.pop(environment.python_in(private_folder()), None)
    _ask()


def register():
    """Nothing is looked for until somebody asks."""


def unregister():
    global _question
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    stop_making()
    if _question is not None:
        _question.end()
        _question = None
    _answers.clear()
