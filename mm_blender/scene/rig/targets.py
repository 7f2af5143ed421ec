# SPDX-License-Identifier: GPL-3.0-or-later
"""Which armature is posed when one is driven, as which character, and how the motion comes to its skeleton.

An armature is posed with its own bones if the database has them. Otherwise, and if it is the Target of another one,
the motion is retargeted: onto its controls if it is a control rig, or else onto those of the bones that deform it that
follow something. All other bones are the artist's.
"""

import hashlib
from dataclasses import replace
from functools import lru_cache

import bpy
import numpy as np
from mathutils import Vector

from ...errors import MotionError
from ...motion.correspond import check
from ...motion.retarget import Retarget, followers
from ...motion.skeleton import backward, forward
from ...motion.stance import stance_in
from ...playback.retarget import RetargetedLibrary
from ...playback.retarget import character_of as character_of_database
from ...playback.retarget import stance_of as stance_of_library
from ...prepare.root import rooted
from . import controls
from .armatures import part_of, skeleton_of, world_matrix
from .character import character_of, missing, on_its_legs
from .t_pose import has_stance, stance_of

# So far (shares of the height) joints of two skeletons that are the same may lie apart, and so far be turned.
SAME = 1e-4

_retargeted = {}  # a Library, what the target looks like, whether hands are led, T-poses → RetargetedLibrary
_last = {}  # session_uid of an armature → the RetargetedLibrary that it was driven with last


def posed(ob):
    """The armature that shows what an armature's settings drive: its Target, or itself."""
    target = ob.mm.drive.target
    return ob if target is None or target.type != "ARMATURE" else target


def owner(ob):
    """The armature whose settings drive an armature: the one whose Target it is, unless it has motion of its own."""
    if ob is None or ob.mm.bake.key:
        return ob
    return next((other for other in bpy.data.objects
                 if other.type == "ARMATURE" and other.mm.drive.target == ob and other.mm.bake.key), ob)


def character(ob):
    """The Character as which an armature is posed: its controls, which are looked for, or its deforming bones. Where
    the object is says nothing about how high above the ground the rest pose stands."""
    found = on_its_legs(ob, controls.find(ob).character(ob)) if controls.is_control_rig(ob) else character_of(ob)
    return _at_origin(ob, found, found.skeleton)


def led(ob, source):
    """The Character as which an armature is posed with the motion of a source, a Character with a root: without bones
    that follow nothing."""
    whole = character(ob)
    target = check(f'Target "{ob.name}"', rooted(whole))
    if controls.is_control_rig(ob):
        return whole
    return _at_origin(ob, whole, part_of(ob, followers(source, target)))


def stance(ob, character):
    """The pose that an armature's artist takes for its T-pose as a Stance of a Character with a root that it is; None
    where there is none."""
    names = character.skeleton.names
    made = 0 if names[0] in ob.data.bones else 1  # a root that was made is no bone
    if not has_stance(ob) or not set(names[made:]) <= set(ob.data.bones.keys()):
        return None
    skeleton, turns = character.skeleton, character.skeleton.rest[1].copy()
    turns[1:] = stance_of(ob, names[made:])[1 - made:]
    _, turns = backward(skeleton, skeleton.rest[0][None], turns[None])
    places, turns = forward(skeleton, skeleton.positions[None], turns)
    return stance_in(character, places[0], turns[0])


def trouble(ob):
    """Why the Target of an armature cannot be driven, in one sentence; empty if it can, as far as a look tells."""
    target = posed(ob)
    if target == ob:
        return ""
    if not target.users_scene:
        return f'The Target "{target.name}" is in no scene: choose another one.'
    if target.library is not None:
        return f'The Target "{target.name}" is linked from another file: make a library override of it.'
    if controls.is_control_rig(target) or not len(target.mm.roles):
        return ""
    lacking = ", ".join(role.replace("_", " ") for role in missing(target))
    return f'"{target.name}" has no bone for {lacking}: choose one in its Character panel.' if lacking else ""


