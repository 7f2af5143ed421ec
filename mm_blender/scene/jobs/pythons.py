# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python that trains: chosen, or looked for in the background."""

import os
import sys
import time

import bpy

from ...training.watching.pythons import Question, on_path, python_in
from ..own_folder import own_folder
from ..screen import redraw_panels, redraw_preferences

EVERY = 0.25  # seconds between looks
CHOSEN = "MM_TORCH_PYTHON"  # for machines without a person who could choose

# The file private_python.py while it can be used: the zips for Blender's extensions platform do not have it, because
# nothing there may download packages.
private = None

_answers = {}  # path of a Python → its Answer
_question = None  # the one that is being asked


def chosen():
    """The Python that was chosen in the preferences or by the environment; empty if it is to be looked for."""
    addon = bpy.context.preferences.addons.get(__package__.partition(".mm_blender")[0])
    chosen = addon.preferences.torch_python.strip() if addon is not None else ""
    return os.path.abspath(bpy.path.abspath(chosen)) if chosen else os.environ.get(CHOSEN, "")


def candidates():
    """The Pythons that may have torch, the best one first."""
    if chosen():
        return [chosen()]
    own = python_in(private_folder())
    found = [*([own] if os.path.isfile(own) else []), sys.executable, *on_path()]
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
    how = "make a private one, or" if private is not None else "install it in one, as the manual says, and"
    return broken or f"No Python with torch was found: {how} choose one in the preferences."


def test():
    """Ask again."""
    if _question is None:
        _answers.clear()
        if private is not None:
            private.forget()
        _look_on()


def wait():
    """Look to the end, for scripts."""
    while searching():
        tick()
        time.sleep(0.05)


def answer_of(path):
    """The Answer of one Python, waited for."""
    if path not in _answers:
        question = _questioned(path)
        while question.answer() is None:
            time.sleep(0.05)
        _answers[path] = question.answer()
    return _answers[path]


def known_answer(path):
    """The Answer of one Python, or None where it has not been asked."""
    return _answers.get(path)


def ask_again(path):
    """Forget what one Python has said: another may lie there now."""
    _answers.pop(path, None)
    _look_on()


def _questioned(path):
    return Question(path, os.path.join(bpy.app.tempdir, "mm_python.txt"))


# The timer

def _look_on():
    if not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=0.0, persistent=True)


def tick():
    """One look; returns the seconds until the next one, or None when nothing is under way."""
    _ask()
    redraw_panels()
    redraw_preferences()
    return EVERY if _question is not None else None


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


def register():
    """Nothing is looked for until somebody asks."""


def unregister():
    global _question
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    if _question is not None:
        _question.end()
        _question = None
    _answers.clear()
