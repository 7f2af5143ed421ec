# SPDX-License-Identifier: GPL-3.0-or-later
"""Other processes, so that all cores work on one bake."""

import os
import signal
import sys
import threading
from contextlib import contextmanager

from ..errors import MotionError


class Jobs:
    """So many processes at work: what bake() asks of its jobs."""

    def __init__(self, count, pool):
        self.count, self._pool = count, pool

    def submit(self, function, *arguments):
        return self._pool.submit(function, *arguments)


@contextmanager
def jobs(count):
    """Jobs with so many processes, 0 for one on each core; None where our own is enough."""
    count = count or os.cpu_count() or 1
    if count == 1:
        yield None
        return
    import multiprocessing  # what takes a moment to import, and one process does without
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor

    # A copy of this process is at work at once; elsewhere a new one has to import everything first.
    ways = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
    pool = ProcessPoolExecutor(count, ways, _begin)
    try:
        yield Jobs(count, pool)
    except BrokenExecutor:
        raise MotionError("One of the processes of --jobs was ended by the system, perhaps for want of memory: use "
                          "fewer jobs.") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _begin():
    """In each process: Ctrl-C is for the one that has started it, and with that it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent():
    from multiprocessing import parent_process

    parent_process().join()
    os._exit(1)
