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
    """What the 3D viewports show, without their headers and sidebars; areas: what viewports() has found"""
    _redraw_regions("WINDOW", viewports() if areas is None else areas)


class Views:
    """The 3D viewports from frame to frame. Blender's areas are not to be kept, and to look through all of them takes
    long: they are found again by their numbers, in screens that Blender tells of when they are gone."""

    def __init__(self):
        self.forget()

    def forget(self):
        """Look through all of them the next time: there may be more, and other windows may show other screens."""
        self._screen = self._places = None

    def found(self):
        """Their areas, as viewports() has them."""
        screen = bpy.context.screen  # another one as soon as the artist goes to another workspace
        areas = self._at_places() if self._places is not None and screen == self._screen else None
        if areas is None:
            placed = _placed("VIEW_3D")
            self._screen, self._places = screen, [place for *place, _ in placed]
            areas = [area for _, _, area in placed]
        return areas

    def _at_places(self):
        """The same, or None if something else is there now."""
        areas = []
        try:
            for screen, number in self._places:
                area = screen.areas[number]
                if area.type != "VIEW_3D":
                    return None
                areas.append(area)
        except (IndexError, ReferenceError):
            return None
        return areas


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
    return [area for _, _, area in _placed(kind)]


def _placed(kind):
    """[(screen, number of the area, area)] in all windows."""
    return [(window.screen, number, area) for window in bpy.context.window_manager.windows
            for number, area in enumerate(window.screen.areas) if area.type == kind]
