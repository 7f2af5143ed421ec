# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking Blender to draw again what has changed behind its back."""

import bpy


def viewports():
    """The areas of all 3D viewports. They are not to be kept: Blender may free them at any time."""
    return _areas("VIEW_3D")


def redraw_viewports():
    """All 3D viewports: what is drawn in them has changed."""
    for area in viewports():
        area.tag_redraw()


def redraw_views(areas=None):
    """What the 3D viewports show, or some of them, without their headers and sidebars."""
    _redraw_regions("WINDOW", viewports() if areas is None else areas)


def redraw_preferences():
    """The preferences, where they are open."""
    for area in _areas("PREFERENCES"):
        area.tag_redraw()


def redraw_panels():
    """Their sidebars alone: the scene itself has not changed."""
    _redraw_regions("UI", viewports())


def _redraw_regions(kind, areas):
    for area in areas:
        found = False
        # Regions of a kind lie together, those that show the scene at the end: a look at few of them is enough.
        for region in reversed(area.regions):
            if region.type == kind:
                region.tag_redraw()
                found = True
            elif found:
                break


def _areas(kind):
    return [area for window in bpy.context.window_manager.windows for area in window.screen.areas if area.type == kind]
