# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives a real Blender: starts it with a clean profile, lets it play steps in its window, brings back the result."""

import json
import os
import signal
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# As fast as a hand that swings while running, in m/s; a pop is several times faster.
FASTEST = 14


class Blender:
    """A Blender (a command line, as a list of words) with a profile folder of its own."""

    def __init__(self, command, profile):
        self.command = command
        self.profile = profile

    def extension(self, *arguments):
        """Runs `blender --command extension …`, for example to install one; what it printed."""
        code, output = self._start(["--command", "extension", *arguments], timeout=120)
        assert code == 0, f"blender --command extension {arguments[0]} failed:\n{output}"
        return output

    def play(self, steps, pictures, *, factory=False, timeout=300):
        """Plays tests/window/steps/<steps>.py in a window, see inside.py; the result that it left.

        Pictures go to that folder. With factory=True Blender starts with nothing enabled.
        """
        result = self.profile / f"{steps}.json"
        result.unlink(missing_ok=True)
        script = HERE / "steps" / f"{steps}.py"
        expression = f"import sys; sys.path.insert(0, {str(HERE)!r}); import inside"
        expression += f"; inside.play({str(script)!r}, {str(result)!r}, {str(pictures)!r})"
        options = ["--factory-startup"] if factory else []
        options += ["--enable-event-simulate", "--python-exit-code", "1", "--python-expr", expression]
        code, output = self._start(options, timeout)
        assert result.exists(), f"Blender ended with {code} and left no result of {steps}:\n{output[-4000:]}"
        outcome = json.loads(result.read_text())
        assert "error" not in outcome, f"{steps} failed inside Blender:\n{outcome['error']}\n{output[-2000:]}"
        return outcome

    def _start(self, arguments, timeout):
        """Runs Blender; its exit code and what it printed. One that takes too long is ended with all it started."""
        unwanted = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        surroundings = {key: value for key, value in os.environ.items() if key not in unwanted}
        surroundings["BLENDER_USER_RESOURCES"] = str(self.profile)
        with subprocess.Popen(
            [*self.command, *arguments],
            cwd=ROOT,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as run:
            try:
                output, _ = run.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, signal.SIGKILL)
                output, _ = run.communicate()
                return "no answer", f"{output}\n(not finished after {timeout} s)"
        return run.returncode, output
