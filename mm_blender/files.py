# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing a file so that what was there before stays until the new one is complete."""

import errno
import os
import uuid
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from .errors import MotionError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt


@contextmanager
def replacing(path):
    """A temporary path beside `path`: renamed to it when the block ends well, removed when it does not.

    The block does nothing but write: its OSErrors are told as what is wrong with writing `path`.
    """
    path = Path(path)
    temporary = path.with_name(f".{uuid.uuid4().hex[:8]}-{path.name}")
    try:
        temporary.touch(exist_ok=False)  # fails now, not after the work, where the folder cannot be written
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise MotionError(why_not(path, error)) from error
    finally:
        with suppress(OSError):  # a folder that cannot be written cannot be cleaned either; the first error is told
            temporary.unlink(missing_ok=True)


@contextmanager
def only_us(path):
    """While this lasts, another process that wants to write `path` and asks in the same way gets a sentence. The system
    itself ends it with the process, whichever way that ends."""
    path = Path(path)
    with ExitStack() as stack:
        with suppress(OSError):  # where nothing can be written that is said when it is
            if not _claimed(path.with_name(f".{path.name}.lock"), stack):
                raise MotionError(f'"{path}" is being written by another Blender or shell: '
                                  "wait until that is done, or choose another file.")
        yield


def lock(file):
    """Whether an open file could be locked for us; closing it gives the lock back."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except OSError as error:  # where files cannot be locked at all nobody is kept waiting
        return error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
    return True


def _claimed(mark, stack):
    """Whether a file that stands for another one could be locked; at the end of the stack it is removed."""
    while True:
        with ExitStack() as mine:
            if os.name != "posix":  # there a file is removed when nobody has it open
                mine.callback(_remove, mark)
            file = mine.enter_context(open(mark, "ab"))
            if not lock(file):
                return False
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), os.stat(mark)):  # else it was removed a moment ago
                    if os.name == "posix":
                        mine.callback(_remove, mark)
                    stack.push(mine.pop_all())
                    return True


def _remove(mark):
    with suppress(OSError):
        mark.unlink()


def why_not(path, error):
    """What an OSError means for writing a file, in a sentence."""
    if not path.parent.is_dir():
        return f'"{path}" was not written: the folder "{path.parent}" does not exist; create it or choose another one.'
    if path.is_dir():
        return f'"{path}" was not written: it is a folder; choose a file name.'
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f'"{path}" was not written: the disk is full; free some space and try again.'
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return (f'"{path}" was not written: it or its folder is read-only, or another program has it open; '
                'choose another place.')
    return f'"{path}" was not written: {error.strerror or error}.'
