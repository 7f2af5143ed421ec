# SPDX-License-Identifier: GPL-3.0-or-later
"""A training as whoever starts it sees it: started in another Python, watched through its folder, cancelled, and why it
ended. Nothing here waits, and nothing needs torch."""

import math
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from ... import records
from ...errors import MotionError
from ...files import replacing
from ...matching import database
from .child import Child, last_lines
from .folder import CANCEL, CHECKPOINT, PROGRESS, folder_of, is_running, parse

LOG, ORDER = "log.txt", "order.json"
GRACE = 30.0  # seconds that a cancelled training gets to keep a checkpoint before it is ended
FULL = 5e6  # bytes of free space below which a disk is as good as full
_CANCELLED = 130


@dataclass(frozen=True)
class Order:
    """What is to be trained; iterations instead of minutes, if there are any."""

    database: str
    output: str
    model: str = "lmm"
    minutes: float = 15.0
    iterations: int = 0
    seed: int = 0
    resume: bool = False

    @property
    def folder(self):
        return folder_of(self.output)

    def arguments(self):
        budget = ["--iterations", str(self.iterations)] if self.iterations else ["--minutes", f"{self.minutes:g}"]
        return ["-m", "mm_blender", "train", self.database, "-o", self.output, "--model", self.model, *budget,
                "--seed", str(self.seed), "--watch-stdin", *(["--resume"] if self.resume else [])]


class ProgressLines:
    """The lines that a training has written, read as they come."""

    def __init__(self, folder):
        self._path, self._offset, self._rest = Path(folder) / PROGRESS, 0, b""
        self.lines, self.figures = [], {}

    def read(self):
        """Whether there is something new."""
        try:
            size = self._path.stat().st_size
        except OSError:
            size = 0
        if size == self._offset:
            return False
        if size < self._offset:  # another training has begun
            self.__init__(self._path.parent)
            return self.read() or True
        try:
            with open(self._path, "rb") as file:
                file.seek(self._offset)
                text = self._rest + file.read()
        except OSError:
            return False
        self._offset += len(text) - len(self._rest)
        whole, _, self._rest = text.rpartition(b"\n")
        for line in parse(whole.decode("utf-8", "replace")):
            self._take(line)
        return True

    @property
    def last(self):
        return self.lines[-1] if self.lines else {}

    @property
    def share(self):
        share = next((_number(line["share"]) for line in reversed(self.lines) if "share" in line), 0.0)
        return min(max(0.0, share), 1.0)

    @property
    def text(self):
        """What is being done and how long it still takes."""
        if "stage" not in self.last:
            return "Finishing" if self.last.get("done") else "Starting"
        error = self.figures.get("joint_error_cm")
        known = f", {error:.2f} cm" if isinstance(error, float) else ""
        return f"{in_words(_number(self.last.get('seconds_left')))} left{known}"

    def _take(self, line):
        # A training that was killed goes on from its checkpoint: what came after that is past history.
        while "seconds" in line and self.lines and not _number(
                self.lines[-1].get("seconds", math.inf)) <= _number(line["seconds"]):
            self.lines.pop()
        self.lines.append(line)
        if isinstance(line.get("figures"), dict):
            self.figures = self.figures | line["figures"]


class Run:
    """One training, in a process that has been started."""

    def __init__(self, order, python):
        self.order, self.progress = order, ProgressLines(order.folder)
        self._cancelled = None
        prepare(order)
        self._child = Child(python, order.arguments(), order.folder / LOG)

    @property
    def pid(self):
        return self._child.pid

    @property
    def cancelled(self):
        return self._cancelled is not None

    def poll(self):
        """Looks at it; whether it still runs."""
        self.progress.read()
        if self._child.code() is not None:
            self.progress.read()
            return False
        if self.cancelled:
            self._insist()
        return True

    def cancel(self):
        """Ask it to keep a checkpoint and end; poll() sees to it that it does."""
        if not self.cancelled:
            self._cancelled = time.monotonic()
            self._insist()

    def let_go(self):
        """It ends by itself, with a checkpoint; nobody looks any more."""
        self._child.let_go()

    def trouble(self):
        """Why it ended without networks, in a sentence; empty if all was well or it was cancelled."""
        code = self._child.code()
        if code in (0, None) or self.cancelled or code == _CANCELLED:
            return ""
        return _why(code, self._child.said(), self.order.folder)

    def _insist(self):
        # Again and again: one that was starting removes what an earlier cancel has left.
        try:
            (self.order.folder / CANCEL).touch()
        except OSError:
            self._child.let_go()
        if time.monotonic() - self._cancelled > GRACE:
            self._child.end()


