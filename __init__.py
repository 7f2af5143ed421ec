# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion Matching: a Blender extension that turns an artist's Actions into a character that they steer."""

from . import operators, panels
from .mm_blender.scene import (
    driving,
    freshness,
    gamepads,
    hud,
    jobs,
    keymap,
    overlay,
    plots,
    pythons,
    saving,
    settings,
    training,
)
from .panels import conflict

PARTS = (settings, jobs, freshness, overlay, driving, hud, gamepads, pythons, training, saving, plots, operators,
         keymap, panels)


_registered = []


def register():
    for part in (conflict,) if settings.conflict() else PARTS:
        if part not in _registered:
            part.register()
            _registered.append(part)


def unregister():
    while _registered:
        _registered.pop().unregister()
