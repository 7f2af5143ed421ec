# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips: collect the Actions that the character is made of."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from ..mm_blender.errors import MotionError
from ..mm_blender.scene import actions
from ..mm_blender.scene.jobs import freshness
from ..mm_blender.scene.reading import assets, clips, rates, sampling
from ..mm_blender.scene.rig.character import fill_roles, missing
from ..mm_blender.scene.settings import RELATIVE_PATH
from .base import CharacterOperator, active_armature

_FROM = [
    ("FITTING", "All Actions That Fit", "Every Action in this file that moves this armature's bones"),
    ("SELECTED", "Selected Armatures", "The clips of all selected armatures, or their active Actions and those of "
                                       "their NLA strips. Those with other bones are retargeted by the bake"),
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
        return clips.add_clips(ob, fitting, look=True)

    @staticmethod
    def _selected(context, ob):
        armatures = [other for other in context.selected_objects if other.type == "ARMATURE"] or [ob]
        for other in armatures:
            if clips.is_foreign(ob, other):
                fill_roles(other, overwrite=False)
                if lacking := missing(other):
                    raise MotionError(f'"{other.name}" has other bones than "{ob.name}", and none with these roles: '
                                      f'{", ".join(lacking).replace("_", " ")}. Choose them in its Character panel.')
        added, played = [], False
        for other in armatures:
            if other != ob and len(other.mm.clips):
                added, played = added + clips.take_over(ob, other), True
                continue
            playing = other.animation_data.action if other.animation_data else None
            found = list(dict.fromkeys([*([playing] if playing else []), *clips.nla_actions(other)]))
            played |= bool(found)
            added += clips.add_clips(ob, found, source=None if other == ob else other, look=True)
        if not played:
            raise MotionError("The selected armatures play no Actions and have no NLA strips.")
        return added

    @staticmethod
    def _active(_context, ob):
        if not ob.animation_data or not ob.animation_data.action:
            raise MotionError(f'"{ob.name}" plays no Action now: assign one to it.')
        return clips.add_clips(ob, [ob.animation_data.action], look=True)

    @staticmethod
    def _nla(_context, ob):
        if not any(len(track.strips) for track in clips.nla_tracks(ob)):
            raise MotionError(f'"{ob.name}" has no NLA strips that play: push Actions down in the NLA editor first.')
        if any(clip.use_nla and not clip.source for clip in ob.mm.clips):
            return []
        clip = ob.mm.clips.add()
        clip.name, clip.use_nla = f"{ob.name} NLA", True
        ob.mm.clip_index = len(ob.mm.clips) - 1
        return [clip.name]


class MM_OT_clips_add_assets(CharacterOperator):
    """Add the Actions that are selected in the Asset Browser to the list of clips. Those of other files are appended, \
or linked where the Asset Browser links"""
    bl_idname = "mm.clips_add_assets"
    bl_label = "Add as Clips"

    filepath: StringProperty(name="File", subtype="FILE_PATH", options={"SKIP_SAVE"} | RELATIVE_PATH,
                             description="A .blend file with Actions; empty for what is selected in the Asset Browser")
    name: StringProperty(name="Action", options={"SKIP_SAVE"},
                         description="The Action in that file; empty for all that are marked as assets")
    link: BoolProperty(name="Link", options={"SKIP_SAVE"}, description="Link them instead of appending them")

    def run(self, context, ob):
        if not len(ob.mm.roles):
            fill_roles(ob)
        found, new = self._actions(context)
        left_out = {action: sentence for action in found if (sentence := assets.unfit(ob, action))}
        added = clips.add_clips(ob, [action for action in found if action not in left_out], look=True)
        for sentence in left_out.values():
            self.report({"WARNING"}, sentence)
        bpy.data.batch_remove([action for action in new if action in left_out])
        if not added:
            self.report({"INFO"}, "No clip was added" if left_out else "All of them are in the list already")
            return
        self.report({"INFO"}, f"{len(added)} clips added" if len(added) > 1 else f'Clip "{added[0]}" added')

    def _actions(self, context):
        """The chosen Actions, and those of them that have come into this file just now."""
        if self.filepath:
            return assets.brought_in(self.filepath, self.name, self.link)
        chosen, found, new = assets.selected(context), [], []
        if not chosen:
            raise MotionError("No Actions are selected in the Asset Browser: select some, or name a file.")
        for each in chosen:
            if isinstance(each, bpy.types.Action):
                found.append(each)
                continue
            read, came = assets.brought_in(*each, link=assets.is_linked(context, each[0]))
            found, new = found + read, new + came
        return found, new


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
        ob.mm.clips.remove(_index(ob))
        ob.mm.clip_index = _index(ob)


class MM_OT_clip_exclude(_ClipOperator):
    """Leave this clip out: it stays in the list, is not baked, and is not played any more from now on"""
    bl_idname = "mm.clip_exclude"
    bl_label = "Exclude Clip"

    name: StringProperty(name="Clip", options={"SKIP_SAVE"}, description="Name of its Action; empty for the active one")

    def run(self, context, ob):
        name = self.name or _name(ob.mm.clips[_index(ob)])
        found = [clip for clip in ob.mm.clips if _name(clip) == name]
        if not found:
            raise MotionError(f'"{ob.name}" has no clip "{name}".')
        for clip in found:
            clip.use = False


class MM_OT_clips_remove_missing(_ClipOperator):
    """Take all clips whose Action was deleted off the list"""
    bl_idname = "mm.clips_remove_missing"
    bl_label = "Remove Missing Clips"

    def run(self, context, ob):
        gone = [index for index, clip in enumerate(ob.mm.clips) if clip.action is None and not clip.use_nla]
        for index in reversed(gone):
            ob.mm.clips.remove(index)
        ob.mm.clip_index = _index(ob)
        self.report({"INFO"}, f"{len(gone)} clips removed")


class MM_OT_clip_move(_ClipOperator):
    """Move the clip up or down in the list"""
    bl_idname = "mm.clip_move"
    bl_label = "Move Clip"

    by: IntProperty(name="By", default=-1, description="Rows: negative for up")

    def run(self, context, ob):
        to = max(0, min(_index(ob) + self.by, len(ob.mm.clips) - 1))
        ob.mm.clips.move(_index(ob), to)
        ob.mm.clip_index = to


class MM_OT_clip_show(_ClipOperator):
    """Let the armature play this clip's Action, so that it can be watched and tagged"""
    bl_idname = "mm.clip_show"
    bl_label = "Show Clip"

    index: IntProperty(name="Clip", default=-1, options={"HIDDEN", "SKIP_SAVE"},
                       description="Row of the list; -1 for the active one")

    def run(self, context, ob):
        index = self.index if self.index >= 0 else _index(ob)
        if index >= len(ob.mm.clips):
            raise MotionError(f'"{ob.name}" has {len(ob.mm.clips)} clips: there is no clip {index}.')
        clip = ob.mm.clips[index]
        armature = clips.armature_of(ob, clip)
        _refuse(clip, armature)
        ob.mm.clip_index = index
        _play(armature, clip)
        span = clips.frame_range(ob, clip)
        if span:
            context.scene.frame_set(round(span[0]))


class MM_OT_scene_rate(CharacterOperator):
    """Let the scene run at the rate of the clips. They last as long as before: copies of their Actions take their \
places, with keys further apart. The Actions themselves, and what other objects play, stay as they are"""
    bl_idname = "mm.scene_rate"
    bl_label = "Set Scene Rate"

    rate: FloatProperty(name="Rate", default=60.0, min=1.0, max=1000.0, description="Frames per second")

    def run(self, context, ob):
        count = rates.set_rate(ob, context.scene, self.rate)
        freshness.look_again()
        self.report({"INFO"}, f"The scene runs at {self.rate:g} fps; {count} Actions were copied for it")


def _play(armature, clip):
    before = armature.animation_data.action if armature.animation_data else None
    actions.assign(armature, clip.action, clips.slot_of(clip))
    if before is not None and before.users == 0:
        before.use_fake_user = True  # Blender does not save what nobody uses


def _refuse(clip, armature):
    """Say why an armature cannot play a clip."""
    if clip.action is None and not clip.use_nla:
        raise MotionError(f'The Action "{clip.name}" was deleted: remove this clip.')
    if armature.library is not None:
        raise MotionError(f'The armature "{armature.name}" is linked from another file: make a library override first.')
    if armature.animation_data is not None and armature.animation_data.use_tweak_mode:
        raise MotionError(f'"{armature.name}" is in Tweak Mode: leave it in the NLA editor with Tab.')


def _name(clip):
    return clip.action.name if clip.action is not None else clip.name


def _index(ob):
    """The active row, which may lie past the end of a list that got shorter."""
    return max(0, min(ob.mm.clip_index, len(ob.mm.clips) - 1))


register, unregister = bpy.utils.register_classes_factory((
    MM_OT_clips_add, MM_OT_clips_add_assets, MM_OT_clip_remove, MM_OT_clip_exclude, MM_OT_clips_remove_missing,
    MM_OT_clip_move, MM_OT_clip_show, MM_OT_scene_rate))
