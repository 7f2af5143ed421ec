# SPDX-License-Identifier: GPL-3.0-or-later
"""What the viewport shows of a character: which way it faces, and the features of the current frame of its Action.

Features are measured once for the whole Action, a little at a time from a timer, and again shortly after the last edit.
Drawing only looks up a frame.
"""

import time
from dataclasses import dataclass

import bpy
import gpu
import numpy as np
from bpy.app.handlers import persistent

from ...errors import MotionError
from ...matching.feature_lines import FeatureLines, lines_of
from ...prepare.root import add_root
from .. import actions
from ..jobs.baking import recipe_of
from ..reading import sampling
from ..reading.features import schema_of
from ..reading.fingerprints import rig_fingerprint
from ..rig import facing
from ..rig.armatures import floor
from ..rig.character import active_armature, character_of, given_roles
from ..screen import redraw_viewports
from . import drawing
from .ground_lines import GroundLines

# Seconds after the last edit until features are measured again, of work in one go, and of rest between.
CALM, SLICE, REST = 0.3, 0.05, 0.005


@dataclass(frozen=True, eq=False)
class Measured:
    """The features of one armature's Action: the settings and contents that they were made from, and what came out, or
    why nothing did."""

    key: tuple
    contents: tuple
    drawn: FeatureLines | None = None
    first: float = 0.0
    error: str = ""
    floor: float = 0.0


def lines(ob, scene):
    """The features of the current frame: segments (N, 2, 3), colours (N, 3); None while they are being measured."""
    key = _key(ob, scene)
    if _measured is None or _measured.key != key:
        if key is not None:
            ask(ob.name, 0.0)
        return None
    if _measured.drawn is None:
        return None
    segments, colours = _measured.drawn.lines(_frame(scene))
    return segments + (0.0, 0.0, _measured.floor), colours


def trouble(ob):
    """Why there are no features to draw, as a sentence; empty if all is well."""
    return _measured.error if _measured is not None and _measured.key[0] == ob.name else ""


def measure(ob, scene):
    """A generator for the features of the armature's current Action: yields shares of the work, returns Measured."""
    key, action, contents, height = _key(ob, scene), ob.animation_data.action, _contents(ob), floor(ob)
    try:
        character, schema, recipe = character_of(ob), schema_of(ob), recipe_of(ob)
        for role in schema.roles:
            character.joint(role)  # a missing one is better known before the Action is read
        loop = any(clip.loop for clip in ob.mm.clips if clip.action == action)
        first = actions.frame_range(action, ob, actions.slot_for(action, ob))
        clip = yield from sampling.read_action(ob, action)
        clip = add_root(clip.with_changes(loop=loop), character, recipe)
        return Measured(key, contents, lines_of(clip, character, schema), first[0], floor=height)
    except MotionError as error:
        return Measured(key, contents, error=str(error))


_measured = None  # the last thing measured: there is one active armature
_asked = ""  # the name of the armature whose features are wanted
_steps = None  # the generator that measures them
_edited = False  # whether something was edited meanwhile
_carried = {}  # (armature, Action) → whether the Action moves the object itself


def _key(ob, scene):
    """Everything in the settings that the features depend on; None without an Action."""
    action = ob.animation_data.action if ob.animation_data is not None else None
    if action is None:
        return None
    settings = ob.mm
    channels = tuple((entry.kind, entry.role, entry.of, tuple(entry.times)[:entry.time_count])
                     for entry in settings.features.channels)
    return (ob.name, action.name, getattr(ob.animation_data, "action_slot_handle", 0), sampling.scene_rate(scene),
            given_roles(ob), settings.forward, channels, settings.features.past_end, recipe_of(ob),
            tuple(clip.loop for clip in settings.clips if clip.action == action),
            None if _is_carried(ob, action) else tuple(map(tuple, ob.matrix_world)))


def _contents(ob):
    """Hashes of what the Action and the rig bring to the features."""
    action = ob.animation_data.action
    paths = frozenset(curve.data_path for curve in actions.fcurves(action, ob))
    return (sampling.fingerprint(ob, action), rig_fingerprint(ob, paths),
            hash(tuple(tuple(map(tuple, bone.matrix_local)) for bone in ob.data.bones)))


def _is_carried(ob, action):
    """Whether the object itself moves with time, so that its present place is no setting."""
    key = (ob.name, action.name)
    if key not in _carried:
        _carried[key] = any(curve.data_path in actions.TRANSFORMS for curve in actions.fcurves(action, ob))
    return _carried[key] or ob.parent is not None or len(ob.constraints) > 0


