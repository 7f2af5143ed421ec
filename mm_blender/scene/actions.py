# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions, whatever Blender's version: the one module that knows slots and channelbags."""

import math
from contextlib import contextmanager

import bpy
import numpy as np

TRANSFORMS = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler", "scale")


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


def push_to_nla(ob, action, start_frame):
    """Let an Action play in a new NLA track on top of the others; the object's own Action stays."""
    bound = ob.animation_data or ob.animation_data_create()
    below = len(bound.nla_tracks)
    track = bound.nla_tracks.new()
    track.name = action.name
    strip = track.strips.new(action.name, math.floor(start_frame), action)
    if hasattr(strip, "action_slot"):
        strip.action_slot = slot_for(action, ob)
    strip.frame_start_ui = start_frame
    if below:
        strip.extrapolation = "HOLD_FORWARD"  # until it begins, what is below it shows
    return track


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
        new.keyframe_points.add(len(old.keyframe_points))
        for name, kind, size in _OF_KEYS:
            values = np.empty(size * len(old.keyframe_points), dtype=kind)
            old.keyframe_points.foreach_get(name, values)
            new.keyframe_points.foreach_set(name, values)
        for modifier in old.modifiers:
            copy = new.modifiers.new(modifier.type)
            for prop in modifier.bl_rna.properties:
                if not prop.is_readonly:
                    setattr(copy, prop.identifier, getattr(modifier, prop.identifier))
        new.update()


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
