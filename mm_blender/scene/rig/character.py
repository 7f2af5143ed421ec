# SPDX-License-Identifier: GPL-3.0-or-later
"""The armature as a character: which of its bones play which roles, by the artist's settings."""

from dataclasses import replace

import bpy
import numpy as np

from ...errors import MotionError
from ...motion.character import ROLES, Character
from ...motion.roles import find_mirror, find_roles, rest_forward, walks_on_four
from ...motion.stance import SIDES
from .armatures import skeleton_of, whole_skeleton, world_matrix

# Without these nothing can be baked.
NEEDED = ("hips", "left_foot", "right_foot", "left_thigh", "right_thigh")


_ON_PATHS = {"CURVE", "CURVES", "EMPTY"}  # what a path is made of


def active_armature(context):
    """The armature that the panels speak of: the active object, the one that deforms or carries it, the one that it
    leads along a path, or the only one that an empty carries, as importers leave it active; or None."""
    ob = context.object
    if ob is None or ob.type == "ARMATURE":
        return ob
    found = ob.find_armature() or (ob.parent if ob.parent is not None and ob.parent.type == "ARMATURE" else None)
    found = found or (_led_by(ob, context.view_layer) if ob.type in _ON_PATHS else None)
    return found or (_carried_by(ob, context.view_layer) if ob.type == "EMPTY" else None)


def _led_by(ob, view_layer):
    """The first armature whose path, or a mark on it, is an object."""
    return next((other for other in view_layer.objects if other.type == "ARMATURE" and (
        other.mm.direct.path == ob or any(mark.ob == ob for mark in other.mm.direct.marks))), None)


def _carried_by(ob, view_layer):
    """The armature below an object; None where there are several."""
    below = [other for other in view_layer.objects if other.type == "ARMATURE" and ob in _ancestors(other)]
    return below[0] if len(below) == 1 else None


def _ancestors(ob):
    while ob.parent is not None:
        ob = ob.parent
        yield ob


def fill_roles(ob, overwrite=True):
    """Find the roles of the armature's bones and write them into its settings; returns the roles without a bone."""
    found = find_roles(whole_skeleton(ob))
    ob.mm.family = found.family
    for role in ROLES:
        entry = role_entry(ob, role)
        entry.found, entry.confidence = found.character.roles.get(role, ""), found.confidence.get(role, "")
        if overwrite or not entry.bone:
            entry.bone = entry.found
    return [entry.name for entry in ob.mm.roles if not entry.bone]


def role_entry(ob, role):
    """The setting of a role, made if it is not there yet."""
    entry = ob.mm.roles.get(role)
    if entry is None:
        entry = ob.mm.roles.add()
        entry.name = role
    return entry


def given_roles(ob):
    """((role, its bone) …) as the settings have them."""
    return tuple((role.name, role.bone) for role in ob.mm.roles)


def confidence(entry):
    """How sure a role's bone is: "certain", "likely" or a "guess", "chosen" by the artist, or "" without a bone."""
    if not entry.bone:
        return ""
    return entry.confidence if entry.bone == entry.found and entry.confidence else "chosen"


def select_bone(ob, role):
    """Select the bone that plays a role, alone, in Pose Mode."""
    bone = ob.mm.roles[role].bone if role in ob.mm.roles else ""
    if bone not in ob.data.bones:
        named = f'has no bone "{bone}"' if bone else f'has no bone with the role "{role}"'
        raise MotionError(f'"{ob.name}" {named}: choose one in the Character panel.')
    if bpy.context.object == ob and ob.mode != "POSE":
        bpy.ops.object.mode_set(mode="POSE")
    # From 5.0 on it is the bone's pose that is selected.
    own = ob.pose.bones if "select" in bpy.types.PoseBone.bl_rna.properties else ob.data.bones
    for other in own:
        other.select = other.name == bone
    ob.data.bones.active = ob.data.bones[bone]


def character_of(ob):
    """The Character that the settings describe; roles are found if the artist has not looked at them yet."""
    if not len(ob.mm.roles):
        fill_roles(ob)
    skeleton = skeleton_of(ob)
    roles = {entry.name: entry.bone for entry in ob.mm.roles if entry.bone}
    for role, bone in roles.items():
        if bone not in skeleton.names:
            what = "does not deform anything" if bone in ob.data.bones else "does not exist"
            raise MotionError(f'The role "{role}" of "{ob.name}" is given to the bone "{bone}", which {what}: '
                              "choose another one in the Character panel.")
    skeleton = _with_feet(ob, skeleton, roles)
    connected = frozenset(name for name in skeleton.names if ob.data.bones[name].use_connect)
    character = Character(skeleton, roles, find_mirror(skeleton), _forward(ob, skeleton, roles), connected)
    return on_its_legs(ob, character)


def on_its_legs(ob, character):
    """The Character with as many legs as the artist says, or as its rest pose shows."""
    on_four = walks_on_four(character, character.skeleton.rest[0][None]) if ob.mm.legs == "AUTO" else (
        ob.mm.legs == "FOUR")
    return replace(character, four_legged=on_four)


def missing(ob):
    """The needed roles that have no bone, or a bone that the armature does not have."""
    bones = ob.data.bones
    given = {entry.name: entry.bone for entry in ob.mm.roles}
    return [role for role in NEEDED if given.get(role, "") not in bones]


def _with_feet(ob, skeleton, roles):
    """The skeleton, which knows where feet without toes end even if other bones hang from them."""
    size = float(np.cbrt(abs(np.linalg.det(world_matrix(ob)[:3, :3]))))
    feet = [roles[f"{side}_foot"] for side in SIDES if f"{side}_foot" in roles and f"{side}_toe" not in roles]
    ends = {bone: (0.0, size * ob.data.bones[bone].length, 0.0) for bone in feet}
    return replace(skeleton, ends={**ends, **skeleton.ends})


def _forward(ob, skeleton, roles):
    if ob.mm.forward != "AUTO":
        return ob.mm.forward
    return rest_forward(skeleton, {role: skeleton.index(bone) for role, bone in roles.items()})
