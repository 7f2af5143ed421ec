# SPDX-License-Identifier: GPL-3.0-or-later
"""What directing was like, in figures: is it on the path, as fast as asked, in time, and does it ever stand?"""

import numpy as np

from ..control.schedule import RATE
from ..motion import quat
from ..motion.plane import wrapped
from . import driving

# Where the path is gone so much slower than asked it is for a corner or a stop.
SLOWED = 0.97
STRETCH = 0.5  # seconds: a speed is measured over no less
HERE = 0.05  # metres before a mark in which one is there


def report(motion, directed, own=None):
    """The figures of a Directed as plain values; motion and own: as driving.report() takes them."""
    clip, schedule, times = directed.clip, directed.schedule, directed.times
    places = clip.positions[:, 0, 0] + 1j * clip.positions[:, 0, 1].astype(np.float64)
    going = times < schedule.duration if not schedule.loop else np.ones(len(times), dtype=bool)
    apart, _ = schedule.path.distances(places[going] if going.any() else places)
    ways = progress(schedule, places, times)
    return {
        "path_length": _round(schedule.path.length),
        "path_distance": {"mean": _round(apart.mean()), "p95": _round(np.percentile(apart, 95)),
                          "max": _round(apart.max())},
        "speed_error": speed_error(schedule, ways, times, clip.rate),
        "timed_marks": timed_marks(schedule, ways, places, clip.rate),
        "end_distance": None if schedule.loop else _round(abs(places[-1] - schedule.path.places[-1])),
        "end_facing_degrees": None if schedule.loop else _round(_facing(clip, schedule)),
        "stuck": _round(driving.longest_against(places.view(np.float64).reshape(-1, 2), directed.trace, clip.rate)),
        "not_possible": schedule.trouble,
        **driving.report(motion, clip, directed.trace, own),
    }


def progress(schedule, places, times):
    """(F,) how many metres along the path places (F,) are while a guide is at these times (F,) of its Schedule."""
    (here, _), (further, _) = schedule.at(times), schedule.at(times + 1 / RATE)
    way = further - here
    ahead = ((places - here) * np.conj(way)).real / np.maximum(np.abs(way), 1e-9)
    return schedule.along(times) + np.where(np.abs(way) * RATE > HERE, ahead, 0.0)


def speed_error(schedule, ways, times, rate):
    """By what share one goes faster than asked, or slower if it is negative, corners and stops excepted; None if there
    is nothing else."""
    along = np.mod(schedule.along(times), schedule.path.length * (1 + 1e-12))
    asked = np.interp(along, schedule.path.lengths, schedule.pace.wanted)
    speed = np.interp(along, schedule.path.lengths, schedule.pace.speed)
    free = np.concatenate([[False], (speed >= SLOWED * asked) & (times < schedule.duration), [False]])
    starts, ends = (np.flatnonzero(step) for step in (free[1:] & ~free[:-1], free[:-1] & ~free[1:]))
    long = [(start, end - 1) for start, end in zip(starts, ends) if end - start > STRETCH * rate]
    if not long:
        return None
    gone = sum(ways[end] - ways[start] for start, end in long)
    return _round(gone / sum(asked[start:end].sum() / rate for start, end in long) - 1)


def timed_marks(schedule, ways, places, rate):
    """Of each mark with a time how much later than scheduled one comes to it, in seconds, and how far away one is at
    its time, in metres."""
    clock = np.arange(0, schedule.duration + 1 / RATE, 1 / RATE)
    planned, found = schedule.along(clock), []
    for mark, time in schedule.marks:
        if mark.time is None or schedule.loop:
            continue
        # Where one stands still one is never quite there.
        near = mark.at - HERE
        late = None
        if (ways >= near).any():
            late = _round((ways >= near).argmax() / rate - (clock[(planned >= near).argmax()] + mark.time - time))
        at = min(round(mark.time * rate), len(places) - 1)
        found.append({"mark": mark.row, "time": mark.time, "late": late,
                      "apart": _round(abs(places[at] - schedule.path.place(mark.at)))})
    return found


def _facing(clip, schedule):
    """Degrees by which the last frame faces another way than the end of the path."""
    _, (yaw,) = schedule.at([schedule.duration + 1.0])
    return abs(np.degrees(wrapped(quat.to_yaw(clip.rotations[-1, 0]) - yaw)))


def _round(value):
    return round(float(value), 4)
