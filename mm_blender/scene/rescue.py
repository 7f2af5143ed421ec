# SPDX-License-Identifier: GPL-3.0-or-later
"""What was driven when something else than Enter or Esc ended it: files of the extension's own, to be imported."""

import os
import re
import time

from ..errors import MotionError
from ..motion import bvh
from .ownership import own_folder

FOLDER = "interrupted"

_saved = []


def saved():
    """Where the motion of the last drive that was interrupted is, as paths; empty if none was."""
    return tuple(_saved)


def forget():
    _saved.clear()


def save(name, clip, recording):
    """Save what an armature has played as a BVH file in metres, and what steered it (or None) beside it."""
    stem = f"{re.sub(r'[^-_. a-zA-Z0-9]', '_', name)[:60]} {time.strftime('%Y-%m-%d %H-%M-%S')}"
    try:
        path = os.path.join(own_folder(FOLDER), stem)
        while os.path.exists(f"{path}.bvh"):
            path += "+"
        bvh.write(f"{path}.bvh", clip, 1.0)
        if recording is not None:
            recording.save(f"{path}.csv")
    except (OSError, MotionError) as error:
        print(f'Motion Matching: what was driven with "{name}" cannot be saved: {error}')
        return
    _saved.append(f"{path}.bvh")
    print(f'Motion Matching: driving was interrupted; what "{name}" played is in {path}.bvh')
