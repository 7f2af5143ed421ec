# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion Matching: a Blender extension that turns an artist's Actions into a character that they steer."""

from . import operators, panels
from .mm_blender.scene import settings
from .mm_blender.scene.directing import live, variations
from .mm_blender.scene.driving import gamepads, keymap, session
from .mm_blender.scene.jobs import freshness, pythons, saving, slices, training
from .mm_blender.scene.showing import ghost_labels, hud, overlay, path_marks, plots
from .panels import conflict

PARTS = (settings, slices, freshness, overlay, session, live, variations, hud, gamepads, pythons, training, saving,
         plots, path_marks, ghost_labels, operators, keymap, panels)


_registered = []


def register():
    for part in (conflict,) if settings.conflict() else PARTS:
        if part not in _registered:
            part.register()
            _registered.append(part)


def unregister():
    while _registered:
        _registered.pop().unregister()
