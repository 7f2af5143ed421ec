# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files are read, and writing one so that what was there before stays until the new one is complete."""

import errno
import os
import stat
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import MotionError


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
