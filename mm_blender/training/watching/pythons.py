# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Python can train: each one is asked, in a process of its own, whether it has torch."""

import json
import os
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ...errors import MotionError
from .child import Child

OLDEST = (3, 11)
PATIENCE = 120.0  # seconds for an answer: torch can take long to load, the first time
_NAMES = ("python3", "python") if sys.platform != "win32" else ("python", "py")
# Asked of Pythons of any age, so in plain words; torch is really loaded, because a broken one is found like a good one.
_QUESTION = """
import json, sys
answer = {"version": list(sys.version_info[:3])}
try:
    import importlib.util
    answer["makes"] = all(importlib.util.find_spec(name) for name in ("venv", "ensurepip"))
    for name in ("numpy", "torch"):
        answer["missing"] = name
        if importlib.util.find_spec(name) is None:
            break
        module = __import__(name)
        answer[name] = str(module.__version__)
    else:
        del answer["missing"]
        import torch
        if torch.cuda.is_available():
            answer["device"] = torch.cuda.get_device_name(0)
        elif getattr(torch.backends, "mps", None) is not None and torch.backends.mps.is_available():
            answer["device"] = "Apple GPU"
        else:
            answer["device"] = "CPU"
except Exception as error:
    answer["error"] = "%s: %s" % (type(error).__name__, error)
print(json.dumps(answer))
"""


@dataclass(frozen=True)
class Answer:
    """What a Python says of itself.

    trouble  why it cannot train, in a sentence; empty if it can
    makes    whether it can make a private environment
    """

    python: str
    version: str = ""
    torch: str = ""
    device: str = ""
    makes: bool = False
    trouble: str = ""

    @property
    def sentence(self):
        version = ".".join(self.version.split(".")[:2])
        return self.trouble or f"torch {self.torch.partition('+')[0]}, {self.device}, Python {version}"


class Question:
    """A Python that is being asked."""

    def __init__(self, python, log):
        self.python = python
        self._asked, self._child, self._answer = time.monotonic(), None, None
        try:
            self._child = Child(python, ["-c", _QUESTION], log)
        except MotionError as error:
            self._answer = Answer(python, trouble=str(error))

    def answer(self):
        """Its Answer, or None as long as there is none."""
        if self._answer is None and self._child.code() is not None:
            self._answer = _understood(self.python, self._child.said())
        elif self._answer is None and time.monotonic() - self._asked > PATIENCE:
            self._child.end()
            self._answer = Answer(self.python, trouble=f'"{self.python}" does not answer: choose another Python.')
        return self._answer

    def end(self):
        if self._child is not None:
            self._child.let_go()
            self._child.end()


def python_in(folder):
    """The Python of the virtual environment in a folder."""
    return str(Path(folder) / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def on_path():
    """The Pythons that a shell would find."""
    return [found for found in map(shutil.which, _NAMES) if found]


def _understood(python, lines):
    try:
        answer = json.loads(next(line for line in reversed(lines) if line.startswith("{")))
        version = tuple(answer["version"])
        facts = {"version": ".".join(map(str, version)), "torch": answer.get("torch", ""),
                 "device": answer.get("device", ""), "makes": version >= OLDEST and bool(answer.get("makes"))}
    except (StopIteration, ValueError, LookupError, TypeError):
        return Answer(python, trouble=f'"{python}" is no Python that works'
                                      f"{f' ({lines[-1].strip()[:100]})' if lines else ''}.")
    return Answer(python, **facts, trouble=_trouble(python, version, answer))


def _trouble(python, version, answer):
    if version < OLDEST:
        return (f'"{python}" is Python {".".join(map(str, version))}, and training needs '
                f"{'.'.join(map(str, OLDEST))} or later.")
    if "error" in answer:
        return f'"{python}" cannot load {answer.get("missing", "torch")} ({answer["error"].splitlines()[0][:100]}).'
    if "missing" in answer:
        return f'"{python}" has no {answer["missing"]}.'
    return ""
