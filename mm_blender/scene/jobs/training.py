# SPDX-License-Identifier: GPL-3.0-or-later
"""Training the networks of characters in the background: where they are, and the jobs that make them.

A job belongs to files, not to Blender's objects: it outlives undo, another .blend and a renamed armature. One runs at a
time, others wait. What became of it is read from its folder.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from ...errors import MotionError
from ...networks import provenance
from ...training.watching.run import (
    Order,
    Past,
    ProgressLines,
    Run,
    ask_to_end,
    log_of,
    look,
    note_trouble,
    ordered,
    prepare,
)
from ..reading.features import schema_of
from ..rig.armatures import skeleton_of
from ..screen import redraw_panels
from . import pythons
from .ownership import NETWORKS, database_path, owner_of, said, whose

# Networks that come with the extension.
SHIPPED = Path(__file__).resolve().parents[3] / "trained" / "demo.mmnet"
EVERY = 0.5  # seconds between looks at a job


@dataclass
class Job:
    """One training, under way or waiting: `name` is that of the armature when it was ordered."""

    order: Order
    name: str
    run: Run | None = None
    cancelled: bool = False

    @property
    def output(self):
        return self.order.output


@dataclass(frozen=True)
class Status:
    """How it stands with an armature's networks.

    word  "running", "waiting" or "stopping" (a job of ours), or what the folder says: see training.run.Past
    """

    word: str
    progress: ProgressLines
    resumable: bool = False
    trouble: str = ""
    before: tuple = ()  # names of those that are trained before it


_jobs = []  # the first one runs
_troubles = {}  # path of networks → why their last training in this session failed
_past = {}  # path of networks → ProgressLines, read on


# Where networks are

def networks_path(ob):
    """Where the armature's networks are: beside its database. Where none were trained, those that come with the
    extension are taken, if they are of this character."""
    own = own_networks_path(ob)
    return str(SHIPPED) if not os.path.isfile(own) and _is_shipped(ob) else own


def own_networks_path(ob):
    """Where training puts the armature's networks."""
    return os.path.splitext(database_path(ob))[0] + NETWORKS


def _is_shipped(ob):
    database = database_path(ob)
    if os.path.isfile(database):
        return provenance.belong(SHIPPED, database)
    joints = provenance.names(SHIPPED)
    if not joints or not all(name in ob.data.bones for name in joints):  # most rigs: reading one takes a while
        return False
    try:
        return provenance.fit(SHIPPED, skeleton_of(ob), schema_of(ob))
    except MotionError:
        return False


# Jobs

def order_of(ob, resume=False, iterations=0):
    """What the armature's settings order."""
    database = database_path(ob)
    if not os.path.isfile(database):
        raise MotionError(f'"{ob.name}" has no database yet ({os.path.basename(database)} is missing): bake first.')
    if sentence := said(ob):
        raise MotionError(f'{sentence} Networks lie beside it: bake "{ob.name}" to a file of its own before you train.')
    output = own_networks_path(ob)
    if (known := provenance.owner(output)) is not None and known.id != owner_of(ob).id:
        raise MotionError(f'"{os.path.basename(output)}" has the networks of {known}: choose another file and bake.')
    settings = ob.mm.train
    return Order(database, output, settings.model, round(settings.minutes, 3), iterations, settings.seed,
                 resume)


def start(order, name):
    """Train in the background, or after those that are trained already."""
    if job_of(order.output) is not None:
        raise MotionError(f'"{os.path.basename(order.output)}" is being trained already.')
    prepare(order)
    _forget(order.output)
    _jobs.append(Job(order, name))
    _look_on()


def run(order):
    """Train and wait for the end, for scripts; the figures."""
    pythons.wait()
    _forget(order.output)
    training = Run(order, _python())
    try:
        while training.poll():
            time.sleep(0.1)
    except BaseException:
        training.let_go()
        raise
    if trouble := training.trouble():
        raise MotionError(trouble)
    return training.progress.figures


