# SPDX-License-Identifier: GPL-3.0-or-later
"""A process of ours that runs beside us: started, looked at now and then, ended. It ends when we do.

It holds the other end of a pipe as its standard input; when that closes, by will or because we were killed, it goes.
"""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from ...errors import MotionError
from ...files import why_not

ROOT = Path(__file__).resolve().parents[3]  # where the package mm_blender lies
TAIL = 8192  # bytes of what it said that are looked at


class Child:
    """python     the Python that it runs in
    arguments  for it, as a list
    log        the file that takes what it says
    """

    def __init__(self, python, arguments, log):
        self.log = Path(log)
        try:
            self.log.write_bytes(b"")
        except OSError as error:
            raise MotionError(why_not(self.log, error)) from error
        # On Windows: no console, and less pressing than Blender (elsewhere it steps back by itself).
        flags = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
        try:
            with open(log, "ab") as file:
                self._popen = subprocess.Popen([python, *arguments], stdin=subprocess.PIPE, stdout=file,
                                               stderr=subprocess.STDOUT, env=_surroundings(), start_new_session=True,
                                               creationflags=flags)
        except OSError as error:
            raise MotionError(f'"{python}" cannot be started: {error.strerror or error}.') from error

    @property
    def pid(self):
        return self._popen.pid

    def code(self):
        """How it ended: 0 if all was well, negative if it was killed; None while it runs."""
        return self._popen.poll()

    def let_go(self):
        """Ask it to end, by closing its standard input."""
        with suppress(OSError):
            self._popen.stdin.close()

    def end(self):
        """End it now, with all that it has started."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._popen.pid, signal.SIGTERM)
            else:
                self._popen.terminate()

    def said(self):
        """The last lines of what it said."""
        return last_lines(self.log)


def last_lines(path):
    """The last lines of a log; none if there is no such file."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
            return file.read(TAIL).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def _surroundings():
    """Ours, with a way to our package; what only suits Blender's own Python is left out."""
    unwanted = ("PYTHONHOME", "PYTHONPATH", "__PYVENV_LAUNCHER__")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    # Safe path: what lies in the folder that Blender was started from is none of ours.
    return {**kept, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONIOENCODING": "utf-8"}
