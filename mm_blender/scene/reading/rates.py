# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions whose keys do not lie on whole frames: made at another rate than the scene's, as files bring them."""

import numpy as np

from .. import actions
from . import clips
from .sampling import scene_rate


def own_rate(ob, scene, facts):
    """The rate at which most of the character's clips were made that have more keys than the scene has frames, and how
    many these are; (0, 0) where there are none."""
    rates = [round(scene_rate(scene) / facts.key_step(clips.armature_of(ob, clip), clip.action, clips.slot_of(clip)), 1)
             for clip in clips.enabled(ob) if not clip.use_nla and not clips.unusable(ob, clip, facts, scene)]
    finer = [rate for rate in rates if rate > scene_rate(scene) * 1.01]
    return (max(set(finer), key=finer.count), len(finer)) if finer else (0.0, 0)


def set_rate(ob, scene, rate):
    """Let the scene run at another rate, and the character's clips play Actions that last as long as before: copies
    whose keys lie further apart. Returns how many were made."""
    factor = rate / scene_rate(scene)
    if abs(factor - 1) < 1e-6:
        return 0
    scene.render.fps, scene.render.fps_base = (round(rate), 1.0) if abs(rate - round(rate)) < 0.01 else (
        int(np.ceil(rate)), float(np.ceil(rate)) / rate)
    made = {}
    for clip in ob.mm.clips:
        if clip.action is None or clip.use_nla:
            continue
        clip.start, clip.end = clip.start * factor, clip.end * factor
        if clip.action not in made:
            made[clip.action] = _retimed(clip.action, factor, rate)
        for armature in {clips.armature_of(ob, clip), ob}:
            bound = armature.animation_data
            if bound is not None and bound.action == clip.action:
                actions.assign(armature, made[clip.action], clips.slot_of(clip))
        clip.action.use_fake_user = True
        clip.action = made[clip.action]
        clip.name = clip.action.name
    scene.frame_end = max(scene.frame_end, round(scene.frame_end * factor))
    return len(made)


def _retimed(action, factor, rate):
    """A copy of an Action that lasts as long at another rate."""
    copy = action.copy()
    copy.name = f"{action.name} {rate:g} fps"
    for curve in actions.all_fcurves(copy):
        points = curve.keyframe_points
        for name in ("co", "handle_left", "handle_right"):
            values = np.empty(2 * len(points), dtype=np.float32)
            points.foreach_get(name, values)
            values[::2] *= factor
            points.foreach_set(name, values)
        curve.update()
    for tag in copy.mm.tags:
        tag.start, tag.end = tag.start * factor, tag.end * factor
    for marker in copy.pose_markers:
        marker.frame = round(marker.frame * factor)
    if copy.use_frame_range:
        copy.frame_start, copy.frame_end = copy.frame_start * factor, copy.frame_end * factor
    return copy
