# SPDX-License-Identifier: GPL-3.0-or-later
"""Directing without a window: a path in, the motion of who follows it out."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..control.corners import Corners, measure
from ..control.path_guide import PathGuide
from ..control.schedule import Schedule
from ..matching.schema import weights_of
from ..motion import quat
from ..motion.clip import Clip
from ..motion.plane import to_numbers
from ..prepare.root import root_path
from ..steps import Progress, mapped, run
from .arrive import arrived
from .group import Group
from .loop import ROUNDS, rounds_of
from .plan import LOOK, Plan, Setting, play_steps
from .planner import Planner
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


def direct_steps(library, path, settings=None, query="", loop=False, exact=True, beam=None, seed=None, **around):
    """Steps that return the Directed that a Path makes of the motion of a Library.

    settings  a Drive, or None for the usual one
    query     for tags, beside those that the path asks for
    loop      whether it goes round and round a closed path. What is played from a database is one round then, which
              ends as it begins
    exact     whether to arrive exactly where the path ends, and where it says so; only frames of a database can
    beam      a Beam to plan with, or None to take at each moment what is best then; for frames of a database
    seed      a number for another take of the same, of frames of a database; None for the best one
    around    ground, height and commands, as a Setting has them
    """
    setting = Setting(settings or Drive(), **around)
    schedule, has_frames = schedule_of(library, path, query, loop), library.baked is not None
    again = has_frames and (exact or loop)  # whether it is played once more, as it is to be
    half = 2 if again else 1
    if beam is not None and has_frames:
        plan = yield from mapped(Planner(library, schedule, setting.drive, beam, seed).steps(), lambda share: Progress(
            share / half, f"planning, {share:.0%}"))
    else:
        directed = yield from mapped(_follow(library, schedule, setting, seed if has_frames else None),
                                     lambda share: Progress(share / half, f"directing, {share:.0%}"))
        if not again:
            return directed
        plan = plan_of(directed, library.standing)
    rate = library.database.rate
    if loop:
        plan = rounds_of(plan, schedule, library.baked.motion.features * weights_of(library.database.schema), rate)
    elif exact:
        plan = arrived(plan, schedule, rate)
    clip, trace, costs = yield from mapped(play_steps(library, plan, schedule, setting), lambda share: Progress(
        (1 + share) / 2, "arriving"))
    directed = Directed(clip, trace, schedule, plan.times, costs)
    return second_round(directed) if loop else directed


def _follow(library, schedule, setting, seed):
    """Frame by frame after a PathGuide: Motion Matching as it is driven. Steps are shares of the way."""
    rate = library.database.rate
    guide, times, costs = PathGuide(schedule, rate), [], []
    group = Group(library, [guide], setting.drive, seed=seed)
    setting.begin(group.player)
    while not guide.done and len(times) < (PATIENCE * guide.until + MORE) * rate:
        if len(times) % LOOK == 0:
            yield min(max(guide.time / guide.until, 0.0), 1.0)
        group.step()
        times.append(guide.time)
        costs.append(float(group.player.matcher.costs[0]))
    return Directed(group.record.clip(0, "direct"), group.record.trace(0), schedule, np.array(times), np.array(costs))


def second_round(directed):
    """The round that is kept of what was played after rounds_of()."""
    count = len(directed.times) // ROUNDS
    one, trace = slice(count, 2 * count), directed.trace
    return directed._replace(
        clip=directed.clip.slice(count, 2 * count), times=directed.times[one], costs=directed.costs[one],
        trace=replace(trace, **{name: values[one] for name, values in vars(trace).items()}))


def plan_of(directed, begin):
    """The Plan that has become of a path; begin: the frame that was shown before."""
    clip, trace = directed.clip, directed.trace
    places, yaws = root_path(clip)
    return Plan(begin, trace.frames, trace.jumped, np.array(to_numbers(places)), yaws, directed.times)


def in_place(clip):
    """The same Clip without the root's travel: it stays at the origin and faces forward."""
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[:, 0, :2], rotations[:, 0] = 0, quat.identity()
    return clip.with_changes(positions=positions, rotations=rotations)
