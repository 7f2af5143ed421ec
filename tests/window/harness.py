# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives a real Blender: starts it with a clean profile, lets it play steps in its window, brings back the result."""

import contextlib
import json
import os
import signal
import subprocess
import time
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
        self._orders, self._shared = profile / "orders.json", None

    def extension(self, *arguments):
        """Runs `blender --command extension …`, for example to install one; what it printed."""
        code, output = self._start(["--command", "extension", *arguments], timeout=120)
        assert code == 0, f"blender --command extension {arguments[0]} failed:\n{output}"
        return output

    def play(self, steps, pictures, *, factory=False, timeout=300, shared=False, name=None):
        """Plays tests/window/steps/<steps>.py in a window, see inside.py; the result that it left.

        Pictures go to that folder. With factory=True Blender starts with nothing enabled. With shared=True it is played
        in a Blender that has played others before: for steps that leave Blender as they found it, but for the file.
        name: of the result, if the same steps are played twice at once.
        """
        result = self.profile / f"{name or steps}.json"
        result.unlink(missing_ok=True)
        order = [str(HERE / "steps" / f"{steps}.py"), str(result), str(pictures)]
        code, output = self._ask_shared(order, timeout) if shared else self._start(
            [*(["--factory-startup"] if factory else []), *_python(f"inside.play(*{order!r})")], timeout)
        assert result.exists(), f"Blender ended with {code} and left no result of {steps}:\n{output[-4000:]}"
        outcome = json.loads(result.read_text())
        if "error" in outcome:
            self.end()  # nobody knows what it has left behind
        assert "error" not in outcome, f"{steps} failed inside Blender:\n{outcome['error']}\n{output[-2000:]}"
        return outcome

    def end(self):
        """Ends the Blender that steps share, if there is one."""
        if self._shared is not None:
            with contextlib.suppress(ProcessLookupError):  # it has ended by itself
                os.killpg(self._shared.pid, signal.SIGKILL)
            self._shared.wait()
            self._shared = None

    def _ask_shared(self, order, timeout):
        """Lets the shared Blender play steps; why it did not, and what it printed."""
        printed = self.profile / "shared.txt"
        if self._shared is None or self._shared.poll() is not None:
            with open(printed, "w") as output:
                self._shared = subprocess.Popen([*self.command, *_python(f"inside.serve({str(self._orders)!r})")],
                                                stdout=output, **self._surroundings())
        part = self._orders.with_suffix(".part")
        part.write_text(json.dumps(order))
        part.replace(self._orders)
        end, code = time.monotonic() + timeout, None
        while not Path(order[1]).exists() and code is None:
            time.sleep(0.1)
            code = self._shared.poll() if time.monotonic() < end else "no answer"
        if code is not None:
            self.end()
            self._orders.unlink(missing_ok=True)
        return code, printed.read_text(errors="replace")

    def _start(self, arguments, timeout):
        """Runs Blender; its exit code and what it printed. One that takes too long is ended with all it started."""
        with subprocess.Popen(
            [*self.command, *arguments], stdout=subprocess.PIPE, text=True, errors="replace", **self._surroundings()
        ) as run:
            try:
                output, _ = run.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, signal.SIGKILL)
                output, _ = run.communicate()
                return "no answer", f"{output}\n(not finished after {timeout} s)"
        return run.returncode, output

    def _surroundings(self):
        """What Blender is started with, as options of Popen."""
        unwanted = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        surroundings = {key: value for key, value in os.environ.items() if key not in unwanted}
        surroundings["BLENDER_USER_RESOURCES"] = str(self.profile)
        return {"cwd": ROOT, "env": surroundings, "stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT,
                "start_new_session": True}


def _python(expression):
    """Options with which a Blender runs an expression about inside.py."""
    expression = f"import sys; sys.path.insert(0, {str(HERE)!r}); import inside; {expression}"
    return ["--enable-event-simulate", "--python-exit-code", "1", "--python-expr", expression]