def _frame(scene):
    """The current frame as an index into what was measured; before and after the Action its ends are shown."""
    frame = scene.frame_current_final - _measured.first
    return int(np.clip(round(frame), 0, len(_measured.drawn) - 1))


def _forget_rigs():
    facing.forget()
    _carried.clear()


# Measuring, from a timer

def ask(name, delay):
    """Have an armature's features measured soon."""
    global _asked, _steps, _edited
    if _asked == name and (delay == 0.0 or _steps is not None):
        # Reading some rigs moves them, which looks like an edit: finish first, and then look once more.
        _edited = _edited or delay > 0.0
        return
    _asked, _steps = name, None
    if bpy.app.timers.is_registered(work):
        bpy.app.timers.unregister(work)
    bpy.app.timers.register(work, first_interval=delay)


def work():
    """A slice of the measuring; returns the seconds until the next one, or None when it is done."""
    global _measured, _asked, _steps, _edited
    ob, scene = bpy.data.objects.get(_asked), bpy.context.scene
    if ob is None or ob.type != "ARMATURE" or _key(ob, scene) is None:
        _asked, _steps = "", None
        return None
    if ob.mm.drive.driving:  # it shows another pose: what reads it would read that
        return CALM
    until = time.perf_counter() + SLICE
    try:
        _steps = _steps or _measured_anew(ob, scene)
        while time.perf_counter() < until:
            next(_steps)
        return REST
    except StopIteration as end:
        _measured, _steps = end.value, None
    redraw_viewports()
    if _edited:
        _edited = False
        return CALM
    _asked = ""
    return None


def _measured_anew(ob, scene):
    """measure(), unless nothing has changed: Blender speaks of edits also where there were none."""
    if _measured is not None and (_measured.key, _measured.contents) == (_key(ob, scene), _contents(ob)):
        return _measured
    return (yield from measure(ob, scene))


@persistent
def _on_edit(_scene, depsgraph):
    global _measured
    if depsgraph.id_type_updated("ACTION") or depsgraph.id_type_updated("ARMATURE"):
        _forget_rigs()
    elif not depsgraph.id_type_updated("OBJECT"):
        return
    facing.forget_places()
    ob = bpy.data.objects.get(_measured.key[0]) if _measured is not None else None
    if ob is not None and ob.mm.features.show:
        ask(ob.name, CALM)
    else:
        _measured = None


@persistent
def _on_load(*_):
    forget()


def forget():
    global _measured, _asked, _steps, _edited
    _measured, _asked, _steps, _edited = None, "", None, False
    _forget_rigs()
    drawing.forget()
    if bpy.app.timers.is_registered(work):
        bpy.app.timers.unregister(work)


# Drawing

def _draw():
    context = bpy.context
    ob = active_armature(context)
    if ob is None or not len(ob.mm.roles) or not context.space_data.overlay.show_overlays:
        return
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_mask_set(False)
    # While it is driven, its root is drawn with all else that there is to see then: see hud.py.
    driven = ob.mm.drive.driving and ob.mm.drive.show_root
    if ob.mm.show_facing and not driven and (found := facing.facing_of(ob)) is not None:
        _draw_facing(ob, *found)
    if ob.mm.features.show and (found := lines(ob, context.scene)) is not None:
        drawing.draw_lines(("features", id(_measured), _frame(context.scene)), lambda: found)
    gpu.state.depth_mask_set(True)
    gpu.state.blend_set("NONE")


def _draw_facing(ob, place, way):
    size = facing.hip_height(ob)
    key = ("facing", tuple(place), tuple(way), size)
    made = GroundLines(size)
    made.arrow(place, np.arctan2(-way.x, way.y))
    gpu.state.depth_test_set("LESS_EQUAL")
    drawing.draw_triangles(key, lambda: made.triangles)
    drawing.draw_lines(key, lambda: made.lines)
    gpu.state.depth_test_set("NONE")


# Registration

_drawing = None


def register():
    global _drawing
    if not bpy.app.background:
        _drawing = bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW")
    bpy.app.handlers.depsgraph_update_post.append(_on_edit)
    for happening in (bpy.app.handlers.load_post, bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
        happening.append(_on_load)


def unregister():
    global _drawing
    if _drawing is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_drawing, "WINDOW")
        _drawing = None
    bpy.app.handlers.depsgraph_update_post.remove(_on_edit)
    for happening in (bpy.app.handlers.load_post, bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
        happening.remove(_on_load)
    forget()
