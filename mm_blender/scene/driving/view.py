# SPDX-License-Identifier: GPL-3.0-or-later
"""The view that is driven in: which one it is, where it looks, and turning it."""

import numpy as np
from mathutils import Quaternion, Vector

from ..rig.facing import hip_height
from ..screen import viewports


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


class Follower:
    """Takes a view along with the driven character, and back again."""

    def __init__(self):
        self._before, self._gone = None, Vector()  # where the view was, and how far it has gone along
        self._last = None  # the character that was followed last, and where its root was

    def follow(self, view, character, root):
        """Let a view go as far as a character's root (Vector) has gone; one that is new and out of sight is looked at.
        Whether the view was moved: Blender draws all of its windows anew then."""
        last, self._last = self._last, (character, root)
        location = view.view_location
        self._before = self._before or location.copy()
        if last is None or last[0] is not character:
            _bring_into_sight(view, character.owner(), root)
            return False
        way = root - last[1]
        self._gone += way
        location += way  # is the view's own: set once
        return True

    def pause(self):
        """Nobody is followed at present."""
        self._last = None

    def go_back(self, view):
        """Take back all the way that a view (or None) has gone along."""
        if view is not None and self._gone.length:
            view.view_location -= self._gone

    def restore(self, view):
        """Let a view (or None) be where it was in the beginning."""
        if view is not None and self._before is not None:
            view.view_location = self._before


def _bring_into_sight(view, ob, root):
    """Look at a character, if that can hardly be seen."""
    middle = root + Vector((0, 0, hip_height(ob) if ob is not None else 0.0))
    if view.view_perspective != "CAMERA" and not is_in_sight(view, middle):
        view.view_location = middle


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
