# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips: collect the Actions that the character is made of."""

import bpy
from bpy.props import EnumProperty, IntProperty

from ..mm_blender.errors import MotionError
from ..mm_blender.scene import actions, clips, sampling
from ..mm_blender.scene.character import fill_roles
from .base import CharacterOperator, active_armature

_FROM = [
    ("FITTING", "All Actions That Fit", "Every Action in this file that moves this armature's bones"),
    ("SELECTED", "Selected Armatures", "The active Actions and the NLA strips' Actions of all selected armatures"),
    ("ACTIVE", "Active Action", "The Action that the armature plays now"),
    ("NLA", "NLA as One Clip", "The armature's NLA tracks, played together, as a single clip"),
]


class MM_OT_clips_add(CharacterOperator):
    """Add Actions to the list of clips; those that are in it already are left alone"""
    bl_idname = "mm.clips_add"
    bl_label = "Add Clips"

    source: EnumProperty(name="From", items=_FROM, description="Where the Actions come from")

    @classmethod
    def description(cls, _context, properties):
        return next(about for key, _, about in _FROM if key == properties.source)

    def run(self, context, ob):
        if not len(ob.mm.roles):
            fill_roles(ob)
        added = {"FITTING": self._fitting, "SELECTED": self._selected, "ACTIVE": self._active,
                 "NLA": self._nla}[self.source](context, ob)
        if added:
            self.report({"INFO"}, f"{len(added)} clips added" if len(added) > 1 else f'Clip "{added[0]}" added')
        else:
            self.report({"INFO"}, "All of them are in the list already")

    @staticmethod
    def _fitting(_context, ob):
        fitting = [action for action in bpy.data.actions if sampling.fit(ob, action)[0] > 0.5]
        if not fitting:
            raise MotionError(f'No Action in this file moves the bones of "{ob.name}": import motion, or animate it.')
        return clips.add_clips(ob, fitting)

    @staticmethod
    def _selected(context, ob):
        added, unlike = [], []
        armatures = [other for other in context.selected_objects if other.type == "ARMATURE"] or [ob]
        for other in armatures:
            if {bone.name for bone in other.data.bones} != {bone.name for bone in ob.data.bones}:
                unlike.append(other.name)
                continue
            playing = other.animation_data.action if other.animation_data else None
            found = list(dict.fromkeys([*([playing] if playing else []), *clips.nla_actions(other)]))
            added += clips.add_clips(ob, found, source=None if other == ob else other)
        if unlike:
            raise MotionError(f'"{unlike[0]}" has other bones than "{ob.name}": only armatures with the same bones '
                              "can share a database.")
        return added

    @staticmethod
    def _active(_context, ob):
        if not ob.animation_data or not ob.animation_data.action:
            raise MotionError(f'"{ob.name}" plays no Action now.')
        return clips.add_clips(ob, [ob.animation_data.action])

    @staticmethod
    def _nla(_context, ob):
        if not any(len(track.strips) for track in clips.nla_tracks(ob)):
            raise MotionError(f'"{ob.name}" has no NLA strips.')
        if any(clip.use_nla and not clip.source for clip in ob.mm.clips):
            return []
        clip = ob.mm.clips.add()
        clip.name, clip.use_nla = f"{ob.name} NLA", True
        ob.mm.clip_index = len(ob.mm.clips) - 1
        return [clip.name]


class _ClipOperator(CharacterOperator):
    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not len(active_armature(context).mm.clips):
            cls.poll_message_set("There are no clips yet")
            return False
        return True


class MM_OT_clip_remove(_ClipOperator):
    """Take the clip off the list; its Action stays in the file"""
    bl_idname = "mm.clip_remove"
    bl_label = "Remove Clip"

    def run(self, context, ob):
        ob.mm.clips.remove(ob.mm.clip_index)
        ob.mm.clip_index = max(0, min(ob.mm.clip_index, len(ob.mm.clips) - 1))


class MM_OT_clips_remove_missing(_ClipOperator):
    """Take all clips whose Action was deleted off the list"""
    bl_idname = "mm.clips_remove_missing"
    bl_label = "Remove Missing Clips"

    def run(self, context, ob):
        gone = [index for index, clip in enumerate(ob.mm.clips) if clip.action is None and not clip.use_nla]
        for index in reversed(gone):
            ob.mm.clips.remove(index)
        ob.mm.clip_index = max(0, min(ob.mm.clip_index, len(ob.mm.clips) - 1))
        self.report({"INFO"}, f"{len(gone)} clips removed")


class MM_OT_clip_move(_ClipOperator):
    """Move the clip up or down in the list"""
    bl_idname = "mm.clip_move"
    bl_label = "Move Clip"

    by: IntProperty(name="By", default=-1, description="Rows: negative for up")

    def run(self, context, ob):
        to = max(0, min(ob.mm.clip_index + self.by, len(ob.mm.clips) - 1))
        ob.mm.clips.move(ob.mm.clip_index, to)
        ob.mm.clip_index = to


class MM_OT_clip_show(_ClipOperator):
    """Let the armature play this clip's Action, so that it can be watched and tagged"""
    bl_idname = "mm.clip_show"
    bl_label = "Show Clip"

    index: IntProperty(name="Clip", default=-1, options={"HIDDEN"})

    def run(self, context, ob):
        index = self.index if self.index >= 0 else ob.mm.clip_index
        clip = ob.mm.clips[index]
        if clip.action is None:
            raise MotionError(f'The Action "{clip.name}" was deleted: remove this clip.')
        ob.mm.clip_index = index
        armature = clips.armature_of(ob, clip)
        actions.assign(armature, clip.action, clips.slot_of(clip))
        span = clips.frame_range(ob, clip)
        if span:
            context.scene.frame_set(round(span[0]))


register, unregister = bpy.utils.register_classes_factory((
    MM_OT_clips_add, MM_OT_clip_remove, MM_OT_clips_remove_missing, MM_OT_clip_move, MM_OT_clip_show))
