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


def redraw_views():
    """What the 3D viewports show, without their headers and sidebars."""
    _redraw_regions("WINDOW", viewports())


class Views:
    """The 3D viewports from frame to frame. Blender's areas and regions are not to be kept, and to look through all of
    them takes long: they are found again by their numbers, as long as there are such at these places."""

    def __init__(self):
        self.forget()

    def forget(self):
        """Look through all of them the next time: there may be more."""
        self._places = None

    def found(self):
        """[(area, the regions in it that show the scene)]"""
        windows = bpy.context.window_manager.windows
        views = self._at_places(windows) if self._places is not None else None
        if views is None:
            self._places = [(*place, _numbers(area.regions, "WINDOW")) for place, area in _placed(windows, "VIEW_3D")]
            views = self._at_places(windows)
        return views

    def _at_places(self, windows):
        """The same, or None if something else is there now. That regions are still what they were is not looked at:
        one that is drawn in vain does no harm."""
        views = []
        try:
            for window, number, regions in self._places:
                area = windows[window].screen.areas[number]
                if area.type != "VIEW_3D":
                    return None
                here = area.regions
                views.append((area, [here[each] for each in regions]))
        except IndexError:
            return None
        return views


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
    return [area for _, area in _placed(bpy.context.window_manager.windows, kind)]


def _placed(windows, kind):
    """[((number of the window, number of the area), area)]"""
    return [((index, number), area) for index, window in enumerate(windows)
            for number, area in enumerate(window.screen.areas) if area.type == kind]


def _numbers(things, kind):
    return [number for number, thing in enumerate(things) if thing.type == kind]
