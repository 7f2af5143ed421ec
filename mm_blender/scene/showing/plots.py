# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of trainings for panels. They are previews, as icons are: no image in the .blend, and nothing to save."""

import bpy
import bpy.utils.previews

from ...training.watching import plot
from ..screen import redraw_panels

_previews = None
_wanted = {}  # name of a picture → the lines that it is to show
_shown = {}  # name of a picture → how many lines it shows, and the last one


def icon_of(output, progress):
    """The number of the picture of a training, to be drawn as an icon; 0 as long as there is none."""
    if not any("stage" in line for line in progress.lines):
        return 0
    if _shown.get(output) != (len(progress.lines), progress.last):
        _wanted[output] = progress.lines
        if not bpy.app.timers.is_registered(paint):
            bpy.app.timers.register(paint, first_interval=0.0)
    return _previews[output].icon_id if _previews is not None and output in _previews else 0


def swatch(name):
    """The number of an icon in the colour that a network has in the pictures."""
    title = f"swatch {name}"
    if title not in _collection():
        _set(title, plot.swatch(name))
    return _collection()[title].icon_id


def paint():
    """Paint the plots that have more to show."""
    for output, lines in _wanted.items():
        _set(output, plot.paint(lines))
        _shown[output] = len(lines), lines[-1]
    _wanted.clear()
    redraw_panels()


def _set(name, pixels):
    previews = _collection()
    preview = previews[name] if name in previews else previews.new(name)
    preview.image_size = pixels.shape[1::-1]
    preview.image_pixels_float.foreach_set(pixels.ravel())
    preview.icon_size = (32, 32)  # it has no small picture of its own, or Blender would look for a file
    preview.icon_pixels_float.foreach_set(_small(pixels).ravel())


def _small(pixels):
    step = max(1, len(pixels) // 32)
    small = pixels[::step, ::step][:32, :32]
    return small.repeat(32 // len(small), axis=0).repeat(32 // small.shape[1], axis=1).copy()


def _collection():
    global _previews
    if _previews is None:
        _previews = bpy.utils.previews.new()
    return _previews


def register():
    """Pictures are made when a panel asks for them."""


def unregister():
    global _previews
    if bpy.app.timers.is_registered(paint):
        bpy.app.timers.unregister(paint)
    if _previews is not None:
        bpy.utils.previews.remove(_previews)
        _previews = None
    _wanted.clear()
    _shown.clear()
