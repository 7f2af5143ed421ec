# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions, whatever Blender's version: the one module that knows slots and channelbags."""

import math
import re
from contextlib import contextmanager
from functools import lru_cache

import bpy
import numpy as np

TRANSFORMS = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler", "scale")
BONE_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.?(.*)')


def slots(action):
    """The slots that can animate an object; none before Blender 4.4, where an Action is one set of curves."""
    return [slot for slot in getattr(action, "slots", ()) if slot.target_id_type in {"OBJECT", "UNSPECIFIED"}]


def slot_for(action, ob=None):
    """The slot that Blender would use for this object, or None."""
    found = slots(action)
    if not found:
        return None
    bound = ob.animation_data if ob is not None else None
    if bound is not None and bound.action == action and bound.action_slot in found:
        return bound.action_slot
    own = [slot for slot in found if ob is not None and slot.identifier == f"OB{ob.name}"]
    return (own or found)[0]


def slot_named(action, identifier):
    """The slot with this identifier ("OBArmature"), or None."""
    return next((slot for slot in slots(action) if slot.identifier == identifier), None)


def fcurves(action, ob=None, slot=None):
    """The F-curves that animate this object through this Action."""
    return [curve for bag in _bags(action, ob, slot) for curve in bag.fcurves]


def all_fcurves(action):
    """The F-curves of an Action, whatever they animate."""
    return [curve for slot in (slots(action) or [None]) for curve in fcurves(action, slot=slot)]


@lru_cache(maxsize=8192)
def bone_of(path):
    """Bone name and property of an F-curve's data path; the name is None when it is not about a bone."""
    match = BONE_PATH.match(path)
    if match is None:
        return None, path
    return re.sub(r"\\(.)", r"\1", match[1]), match[2]


def lifts(action, ob):
    """Whether an Action has keys for the height of the object itself."""
    found = [bag.fcurves.find("location", index=2) for bag in _bags(action, ob)]
    return any(curve is not None and is_playing(curve) for curve in found)


def is_playing(fcurve):
    """Whether Blender plays this curve: not muted, not empty, not disabled."""
    # Muting a group mutes its curves too in the editors; from 4.4 on Blender looks at the curves alone.
    group = fcurve.group if bpy.app.version < (4, 4) else None
    return fcurve.is_valid and not (fcurve.is_empty or fcurve.mute or (group is not None and group.mute))


def frame_range(action, ob=None, slot=None):
    """First and last frame: the range that the artist set, or that of the keys; None when there are no keys."""
    if action.use_frame_range:
        return action.frame_start, action.frame_end
    ranges = [tuple(curve.range()) for curve in fcurves(action, ob, slot) if not curve.is_empty]
    if not ranges:
        return None
    return min(first for first, _ in ranges), max(last for _, last in ranges)


def pose_markers(action):
    """The Action's own markers: (name, frame), in the order of their frames."""
    return sorted(((marker.name, marker.frame) for marker in action.pose_markers), key=lambda marker: marker[1])


def assign(ob, action, slot=None):
    """Let an Action (or None) animate an object, with the slot that belongs to it."""
    bound = ob.animation_data or ob.animation_data_create()
    bound.action = action
    if action is not None and hasattr(bound, "action_slot"):
        bound.action_slot = slot or slot_for(action, ob)


def push_to_nla(ob, action, start_frame, track=None):
    """Let an Action play in the NLA from a frame on: after what a track plays, or on a new one on top of the others.
    The object's own Action stays."""
    bound = ob.animation_data or ob.animation_data_create()
    first = not len(bound.nla_tracks)
    if track is None:
        track = bound.nla_tracks.new()
        track.name = action.name
    strip = track.strips.new(action.name, math.floor(start_frame), action)
    if hasattr(strip, "action_slot"):
        strip.action_slot = slot_for(action, ob)
    strip.frame_start_ui = start_frame
    if not first:
        strip.extrapolation = "HOLD_FORWARD"  # until it begins, what is below it shows
    return track


