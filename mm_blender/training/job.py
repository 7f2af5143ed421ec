# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a training: progress as lines of JSON, a checkpoint to resume from, a file that cancels it."""

import json
from pathlib import Path

import torch

from ..archive import in_short
from ..errors import Cancelled, MotionError
from ..files import replacing

PROGRESS, CHECKPOINT, CANCEL = "progress.jsonl", "checkpoint.pt", "cancel"


class Job:
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
        with open(self.folder / PROGRESS, "a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")

    def lines(self):
        """The progress so far; a line that was cut off by a kill is passed over."""
        lines = []
        for line in (self.folder / PROGRESS).read_text(encoding="utf-8").splitlines():
            try:
                lines.append(json.loads(line))
            except ValueError:
                continue
        return lines

    def check(self):
        """Ends the training if it was cancelled."""
        if (self.folder / CANCEL).exists():
            raise Cancelled

    def keep(self, state):
        """A checkpoint: the old one stays until the new one is complete."""
        with replacing(self.folder / CHECKPOINT) as temporary:
            torch.save(state, temporary)

    def kept(self):
        """The last checkpoint, or None."""
        path = self.folder / CHECKPOINT
        if not path.exists():
            return None
        try:
            return torch.load(path, weights_only=True)
        except Exception as error:  # a damaged file can provoke anything in torch
            raise MotionError(f'The checkpoint "{path}" is damaged: train without --resume '
                              f"({in_short(error)}).") from error
