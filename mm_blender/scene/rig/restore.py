# SPDX-License-Identifier: GPL-3.0-or-later
"""How things were before driving, so that Esc brings them back exactly."""

import bpy
import numpy as np

from .. import actions
from . import armatures

CHANNELS = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4, "scale": 3}
SAME = 1e-4  # so near numbers of a matrix are the same


class ArmatureBefore:
    """An armature's pose, Action and slot, and some custom properties (bone, name) of its bones."""

    def __init__(self, ob, properties=()):
        bones = ob.pose.bones
        self._properties = {(bone, name): bones[bone][name] for bone, name in properties}
        self._names = bones.keys()
        self._channels = {name: np.empty(len(bones) * size, dtype=np.float32) for name, size in CHANNELS.items()}
        for name, values in self._channels.items():
            bones.foreach_get(name, values)
        self._bases = _bases(bones)
        self._action, self._slot = _playing(ob)

    def restore_action(self, ob):
        """The Action and slot as they were; one that was deleted meanwhile is left to what is there now."""
        if _playing(ob) == (self._action, self._slot):
            return
        action = next((found for found in bpy.data.actions if found.session_uid == self._action), None)
        if self._action is not None and action is None:
            return
        if ob.animation_data is not None and ob.animation_data.use_tweak_mode:
            ob.animation_data.use_tweak_mode = False  # Blender refuses another Action while it is on
        actions.assign(ob, action, actions.slot_named(action, self._slot) if action is not None else None)

    def respell(self, ob):
        """Give bones that are posed as before, and what is as before of others, their very numbers from before. What is
        posed by a matrix, as all are while some are driven, gets slightly other ones, and where these are not keyed
        clips would seem to have changed."""
        bones = ob.pose.bones
        now = armatures.names_now(self._names, bones.keys())
        if [now.get(name, name) for name in self._names] != bones.keys():
            return
        same = (np.abs(_bases(bones) - self._bases) < SAME).all(axis=1)
        for name, size in CHANNELS.items():
            found = np.empty((len(bones), size), dtype=np.float32)
            bones.foreach_get(name, found.ravel())
            before = self._channels[name].reshape(-1, size)
            known = same | (np.abs(found - before) < SAME).all(axis=1)
            found[known] = before[known]
            bones.foreach_set(name, found.ravel())

    def restore_pose(self, ob):
        bones = ob.pose.bones
        now = armatures.names_now(self._names, bones.keys())
        names = [now.get(name, name) for name in self._names]
        if names == bones.keys():
            for name, values in self._channels.items():
                bones.foreach_set(name, values)
        else:  # some were added or removed meanwhile
            for name, size in CHANNELS.items():
                for bone, value in zip(names, self._channels[name].reshape(-1, size)):
                    if bone in bones:
                        setattr(bones[bone], name, value)
        for (bone, name), value in self._properties.items():
            bone = now.get(bone, bone)
            if bone in bones and bones[bone].get(name, value) != value:
                bones[bone][name] = value
        ob.update_tag()


def _bases(bones):
    """(bones, 16) how they are posed, whatever that is spelled like."""
    found = np.empty((len(bones), 16), dtype=np.float32)
    bones.foreach_get("matrix_basis", found.ravel())
    return found


def _playing(ob):
    """What an object plays: the session_uid of the Action, which outlives renaming and undo, and the slot."""
    bound = ob.animation_data
    if bound is None or bound.action is None:
        return None, None
    slot = getattr(bound, "action_slot", None)
    return bound.action.session_uid, slot.identifier if slot is not None else None


def objects_in(layer):
    """The objects of a view layer, which is brought up to date first: to ask an object whether it is selected does so,
    too, and whoever walks through the layer at that moment crashes."""
    layer.update()
    return list(filter(None, layer.objects))


class SceneBefore:
    """The scene's frame, and which objects are selected: all by session_uid, which outlives renaming and undo."""

    def __init__(self, context):
        active = context.view_layer.objects.active
        self._scene = context.scene.session_uid
        self._frame = context.scene.frame_current, context.scene.frame_subframe
        self._selected = {ob.session_uid for ob in objects_in(context.view_layer) if ob.select_get()}
        self._active = active.session_uid if active is not None else None

    def restore(self, context):
        scene = next((scene for scene in bpy.data.scenes if scene.session_uid == self._scene), None)
        if scene is not None and (scene.frame_current, scene.frame_subframe) != self._frame:
            scene.frame_set(self._frame[0], subframe=self._frame[1])
        if context.scene != scene:
            return
        objects = context.view_layer.objects
        for ob in objects_in(context.view_layer):
            if ob.select_get() != (ob.session_uid in self._selected):
                ob.select_set(not ob.select_get())
            if ob.session_uid == self._active and objects.active != ob:
                objects.active = ob
