# SPDX-License-Identifier: GPL-3.0-or-later
"""How armatures are shown before they are driven: where, how high, in which pose, and how fast all of that moves."""

from dataclasses import replace

import bpy
import numpy as np

from ...errors import MotionError
from ...matching.features import measure
from ...motion import quat
from ...motion.clip import Clip
from ...playback.pose import Shown
from ...prepare.root import add_root
from ..jobs import baking
from ..reading import from_evaluation
from ..reading.reference import Reference
from ..reading.sampling import finished, scene_rate
from ..rig import targets
from ..rig.armatures import floor
from ..rig.character import character_of
from ..rig.facing import facing_of

# A pose whose feet are so far (m) under the ground was not meant to be there.
SUNK = 0.3
# An armature that is so far (m, or numbers of a rotation) from what its animation says was posed by hand.
BY_HAND = 1e-3


def start_poses(obs, motion, ankles):
    """Where armatures stand and face now, positions (K, 2), yaws (K,), how high above their floors (K,), and how fast
    they go (K, 3), as Group.place() takes it; and as what they are Shown, those that have the joints of a motion.

    motion  the Motion that they will play
    ankles  (L,) how high they are while a limb stands
    """
    positions, yaws, speeds, shown = np.zeros((len(obs), 2)), np.zeros(len(obs)), np.zeros((len(obs), 3)), {}
    heights = np.array([_rise(ob, ankles) for ob in obs])
    for index, (ob, height) in enumerate(zip(obs, heights)):
        # On the plane it begins as it is shown, unless that is far below: at rest some have their hips on the ground.
        if (clip := _shown(ob, motion.database, height if ob.mm.drive.ground or height < -SUNK else 0.0)) is not None:
            positions[index] = clip.positions[-1, 0, :2]
            yaws[index] = quat.to_yaw(clip.rotations[-1, 0])
            shown[index], speeds[index] = _moving(clip, motion)
        elif (found := targets.facing(ob) or facing_of(ob)) is not None:
            place, way = found
            positions[index], yaws[index] = place[:2], np.arctan2(-way[0], way[1])
    return (positions, yaws, heights, speeds), shown


def _moving(clip, motion):
    """What a Clip of the last frames shows, and how fast its root goes (3,) in the world."""
    positions, rotations = clip.positions[:, motion.moving], clip.rotations
    if len(clip) == 1:
        return Shown(np.repeat(positions, 2, axis=0), np.repeat(rotations, 2, axis=0), np.zeros(3)), np.zeros(3)
    step = (clip.positions[-1, 0] - clip.positions[-2, 0]) * clip.rate
    turning = quat.angular_velocity(rotations[-2:, 0], 1 / clip.rate)[0, 2]
    travel = np.array([*quat.inv_rotate(rotations[-2, 0], step)[:2], turning])
    return (Shown(positions[-2:], rotations[-2:], travel, _features(clip, motion.database)),
            np.array([*step[:2], turning]))


def _features(clip, baked):
    """(D,) normalised, of a Clip's last frame. What its pose says nothing about is as usual."""
    schema = baked.schema
    curves = {name: np.zeros(len(clip)) for name in schema.properties}
    features = baked.normalisation.apply(measure(clip.with_changes(curves=curves), baked.character, schema)[-1])
    for channel, part in zip(schema.channels, schema.slices):
        if not channel.about.in_pose:
            features[part] = 0
    return features


def _shown(ob, baked, height):
    """What an armature that stands so high above its floor shows, as a Clip with the joints of a database, of the last
    frames, or of one where nothing moves; None where it has other joints."""
    if targets.known(ob) is not None or targets.posed(ob) != ob:
        return None
    recipe = baking.recipe_of(ob)
    recipe = replace(recipe, root="made") if recipe.root == "adaptive" else recipe  # a moment has no time to adapt to
    try:
        character = character_of(ob)
        positions, rotations = from_evaluation.shown(ob, character.skeleton)
        positions, rotations = _last_frames(ob, character.skeleton, positions, rotations, baked.rate)
        positions[:, 0, 2] -= height
        clip = add_root(Clip("shown", character.skeleton, baked.rate, positions, rotations), character, recipe)
    except MotionError:  # the armature was edited, or is posed upside down
        return None
    return clip if clip.skeleton.names == baked.skeleton.names else None


def _last_frames(ob, skeleton, positions, rotations, rate):
    """What an armature shows now (1, …), and before that what its animation has two frames and one frame of a rate ago,
    if that is what moves it."""
    bound = ob.animation_data
    if bound is None or ob.mode == "EDIT" or not (bound.action or len(bound.nla_tracks)):
        return positions, rotations
    frames = bpy.context.scene.frame_current_final - scene_rate() / rate * np.array([2, 1, 0])
    places, turns = finished(from_evaluation.read(Reference.of(ob), skeleton, frames))
    turned = np.minimum(np.abs(turns[2] - rotations[0]), np.abs(turns[2] + rotations[0])).max()
    by_hand = max(np.abs(places[2] - positions[0]).max(), turned) > BY_HAND
    still = np.abs(places - places[2]).max() < 1e-6 and np.abs(turns - turns[2]).max() < 1e-6
    return (positions, rotations) if by_hand or still else (places, turns)


def _rise(ob, ankles):
    """How high above its floor the lower foot of what is posed stands."""
    target, known = targets.posed(ob), targets.known(ob)
    roles = known.retarget.target.roles if known is not None else {role.name: role.bone for role in ob.mm.roles}
    feet = [(foot, ankle) for side, ankle in zip(("left", "right"), ankles)
            if (foot := target.pose.bones.get(roles.get(f"{side}_foot", "")))]
    return min(((target.matrix_world @ foot.head).z - ankle - floor(target) for foot, ankle in feet), default=0.0)
