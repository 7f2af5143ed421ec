# SPDX-License-Identifier: GPL-3.0-or-later
"""Courses: two minutes each of what a person does with a stick, made by rule: every change is measured alike."""

import numpy as np

from ..control.stick import NAMES, Recording

SECONDS = 120.0
STEP = 1 / 20  # how often a hand that moves all the time is written down


def all_courses(seconds=SECONDS):
    """Name → Recording."""
    makers = (slalom, stop_and_go, reversals, strafing_square, random_walk)
    return {maker.__name__: maker(seconds) for maker in makers}


def other_courses(seconds=SECONDS, each=3):
    """More of each kind, with other lengths and angles, by a hand that keeps no time. One that does so may do the same
    fifty times, and how feet step then is once that of chance, not fifty times."""
    return [course for at in range(each) for course in (
        slalom(seconds, swing=40 + 25 * at, period=4.5 + 1.5 * at),
        stop_and_go(seconds, go=1.8 + 0.6 * at, stop=1 + 0.4 * at, seed=at),
        reversals(seconds, each=1.8 + 0.6 * at, seed=at), strafing_square(seconds, side=1.6 + 0.7 * at, seed=at),
        random_walk(seconds, seed=20 + at))]


def slalom(seconds=SECONDS, swing=60.0, period=6.0):
    """Left and right in curves of `swing` degrees: walking in the first half, running in the second."""
    times = np.arange(0, seconds, STEP)
    angle = np.radians(swing) * np.sin(2 * np.pi * times / period)
    return recording(times, move_x=np.sin(angle), move_y=np.cos(angle), run=times >= seconds / 2)


def stop_and_go(seconds=SECONDS, go=2.5, stop=1.5, seed=None):
    """Off in another direction after each stop; every third time at a run."""
    starts = _beats(seconds, go + stop, seed)
    turn = np.radians(135) * np.arange(len(starts))
    lengths = np.diff(starts, append=starts[-1] + go + stop)
    times = np.column_stack([starts, starts + go / (go + stop) * lengths]).ravel()
    moving = np.tile([1.0, 0.0], len(starts))
    angle = np.repeat(turn, 2)
    return recording(times, move_x=moving * np.sin(angle), move_y=moving * np.cos(angle),
                      run=np.repeat(np.arange(len(starts)) % 3 == 2, 2))


def reversals(seconds=SECONDS, each=2.5, seed=None):
    """To and fro at a walk, turning round each time."""
    times = _beats(seconds, each, seed)
    return recording(times, move_y=np.where(np.arange(len(times)) % 2, -1.0, 1.0))


def strafing_square(seconds=SECONDS, side=2.5, seed=None):
    """Round a square without turning: right, forward, left, back."""
    times = _beats(seconds, side, seed)
    corner = np.arange(len(times)) % 4
    return recording(times, move_x=np.array([1.0, 0, -1, 0])[corner], move_y=np.array([0.0, 1, 0, -1])[corner],
                      face_y=np.ones(len(times)), strafe=np.ones(len(times)))


def random_walk(seconds=SECONDS, seed=0):
    """Anywhere, at any speed, for a moment or a while; standing, walking and running."""
    rng = np.random.default_rng(seed)
    times = moments(rng, seconds, int(seconds))
    angle = rng.uniform(-np.pi, np.pi, len(times))
    size = rng.choice([0.0, 0.6, 1.0, 1.0], len(times))
    return recording(times, move_x=size * np.sin(angle), move_y=size * np.cos(angle),
                      run=rng.random(len(times)) < 0.35)


def show(heading=0.0):
    """A bit of everything, to look at: stand, walk, turn, run, stop, strafe, crouch. Forward is the yaw `heading`."""
    #        seconds, degrees to the right or None, and what is held
    parts = ((1.0, None, ()), (3.0, 0, ()), (2.5, 90, ()), (2.5, 225, ()), (2.0, 180, ("run",)), (2.0, None, ()),
             (2.0, 90, ("strafe",)), (2.0, 0, ("strafe",)), (1.0, None, ()), (3.5, 180, ("crouch",)),
             (2.0, None, ()))
    times = np.cumsum([0.0, *(seconds for seconds, *_ in parts)])
    moving = np.array([way is not None for _, way, _ in parts] + [False])
    angle = np.radians([way or 0 for _, way, _ in parts] + [0]) - heading
    held = {name: np.array([name in buttons for *_, buttons in parts] + [False])
            for name in ("run", "strafe", "crouch")}
    return recording(times, move_x=moving * np.sin(angle), move_y=moving * np.cos(angle), **held)


def _beats(seconds, each, seed=None):
    """When a hand does something else, again and again: in time, or with a seed sooner or later by up to two fifths."""
    if seed is None:
        return np.arange(0, seconds, each)
    lengths = each * np.random.default_rng(seed).uniform(0.6, 1.4, int(2 * seconds / each) + 1)
    times = np.cumsum(lengths) - lengths[0]
    return times[times < seconds]


def moments(rng, seconds, most):
    """When a hand does something else, after a moment or a while, at most so often."""
    times = np.cumsum(rng.uniform(0.5, 3.0, most))
    return np.concatenate([[0.0], times[times < seconds]])


def recording(times, **columns):
    table = np.zeros((len(times), len(NAMES)))
    for name, values in columns.items():
        table[:, NAMES.index(name)] = values
    return Recording(times, table)