def push_down(ob):
    """Let the object's own Action go on to play on an NLA track on top of the others, as Blender's Push Down does."""
    bound, action = ob.animation_data, ob.animation_data.action
    slot = slot_for(action, ob)
    strip = push_to_nla(ob, action, action.frame_range[0]).strips[0]
    if slot is not None:
        strip.action_slot = slot
    strip.blend_type, strip.extrapolation = bound.action_blend_type, bound.action_extrapolation
    if bound.action_influence < 1:
        strip.use_animated_influence, strip.influence = True, bound.action_influence
    bound.action = None


def new_action(name, ob):
    """An empty Action with a slot for this object, ready for add_fcurves()."""
    action = bpy.data.actions.new(name)
    if hasattr(action, "slots"):
        slot = action.slots.new(id_type="OBJECT", name=ob.name)
        action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    return action


def add_fcurves(action, channels, slot=None):
    """New curves for channels (data path, index, group name), as a list in the same order."""
    if not hasattr(action, "slots"):
        return [action.fcurves.new(path, index=index, action_group=group) for path, index, group in channels]
    bag = action.layers[0].strips[0].channelbag(slot or slots(action)[0], ensure=True)
    made = []
    for path, index, group in channels:
        curve = bag.fcurves.new(path, index=index)
        if group:
            curve.group = bag.groups.get(group) or bag.groups.new(group)
        made.append(curve)
    return made


def add_copies(action, curves):
    """Copies of F-curves, with their keys and modifiers, in an Action of new_action()."""
    made = add_fcurves(action, [(curve.data_path, curve.array_index, curve.group.name if curve.group else "")
                                for curve in curves])
    for old, new in zip(curves, made):
        new.extrapolation = old.extrapolation
        _put_keys(new, _keys_of(old))
        for modifier in old.modifiers:
            copy = new.modifiers.new(modifier.type)
            for prop in modifier.bl_rna.properties:
                if not prop.is_readonly:
                    setattr(copy, prop.identifier, getattr(modifier, prop.identifier))


def replace_curves(action, other, ob, kept=()):
    """Give an Action the curves that another one has for an object, instead of its own but for some that are kept."""
    kept = {(curve.data_path, curve.array_index) for curve in kept}
    for bag in _bags(action, ob):
        for curve in list(bag.fcurves):
            if (curve.data_path, curve.array_index) not in kept:
                bag.fcurves.remove(curve)
    add_copies(action, fcurves(other, ob))


def begin_with(action, earlier, frame, ob):
    """Let an Action that begins at a frame show before it what an earlier one shows, which stays as it is."""
    cut = earlier.copy()
    try:
        later = {(curve.data_path, curve.array_index): curve for curve in fcurves(action, ob)}
        curves = list(fcurves(cut, ob))
        add_copies(action, [curve for curve in curves if (curve.data_path, curve.array_index) not in later])
        known = {(curve.data_path, curve.array_index) for curve in curves}
        _rest_until([curve for place, curve in later.items() if place not in known], cut.frame_range[0], frame)
        for path in {curve.data_path for curve in curves}:
            pairs = [(curve, later[path, curve.array_index]) for curve in curves
                     if curve.data_path == path and (path, curve.array_index) in later]
            for first, _ in pairs:
                first.keyframe_points.insert(frame, first.evaluate(frame))
            _join(path, [(_keys_of(first), _keys_of(second), second) for first, second in pairs], frame)
    finally:
        bpy.data.actions.remove(cut)


def _rest_until(curves, first, frame):
    """Let what curves animate be at rest from a first frame until another one, where they begin."""
    for curve in curves if first < frame else ():
        turn = curve.data_path.endswith("rotation_quaternion") and curve.array_index == 0
        key = curve.keyframe_points.insert(first, float(turn or curve.data_path.endswith("scale")))
        key.interpolation = "CONSTANT"


