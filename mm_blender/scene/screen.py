# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking Blender to draw again what has changed behind its back."""

import bpy


def redraw_viewports():
    """All 3D viewports: what is drawn in them has changed."""
    for area in _viewports():
        area.tag_redraw()


def redraw_views():
    """What the 3D viewports show, without their headers and sidebars."""
    _redraw_regions("WINDOW")


def redraw_preferences():
    """The preferences, where they are open."""
    for area in _areas("PREFERENCES"):
        area.tag_redraw()


def redraw_panels():
    """Their sidebars alone: the scene itself has not changed."""
    _redraw_regions("UI")


def _redraw_regions(kind):
    for area in _viewports():
        for region in area.regions:
            if region.type == kind:
                region.tag_redraw()


def _viewports():
    return _areas("VIEW_3D")


def _areas(kind):
    return [area for window in bpy.context.window_manager.windows for area in window.screen.areas if area.type == kind]
