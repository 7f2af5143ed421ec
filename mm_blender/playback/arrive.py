# SPDX-License-Identifier: GPL-3.0-or-later
"""Arriving exactly: what is missing is distributed over the steps before, each a little longer or shorter and a little
more turned. Feet are held after that, so none of them slides."""

import math
from dataclasses import replace

import numpy as np

from ..motion.plane import wrapped

# Metres of way over which it is distributed at least; more, if steps would change by more than this share of them, or
# turn by more than so many radians in a metre. What is farther off than the last ones cannot be made up for.
WAY, SHARE, TURN = 1.2, 0.12, 0.35
FURTHEST, MOST = 0.4, 0.6
CLOSE = 0.3  # metres: of goals that are closer than that the last one counts
END = 1.0  # seconds after its end a schedule stands


def arrived(plan, schedule, rate):
    """The same Plan, where and as it should be at the end of the path and at its marks that are exact, and where it
    should be at those that have times; rate: frames per second."""
    ways = np.cumsum(np.abs(np.diff(plan.places, prepend=plan.places[:1])))
    goals = [_limited(*goal, plan) for goal in _goals(plan, schedule, rate)]
    # Offsets of place and yaw by the way that was gone: those of the goals, and none far before and after each.
    knots = []
    for (frame, off, turn), following in zip(goals, [*goals[1:], None]):
        here, way = ways[frame], max(WAY, abs(off) / SHARE, abs(turn) / TURN)
        if following is not None and ways[following[0]] - here < CLOSE:
            continue  # where one stands soon the place where one stands counts
        if not knots or knots[-1][0] < here - way:
            knots.append((max(here - way, 0.0), 0j, 0.0))
        knots.append((max(here, knots[-1][0] + 1e-6), off, turn))
        after = ways[following[0]] - way if following is not None else math.inf
        if after > here + way and ways[-1] > here:
            knots.append((min(here + way, max(ways[-1], here + 1e-6)), 0j, 0.0))
    if not knots:
        return plan
    at, offs, turns = map(np.array, zip(*knots))
    return replace(plan, places=plan.places + _eased(ways, at, offs), yaws=plan.yaws + _eased(ways, at, turns))


def _goals(plan, schedule, rate):
    """(frame, place, yaw) where it is to be exactly; the yaw is None where any will do."""
    last, found = len(plan) - 1, []
    for mark, time in schedule.marks:
        stands = time + (mark.wait or 0.0) / 2
        frame = round((stands + mark.time - time) * rate) if mark.time is not None else int(
            np.searchsorted(plan.times, stands - 1e-9))
        if frame < last and (mark.exact or mark.time is not None):
            _, (yaw,) = schedule.at([stands])
            found.append((frame, schedule.path.place(mark.at), yaw if mark.exact else None))
    if not schedule.loop and plan.times[-1] >= schedule.duration:
        (place,), (yaw,) = schedule.at([schedule.duration + END])
        found.append((last, place, yaw))
    return found


def _limited(frame, place, yaw, plan):
    """(frame, off, turn): by how much a goal is missed, or as much of it as can be made up for."""
    off, turn = place - plan.places[frame], 0.0 if yaw is None else float(wrapped(yaw - plan.yaws[frame]))
    return frame, off * min(1.0, FURTHEST / max(abs(off), 1e-9)), min(max(turn, -MOST), MOST)


def _eased(x, knots, values):
    """Values at x (F,) between those of knots in their order, starting and ending softly at each."""
    piece = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, max(len(knots) - 2, 0))
    following = np.minimum(piece + 1, len(knots) - 1)
    share = np.clip((x - knots[piece]) / np.maximum(knots[following] - knots[piece], 1e-9), 0, 1)
    share = share * share * (3 - 2 * share)
    return values[piece] + share * (values[following] - values[piece])