def _join(path, channels, frame):
    """Put what one curve has until a frame before what another has from there on: [(keys, keys, the latter curve)] of
    the channels of one path. The same rotation may be spelled with other numbers: the later one is respelled."""
    starts = np.array([second["co"][0, 1] for _, second, _ in channels])
    seams = [np.abs(first["co"][:, 0] - frame).argmin() for first, _, _ in channels]
    ends = np.array([first["co"][seam, 1] for (first, _, _), seam in zip(channels, seams)])
    sign = -1.0 if path.endswith("rotation_quaternion") and starts @ ends < 0 else 1.0
    turns = np.round((ends - starts) / (2 * np.pi)) * (2 * np.pi) if path.endswith("rotation_euler") else 0 * starts
    for (first, second, curve), seam, turn in zip(channels, seams, turns):
        for name in ("co", "handle_left", "handle_right"):
            second[name][:, 1] = sign * second[name][:, 1] + turn
        second["handle_right"][0] += first["co"][seam] - second["co"][0]
        for name in ("co", "handle_left"):
            second[name][0] = first[name][seam]
        second["handle_left_type"][0] = second["handle_right_type"][0] = FREE
        _put_keys(curve, {name: np.concatenate([first[name][:seam], second[name]]) for name in second})


def _keys_of(curve):
    """What the keys of a curve are: name → (K,) or, of points, (K, 2)."""
    found = {}
    for name, kind, size in _OF_KEYS:
        found[name] = np.empty((len(curve.keyframe_points), size)[:size], dtype=kind)
        curve.keyframe_points.foreach_get(name, found[name].ravel())
    return found


def _put_keys(curve, keys):
    """Give a curve keys as _keys_of() has them, instead of its own."""
    curve.keyframe_points.clear()
    curve.keyframe_points.add(len(keys["co"]))
    for name, _, _ in _OF_KEYS:
        curve.keyframe_points.foreach_set(name, keys[name].ravel())
    curve.update()


FREE = 0  # Blender's number for handles that may point anywhere
_OF_KEYS = (*((name, np.int32, 1) for name in ("interpolation", "easing", "type", "handle_left_type",
                                               "handle_right_type")),
            *((name, np.float32, 1) for name in ("back", "amplitude", "period")),
            *((name, np.float32, 2) for name in ("co", "handle_left", "handle_right")))


@contextmanager
def kept(ob):
    """Whatever is done to the object's animation inside the block, all of it is as before afterwards.

    Tweak Mode is left for the block, because Blender refuses another Action while it is on.
    """
    bound = ob.animation_data
    if bound is None:
        try:
            yield
        finally:
            ob.animation_data_clear()
        return
    tweaked = bound.use_tweak_mode
    if tweaked:
        bound.use_tweak_mode = False
    action, slot = bound.action, getattr(bound, "action_slot", None)
    flags = {name: getattr(bound, name) for name in _BINDING if hasattr(bound, name)}
    tracks = [(track, track.mute, track.is_solo) for track in bound.nla_tracks]
    try:
        yield
    finally:
        bound.action = action
        if slot is not None:
            bound.action_slot = slot
        _set_changed(bound, flags)
        for track, mute, solo in tracks:
            _set_changed(track, {"is_solo": solo, "mute": mute})
        if tweaked:
            bound.use_tweak_mode = True


_BINDING = ("last_slot_identifier", "action_blend_type", "action_extrapolation", "action_influence", "use_nla")


def _bags(action, ob=None, slot=None):
    """What has the F-curves that animate this object through this Action."""
    if not hasattr(action, "slots"):
        return [action]
    slot = slot or slot_for(action, ob)
    if slot is None:
        return []
    bags = (strip.channelbag(slot) for layer in action.layers for strip in layer.strips if strip.type == "KEYFRAME")
    return [bag for bag in bags if bag is not None]


def _set_changed(owner, values):
    # Setting a value tags the object even when it is the same: Blender would evaluate it again for nothing.
    for name, value in values.items():
        if getattr(owner, name) != value:
            setattr(owner, name, value)
