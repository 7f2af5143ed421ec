# SPDX-License-Identifier: GPL-3.0-or-later
"""Single vectors as tuples (x, y, z): for a handful of numbers several times faster than arrays.

What is worked out for whole clips or crowds uses arrays; see quat.py for their rotations.
"""

import math


def add(a, b):
    (x, y, z), (u, v, w) = a, b
    return x + u, y + v, z + w


def sub(a, b):
    (x, y, z), (u, v, w) = a, b
    return x - u, y - v, z - w


def scaled(a, factor):
    x, y, z = a
    return factor * x, factor * y, factor * z


def mixed(share, a, other_share, b):
    """The sum of two vectors, each times its share."""
    (x, y, z), (u, v, w) = a, b
    return share * x + other_share * u, share * y + other_share * v, share * z + other_share * w


def dot(a, b):
    (x, y, z), (u, v, w) = a, b
    return x * u + y * v + z * w


def cross(a, b):
    (x, y, z), (u, v, w) = a, b
    return y * w - z * v, z * u - x * w, x * v - y * u


def length(a):
    return math.hypot(*a)


def on_ground(a):
    """What of it lies on the ground, as the complex number x + yi."""
    x, y, _ = a
    return complex(x, y)
