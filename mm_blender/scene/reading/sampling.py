# SPDX-License-Identifier: GPL-3.0-or-later
"""An Action as a clip: which of two ways reads it, what it contributes, and whether it fits the armature at all."""

import hashlib

import bpy
import numpy as np

from ...errors import MotionError
from ...limits import check_clip
from ...motion.clip import Clip, Tag
from ...steps import run as finished
from .. import actions
from ..actions import bone_of
from ..rig import armatures
from . import from_curves, from_evaluation
from .fcurves import BEZIER, key_points, key_values
from .reference import Reference

__all__ = [
    "count_of",
    "fingerprint",
    "finished",
    "fit",
    "how_to_read",
    "key_step",
    "read_action",
    "read_nla",
    "scene_rate",
    "step_of",
    "tags_from_markers",
]

FEWEST, UNEVEN = 8, 0.02  # keys of a curve that tell how far they lie apart, and frames by which these ways may differ


def read_action(ob, action, slot=None, start=None, end=None, bones=None, to_end=False):
    """A generator that yields the fraction that is done and returns the Clip, at the scene's own rate. to_end: at a
    little more or less where the range is no whole number of frames, so that it ends where the clip does.

    Use it as `clip = yield from read_action(…)`, or with finished(…) where nobody waits. start and end are frames,
    whole or not; bones are names (rig.bones_of() unless given). Nothing of the artist's is changed at any yield.
    """
    _refuse(ob, action, slot)
    source = Reference.of(ob, action, slot)
    skeleton = armatures.skeleton_of(ob, bones)
    frames = _frames(action, ob, slot, start, end, to_end)
    check_clip(f'The Action "{action.name}"', len(frames), len(skeleton))
    way, _ = how_to_read(ob, action, slot, skeleton.names)
    rate = scene_rate() / (frames[1] - frames[0])
    curves = _custom(ob, action, slot, frames)
    if way == "curves":
        positions, rotations = yield from from_curves.read(source, skeleton, frames)
    else:
        _refuse_nan(*source.fetch())
        positions, rotations = yield from from_evaluation.read(source, skeleton, frames)
    return Clip(source.action_name, skeleton, rate, positions, rotations, curves=curves)


def read_nla(ob, start, end, bones=None, to_end=False):
    """The same for what animates the armature now: its NLA tracks, and its Action on top of them."""
    skeleton = armatures.skeleton_of(ob, bones)
    frames = _between(start, end, f'The range of "{ob.name}"', to_end)
    check_clip(f'The range of "{ob.name}"', len(frames), len(skeleton))
    rate = scene_rate() / (frames[1] - frames[0])
    positions, rotations = yield from from_evaluation.read(Reference.of(ob), skeleton, frames)
    return Clip(ob.name, skeleton, rate, positions, rotations)


def how_to_read(ob, action, slot=None, bones=None):
    """("curves" or "evaluated", why): straight from F-curves where these alone decide the pose, otherwise as Blender
    evaluates it."""
    names = bones if bones is not None else armatures.bones_of(ob)
    reason = _obstacle(ob, actions.fcurves(action, ob, slot), armatures.with_ancestors(ob, names))
    return ("evaluated", reason) if reason else ("curves", "a plain rig: its F-curves say it all")


def fit(ob, action, slot=None):
    """How well an Action fits: the fraction of the bones it animates that the armature has, and the names it lacks."""
    named = {bone_of(curve.data_path)[0] for curve in actions.fcurves(action, ob, slot)} - {None}
    missing = sorted(name for name in named if name not in ob.data.bones)
    return (1 - len(missing) / len(named) if named else 0.0), missing


def key_step(ob, action, slot=None):
    """How many frames lie between the keys of an Action where that is less than one, and everywhere the same; or 1."""
    curves = [curve for curve in actions.fcurves(action, ob, slot) if len(curve.keyframe_points) >= FEWEST]
    if not curves:
        return 1.0
    times = key_points(max(curves[:40], key=lambda curve: len(curve.keyframe_points)))[:, 0].astype(np.float64)
    steps = np.diff(times)
    step = float(np.median(steps))
    even = (np.abs(steps - step) < UNEVEN).mean() > 0.9
    return step if even and 0 < step < 1 - UNEVEN else 1.0


def scene_rate(scene=None):
    """Frames per second of the scene, such as 24 or 29.97."""
    render = (scene or bpy.context.scene).render
    return render.fps / render.fps_base


