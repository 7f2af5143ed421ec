# SPDX-License-Identifier: GPL-3.0-or-later
"""How armatures stand before they are driven: where, how high, and in which pose."""

from dataclasses import replace

import numpy as np

from ..errors import MotionError
from ..motion.clip import Clip
from ..prepare.root import add_root
from . import baking, evaluated, overlay, targets
from .character import character_of
from .rig import floor

# A pose whose feet are so far (m) under the ground was not meant to be there.
SUNK = 0.3


def standing(obs, motion, ankles):
    """Where armatures stand and face now, positions (K, 2), yaws (K,), and how high above their floors (K,); and how
    they are posed, as drive_all() takes it, those that have the joints of a motion.

    motion  the Motion that they will play
    ankles  (2,) how high they are while a foot stands
    """
    positions, yaws, poses = np.zeros((len(obs), 2)), np.zeros(len(obs)), {}
    heights = np.array([_rise(ob, ankles) for ob in obs])
    for index, (ob, height) in enumerate(zip(obs, heights)):
        # On the plane it begins as it is shown, unless that is far below: at rest some have their hips on the ground.
        if (clip := _shown(ob, motion.database, height if ob.mm.drive.ground or height < -SUNK else 0.0)) is not None:
            positions[index] = clip.positions[0, 0, :2]
            yaws[index] = 2 * np.arctan2(clip.rotations[0, 0, 3], clip.rotations[0, 0, 0])
            poses[index] = clip.positions[0, motion.moving], clip.rotations[0]
        elif (found := targets.facing(ob) or overlay.facing(ob)) is not None:
            place, way = found
            positions[index], yaws[index] = place[:2], np.arctan2(-way[0], way[1])
    return (positions, yaws, heights), poses


def _shown(ob, baked, height):
    """What an armature that stands so high above its floor shows, as a Clip of one frame with the joints of a database;
    None where it has other ones."""
    if targets.known(ob) is not None or targets.posed(ob) != ob:
        return None
    recipe = baking.recipe_of(ob)
    recipe = replace(recipe, root="made") if recipe.root == "adaptive" else recipe  # a moment has no time to adapt to
    try:
        character = character_of(ob)
        positions, rotations = evaluated.shown(ob, character.skeleton)
        positions[:, 0, 2] -= height
        clip = add_root(Clip("shown", character.skeleton, baked.rate, positions, rotations), character, recipe)
    except MotionError:  # the armature was edited, or is posed upside down
        return None
    return clip if clip.skeleton.names == baked.skeleton.names else None


def _rise(ob, ankles):
    """How high above its floor the lower foot of what is posed stands."""
    target, known = targets.posed(ob), targets.known(ob)
    roles = known.retarget.target.roles if known is not None else {role.name: role.bone for role in ob.mm.roles}
    feet = [(foot, ankle) for side, ankle in zip(("left", "right"), ankles)
            if (foot := target.pose.bones.get(roles.get(f"{side}_foot", "")))]
    return min(((target.matrix_world @ foot.head).z - ankle - floor(target) for foot, ankle in feet), default=0.0)
