# SPDX-License-Identifier: GPL-3.0-or-later
"""Critically damped springs in closed form. The half-life is the time in which the way left to go halves, roughly.

Everything works on arrays of any shape; velocities of rotations are scaled angle axes per second.
"""

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


def _left(y, dt):
    """The factor exp(-y dt); a plain number stays one, since a NumPy scalar would make float64 of float32 arrays."""
    left = np.exp(-y * dt)
    return left if np.ndim(left) else float(left)
