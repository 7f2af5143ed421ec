# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files are read, and writing one so that what was there before stays until the new one is complete."""

import errno
import glob
import os
import stat
import uuid
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from .errors import MotionError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt

# Bytes of the longest file name that a disk takes, and of what a temporary one has before the name of its target.
LONGEST, MARK = 255, 10


def check_regular(path, most):
    """Fails if there is no ordinary file of at most so many bytes: a device or a pipe would be read without end."""
    try:
        about = os.stat(path)
    except FileNotFoundError:
        raise MotionError(f'There is no file "{path}".') from None
    except (OSError, ValueError) as error:
        raise MotionError(f'"{path}" cannot be read: {getattr(error, "strerror", error)}.') from error
    if stat.S_ISDIR(about.st_mode):
        raise MotionError(f'"{path}" cannot be read: it is a folder; choose a file in it.')
    if not stat.S_ISREG(about.st_mode):
        raise MotionError(f'"{path}" cannot be read: it is a device or a pipe; choose an ordinary file.')
    if about.st_size > most:
        raise MotionError(f'"{path}" is not read: it has {about.st_size / 1e6:,.0f} MB, and such a file has at most '
                          f"{most / 1e6:,.0f} MB.")


@contextmanager
def replacing(path):
    """A temporary path beside `path`: renamed to it when the block ends well, removed when it does not. Where `path` is
    a link that is done to the file behind it.

    The block does nothing but write: its OSErrors are told as what is wrong with writing `path`.
    """
    path = _behind(path)
    name = path.name if len(os.fsencode(path.name)) <= LONGEST - MARK else path.name[-60:]
    temporary = path.with_name(f".{uuid.uuid4().hex[:8]}-{name}")
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise MotionError(f'"{path}" was not written: it is a device or a pipe; choose a file name.')
    _clear(path.parent, name)
    try:
        with open(temporary, "xb") as held:  # fails now, not after the work, where the folder cannot be written
            if os.name == "posix":
                lock(held)
            else:  # there nobody can remove a file that is open, nor can we rename it
                held.close()
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
    path = _behind(path)
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
    # os.path, not Path: a name that is too long for the disk is an error to that.
    if error.errno == errno.ENAMETOOLONG:
        return f'"{path}" was not written: its name is too long for the disk; choose a shorter one.'
    if not os.path.isdir(path.parent):
        return f'"{path}" was not written: the folder "{path.parent}" does not exist; create it or choose another one.'
    if os.path.isdir(path):
        return f'"{path}" was not written: it is a folder; choose a file name.'
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f'"{path}" was not written: the disk is full; free some space and try again.'
    if error.errno == errno.EFBIG:
        return f'"{path}" was not written: it would be larger than its disk allows; choose another disk.'
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return (f'"{path}" was not written: it or its folder is read-only, or another program has it open; '
                'choose another place.')
    return f'"{path}" was not written: {error.strerror or error}.'


def _behind(path):
    """The file to which a link leads; any other path as it is."""
    return Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)


def _clear(folder, name):
    """Removes what was left behind by those who were killed while they wrote the file of this name."""
    for part in glob.glob(f".{'[0-9a-f]' * 8}-{glob.escape(name)}", root_dir=folder):
        with suppress(OSError), open(folder / part, "r+b") as file:
            if os.name != "posix":
                file.close()
            elif not lock(file):  # somebody writes it
                continue
            os.unlink(folder / part)
