# SPDX-License-Identifier: GPL-3.0-or-later
"""What was driven and is not kept as an Action, because its armature is gone or something else than Enter or Esc ended
it: files of the extension's own, to be imported."""

import os
import re
import time
from pathlib import Path

from ...motion import bvh
from ..own_folder import own_folder

FOLDER = "interrupted"
DAYS = 3  # that files of earlier runs of Blender are told of

_saved = []


def saved():
    """Where the motion of the last drive is that is not kept as Actions, as paths; empty if all is."""
    return tuple(_saved)


def look():
    """Files that Blender left as it quit, in the last days, are told of until somebody drives."""
    folder = Path(own_folder(FOLDER))
    found = [path for path in folder.glob("*.bvh") if path.stat().st_mtime > time.time() - DAYS * 24 * 3600]
    _saved[:] = [str(path) for path in sorted(found)]


def forget(besides=()):
    """Some files are not told of any more, though they stay."""
    _saved[:] = [path for path in _saved if path in besides]


def stem_of(name):
    """What a file is called that was driven with an armature of some name: no other one has the same moment."""
    return f"{re.sub(r'[^-_. a-zA-Z0-9]', '_', name)[:60]} {time.strftime('%Y-%m-%d %H-%M-%S')}"


def save(character, seconds):
    """Save what a character has played as a BVH file in metres, and what steered it for so many seconds beside it.
    The path; empty if it cannot be saved."""
    try:
        clip, recording = character.group.record.clip(character.index), character.recording(seconds)
        path = os.path.join(own_folder(FOLDER), stem_of(character.name))
        while os.path.exists(f"{path}.bvh"):
            path += "+"
        bvh.write(f"{path}.bvh", clip, 1.0)
        if recording is not None:
            recording.save(f"{path}.csv")
    except Exception as error:  # also memory that is full: whatever it is, driving has to end, and others be saved
        reason = "the memory is full" if isinstance(error, MemoryError) else error
        print(f'Motion Matching: what was driven with "{character.name}" cannot be saved: {reason}')
        return ""
    _saved.append(f"{path}.bvh")
    print(f'Motion Matching: what "{character.name}" played is in {path}.bvh')
    return _saved[-1]
