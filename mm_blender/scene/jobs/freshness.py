# SPDX-License-Identifier: GPL-3.0-or-later
"""What panels show of Actions and databases: found out in the background, and anew when something was edited."""

import math
import time

import bpy
from bpy.app.handlers import persistent

from ..reading.facts import NotNow, known
from ..screen import redraw_panels
from . import baking, ownership

# Seconds after the last edit until we look again, of work in one go, and for which an answer is taken as it is.
CALM, SLICE, TRUSTED = 0.4, 0.02, 1.0

_answers = {}  # armature → sentences, and when they were found
_asked = set()  # armatures that a panel wants to know about; both by session_uid, which outlives undo and renaming
_rigs_edited = False


def changes(ob, _scene):
    """What has changed since the last bake, as sentences; None while that is being found out."""
    sentences, found = _answers.get(ob.session_uid, (None, -math.inf))
    # Blender does not tell when a script changes tags or settings: so nothing is taken for granted for long.
    if time.perf_counter() - found > TRUSTED and not (ob.session_uid in _asked and bpy.app.timers.is_registered(look)):
        _ask({ob.session_uid}, 0.0)
    return sentences


def up_to_date(ob):
    """It was baked just now. That is the answer, until it is looked at."""
    _answers[ob.session_uid] = [], -math.inf
    redraw_panels()


def look_again():
    """Settings or tags may have changed. The old answers stay on screen until the new ones are there."""
    for armature, (sentences, _) in _answers.items():
        _answers[armature] = sentences, -math.inf


def forget():
    """Look at everything anew."""
    _answers.clear()
    known.forget()


def _ask(armatures, delay):
    global _rigs_edited
    _asked.update(armatures)
    _rigs_edited = True
    if not bpy.app.timers.is_registered(look):
        bpy.app.timers.register(look, first_interval=delay)


def look():
    """Answer what was asked, a little at a time; returns the seconds until the next go, or None when all is done."""
    global _rigs_edited
    if _rigs_edited:
        known.forget_rigs()
        _rigs_edited = False
    known.begin(SLICE)
    try:
        for ob in [ob for ob in bpy.data.objects if ob.session_uid in _asked and ob.type == "ARMATURE"]:
            _answer(ob)
    except NotNow:
        return 0.01
    finally:
        known.end()
    _asked.clear()
    redraw_panels()
    return None


def _answer(ob):
    is_its_own = ob.mm.bake.key and not ownership.whose(ob).is_used
    sentences = baking.changes(ob, bpy.context.scene, known) if is_its_own else []
    if sentences != _answers.get(ob.session_uid, (None,))[0]:
        redraw_panels()
    _answers[ob.session_uid] = sentences, time.perf_counter()
    _asked.discard(ob.session_uid)


@persistent
def _on_edit(_scene, depsgraph):
    if depsgraph.id_type_updated("ACTION"):
        edited = [update.id.original for update in depsgraph.updates if isinstance(update.id, bpy.types.Action)]
        for action in edited:
            known.forget_action(action)
        if not edited:  # one that no object of this scene has among its clips: Blender does not say which
            known.forget()
    if _answers or known.any:
        if bpy.app.timers.is_registered(look):
            bpy.app.timers.unregister(look)
        _ask(_answers, CALM)


@persistent
def on_load(*_):
    forget()
    _asked.clear()


def register():
    bpy.app.handlers.depsgraph_update_post.append(_on_edit)
    for happening in (bpy.app.handlers.load_post, bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
        happening.append(on_load)


def unregister():
    bpy.app.handlers.depsgraph_update_post.remove(_on_edit)
    for happening in (bpy.app.handlers.load_post, bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
        happening.remove(on_load)
    if bpy.app.timers.is_registered(look):
        bpy.app.timers.unregister(look)
    forget()
    _asked.clear()
