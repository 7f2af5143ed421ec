# SPDX-License-Identifier: GPL-3.0-or-later
"""Variations: takes of the same direction with other seeds, side by side as ghosts, one of which is chosen.

A ghost is a copy of the armature that plays one of them. It lies in the file like any object, so that undo brings it
and takes it away; a file that is opened has none.
"""

import bpy
import numpy as np
from bpy.app.handlers import persistent
from mathutils import Matrix

from ...errors import MotionError
from ...motion import quat
from ...steps import Progress, mapped
from .. import actions
from ..rig import controls, targets
from ..rig.copies import copies_of
from . import generating, recipe

# How far apart ghosts stand, as a share of the character's height.
APART = 0.6
TINT = (0.55, 0.75, 1.0, 0.5)
_MARK = "mm_variations"  # of the collections that they lie in


def trouble(ob):
    """Why an armature's direction cannot be varied, as a sentence; empty if it can."""
    if ob.mm.drive.method == "LMM":
        return "Networks alone have no frames to vary: choose another Method in Drive"
    if controls.is_control_rig(targets.posed(ob)):
        return "A control rig cannot be copied: vary on the armature that has the motion, or give Generate another Seed"
    return ""


def ghosts_of(ob):
    """The ghosts of an armature, its variations in the order of their seeds."""
    ghosts = [other for other in bpy.data.objects if other.type == "ARMATURE" and other.mm.ghost_of == ob.session_uid]
    return sorted(ghosts, key=lambda ghost: recipe.seed_of(take_of(ghost)))


def are_there():
    """Whether there are any ghosts, as a quick look tells."""
    return any(_MARK in place for place in bpy.data.collections)


def take_of(ghost):
    """The Action that a ghost plays; None if somebody has taken it away."""
    return ghost.animation_data.action if ghost.animation_data is not None else None


def steps(ob, depsgraph, count):
    """Steps that return {seed: Directed} with the next seeds: after those of the ghosts that are there, or after that
    of the settings."""
    if sentence := trouble(ob):
        raise MotionError(f"{sentence}.")
    known = [recipe.seed_of(take_of(ghost)) for ghost in ghosts_of(ob)]
    first = max([ob.mm.direct.seed, *known]) + 1
    return _one_by_one({seed: generating.steps(ob, depsgraph, seed) for seed in range(first, first + count)})


def show(ob, made):
    """The ghosts of what steps() returned, in place of those that were there."""
    discard(ob)
    place = _collection(ob)
    try:
        for index, (seed, directed) in enumerate(made.items()):
            _show_one(ob, place, index, seed, directed)
    except Exception:
        discard(ob)
        raise
    return ghosts_of(ob)


def choose(ob, index):
    """Let an armature play what one of its ghosts plays; the others go. It takes the place of the last take that was
    directed, as if it were generated."""
    ghosts = ghosts_of(ob)
    if not 0 <= index < len(ghosts):
        raise MotionError(f'"{ob.name}" has {len(ghosts)} variation{"s" * (len(ghosts) != 1)}: choose one of them, '
                          "counted from 0 on.")
    action = take_of(ghosts[index])
    if action is None or not recipe.is_directed(action):
        raise MotionError(f'"{ghosts[index].name}" does not play its take any more: choose another one.')
    discard(ob, besides=action)
    instead = generating.replaceable(ob)
    if instead is None:
        action.name = generating.name_of(ob)
    ob.mm.direct.seed = recipe.seed_of(action)
    return generating.accept(ob, action, instead)


def discard(ob=None, besides=None):
    """Remove the ghosts of an armature, or all, with their takes except one; what somebody has edited or uses elsewhere
    stays."""
    ghosts = [other for other in bpy.data.objects
              if other.mm.ghost_of and (ob is None or other.mm.ghost_of == ob.session_uid)]
    places = {place for ghost in ghosts for place in ghost.users_collection if _MARK in place}
    played = {action for ghost in ghosts if ghost.type == "ARMATURE" and (action := take_of(ghost)) is not None
              and not recipe.is_edited(ghost, action)}
    for ghost in ghosts:
        bpy.data.objects.remove(ghost)
    for action in played - {besides}:
        if action.users == action.use_fake_user:
            bpy.data.actions.remove(action)
    for place in places:
        if not len(place.all_objects):
            bpy.data.collections.remove(place)


def _one_by_one(made):
    results = {}
    for index, (seed, one) in enumerate(made.items()):
        results[seed] = yield from mapped(one, lambda step, index=index: Progress(
            (index + step.share) / len(made), f"variation {index + 1} of {len(made)}"))
    return results


def _show_one(ob, place, index, seed, directed):
    posed, clip = targets.posed(ob), directed.clip
    yaw = quat.yaw(quat.rotate(clip.rotations[0, 0], np.array([0.0, 1.0, 0.0])))
    way = (index + 1) * APART * float(clip.skeleton.rest[0][:, 2].max()) * np.array([np.cos(yaw), np.sin(yaw), 0.0])
    action = generating.written(ob, directed, seed)
    copies = copies_of(posed, f"Variation {seed}")
    for original, copy in copies.items():
        copy.property_unset("mm")  # a ghost has no settings, or Update would direct it, too
        copy.mm.ghost_of = ob.session_uid
        copy.hide_render, copy.color = True, TINT
        place.objects.link(copy)
        if copy.parent not in copies.values():
            copy.parent = None
            copy.constraints.clear()
            copy.matrix_world = Matrix.Translation(way) @ original.matrix_world
    actions.assign(copies[posed], action)


def _collection(ob):
    place = bpy.data.collections.new(f"{ob.name} Variations")
    place[_MARK] = True
    bpy.context.scene.collection.children.link(place)
    return place


@persistent
def _on_load(*_):
    discard()


def register():
    bpy.app.handlers.load_post.append(_on_load)


def unregister():
    bpy.app.handlers.load_post.remove(_on_load)