def tags_from_markers(markers, fps, start, end=None):
    """Tags from pose markers (name, frame): "run[" begins a range and "run]" ends it, in seconds from the frame start.

    A range without its beginning begins with the clip; one without its end lasts to the frame end, if that is given.
    """
    tags, begun = [], {}
    for name, frame in sorted(markers, key=lambda marker: marker[1]):
        name, bracket = name.strip()[:-1].strip(), name.strip()[-1:]
        if bracket == "[":
            begun.setdefault(name, frame)
        elif bracket == "]":
            tags.append((name, begun.pop(name, start), frame))
    if end is not None:
        tags += [(name, frame, end) for name, frame in begun.items()]
    seconds = [(name, max(0.0, (first - start) / fps), (last - start) / fps) for name, first, last in tags]
    return tuple(Tag(name, first, last) for name, first, last in seconds if name and last >= first)


def fingerprint(ob, action, slot=None):
    """A hash of everything that this Action contributes to a clip: it changes when any of it changes."""
    digest = hashlib.sha256(repr(actions.frame_range(action, ob, slot)).encode())
    for curve in actions.fcurves(action, ob, slot):
        interpolation = key_values(curve, "interpolation")
        digest.update(repr((curve.data_path, curve.array_index, actions.is_playing(curve), curve.extrapolation,
                            [_settings(modifier) for modifier in curve.modifiers])).encode())
        digest.update(key_points(curve))
        digest.update(interpolation)
        if (interpolation >= BEZIER).any():
            digest.update(key_values(curve, "handle_left"))
            digest.update(key_values(curve, "handle_right"))
        if (interpolation > BEZIER).any():
            digest.update(repr([(key.easing, key.back, key.amplitude, key.period)
                                for key in curve.keyframe_points]).encode())
    return digest.hexdigest()


def _settings(struct):
    """All settings of an F-curve modifier, with those of its control points."""
    values = []
    for prop in struct.bl_rna.properties:
        value = getattr(struct, prop.identifier)
        if prop.type == "COLLECTION":
            value = [_settings(item) for item in value]
        elif prop.type == "POINTER" or prop.identifier in _LOOKS:
            continue
        elif getattr(prop, "is_array", False):
            value = tuple(value)
        values.append((prop.identifier, value))
    return values


_LOOKS = {"active", "show_expanded", "is_valid", "name"}


def _refuse(ob, action, slot):
    curves = actions.fcurves(action, ob, slot)
    if not any(actions.is_playing(curve) for curve in curves):
        raise MotionError(f'The Action "{action.name}" has no keys for "{ob.name}".')
    fraction, missing = fit(ob, action, slot)
    if fraction == 0:
        other = f' (it animates "{missing[0]}")' if missing else ""
        raise MotionError(f'The Action "{action.name}" animates no bone of the armature "{ob.name}"{other}: '
                          "choose an Action that was made for this rig.")


def _refuse_nan(ob, action, slot):
    for curve in actions.fcurves(action, ob, slot):
        points = key_points(curve)
        if actions.is_playing(curve) and not np.isfinite(points).all():
            raise from_curves.bad_value(action, curve, points[~np.isfinite(points).all(-1)][0, 0])


def _frames(action, ob, slot, start, end, to_end):
    first, last = actions.frame_range(action, ob, slot)
    first, last = first if start is None else start, last if end is None else end
    return _between(first, last, f'The Action "{action.name}"', to_end)


def _between(start, end, what, to_end):
    if not end - start + 1e-4 >= 1:
        raise MotionError(f"{what} has no two frames between {start:g} and {end:g}: a clip needs at least two.")
    check_clip(what, end - start)
    if to_end:
        return start + np.arange(count_of(start, end), dtype=np.float64) * step_of(start, end)
    return start + np.arange(int(np.floor(end - start + 1e-4)) + 1, dtype=np.float64)


def count_of(start, end):
    """How many frames are read from start to end, with both."""
    return max(1, round(end - start)) + 1


def step_of(start, end):
    """How far they are apart: a frame, or a little more or less where that would leave a part of one out. Keys of many
    files do not lie on whole frames of the scene, and a loop without the end of its last frame does not close."""
    return (end - start) / max(1, round(end - start))


def _custom(ob, action, slot, frames):
    """Keyed custom properties: "name" on the object, "bone/name" on a bone."""
    curves = {}
    for curve in actions.fcurves(action, ob, slot):
        bone, prop = bone_of(curve.data_path)
        if prop.startswith('["') and prop.endswith('"]') and actions.is_playing(curve):
            name = prop[2:-2] if bone is None else f"{bone}/{prop[2:-2]}"
            name += f"[{curve.array_index}]" if name in curves or curve.array_index else ""
            curves[name] = np.fromiter(map(curve.evaluate, frames), np.float32, len(frames))
    return curves


