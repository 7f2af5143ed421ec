# SPDX-License-Identifier: GPL-3.0-or-later
"""Hashes of rigs and NLA stacks: they change when what a clip is read from changes, and not when a frame is shown."""

import hashlib
import json
from functools import cache

import bpy
import numpy as np

from .. import actions
from . import sampling
from .fcurves import key_points
from .from_curves import rotation_channel

# Properties that say how something looks in the editor, or that Blender writes while it evaluates.
_LOOKS = {"rna_type", "name", "active", "show_expanded", "is_valid", "is_override_data", "is_proxy_local",
          "error_location", "error_rotation", "select", "color_tag", "lock"}
_PARTS = {"targets", "control_points", "modifiers"}
_BONE_FLAGS = ("use_connect", "use_inherit_rotation", "use_local_location", "inherit_scale")
_PLACE = ("delta_location", "delta_rotation_euler", "delta_scale", *actions.TRANSFORMS)
_REST = {"location": (0, 0, 0), "scale": (1, 1, 1), "rotation_quaternion": (1, 0, 0, 0), "rotation_euler": (0, 0, 0)}


def rig_fingerprint(ob, animated=frozenset(), evaluated=True):
    """A hash of what an armature adds to the motion of every Action.

    animated   data paths that some Action keys: their present values only show the present frame
    evaluated  whether constraints, drivers and properties have a say (see sampling.how_to_read)
    """
    parts = [[bone.name, bone.rotation_mode, *(getattr(bone.bone, flag) for flag in _BONE_FLAGS)]
             for bone in ob.pose.bones]
    driven = {driver.data_path for driver in _drivers(ob)}
    moving = animated | driven
    parts.append(_posed(ob, moving))
    if evaluated:
        seen = {ob}
        parts += [_object(ob, moving, seen), _bone_settings(ob, moving, seen), _properties(ob, moving),
                  [_driver(driver, seen) for owner in (ob, ob.data) for driver in _drivers(owner)]]
    return hashed(parts)


def nla_fingerprint(ob, fingerprint=sampling.fingerprint):
    """A hash of everything that the NLA editor plays on an object, with the Action on top of it."""
    bound = ob.animation_data
    parts = [bound.use_nla, bound.action_blend_type, bound.action_extrapolation, round(bound.action_influence, 5),
             fingerprint(ob, bound.action, getattr(bound, "action_slot", None)) if bound.action else ""]
    parts += [[track.mute, track.is_solo, [_strip(ob, strip, fingerprint) for strip in track.strips]]
              for track in bound.nla_tracks]
    return hashed(parts)


