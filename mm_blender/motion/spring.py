# SPDX-License-Identifier: GPL-3.0-or-later
"""Critically damped springs in closed form. The half-life is the time in which the way left to go halves, roughly.

Everything works on arrays of any shape; velocities of rotations are scaled angle axes per second.
"""

from functools import lru_cache

import numpy as np

from . import quat

LN2 = 0.69314718


def damping(halflife):
    """The damping of a critically damped spring with this half-life in seconds."""
    return 4 * LN2 / (halflife + 1e-5)


def towards(x, v, goal, halflife, dt):
    """Position and velocity after dt seconds on the way to a goal that stands still."""
    y = damping(halflife) / 2
    j0 = x - goal
    j1 = v + j0 * y
    left = _left(y, dt)
    return left * (j0 + j1 * dt) + goal, left * (v - j1 * y * dt)


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
    """Position, velocity and acceleration after dt seconds while the *velocity* springs to its goal.

    The position is the integral of the spring in closed form, so any dt may be asked for, such as a second ahead.
    """
    y = damping(halflife) / 2
    j0 = v - goal_velocity
    j1 = a + j0 * y
    left = _left(y, dt)
    position = left * (-j1 / (y * y) + (-j0 - j1 * dt) / y) + j1 / (y * y) + j0 / y + goal_velocity * dt + x
    return position, left * (j0 + j1 * dt) + goal_velocity, left * (a - j1 * y * dt)


def rotation_towards(q, w, goal, halflife, dt):
    """Rotation and angular velocity after dt seconds on the way to the rotation goal."""
    y = damping(halflife) / 2
    j0 = quat.to_scaled_angle_axis(quat.absolute(quat.mul(q, quat.inv(goal))))
    j1 = w + j0 * y
    left = _left(y, dt)
    return (quat.mul(quat.from_scaled_angle_axis(left * (j0 + j1 * dt)), goal),
            left * (w - j1 * y * dt))


@lru_cache(maxsize=64)
def _velocity_numbers(halflife, dt):
    """What becomes of velocity and acceleration in velocity_towards(): how much of both is in the position, the
    velocity and the acceleration after dt."""
    return np.array(velocity_towards(*np.eye(4), halflife, dt))[:, 1:3].ravel().tolist()


@lru_cache(maxsize=64)
def _decay_numbers(halflife, dt):
    """What becomes of offset and velocity in decay(): how much of both is in the offset and the velocity after dt."""
    return np.array(decay(*np.eye(2), halflife, dt)).ravel().tolist()


def _left(y, dt):
    """The factor exp(-y dt); a plain number stays one, since a NumPy scalar would make float64 of float32 arrays."""
    left = np.exp(-y * dt)
    return left if np.ndim(left) else float(left)
