# SPDX-License-Identifier: GPL-3.0-or-later
"""A round of a closed path that can be played again and again: its last frame goes on as its first one."""

import numpy as np

from .plan import Plan

# The end of a round is looked for so many seconds sooner and later than the schedule has it; a square metre between
# both ends costs as much as so much of a search.
AROUND, APART = 0.2, 300.0
ROUNDS = 3  # that are played: the first one begins, what is kept is the second one


def rounds_of(plan, schedule, features, rate):
    """A Plan of the same round ROUNDS times, which begins where some frame of the second round of a Plan is most like
    one a round later; each of its rounds is as long as the others. features: (N, D) of all frames, weighted."""
    start, stop = _alike(plan, schedule, features, rate)
    one = slice(start, stop)
    share = np.arange(stop - start) / (stop - start)
    # Both ends come together: what is between them is distributed over the whole round.
    off = plan.places[start] - plan.places[stop]
    turned = plan.yaws[stop] - plan.yaws[start]
    turns = 2 * np.pi * round(turned / (2 * np.pi))
    lasts = plan.times[stop] - plan.times[start]
    times = plan.times[start] + (plan.times[one] - plan.times[start]) * (schedule.duration / lasts)
    jumps = plan.jumps[one].copy()
    jumps[0] = True
    again = np.repeat(np.arange(ROUNDS), stop - start)
    return Plan(int(plan.frames[start - 1]), np.tile(plan.frames[one], ROUNDS), np.tile(jumps, ROUNDS),
                np.tile(plan.places[one] + share * off, ROUNDS),
                np.tile(plan.yaws[one] + share * (turns - turned), ROUNDS) + again * turns,
                np.tile(times, ROUNDS) + again * schedule.duration)


def _alike(plan, schedule, features, rate):
    """Two frames of a Plan, a round apart, of which the second one is most like the first."""
    first, last = np.searchsorted(plan.times, [schedule.duration, 2 * schedule.duration])
    starts, around = np.arange(max(first, 1), last), round(AROUND * rate)
    after = np.searchsorted(plan.times, plan.times[starts] + schedule.duration)
    best = None
    for more in range(-around, around + 1):
        stops = np.clip(after + more, starts + 1, len(plan) - 1)
        unlike = np.square(features[plan.frames[stops]] - features[plan.frames[starts]]).sum(axis=1)
        costs = unlike + APART * np.square(np.abs(plan.places[stops] - plan.places[starts]))
        at = int(costs.argmin())
        if best is None or costs[at] < best[0]:
            best = costs[at], int(starts[at]), int(stops[at])
    return best[1:]
