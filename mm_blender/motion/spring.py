# SPDX-License-Identifier: GPL-3.0-or-later
"""Critically damped springs in closed form. The half-life is the time in which the way left to go halves, roughly.

Equations 1 to 4 of Motion Matching for Responsive Animation for Digital Humans (3.27 and 3.28 of Motion Matching for
Character Animation and Virtual Reality Avatars in Unity are equation 1 and its derivative), with their K0, K1 and λ,
which is called `rate` here. Everything works on arrays of any shape.
"""

from functools import lru_cache

import numpy as np

LN2 = 0.69314718


def damping(halflife):
    """The damping of a critically damped spring with this half-life in seconds: 2 λ."""
    return 4 * LN2 / (halflife + 1e-5)


def towards(x, v, goal, halflife, dt):
    """Position and velocity after dt seconds on the way to a goal that stands still: equation 1 and its derivative."""
    rate = damping(halflife) / 2
    k0 = x - goal
    k1 = v + k0 * rate
    left = _left(rate, dt)
    return left * (k0 + k1 * dt) + goal, left * (v - k1 * rate * dt)


def towards_number(x, v, goal, halflife, dt):
    """towards() for plain numbers and steps that are all alike, without the cost of arrays."""
    a, b, c, d = _decay_numbers(halflife, dt)
    x -= goal
    return a * x + b * v + goal, c * x + d * v


def velocity_number(x, v, a, goal_velocity, halflife, dt):
    """velocity_towards() for plain numbers, as towards_number()."""
    p, q, r, s, t, u = _velocity_numbers(halflife, dt)
    v -= goal_velocity
    return x + goal_velocity * dt + p * v + q * a, goal_velocity + r * v + s * a, t * v + u * a


def decay(x, v, halflife, dt):
    """Offset and velocity after dt seconds on the way to zero: what inertialisation needs."""
    return towards(x, v, 0.0, halflife, dt)


def velocity_towards(x, v, a, goal_velocity, halflife, dt):
    """Position, velocity and acceleration after dt seconds while the *velocity* springs to its goal: equations 3, 2
    and 4.

    The position is the integral of the spring in closed form, so any dt may be asked for, such as a second ahead.
    """
    rate = damping(halflife) / 2
    k0 = v - goal_velocity
    k1 = a + k0 * rate
    left = _left(rate, dt)
    position = (left * (-k1 / (rate * rate) + (-k0 - k1 * dt) / rate) + k1 / (rate * rate) + k0 / rate
                + goal_velocity * dt + x)
    return position, left * (k0 + k1 * dt) + goal_velocity, left * (a - k1 * rate * dt)


@lru_cache(maxsize=64)
def _velocity_numbers(halflife, dt):
    """What becomes of velocity and acceleration in velocity_towards(): how much of both is in the position, the
    velocity and the acceleration after dt."""
    return np.array(velocity_towards(*np.eye(4), halflife, dt))[:, 1:3].ravel().tolist()


@lru_cache(maxsize=64)
def _decay_numbers(halflife, dt):
    """What becomes of offset and velocity in decay(): how much of both is in the offset and the velocity after dt."""
    return np.array(decay(*np.eye(2), halflife, dt)).ravel().tolist()


def _left(rate, dt):
    """The factor exp(-λ dt); a plain number stays one, since a NumPy scalar would make float64 of float32 arrays."""
    left = np.exp(-rate * dt)
    return left if np.ndim(left) else float(left)