def baked_by(ob, database):
    """Whether an armature, or the one that it is a copy of, has baked a database: this bake of it, or another one."""
    bake, owner = ob.mm.bake, database.owner
    return bool(bake.key) and (bake.key == database.key or (owner is not None and owner.id == bake.owner))


def retargeted(library, ob):
    """A Library as the armature that is posed can play it: itself, where that has the very bones of the database."""
    target = posed(ob)
    if sentence := trouble(ob):
        raise MotionError(sentence)
    if _has_the_bones(ob, target, library.database):
        _last.pop(ob.session_uid, None)
        return library
    found = _last[ob.session_uid] = _wrapped(library, rooted(led(target, character_of_database(library.database))), ob)
    return found


def known(ob):
    """The RetargetedLibrary with which an armature was driven last, or None."""
    return _last.get(ob.session_uid)


def facing(ob):
    """Where what is posed stands on the ground and the direction that it faces now, in the world; None if it has the
    bones of the database, or if it cannot be told."""
    if (library := known(ob)) is None:
        return None
    target, roles = posed(ob), library.retarget.target.roles
    bones = [target.pose.bones.get(roles[role]) for role in ("hips", "left_thigh", "right_thigh")]
    if None in bones:
        return None
    level = Vector((1, 1, 0))
    hips, left, right = (target.matrix_world @ bone.head for bone in bones)
    way = Vector((0, 0, 1)).cross(right - left) * level
    return (hips * level, way.normalized()) if way.length > 1e-6 else None


def like(base, library, ob):
    """Another Library as the one beneath base is played, with the hands where the slider of an armature has them."""
    return library if base.retarget is None else _wrapped(library, base.retarget.target, ob)


def drop(library):
    """Nobody plays from a Library any more."""
    for key in [key for key in _retargeted if key[0] is library]:
        del _retargeted[key]


def forget():
    _retargeted.clear()
    _last.clear()
    controls.forget()


def _at_origin(ob, character, skeleton):
    """A character with a skeleton of an armature, as if the object were at the origin."""
    positions = skeleton.positions.copy()
    positions[0] -= world_matrix(ob)[:3, 3]
    return replace(character, skeleton=replace(skeleton, positions=positions))


def _wrapped(library, target, ob):
    hands = ob.mm.drive.hands
    key = hands > 0, ob.mm.stance, posed(ob).mm.stance  # with hands there is more to work out
    found = _retargeted.get((library, _look(target), *key))
    if found is None:
        source = character_of_database(library.database)
        retarget = Retarget(source, target, hands, stance(ob, source) or stance_of_library(library),
                            stance(posed(ob), target))
        found = RetargetedLibrary(library, retarget)
        _retargeted[library, _look(target), *key] = _retargeted[library, _look(retarget.target), *key] = found
    if found.retarget.hands:  # 0 where there are no arms to lead
        found.retarget.hands = hands
    return found


def _has_the_bones(ob, target, database):
    """Whether a database's skeleton is that of the armature. One that the armature has baked may be a little old."""
    baked = database.skeleton
    if controls.is_control_rig(target):
        return False
    skeleton = skeleton_of(target)
    if not set(skeleton.names) <= set(baked.names):
        return False
    if target == ob and baked_by(ob, database):
        return True
    # The root's own axes and place are another matter, and so is what hangs from a root bone.
    below = np.flatnonzero(skeleton.parents > (0 if baked.names[0] == skeleton.names[0] else -1))
    theirs = [baked.index(skeleton.names[joint]) for joint in below]
    apart = np.abs(skeleton.positions[below] - baked.positions[theirs]).max(initial=0)
    turned = 1 - np.abs((skeleton.rotations[below] * baked.rotations[theirs]).sum(-1)).min(initial=1)
    return apart < SAME * np.ptp(skeleton.rest[0], axis=0).max() and turned < SAME


@lru_cache(maxsize=32)
def _look(character):
    """What a character looks like, as a hash."""
    skeleton = character.skeleton
    digest = hashlib.sha256(repr((skeleton.names, sorted(character.roles.items()), character.forward,
                                  sorted(character.connected))).encode())
    for array in (skeleton.parents, skeleton.positions, skeleton.rotations):
        digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()
