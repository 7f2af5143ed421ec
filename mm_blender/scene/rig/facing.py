# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a character stands and faces as it is shown now, and how large it is."""

from mathutils import Vector

from ...errors import MotionError
from ...motion.roles import rest_forward
from . import advice
from .armatures import floor, skeleton_of
from .character import given_roles

_axes = {}  # (armature, its roles) → the root bone's forward axis
_floors = {}  # (armature, how high it is) → its floor


def facing_of(ob):
    """Where the character stands on its floor and the direction that it faces now, in the world; None if unknown."""
    bones = {role.name: ob.pose.bones.get(role.bone) for role in ob.mm.roles}
    axis = _root_axis(ob) if bones.get("root") is not None and ob.mm.bake.root in {"auto", "bone"} else ""
    needed = ("root",) if axis else ("hips", "left_thigh", "right_thigh")
    if any(bones.get(role) is None for role in needed):
        return None
    world = [ob.matrix_world @ bones[role].matrix for role in needed]
    if axis:
        way = world[0].to_3x3().col["XYZ".index(axis[1])] * (1 if axis[0] == "+" else -1)
    else:
        way = Vector((0, 0, 1)).cross(world[2].translation - world[1].translation)
    place, way = world[0].translation, way * Vector((1, 1, 0))
    return (Vector((place.x, place.y, _floor(ob))), way.normalized()) if way.length > 1e-6 else None


def hip_height(ob):
    """How high the hips are at rest, in the world: what is drawn on the ground is as large as the character."""
    hips = ob.data.bones.get(ob.mm.roles["hips"].bone) if "hips" in ob.mm.roles else None
    return (hips.head_local.length if hips is not None else 1.0) * ob.matrix_world.median_scale


def forget():
    """Armatures were edited."""
    _axes.clear()
    advice.forget()
    forget_places()


def forget_places():
    """Objects were moved."""
    _floors.clear()


def _root_axis(ob):
    """The axis of the root bone that points forward, as the artist set it or as the rest pose shows; or ""."""
    if ob.mm.forward != "AUTO":
        return ob.mm.forward
    key = (ob.name, given_roles(ob))
    if key not in _axes:
        try:
            skeleton = skeleton_of(ob)
            _axes[key] = rest_forward(skeleton, {role: skeleton.index(bone) for role, bone in key[1]
                                                 if bone in skeleton.names})
        except MotionError:
            _axes[key] = ""
    return _axes[key]


def _floor(ob):
    """floor(), which takes long where there are many clips."""
    key = ob.name, ob.matrix_world.translation.z
    if key not in _floors:
        _floors[key] = floor(ob)
    return _floors[key]
