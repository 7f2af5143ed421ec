# SPDX-License-Identifier: GPL-3.0-or-later
"""What was driven, as an Action of the artist's armature."""

import math
from dataclasses import replace

import bpy
import numpy as np

from ..errors import MotionError
from ..limits import check_clip
from ..motion import quat
from ..motion.clip import Clip
from ..motion.skeleton import backward
from ..prepare.resample import resample
from . import actions, controls, keys, rig
from .plain import bone_of
from .sampling import scene_rate


def keep(ob, clip, name, start_frame=1, tolerance=0.0, push_nla=False, ik=False):
    """A new Action with a clip that has a database's skeleton, at the scene's rate. Where it takes the place of the
    armature's own Action, it also has what that one does to bones that are not driven.

    tolerance  metres that a joint may be off, for few keys with handles; 0 for keys wherever something changes
    push_nla   whether it goes on an NLA track of its own; otherwise it is the armature's Action
    ik         whether IK controls of a control rig have keys too
    """
    # What curves with handles do between frames counts too.
    finer = max(2, math.ceil(clip.rate / scene_rate() - 1e-6)) if tolerance else 1
    check_clip(f"The take at the scene's {scene_rate():,.0f} frames per second", clip.duration * scene_rate())
    take = resample(on_rig(ob, clip), scene_rate() * finer)
    take = take.slice(0, (len(take) - 1) // finer * finer + 1)
    action = keys.write_action(ob, take, name, start_frame, tolerance=tolerance, ik=ik)
    action.use_fake_user = True
    if push_nla:
        actions.push_to_nla(ob, action, start_frame)
    else:
        actions.add_copies(action, _of_others(ob, action))
        _play(ob, action)
    return action


def discard(take):
    """Take back what keep() has made."""
    for bound, tracks in _tracks_with(take):
        for track in tracks:
            bound.nla_tracks.remove(track)
    bpy.data.actions.remove(take)


def hides(take):
    """The Action that is played instead of a take that was pushed to the NLA, or None."""
    return next((bound.action for bound, _ in _tracks_with(take) if bound.action is not None), None)


def _tracks_with(take):
    """[(animation data of an armature, its NLA tracks that play a take)]"""
    bounds = [ob.animation_data for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.animation_data is not None]
    found = [(bound, [track for track in bound.nla_tracks if any(strip.action == take for strip in track.strips)])
             for bound in bounds]
    return [(bound, tracks) for bound, tracks in found if tracks]


def show_whole(scene, kept):
    """Let a scene end no sooner than kept takes do."""
    scene.frame_end = max([scene.frame_end, *(math.ceil(action.frame_range[1] - 1e-3) for action in kept)])


def on_rig(ob, clip):
    """The clip on the armature's own joints: without a root that was made, and with the root bone's own axes."""
    baked = clip.skeleton
    skeleton = skeleton_for(ob, baked)
    order = [baked.index(name) for name in skeleton.names]
    positions, rotations = clip.globals()
    if baked.names[0] in skeleton.names:
        place, turn = root_bone(skeleton, baked)
        positions[:, 0], rotations[:, 0] = positions[:, 0] + place, quat.mul(rotations[:, 0], turn)
    positions, rotations = backward(skeleton, positions[:, order], rotations[:, order])
    return Clip(clip.name, skeleton, clip.rate, positions, quat.unroll(rotations), contacts=clip.contacts)


def skeleton_for(ob, baked):
    """What the armature itself has of a baked skeleton: its controls, or those of its bones that are joints of it."""
    known = controls.of(ob, baked)
    if known is not None:
        return known.skeleton(ob)
    if not {*baked.names} & {*ob.data.bones.keys()}:
        raise MotionError(f'The database has no bone of "{ob.name}": bake it again.')
    return rig.part_of(ob, baked.names)


def renamed(skeleton, before, now):
    """The skeleton with the names that its bones have now: both lists of names are in the order of the bones."""
    new = dict(zip(before, now))
    return replace(skeleton, names=[new.get(name, name) for name in skeleton.names])


def root_bone(skeleton, baked):
    """A database's root lies on the ground with Y forward; the bone has a height and axes of its own, as at rest: its
    place (3,) and rotation (4,) seen from that root."""
    place, turn = (part[skeleton.index(baked.names[0])] for part in skeleton.rest)
    return place * np.array([0, 0, 1], dtype=np.float32), quat.inv_mul(baked.rest[1][0], turn)


def _of_others(ob, take):
    """The curves of the armature's Action that go on beside a take: those of bones that it does not move. What carries
    bones of the take, or lies between them, has to stay as it is."""
    bound, paths = ob.animation_data, {curve.data_path for curve in actions.fcurves(take, ob)}
    if bound is None or bound.action is None:
        return []
    driven = {name for path in paths if (name := bone_of(path)[0]) in ob.data.bones}
    free = {*ob.data.bones.keys()} - {bone.name for bone in rig.with_ancestors(ob, driven)}
    return [curve for curve in actions.fcurves(bound.action, ob)
            if bone_of(curve.data_path)[0] in free and curve.data_path not in paths]


def _play(ob, action):
    """Let the armature play an Action. The one that it played before is not lost when the file is saved."""
    bound = ob.animation_data or ob.animation_data_create()
    if bound.use_tweak_mode:
        bound.use_tweak_mode = False
    before = bound.action
    actions.assign(ob, action)
    if before and not before.users:
        before.use_fake_user = True