def hashed(*parts):
    """A hash of plain values."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _posed(ob, moving):
    """The bones that are posed, but by no Action: they stay like this in every clip."""
    found = []
    for bone in ob.pose.bones:
        for channel in ("location", rotation_channel(bone.rotation_mode), "scale"):
            values = _rounded(getattr(bone, channel))  # a take shows the same pose, but for rounding and signs
            if channel == "rotation_quaternion" and values[0] < 0:
                values = [0.0 - value for value in values]
            at_rest = values[0] == 0 if channel == "rotation_axis_angle" else values == list(_REST[channel])
            if not at_rest and f"{_bone_path(bone)}.{channel}" not in moving:
                found.append([bone.name, channel, values])
    return found


def _bone_settings(ob, moving, seen):
    found = [[bone.name, _constraints(bone, _bone_path(bone) + ".", moving, seen)] for bone in ob.pose.bones
             if len(bone.constraints)]
    for name, kind, _ in _kinds(bpy.types.PoseBone):
        if name.startswith(("ik_", "lock_ik", "use_ik")):
            values = np.empty(len(ob.pose.bones), dtype=np.float32 if kind == "FLOAT" else bool)
            ob.pose.bones.foreach_get(name, values)
            found.append([name, _rounded(values)])
    return found


def _constraints(owner, prefix, moving, seen):
    return [[constraint.type, _settings(constraint, seen, moving, f"{prefix}constraints[{_quoted(constraint.name)}].")]
            for constraint in owner.constraints]


def _object(ob, moving, seen):
    """Where an object is, with all that it hangs from."""
    parts = [ob.name_full, ob.parent_type, ob.parent_bone, _constraints(ob, "", moving, seen),
             _rounded(np.ravel(ob.matrix_parent_inverse)),
             [_rounded(getattr(ob, name)) for name in _PLACE if name not in moving]]
    if ob.parent is not None:
        parts.append(_other(ob.parent, seen))
    return parts


def _other(ob, seen):
    """Another object that the rig depends on."""
    if ob in seen:
        return ob.name_full
    seen.add(ob)
    bound = ob.animation_data
    curves = actions.fcurves(bound.action, ob) if bound is not None and bound.action is not None else ()
    moving = {curve.data_path for curve in (*curves, *_drivers(ob))}
    parts = [_object(ob, moving, seen), nla_fingerprint(ob) if bound is not None else "",
             [_driver(driver, seen) for driver in _drivers(ob)]]
    if ob.type == "ARMATURE":
        parts += [_posed(ob, moving), _bone_settings(ob, moving, seen), _properties(ob, moving)]
    elif ob.type == "CURVE":
        points = (point for spline in ob.data.splines for point in (*spline.points, *spline.bezier_points))
        parts.append([_rounded(point.co) for point in points])
    return parts


def _properties(ob, moving):
    """Custom properties, which drivers read."""
    owners = [("", ob), ("data.", ob.data), *((_bone_path(bone), bone) for bone in ob.pose.bones)]
    found = []
    for prefix, owner in owners:
        for key, value in owner.items():
            value = value.to_list() if hasattr(value, "to_list") else value
            # No driver reads groups of them: add-ons (Rigify) keep their settings there.
            plain = all(isinstance(part, (bool, int, float, str)) for part in
                        (value if isinstance(value, list) else [value]))
            own = not owner.bl_rna.properties.get(key) and plain
            if own and f"{prefix}[{_quoted(key)}]" not in moving:
                found.append([prefix, key, value])
    return found


def _drivers(owner):
    return owner.animation_data.drivers if owner.animation_data is not None else ()


def _driver(curve, seen):
    driver = curve.driver
    variables = [[variable.name, variable.type, [_settings(target, seen) for target in variable.targets]]
                 for variable in driver.variables]
    return [curve.data_path, curve.array_index, curve.mute, driver.type, driver.expression, driver.use_self, variables,
            key_points(curve).tolist(), [_settings(modifier, seen) for modifier in curve.modifiers]]


def _strip(ob, strip, fingerprint):
    animated = {"strip_time"} | ({"influence"} if strip.use_animated_influence else set())
    parts = [[name, value] for name, value in _settings(strip, set()) if name not in animated]
    if strip.action is not None:
        parts.append(fingerprint(ob, strip.action, getattr(strip, "action_slot", None)))
    return [parts, [key_points(curve).tolist() for curve in strip.fcurves],
            [_strip(ob, inner, fingerprint) for inner in strip.strips]]


def _settings(struct, seen, moving=frozenset(), prefix=""):
    """All settings of a struct as (name, value); other objects count with where they are and what moves them."""
    values = []
    for name, kind, is_array in _kinds(type(struct)):
        if prefix + name in moving:
            continue
        value = getattr(struct, name)
        if kind == "POINTER":
            if not isinstance(value, bpy.types.ID):
                continue
            value = _other(value, seen) if isinstance(value, bpy.types.Object) else value.name_full
        elif kind == "COLLECTION":
            value = [_settings(item, seen) for item in value]
        elif is_array:
            value = _rounded(np.ravel(value)) if kind == "FLOAT" else list(value)
        elif kind == "FLOAT":
            value = round(value, 5)
        elif isinstance(value, set):
            value = sorted(value)
        values.append((name, value))
    return values


@cache
def _kinds(cls):
    """(name, type, is it an array) of the settings of a class: asking Blender each time is slow."""
    return [(prop.identifier, prop.type, getattr(prop, "is_array", False)) for prop in cls.bl_rna.properties
            if prop.identifier not in _LOOKS and (prop.type != "COLLECTION" or prop.identifier in _PARTS)]


def _bone_path(bone):
    return f"pose.bones[{_quoted(bone.name)}]"


def _quoted(name):
    return f'"{bpy.utils.escape_identifier(name)}"'


def _rounded(values):
    return [round(float(value), 5) + 0.0 for value in values]  # 0 and -0 are one