@dataclass(frozen=True)
class Past:
    """How a training that nobody here has started, or that is over, stands by its folder.

    word  "none", "running" (in another process), "done", "cancelled", "failed" or "interrupted"
    """

    word: str
    progress: ProgressLines
    resumable: bool = False
    trouble: str = ""


def look(output, progress=None):
    """The Past of the training that makes these networks. `progress` is read on if it is given."""
    folder = folder_of(output)
    progress = progress or ProgressLines(folder)
    progress.read()
    last, resumable = progress.last, (folder / CHECKPOINT).is_file()
    if last.get("done"):
        return Past("done", progress)
    if is_running(folder):
        return Past("running", progress)
    if "failed" in last:
        return Past("failed", progress, resumable, str(last["failed"]))
    if not progress.lines and not resumable:
        return Past("none", progress)
    return Past("cancelled" if last.get("cancelled") else "interrupted", progress, resumable)


def ask_to_end(output):
    """Cancel a training of another process, if there is one."""
    if is_running(folder_of(output)):
        (folder_of(output) / CANCEL).touch()


def prepare(order):
    """What would go wrong after the start is said before it; the folder is made."""
    key = database.read_key(order.database)
    if order.resume and ordered(order.output).get("key", key) != key:
        raise MotionError(f'"{Path(order.database).name}" was baked anew since: train again.')
    if is_running(order.folder):
        raise MotionError(f'Another process is training "{Path(order.output).name}": wait for it, or cancel it there.')
    try:
        order.folder.mkdir(exist_ok=True)
        if not order.resume:  # its progress would be taken for the new one's
            (order.folder / PROGRESS).unlink(missing_ok=True)
    except OSError as error:
        raise MotionError(f'The folder "{order.folder}" of the training cannot be made: '
                          f"{error.strerror or error}.") from error
    with replacing(order.folder / ORDER) as temporary:
        temporary.write_text(records.to_text({**asdict(order), "key": key}), encoding="utf-8")


def ordered(output):
    """What was ordered when these networks were last trained from Blender, as a dict; empty if nothing is known."""
    try:
        found = records.from_text((folder_of(output) / ORDER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def note_trouble(output, sentence):
    """Keep the sentence in the folder, so that it is there when the file is opened again."""
    if is_running(folder_of(output)):  # the folder is another process's
        return
    try:
        with open(folder_of(output) / PROGRESS, "a", encoding="utf-8") as file:
            # On a line of its own: a kill may have cut off the last one.
            file.write("\n" + records.to_text({"failed": sentence}) + "\n")
    except OSError:  # a full disk, say: then it is known as long as Blender runs
        pass


def log_of(output):
    """The last lines that a training has said."""
    return last_lines(folder_of(output) / LOG)


def in_words(seconds):
    """A time as a person says it."""
    seconds = max(0.0, seconds)
    if seconds < 90:
        return f"{5 * round(seconds / 5) or 5} s" if seconds else "0 s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _why(code, lines, folder):
    resumable = (folder / CHECKPOINT).is_file()
    further = "resume it to go on" if resumable else "train again"
    told = next((line.removeprefix("mm_blender: ") for line in reversed(lines) if line.startswith("mm_blender: ")), "")
    if "the disk is full" in told or _is_full(folder) or any("No space left" in line for line in lines):
        return f"The training stopped because the disk is full: free some space and {further}."
    if told:
        return told.replace("train without --resume", "train again")
    if any("MemoryError" in line or "out of memory" in line.lower() for line in lines):
        return f"The training ran out of memory: close other programs and {further}."
    if code < 0:
        return f"The training was ended from outside, perhaps for want of memory (signal {-code}): {further}."
    last = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
    return f"The training failed ({last[:120]}): see its log."


def _is_full(folder):
    try:
        return shutil.disk_usage(folder).free < FULL
    except OSError:
        return False


def _number(value):
    return float(value) if isinstance(value, int | float) else 0.0
