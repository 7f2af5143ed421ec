# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether databases are up to date, found out in the background: panels ask at every redraw and must not wait."""

import time

import bpy
from bpy.app.handlers import persistent

from . import baking, sampling

# Seconds after the last edit until we look again, and of work in one go.
CALM, SLICE = 0.4, 0.02

_answers = {}  # armature name → list of sentences
_asked = set()  # armature names that a panel wants to know about
_prints = {}  # (armature, Action, slot) names → fingerprint


def changes(ob, _scene):
    """What has changed since the last bake, as sentences; None while that is being found out."""
    if ob.name not in _answers:
        _asked.add(ob.name)
        _look_soon(0.0)
    return _answers.get(ob.name)


def look_again():
    """After a bake: the answers are out of date, what is known of the Actions is not."""
    _answers.clear()


def forget():
    """Look at everything anew."""
    _answers.clear()
    _prints.clear()


class _NotNow(Exception):
    """Enough work for one go."""


def _look():
    """Answer what was asked, a little at a time; returns the seconds until the next go, or None when all is answered."""
    until = time.perf_counter() + SLICE

    def fingerprint(ob, action, slot=None):
        key = (ob.name, action.name, slot.identifier if slot is not None else "")
        if key not in _prints:
            if time.perf_counter() > until:
                raise _NotNow
            _prints[key] = sampling.fingerprint(ob, action, slot)
        return _prints[key]

    try:
        while _asked:
            name = next(iter(_asked))
            ob = bpy.data.objects.get(name)
            if ob is not None and ob.type == "ARMATURE" and ob.mm.bake.key:
                _answers[name] = baking.changes(ob, bpy.context.scene, fingerprint)
            _asked.discard(name)
    except _NotNow:
        return 0.01
    _redraw()
    return None


def _look_soon(delay):
    if not bpy.app.timers.is_registered(_look):
        bpy.app.timers.register(_look, first_interval=delay)


def _redraw():
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


@persistent
def _on_edit(_scene, depsgraph):
    if not _answers and not _prints:
        return
    for update in depsgraph.updates:
        if isinstance(update.id, bpy.types.Action):
            edited = update.id.name
            for key in [key for key in _prints if key[1] == edited]:
                del _prints[key]
    # The old answers stay on screen until the new ones are there: no flicker while something is dragged.
    _asked.update(_answers)
    if _asked:
        if bpy.app.timers.is_registered(_look):
            bpy.app.timers.unregister(_look)
        _look_soon(CALM)


@persistent
def _on_load(*_):
    forget()


def register():
    bpy.app.handlers.depsgraph_update_post.append(_on_edit)
    for happening in (bpy.app.handlers.load_post, bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
        happening.append(_on_load)


def unregister():
    bpy.app.handlers.depsgraph_update_post.remove(_on_edit)
    for happening in (bpy.app.handlers.load_post, bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
        happening.remove(_on_load)
    if bpy.app.timers.is_registered(_look):
        bpy.app.timers.unregister(_look)
    forget()
    _asked.clear()
