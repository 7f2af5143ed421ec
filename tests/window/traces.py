# SPDX-License-Identifier: GPL-3.0-or-later
"""What an extension can leave behind in Blender: looked at before it is enabled and after it is disabled."""

import contextlib
import threading
from collections import Counter

import bpy

_timers = []
_drawings = {}


@contextlib.contextmanager
def watching():
    """Notes the timers and viewport drawings that are added meanwhile, which Blender itself does not list."""
    register = bpy.app.timers.register
    space = bpy.types.SpaceView3D
    add, remove = space.draw_handler_add, space.draw_handler_remove

    def noted_register(function, **options):
        _timers.append(function)
        return register(function, **options)

    def noted_add(function, *rest):
        drawing = add(function, *rest)
        _drawings[drawing] = function
        return drawing

    def noted_remove(drawing, region):
        del _drawings[drawing]
        remove(drawing, region)

    bpy.app.timers.register = noted_register
    space.draw_handler_add, space.draw_handler_remove = noted_add, noted_remove
    yield
    bpy.app.timers.register = register
    del space.draw_handler_add, space.draw_handler_remove  # Blender 4 would not survive its own end with them


def traces():
    """Everything there is, as {kind: sorted names}; two of these can be compared."""
    kinds = [(name, getattr(bpy.types, name)) for name in dir(bpy.types)]
    kinds = [(name, kind) for name, kind in kinds if hasattr(kind, "bl_rna")]
    found = {
        "classes": [name for name, _ in kinds],
        "properties": [f"{name}.{prop.identifier}" for name, kind in kinds for prop in kind.bl_rna.properties],
        "menu entries": [f"{name}: {_name(function)}" for name, kind in kinds for function in _appended(kind)],
        "handlers": [f"{name}: {_name(function)}" for name, functions in _handlers() for function in functions],
        "keymaps": [f"{keys.name}: {item.idname}" for keys in _keymaps() for item in keys.keymap_items],
        "timers": [_name(function) for function in _timers if bpy.app.timers.is_registered(function)],
        "drawings": [_name(function) for function in _drawings.values()],
        "threads": [thread.name for thread in threading.enumerate()],
    }
    return {kind: sorted(names) for kind, names in found.items()}


def left(before, after):
    """What is in the second look and was not in the first, as {kind: names}; kinds without any are not in it."""
    found = {kind: list((Counter(names) - Counter(before[kind])).elements()) for kind, names in after.items()}
    return {kind: names for kind, names in found.items() if names}


def _handlers():
    every = ((name, getattr(bpy.app.handlers, name)) for name in dir(bpy.app.handlers))
    return [(name, functions) for name, functions in every if isinstance(functions, list)]


def _keymaps():
    keys = bpy.context.window_manager.keyconfigs.addon
    return keys.keymaps if keys else []


def _appended(kind):
    """What was added to a menu or panel; Blender keeps its own drawing in the same list."""
    functions = getattr(getattr(kind, "draw", None), "_draw_funcs", ())
    return [function for function in functions if not _name(function).startswith("bl_ui.")]


def _name(function):
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', repr(function))}"
