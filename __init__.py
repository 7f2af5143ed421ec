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

PARTS = (settings, jobs, freshness, overlay, driving, hud, gamepads, pythons, training, saving, plots, operators,
         keymap, panels)


def register():
    for part in PARTS:
        part.register()


def unregister():
    for part in reversed(PARTS):
        part.unregister()