def _obstacle(ob, curves, chain):
    """Why F-curves alone do not decide the pose of these bones, or None."""
    names = {bone.name for bone in chain}
    return (_object_obstacle(ob, curves) or constraint_obstacle(ob, names) or _driver_obstacle(ob, names)
            or _curve_obstacle(curves, names) or _inheritance_obstacle(ob, curves, chain))


def animated_parent(ob):
    """The first object above another one that is animated itself, or None."""
    above = ob.parent
    while above is not None:
        bound = above.animation_data
        if bound is not None and (bound.action or len(bound.nla_tracks) or len(bound.drivers)):
            return above
        above = above.parent
    return None


def _object_obstacle(ob, curves):
    if (found := animated_parent(ob)) is not None:
        return f'its parent "{found.name}" is animated'
    above = ob
    while above is not None:
        if any(_acts(constraint) for constraint in above.constraints):
            return f'the object "{above.name}" has constraints'
        if above.parent is not None and above.parent_type != "OBJECT":
            return f'the object "{above.name}" hangs from a part of "{above.parent.name}"'
        above = above.parent
    moved = any(curve.data_path in actions.TRANSFORMS for curve in curves)
    if moved and (any(ob.delta_location) or any(ob.delta_rotation_euler) or ob.delta_rotation_quaternion.angle
                  or tuple(ob.delta_scale) != (1, 1, 1)):
        return f'the object "{ob.name}" has delta transforms'
    return None


def constraint_obstacle(ob, names):
    """Which constraint has a say in the pose of these bones, in words; None if none has."""
    for bone in ob.pose.bones:
        for constraint in bone.constraints:
            # IK moves the bones above the one that has it.
            if (bone.name in names or constraint.type in {"IK", "SPLINE_IK"}) and _acts(constraint):
                return f'the bone "{bone.name}" has the constraint "{constraint.name}"'
    return None


def _acts(constraint):
    return not constraint.mute and constraint.influence > 0


def _driver_obstacle(ob, names):
    for owner, prefix in ((ob, ""), (ob.data, "pose.")):
        for driver in owner.animation_data.drivers if owner.animation_data is not None else ():
            bone, prop = bone_of(prefix + driver.data_path)
            if driver.mute or _only_looks(prop):
                continue
            if bone in names or ".constraints[" in driver.data_path or driver.data_path in actions.TRANSFORMS:
                return f'a driver sets {driver.data_path}'
    return None


def _curve_obstacle(curves, names):
    for curve in curves:
        bone, prop = bone_of(curve.data_path)
        if bone is not None and prop not in actions.TRANSFORMS and not _only_looks(prop) and actions.is_playing(curve) \
                and (bone in names or prop.startswith("constraints[")):
            return f'the Action animates {prop} of the bone "{bone}"'
        if bone is None and (prop.startswith("delta_") or prop.startswith("constraints[") or prop == "rotation_mode"):
            return f"the Action animates the object's {prop}"
    return None


def _only_looks(prop):
    """Whether a property of a bone has no say in the pose: custom properties (a driver may read them, and is looked at
    itself), bendy bones, visibility, colours."""
    return prop.startswith(("[", "bbone_", "hide", "color", "custom_shape", "select"))


def _inheritance_obstacle(ob, curves, chain):
    for bone in chain:
        if not bone.use_local_location:
            return f'the bone "{bone.name}" has Local Location turned off'
        if bone.parent is not None and not bone.use_inherit_rotation:
            return f'the bone "{bone.name}" does not inherit rotation'
    picky = next((bone.name for bone in chain if bone.parent is not None and bone.inherit_scale != "FULL"), None)
    if picky is not None and _is_scaled(ob, curves, {bone.name for bone in chain}):
        return f'the bone "{picky}" inherits scale in a way of its own'
    return None


def _is_scaled(ob, curves, names):
    if any(abs(value - 1) > 1e-6 for name in names for value in ob.pose.bones[name].scale):
        return True
    keyed = (curve for curve in curves if curve.data_path.endswith(".scale") and bone_of(curve.data_path)[0] in names)
    return any(len(curve.modifiers) or np.abs(key_points(curve)[:, 1] - 1).max(initial=0) > 1e-6 for curve in keyed)
