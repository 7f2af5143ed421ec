# SPDX-License-Identifier: GPL-3.0-or-later
"""Any rig's motion as Blender evaluates it, frame by frame, without disturbing the artist.

The armature is evaluated in a scene of its own that exists only while a slice of frames is read. So the artist's frame,
selection and visibility never change, meshes that the rig does not need cost nothing, and other objects keep poses that
are not keyed. Only the armature's Action is exchanged, and put back before the slice ends.
"""

import time
from contextlib import ExitStack, contextmanager

import bpy
import numpy as np

from ...errors import MotionError
from ...motion import quat
from ...motion.skeleton import backward
from .. import actions
from ..actions import bone_of
from ..rig import armatures
from .reference import Reference

SLICE = 0.04  # seconds of frames between two signs of life


def read(source, skeleton, frames):
    """Local positions (F, J, 3) and rotations (F, J, 4) of the source's Action, or of what animates the object now
    when the source has none. Yields the fraction that is done; at every yield everything is as the artist left it."""
    ob, _, _ = source.fetch()
    ground = armatures.floor(ob)
    posed = AnimatedValues(ob)  # channels without keys stay as they are now, whatever the artist does meanwhile
    at = [ob.pose.bones.find(name) for name in skeleton.names]
    bones = np.empty((len(frames), len(at), 4, 4), dtype=np.float32)
    worlds = np.empty((len(frames), 4, 4), dtype=np.float32)
    done = 0
    while done < len(frames):
        began = time.perf_counter()
        with _apart(source, posed) as (ob, scene):
            # On heavy rigs making the scene costs the most: then as much time again goes into frames.
            until = time.perf_counter() + max(SLICE, time.perf_counter() - began)
            every = np.empty(len(ob.pose.bones) * 16, dtype=np.float32)
            while done < len(frames) and time.perf_counter() < until:
                whole = int(np.floor(frames[done]))
                scene.frame_set(whole, subframe=float(frames[done] - whole))
                shown = ob.evaluated_get(scene.view_layers[0].depsgraph)
                shown.pose.bones.foreach_get("matrix", every)
                bones[done] = every.reshape(-1, 4, 4)[at]
                worlds[done] = shown.matrix_world
                done += 1
        yield done / len(frames)
    worlds[:, 2, 3] -= ground
    return _local(skeleton, bones.swapaxes(-1, -2), worlds, source, frames)


def shown(ob, skeleton):
    """The same of what an armature shows at the moment, as one frame."""
    every = np.empty(len(ob.pose.bones) * 16, dtype=np.float32)
    ob.pose.bones.foreach_get("matrix", every)
    at = [ob.pose.bones.find(name) for name in skeleton.names]
    return _local(skeleton, every.reshape(-1, 4, 4)[None, at].swapaxes(-1, -2), armatures.world_matrix(ob)[None],
                  Reference.of(ob), [bpy.context.scene.frame_current_final])


class AnimatedValues:
    """The values that animation writes on an armature object: what it shows, keyed or not."""

    def __init__(self, ob):
        self.bones = {}
        for name in actions.TRANSFORMS:
            width = 4 if name in ("rotation_quaternion", "rotation_axis_angle") else 3
            self.bones[name] = np.empty(len(ob.pose.bones) * width, dtype=np.float32)
            ob.pose.bones.foreach_get(name, self.bones[name])
        self.others = {name: tuple(getattr(ob, name)) for name in actions.TRANSFORMS}
        bound = ob.animation_data
        curves = actions.fcurves(bound.action, ob) if bound is not None and bound.action is not None else ()
        for path in {curve.data_path for curve in curves}:
            name, channel = bone_of(path)
            if name is None or channel not in actions.TRANSFORMS:
                try:
                    value = ob.path_resolve(path)
                except ValueError:  # the Action has a curve for something that this rig does not have
                    continue
                self.others[path] = tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value

    def show(self, ob):
        """Put the values back where they differ; whether any did."""
        changed = False
        for name, values in self.bones.items():
            now = np.empty_like(values)
            if len(ob.pose.bones) * (len(values) // max(1, len(self.bones["scale"]) // 3)) != len(values):
                raise MotionError(f'The armature "{ob.name}" got other bones while it was read: start again.')
            ob.pose.bones.foreach_get(name, now)
            if not np.array_equal(now, values):
                ob.pose.bones.foreach_set(name, values)
                changed = True
        for path, value in self.others.items():
            changed |= _put(ob, path, value)
        if changed:
            ob.update_tag()
        return changed


@contextmanager
def _apart(source, posed):
    """The armature alone in a scene of its own, animated by the Action and nothing else."""
    ob, action, slot = source.fetch()
    _refuse(ob)
    artist = AnimatedValues(ob)
    with ExitStack() as after:
        after.callback(_settle, ob, artist)
        after.enter_context(actions.kept(ob))
        after.enter_context(_changed(ob, "hide_viewport", False))
        after.enter_context(_changed(ob.data, "pose_position", "POSE"))
        if action is not None:
            actions.assign(ob, action, slot)
            ob.animation_data.use_nla = False
        posed.show(ob)
        scene = bpy.data.scenes.new("Motion Matching")
        after.callback(bpy.data.scenes.remove, scene)
        scene.collection.objects.link(ob)
        scene.view_layers[0].update()
        yield ob, scene


def _refuse(ob):
    if ob.library is not None:
        raise MotionError(f'The armature "{ob.name}" is linked from another file: make a library override of it first.')
    if ob.mode == "EDIT":
        raise MotionError(f'The armature "{ob.name}" is in Edit Mode: leave it, then its motion can be read.')


def _settle(ob, artist):
    # The Action was exchanged, so Blender animates the object once more: let it, then show what was not keyed.
    bpy.context.view_layer.update()
    if artist.show(ob):
        bpy.context.view_layer.update()


@contextmanager
def _changed(owner, name, value):
    before = getattr(owner, name)
    if before == value:
        yield
        return
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _put(ob, path, value):
    """Set a property by its path; whether that changed anything."""
    if path.endswith("]"):
        owner, key = path.rsplit("[", 1)
        owner, key = (ob.path_resolve(owner) if owner else ob), key[:-1].strip('"')
        now = owner[key]
    else:
        owner, _, key = path.rpartition(".")
        owner = ob.path_resolve(owner) if owner else ob
        now = getattr(owner, key)
    if (tuple(now) if isinstance(value, tuple) else now) == value:
        return False
    if path.endswith("]"):
        owner[key] = value
    else:
        setattr(owner, key, value)
    return True


def _local(skeleton, bones, worlds, source, frames):
    scale, turn, place = armatures.placement(worlds.astype(np.float64), source.object_name)
    if not np.isfinite(bones).all():
        frame, joint = np.argwhere(~np.isfinite(bones))[0][:2]
        raise MotionError(f'The bone "{skeleton.names[joint]}" of "{source.object_name}" is nowhere at frame '
                          f'{frames[frame]:g} of "{source.action_name}": look for a broken driver or constraint.')
    positions = place[:, None] + scale[:, None, None] * quat.rotate(turn[:, None], bones[..., :3, 3])
    rotations = quat.mul(turn[:, None], armatures.rotation_of(bones[..., :3, :3]))
    return backward(skeleton, positions, rotations)
