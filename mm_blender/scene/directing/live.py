# SPDX-License-Identifier: GPL-3.0-or-later
"""Update: the take is generated anew whenever its curve, a mark or a setting changes, a little at a time from a timer.

The old take stays until the new one is whole. What was edited by hand is never replaced.
"""

import time

import bpy
from bpy.app.handlers import persistent

from ...errors import MotionError
from .. import screen
from ..driving import current
from ..jobs import slices
from ..reading.reference import found_again
from . import generating

# Seconds after the last change until it is looked at, of work in one go, and of rest between.
CALM, SLICE, REST = 0.15, 0.03, 0.01

_changed_at = 0.0
_keys = {}  # session_uid of an armature → what its take was made from
_troubles = {}  # session_uid of an armature → sentences
_work = None  # (name, session_uid, key, steps) of the take that is being made


def sentences(ob):
    """What is to be said about the take that Update keeps up to date."""
    return _troubles.get(ob.session_uid, [])


def made(ob, depsgraph, said):
    """A take was generated: Update need not do it again, and this was said about it."""
    _troubles[ob.session_uid] = said
    try:
        _keys[ob.session_uid] = generating.made_from(ob, depsgraph)
    except MotionError:
        _keys.pop(ob.session_uid, None)


def stop():
    """Leave the take as it is."""
    global _work
    if _work is not None:
        _work[-1].close()
    _work = None


@persistent
def on_update(_scene, depsgraph):
    """Something has changed: look at it as soon as nothing does for a moment."""
    global _changed_at
    if not depsgraph.updates or not any(ob.mm.direct.update for ob in bpy.data.objects if ob.type == "ARMATURE"):
        return
    _changed_at = time.perf_counter()
    if not bpy.app.timers.is_registered(tick):
        bpy.app.timers.register(tick, first_interval=CALM)


def tick():
    """One look; returns the seconds until the next one, or None when all takes are up to date."""
    if time.perf_counter() - _changed_at < CALM or current() is not None or slices.current() is not None:
        return CALM
    if _work is None and not _begin():
        return None
    _go_on()
    screen.redraw_panels()
    return REST


def _begin():
    """Begin with the first take that is not up to date; whether there is one."""
    global _work
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for ob in bpy.context.view_layer.objects:
        if ob.type != "ARMATURE" or not ob.mm.direct.update or ob.library is not None:
            continue
        uid, edited = ob.session_uid, generating.edited(ob)
        try:
            key = generating.made_from(ob, depsgraph)
            if key == _keys.get(uid):
                continue
            _keys[uid] = key
            if edited is not None:
                raise MotionError(f'"{edited.name}" was edited by hand and stays as it is: press Generate for another.')
            _work = ob.name, uid, key, generating.steps(ob, depsgraph)
            return True
        except MotionError as error:
            _troubles[uid] = [str(error)]
    return False


def _go_on():
    """Work for a while; where something has changed meanwhile, begin anew."""
    global _work
    name, uid, key, steps = _work
    until = time.perf_counter() + SLICE
    try:
        ob = found_again(bpy.data.objects, name, uid)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        if ob is None or not ob.mm.direct.update or generating.made_from(ob, depsgraph) != key:
            stop()
            return
        while time.perf_counter() < until:
            next(steps)
    except StopIteration as end:
        _work = None
        generating.write(ob, end.value, generating.replaceable(ob))
        _troubles[uid] = end.value.sentences
    except MotionError as error:
        _work = None
        _troubles[uid] = [str(error)]


@persistent
def _on_load(*_):
    stop()
    _keys.clear()
    _troubles.clear()


def register():
    bpy.app.handlers.depsgraph_update_post.append(on_update)
    bpy.app.handlers.load_pre.append(_on_load)


def unregister():
    _on_load()
    if bpy.app.timers.is_registered(tick):
        bpy.app.timers.unregister(tick)
    bpy.app.handlers.load_pre.remove(_on_load)
    bpy.app.handlers.depsgraph_update_post.remove(on_update)
