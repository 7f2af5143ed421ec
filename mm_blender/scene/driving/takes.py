# SPDX-License-Identifier: GPL-3.0-or-later
"""What was driven, as an Action of the artist's armature."""

import math
from dataclasses import replace

import bpy
import numpy as np

from ...errors import MotionError
from ...limits import check_clip
from ...motion import quat
from ...motion.clip import Clip
from ...motion.skeleton import backward
from ...prepare.resample import resample
from .. import actions
from ..actions import bone_of
from ..reading import keyframes
from ..reading.sampling import scene_rate
from ..rig import armatures, controls
from . import travel

NEAR = 1e-3  # frames: so near is the same


def keep(ob, clip, name, start_frame=1, keep_as="ACTION", **how):
    """A clip as a new Action that the armature plays: write() and play()."""
    action = write(ob, clip, name, start_frame, **how)
    play(ob, action, start_frame, keep_as)
    return action


def write(ob, clip, name, start_frame=1, tolerance=0.0, ik=False, bone=""):
    """A new Action with a clip that has a database's skeleton, at the scene's rate. It is marked as a take.

    tolerance  metres that a joint may be off, for few keys with handles; 0 for keys wherever something changes
    ik         whether IK controls of a control rig have keys too
    bone       what carries it over the ground; "" for a root bone where there is one, or else the hips
    """
    # What curves with handles do between frames counts too.
    finer = max(2, math.ceil(clip.rate / scene_rate() - 1e-6)) if tolerance else 1
    check_clip(f"The take at the scene's {scene_rate():,.0f} frames per second", clip.duration * scene_rate())
    take = resample(travel.carried(ob, on_rig(ob, clip), clip, bone), scene_rate() * finer)
    take = take.slice(0, (len(take) - 1) // finer * finer + 1)
    action = keyframes.write_action(ob, take, name, start_frame, tolerance=tolerance, ik=ik)
    action.use_fake_user = action.mm.take = True
    return action


def play(ob, take, start_frame, keep_as="ACTION"):
    """Let the armature play a take from a frame on. Takes that it plays already go on to play: then both are on NLA
    tracks, one after the other, or the new one begins with what the one before has ("LENGTHEN"). No other Action is
    changed.

    keep_as  as MM_Drive has it
    """
    bound = ob.animation_data or ob.animation_data_create()
    if bound.use_tweak_mode:
        bound.use_tweak_mode = False
    before = bound.action
    if keep_as == "LENGTHEN" and before is not None and before.mm.take:
        actions.begin_with(take, before, start_frame, ob)
        _replace(ob, take)
    elif keep_as == "NLA" or _plays_takes(bound):
        _play_after(ob, take, start_frame)
    else:
        _add(take, _of_others(ob, take, before))
        _replace(ob, take)


def put_into(ob, earlier, take):
    """Let an earlier take show what another one shows, which goes; what it has of bones that are not driven stays.

    It is the same Action as before, wherever it plays: undo may not have heard of what was made meanwhile, and would
    miss another one."""
    first, last = take.frame_range
    actions.replace_curves(earlier, take, ob, _of_others(ob, take, earlier))
    bpy.data.actions.remove(take)
    earlier.use_frame_range = False
    if (first, last) != tuple(earlier.frame_range):
        earlier.use_frame_range, earlier.frame_start, earlier.frame_end = True, first, last
    for other in bpy.data.objects:
        tracks = other.animation_data.nla_tracks if other.animation_data is not None else ()
        for strip in (strip for track in tracks for strip in track.strips if strip.action == earlier):
            strip.action_frame_start, strip.action_frame_end = earlier.frame_range


def track_of(take):
    """The name of the NLA track that plays a take; empty if none does."""
    for ob in bpy.data.objects:
        for track in ob.animation_data.nla_tracks if ob.animation_data is not None else ():
            if any(strip.action == take for strip in track.strips):
                return track.name
    return ""


def _plays_takes(bound):
    """Whether an armature plays takes: as its Action, or on NLA tracks."""
    playing = [strip.action for track in bound.nla_tracks if not track.mute for strip in track.strips]
    return any(action is not None and action.mm.take for action in (bound.action, *playing))


def _play_after(ob, take, start_frame):
    """Let the NLA play a take over all that the armature plays so far, its own Action included."""
    bound = ob.animation_data
    if bound.action is not None:
        actions.push_down(ob)
    track = _free_track(ob, start_frame)
    if track is not None:
        _add(take, _of_others(ob, take, track.strips[-1].action))
    actions.push_to_nla(ob, take, start_frame, track)
    bound.use_nla = True
    for other in bound.nla_tracks:
        if other.is_solo:
            other.is_solo = False  # or the take would not be seen


def _free_track(ob, frame):
    """The track on top, if it has nothing but takes, and these have ended by then; or None. One that a linked armature
    brings is not free: Blender would not save what is put on it."""
    tracks = ob.animation_data.nla_tracks
    top = tracks[-1] if len(tracks) else None
    linked = top is not None and ob.override_library is not None and top.is_override_data
    free = top is not None and len(top.strips) and not (top.mute or top.lock or linked) and all(
        strip.action is not None and strip.action.mm.take and strip.frame_end <= frame + NEAR for strip in top.strips)
    return top if free else None


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
    return armatures.part_of(ob, baked.names)


def renamed(skeleton, before, now):
    """The skeleton with the names that its bones have now: both lists of names are in the order of the bones."""
    new = armatures.names_now(before, now)
    return replace(skeleton, names=[new.get(name, name) for name in skeleton.names])


def root_bone(skeleton, baked):
    """A database's root lies on the ground with Y forward; the bone has a height and axes of its own, as at rest: its
    place (3,) and rotation (4,) seen from that root."""
    place, turn = (part[skeleton.index(baked.names[0])] for part in skeleton.rest)
    # The object may have been turned since the bake: what else is at rest has been turned alike.
    other = next((name for name in baked.names[1:] if name in skeleton.names), baked.names[0])
    now, before = (known.rest[1][known.index(other)] for known in (skeleton, baked))
    own = quat.mul(before, quat.inv_mul(now, turn)) if other != baked.names[0] else turn
    return place * np.array([0, 0, 1], dtype=np.float32), quat.inv_mul(baked.rest[1][0], own)


def _of_others(ob, take, before):
    """The curves of an Action (or None) that go on beside a take: those of bones that it does not move. What carries
    bones of the take, or lies between them, has to stay as it is."""
    if before is None:
        return []
    paths = {curve.data_path for curve in actions.fcurves(take, ob)}
    driven = {name for path in paths if (name := bone_of(path)[0]) in ob.data.bones}
    free = {*ob.data.bones.keys()} - {bone.name for bone in armatures.with_ancestors(ob, driven)}
    return [curve for curve in actions.fcurves(before, ob)
            if bone_of(curve.data_path)[0] in free and curve.data_path not in paths]


def _add(take, curves):
    """Add copies of other curves to a take, which lasts as long as before all the same."""
    first, last = take.frame_range
    actions.add_copies(take, curves)
    if (first, last) != tuple(take.frame_range):
        take.use_frame_range, take.frame_start, take.frame_end = True, first, last


def _replace(ob, take):
    """Let the armature play a take instead of its Action, which is not lost when the file is saved."""
    before = ob.animation_data.action
    actions.assign(ob, take)
    if before and not before.users:
        before.use_fake_user = True
