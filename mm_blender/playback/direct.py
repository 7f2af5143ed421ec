# SPDX-License-Identifier: GPL-3.0-or-later
"""Directing without a window: a path in, the motion of who follows it out."""

from typing import NamedTuple

import numpy as np

from ..control.corners import Corners, measure
from ..control.path_guide import PathGuide
from ..control.schedule import Schedule
from ..motion import quat
from ..motion.clip import Clip
from ..steps import Progress, mapped, run
from .arrive import arrived
from .group import Group
from .plan import LOOK, Plan, Setting, play_steps
from .player import Drive
from .record import Trace

# Who does not arrive is given up after so many times the seconds that the path takes, and so many more.
PATIENCE, MORE = 3.0, 20.0


class Directed(NamedTuple):
    """What became of a path: the Clip and its Trace, what was wanted of it, (F,) the times of the Schedule at its
    frames, and (F,) what these have cost at their last search."""

    clip: Clip
    trace: Trace
    schedule: Schedule
    times: np.ndarray
    costs: np.ndarray


def schedule_of(library, path, query="", loop=False):
    """When the character of a Library is where on a Path."""
    corners = measure(library.baked.database) if library.baked else Corners()
    return Schedule(path, library.speeds, corners, query, loop)


def direct(library, path, settings=None, watch=lambda progress: None, **further):
    """The Directed that a Path makes of the motion of a Library; watch: is called with the Progress; further: as
    direct_steps() takes it."""
    return run(direct_steps(library, path, settings, **further), watch)


def direct_steps(library, path, settings=None, query="", loop=False, exact=True, **around):
    """Steps that return the Directed that a Path makes of the motion of a Library.

    settings  a Drive, or None for the usual one
    query     for tags, beside those that the path asks for
    exact     whether to arrive exactly where the path ends, and where it says so; only frames of a database can
    around    ground, height and commands, as a Setting has them
    """
    setting = Setting(settings or Drive(), **around)
    schedule = schedule_of(library, path, query, loop)
    arrives = exact and library.baked is not None
    directed = yield from mapped(_follow(library, schedule, setting), lambda share: Progress(
        share / (2 if arrives else 1), f"directing, {share:.0%}"))
    if not arrives:
        return directed
    plan = arrived(plan_of(directed, library.standing), schedule, library.database.rate)
    clip, trace, costs = yield from mapped(play_steps(library, plan, schedule, setting), lambda share: Progress(
        (1 + share) / 2, "arriving"))
    return Directed(clip, trace, schedule, directed.times, costs)


def _follow(library, schedule, setting):
    """Frame by frame after a PathGuide: Motion Matching as it is driven. Steps are shares of the way."""
    rate = library.database.rate
    guide, times = PathGuide(schedule, rate), []
    group = Group(library, [guide], setting.drive)
    setting.begin(group.player)
    costs = []
    while not guide.done and len(times) < (PATIENCE * schedule.duration + MORE) * rate:
        if len(times) % LOOK == 0:
            yield min(guide.time / schedule.duration, 1.0)
        group.step()
        times.append(guide.time)
        costs.append(float(group.player.matcher.costs[0]))
    return Directed(group.record.clip(0, "direct"), group.record.trace(0), schedule, np.array(times), np.array(costs))


def plan_of(directed, begin):
    """The Plan that has become of a path; begin: the frame that was shown before."""
    clip, trace = directed.clip, directed.trace
    x, y, _ = clip.positions[:, 0].astype(np.float64).T
    turns = clip.rotations[:, 0].astype(np.float64)
    yaws = np.unwrap(2 * np.arctan2(turns[:, 3], turns[:, 0]))
    return Plan(begin, trace.frames, trace.jumped, x + 1j * y, yaws, directed.times)


def in_place(clip):
    """The same Clip without the root's travel: it stays at the origin and faces forward."""
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[:, 0, :2], rotations[:, 0] = 0, quat.identity()
    return clip.with_changes(positions=positions, rotations=rotations)
