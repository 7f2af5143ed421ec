# SPDX-License-Identifier: GPL-3.0-or-later
"""The view that is driven in: which one it is, where it looks, and turning it."""

import numpy as np
from mathutils import Quaternion, Vector

from .screen import viewports


def view_of(context, areas=None):
    """The view that is driven in: of the only 3D viewport, or else of the largest one in the window; None if there is
    none.

    areas: what viewports() has found
    """
    areas = viewports() if areas is None else areas
    if len(areas) > 1:
        screen = context.window.screen if context.window else None
        areas = sorted((area for area in areas if area.id_data == screen), key=lambda area: -area.width * area.height)
    return areas[0].spaces.active.region_3d if areas else None


# What a viewport shows at least, to either side and up and down, as a share of how far away it is; and how many times
# farther than what is looked at something may be that can still be seen well.
WIDE, HIGH, FARTHER = 0.5, 0.3, 2.5


def is_in_sight(view, point):
    """Whether a view shows a point (Vector) well, in a viewport of a usual shape."""
    x, y, ahead = view.view_rotation.inverted() @ (point - view.view_location)
    far = view.view_distance - (ahead if view.is_perspective else 0.0)
    return 0 < far < FARTHER * view.view_distance and abs(x) < WIDE * far and abs(y) < HIGH * far


def heading_of(view):
    """The yaw in which a view looks; where it looks straight down, in which it has its upper edge."""
    if view is None:
        return 0.0
    ahead, up = (view.view_rotation @ Vector(axis) for axis in ((0, 0, -1), (0, 1, 0)))
    way = ahead if ahead.xy.length > 0.1 else up
    return float(np.arctan2(-way.x, way.y))


def orbit(view, right, up):
    """Turn a view about what it looks at, by radians."""
    if right or up:
        turn = Quaternion((0, 0, 1), -right) @ view.view_rotation
        view.view_rotation = turn @ Quaternion((1, 0, 0), up)
