# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work in short slices, from a timer, so that Blender stays usable: one job at a time, with progress, cancel.

Beside it there may be one quiet job that nobody waits for. It goes on while nothing else does.
"""

import time

import bpy
from bpy.app.handlers import persistent

from ...errors import Cancelled, MotionError
from ...steps import run
from ..screen import redraw_panels

__all__ = ["Work", "cancel", "current", "last_error", "quiet", "run", "start", "start_quietly"]

# Seconds of work in one go: as long as Blender took to draw and listen since the last one, within these bounds, so that
# neither starves. And the time that it gets at the least.
SLICE, REST = (0.03, 0.15), 0.005
# The same of a quiet job, how long it waits where something else goes on, and between two drawings of its progress.
QUIET_SLICE, QUIET_REST, WAIT, SHOWN = (0.02, 0.03), 0.03, 0.5, 0.5


class Work:
    """Work under way: `steps` is a generator that yields objects with `.share` (0 … 1) and `.text`; `about` is whom it
    is for, if that matters."""

    def __init__(self, steps, title, on_done, about=None):
        self.steps, self.title, self.on_done, self.about = steps, title, on_done, about
        self.share, self.text = 0.0, ""
        self.paused_at = self.shown_at = time.perf_counter()


busy = []  # who registers a function here has quiet jobs wait while it says True
_current = _quiet = None
_last_error, _failed = "", None  # the sentence, and the job that ended with it


def current():
    """The job under way, or None."""
    return _current


def quiet():
    """The quiet job, or None."""
    return _quiet


def last_error(title=None, about=None):
    """The sentence with which the last job ended, if it has this title and is about this; empty if all was well."""
    known = _failed is not None and title in (None, _failed.title) and about in (None, _failed.about)
    return _last_error if known else ""


def start(steps, title, on_done, about=None):
    """Begin a job; `on_done` is called with what the generator returns, and not if it fails or is cancelled."""
    global _current
    if _current is not None:
        raise MotionError(f"{_current.title} is still under way: wait for it or cancel it first.")
    _current = Work(steps, title, on_done, about)
    _say("", None)
    if not bpy.app.timers.is_registered(tick):  # it still is when a job was cancelled a moment ago
        bpy.app.timers.register(tick, first_interval=0.0)


def start_quietly(steps, title, on_done, about=None):
    """Begin a quiet job, in the place of one that there is."""
    global _quiet
    cancel_quiet()
    _quiet = Work(steps, title, on_done, about)
    if not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=WAIT)


def cancel_quiet():
    """End the quiet job."""
    global _quiet
    if _quiet is not None:
        job, _quiet = _quiet, None
        job.steps.close()
        redraw_panels()


def cancel(reason=""):
    """End the job at once; everything is left as it was before it. Where there is none the quiet one ends."""
    global _current
    if _current is None:
        cancel_quiet()
        return
    job, _current = _current, None
    job.steps.close()
    _say(reason, job)
    redraw_panels()


def tick():
    """One slice; returns the seconds until the next one, or None when the job is over."""
    job = _current
    if job is None:
        return _quiet_tick()
    try:
        if _slice(job, SLICE):
            return REST
    except (MotionError, Cancelled) as error:
        _say(str(error), job)
    except BaseException:
        # A mistake of ours: the traceback goes to the console, the person gets a sentence, and no job stays behind.
        _say(f"{job.title} stopped because of a mistake in Motion Matching: see the system console.", job)
        raise
    finally:
        redraw_panels()
    return WAIT if _quiet is not None else None


def _quiet_tick():
    """tick() where there is only a quiet job, or none."""
    job = _quiet
    if job is None:
        return None
    if any(is_busy() for is_busy in busy) or getattr(bpy.context.screen, "is_animation_playing", False):
        return WAIT
    more = False
    try:
        more = _slice(job, QUIET_SLICE)
    except (MotionError, Cancelled):
        pass  # nobody has asked for it
    finally:
        if not more or job.paused_at - job.shown_at > SHOWN:
            job.shown_at = job.paused_at
            redraw_panels()
    return QUIET_REST if more else None


def _slice(job, lengths):
    """Work for a while, as long as the last rest was, within these lengths; whether there is more to do."""
    now = time.perf_counter()
    until = now + min(max(now - job.paused_at, lengths[0]), lengths[1])
    try:
        while time.perf_counter() < until:
            progress = next(job.steps)
            job.share, job.text = progress.share, progress.text
    except StopIteration as end:
        _over(job)
        job.on_done(end.value)
        return False
    except BaseException:
        _over(job)
        raise
    job.paused_at = time.perf_counter()
    return True


def _over(job):
    global _current, _quiet
    _current, _quiet = (None if other is job else other for other in (_current, _quiet))


def _say(sentence, job):
    global _last_error, _failed
    _last_error, _failed = sentence, job


@persistent
def on_load(*_):
    cancel_quiet()
    cancel()
    _say("", None)


def register():
    bpy.app.handlers.load_pre.append(on_load)


def unregister():
    cancel_quiet()
    cancel()
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    bpy.app.handlers.load_pre.remove(on_load)
