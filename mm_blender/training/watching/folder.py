# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a training: progress as lines of JSON, a checkpoint to resume from, a file that cancels it.

Whoever watches a training reads it too, and may have no torch: that is imported where it is needed.
"""

import io
import os
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ... import records
from ...archive import in_short
from ...errors import MotionError
from ...files import lock, replacing, why_not

PROGRESS, CHECKPOINT, CANCEL, LOCK = "progress.jsonl", "checkpoint.pt", "cancel", "lock"
# Seconds that a training which is about to end is waited for, and that one which was left alone may take to end.
PATIENCE, GRACE = 10.0, 60.0


class TrainingFolder:
    """A folder, made if it is not there."""

    def __init__(self, folder, resume=False):
        self.folder = Path(folder)
        try:
            self.folder.mkdir(exist_ok=True)
            (self.folder / CANCEL).unlink(missing_ok=True)
            if not resume:
                for name in (PROGRESS, CHECKPOINT):
                    (self.folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise MotionError(f'The folder "{self.folder}" of the training cannot be used: '
                              f"{error.strerror or error}.") from error

    def write(self, **values):
        """One more line of progress."""
        path = self.folder / PROGRESS
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write(records.to_text(values) + "\n")
        except OSError as error:
            raise MotionError(why_not(path, error)) from error

    def lines(self):
        """The progress so far."""
        return parse((self.folder / PROGRESS).read_text(encoding="utf-8"))

    def is_cancelled(self):
        return (self.folder / CANCEL).exists()

    def keep(self, state):
        """A checkpoint: the old one stays until the new one is complete."""
        import torch

        made = io.BytesIO()  # on a full disk torch itself has other errors than all others
        torch.save(state, made)
        with replacing(self.folder / CHECKPOINT) as temporary:
            temporary.write_bytes(made.getbuffer())

    def kept(self):
        """The last checkpoint, or None."""
        import torch

        path = self.folder / CHECKPOINT
        if not path.exists():
            return None
        try:
            return torch.load(path, weights_only=True)
        except Exception as error:  # a damaged file can provoke anything in torch
            raise MotionError(f'The checkpoint "{path}" is damaged: train without --resume '
                              f"({in_short(error)}).") from error


class HelpersFolder(TrainingFolder):
    """The same for a process that helps another one: it writes nothing and decides nothing."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def write(self, **values):
        pass

    def keep(self, state):
        pass

    def is_cancelled(self):
        return False


def folder_of(output):
    """Where the training that makes these networks keeps its files."""
    return Path(f"{output}.training")


def parse(text):
    """Lines of progress; one that was cut off by a kill is passed over."""
    lines = []
    for line in text.splitlines():
        try:
            lines.append(records.from_text(line))
        except ValueError:
            continue
    return [line for line in lines if isinstance(line, dict)]


@contextmanager
def only_one(folder):
    """While this lasts no other process trains in the folder; the system itself ends it with the process."""
    if int(os.environ.get("RANK", 0)):  # torchrun: the first process speaks for all
        yield
        return
    folder = Path(folder)
    with ExitStack() as stack:
        try:
            folder.mkdir(exist_ok=True)
            file = stack.enter_context(open(folder / LOCK, "wb"))
        except OSError as error:
            raise MotionError(f'The folder "{folder}" of the training cannot be used: '
                              f"{error.strerror or error}.") from error
        until = time.monotonic() + PATIENCE
        while not lock(file):
            if time.monotonic() > until:
                raise MotionError(f'Another process is training in "{folder}": wait for it, or cancel it first.')
            time.sleep(0.2)
        yield


def is_running(folder):
    """Whether some process trains in the folder."""
    try:
        with open(Path(folder) / LOCK, "r+b") as file:
            return not lock(file)
    except OSError:
        return False


def end_with_parent(folder):
    """Cancels the training when standard input is closed: whoever started it has gone, whatever the reason.

    One that is in the middle of something long gets a while to see it; the checkpoint is complete at any time.
    """
    def wait():
        while os.read(0, 1024):  # not sys.stdin: its lock would be held when Python ends
            pass
        until = time.monotonic() + GRACE
        while time.monotonic() < until:  # again and again: the file may be from before, and be removed
            with suppress(OSError):
                (Path(folder) / CANCEL).touch()
            time.sleep(0.5)
        os._exit(130)

    threading.Thread(target=wait, name="end with parent", daemon=True).start()
