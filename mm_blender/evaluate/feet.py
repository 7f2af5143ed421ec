# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet over the ground, whatever flags say of them: do those that are low stay where they are?"""

import numpy as np

# A toe is low within so much (m) of where it is while it stands. What is low and slower (m/s) ought to stand; what is
# low and as fast as the second pair says skates: faster ones are on their way.
LOW, SLOW, SKATES = 0.02, 0.6, (0.3, 1.5)


def over_the_ground(toes, standing, rate):
    """What toes (F, C, 3) do near the ground, on which they are `standing` (C,) high, as plain values.

    slide    mean speed of those that are low and slow, cm/s
    skating  share of the frames with a low toe in which it skates
    """
    return of_steps(toes[1:], toes[:-1], standing, rate)


def of_steps(now, before, standing, rate):
    """The same of toes (F, C, 3) that were elsewhere a frame before, where the frames do not follow each other."""
    speed, low = _speeds(now, before, rate), now[..., 2] < standing + LOW
    slow, fast = low & (speed < SLOW), low & (speed > SKATES[0]) & (speed < SKATES[1])
    return {"slide": round(float(100 * speed[slow].mean()), 4) if slow.any() else 0.0,
            "skating": round(float(fast.sum() / low.sum()), 4) if low.any() else 0.0}


def speeds(toes, rate):
    """(F - 1, C) how fast toes (F, C, 3) go over the ground, m/s."""
    return _speeds(toes[1:], toes[:-1], rate)


def _speeds(now, before, rate):
    return np.linalg.norm((now - before)[..., :2], axis=-1) * rate