def cancel(output):
    """End the job that makes these networks, with a checkpoint; it stops within moments, and nobody waits for it.
    One that another process has started is asked to."""
    job = job_of(output)
    if job is None:
        ask_to_end(output)
    elif job.run is None:
        _jobs.remove(job)
        redraw_panels()
    else:
        job.cancelled = True
        job.run.cancel()


def job_of(output):
    """Our job that makes these networks, under way or waiting; or None."""
    return next((job for job in _jobs if job.output == output), None)


def current():
    """The job under way, or None."""
    return _jobs[0] if _jobs else None


def status(ob):
    """The Status of the armature's networks."""
    output = own_networks_path(ob)
    job = job_of(output)
    if job is not None:
        before = tuple(other.name for other in _jobs[:_jobs.index(job)])
        progress = job.run.progress if job.run is not None else _looked(output).progress
        word = "stopping" if job.cancelled else "waiting" if before else "running"
        return Status(word, progress, before=before)
    past = _looked(output)
    trouble = _troubles.get(output, past.trouble)
    return Status("failed" if trouble else past.word, past.progress, past.resumable, trouble)


def given_up(ob):
    """What would be lost by training from the beginning, as a sentence; empty if that is nothing."""
    output, key = own_networks_path(ob), whose(ob).key
    if status(ob).resumable and ordered(output).get("key", key) == key:
        return f"What was trained so far of {os.path.basename(output)} can be resumed, and would be given up"
    if os.path.isfile(output) and not is_stale(ob):
        return f"The new networks take the place of {os.path.basename(output)}"
    return ""


def is_stale(ob):
    """Whether the armature's own networks were trained on another bake than its database is now."""
    output, database = own_networks_path(ob), database_path(ob)
    return os.path.isfile(output) and os.path.isfile(database) and not provenance.belong(output, database)


def is_shipped(ob):
    """Whether the armature's networks are those that come with the extension."""
    return networks_path(ob) == str(SHIPPED)


def figures(ob):
    """How good the networks are that the armature has, as plain values; empty if it has none."""
    return provenance.figures(networks_path(ob))


def log(ob):
    """The last lines that the armature's training has said."""
    return log_of(own_networks_path(ob))


def _looked(output) -> Past:
    """From the folder, of which only what is new is read."""
    past = look(output, _past.get(output))
    _past[output] = past.progress
    return past


def _forget(output):
    _troubles.pop(output, None)
    _past.pop(output, None)


def _python():
    answer = pythons.found()
    if answer is None:
        raise MotionError(pythons.sentence())
    return answer.python


# The timer

def _look_on():
    if not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=0.0, persistent=True)


def tick():
    """One look; returns the seconds until the next one, or None when nothing is under way."""
    if not _jobs:
        return None
    job = _jobs[0]
    try:
        over = not _advance(job)
    except MotionError as error:
        _fail(job, str(error))
        over = True
    except BaseException:
        # A mistake of ours: the traceback goes to the console, the person gets a sentence, and no job stays behind.
        _jobs.remove(job)
        _fail(job, "The training stopped because of a mistake in Motion Matching: see the system console.")
        raise
    if over:
        _jobs.remove(job)
    redraw_panels()
    return EVERY if _jobs else None


def _advance(job):
    """Start the job or look at it; whether there is more to do."""
    if job.run is None:
        if not pythons.searching():
            job.run = Run(job.order, _python())
        return True
    if job.run.poll():
        return True
    if trouble := job.run.trouble():
        _fail(job, trouble)
    return False


def _fail(job, sentence):
    _troubles[job.output] = sentence
    note_trouble(job.output, sentence)


@persistent
def on_load(*_):
    _past.clear()


def register():
    bpy.app.handlers.load_post.append(on_load)


def unregister():
    """The job under way ends by itself, with a checkpoint."""
    bpy.app.handlers.load_post.remove(on_load)
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    for job in _jobs:
        if job.run is not None:
            job.run.let_go()
    for known in (_jobs, _troubles, _past):
        known.clear()
