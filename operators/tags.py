# SPDX-License-Identifier: GPL-3.0-or-later
"""Tags: name ranges of Actions."""

import bpy
from bpy.props import EnumProperty, StringProperty

from ..mm_blender.errors import MotionError
from ..mm_blender.matching.tags import BUILT_IN
from ..mm_blender.scene import actions
from ..mm_blender.scene.jobs import proposing, slices
from ..mm_blender.scene.reading import clips
from .base import CharacterOperator, ClipsOperator, active_armature, undo_step

_RANGES = [
    ("ACTION", "Whole Action", "From the first frame of the Action to its last"),
    ("PREVIEW", "Preview Range", "The timeline's preview range"),
    ("KEYS", "Selected Keys", "From the first selected key of the Action to the last"),
    ("FRAME", "From Current Frame", "From the current frame to the end of the Action"),
]


class MM_OT_tag_add(CharacterOperator):
    """Tag a range of the Action that the armature plays"""
    bl_idname = "mm.tag_add"
    bl_label = "Add Tag"

    name: StringProperty(name="Name", default="walk", description="Such as walk, run, crouch, sneak; some names have a "
                         "meaning of their own: exclude, no-enter, contact.left, contact.right, loop")
    range: EnumProperty(name="Range", items=_RANGES, description="Which frames are tagged")

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if active_action(context) is None:
            cls.poll_message_set("The armature plays no Action: choose one with the eye beside the list of clips")
            return False
        return True

    @classmethod
    def description(cls, _context, properties):
        about = next(about for key, _, about in _RANGES if key == properties.range)
        return _meaning(properties.name) or f"Tag a range of the Action that the armature plays: {_lower(about)}"

    def invoke(self, context, _event):
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context, ob):
        action = active_action(context)
        _refuse_linked(action)
        _tag(action, _checked(self.name), *_range(context, ob, action, self.range))
        action.mm.tag_index = len(action.mm.tags) - 1


class MM_OT_tag_strips(CharacterOperator):
    """Tag the Actions of the selected NLA strips, each where its strip plays it"""
    bl_idname = "mm.tag_strips"
    bl_label = "Tag Strips"

    name: StringProperty(name="Name", default="walk", description="The tag that all of them get")

    @classmethod
    def description(cls, _context, properties):
        return _meaning(properties.name) or "Tag the Actions of the selected NLA strips, each where its strip plays it"

    def invoke(self, context, _event):
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context, ob):
        name, tagged = _checked(self.name), 0
        strips = [strip for strip in _selected_strips(context, ob) if strip.action is not None]
        if not strips:
            raise MotionError("No strips of Actions are selected: select some in the NLA editor.")
        for strip in strips:
            _refuse_linked(strip.action)
        for strip in strips:
            span = strip.action_frame_start, strip.action_frame_end
            if (name, *span) not in clips.tags_of(strip.action, span):
                _tag(strip.action, name, *span)
                tagged += 1
        self.report({"INFO"}, f"{tagged} ranges tagged {name}" if tagged != 1 else f"1 range tagged {name}")


class MM_OT_tag_remove(CharacterOperator):
    """Remove the tag from the Action"""
    bl_idname = "mm.tag_remove"
    bl_label = "Remove Tag"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        action = active_action(context)
        if action is None or not len(action.mm.tags):
            cls.poll_message_set("The Action has no tags")
            return False
        return True

    def run(self, context, ob):
        _refuse_linked(active_action(context))
        settings = active_action(context).mm
        settings.tags.remove(max(0, min(settings.tag_index, len(settings.tags) - 1)))
        settings.tag_index = max(0, min(settings.tag_index, len(settings.tags) - 1))


class MM_OT_tag_clips(CharacterOperator):
    """Tag many clips at once, each from its first frame to its last"""
    bl_idname = "mm.tag_clips"
    bl_label = "Tag Whole Clips"

    name: StringProperty(name="Tag", default="walk", description="The tag that all of them get")
    containing: StringProperty(name="Clips Named", description="Only clips whose name contains this; empty for all "
                               "enabled clips")

    def invoke(self, context, _event):
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context, ob):
        name, tagged, linked = _checked(self.name), 0, 0
        for clip in clips.enabled(ob):
            span = clips.frame_range(ob, clip)
            if clip.action is None or span is None or self.containing.lower() not in clip.action.name.lower():
                continue
            if (name, *span) in clips.tags_of(clip.action, span):
                continue
            if clip.action.library is not None:
                linked += 1
                continue
            _tag(clip.action, name, *span)
            tagged += 1
        if not tagged:
            raise MotionError("No enabled clip was left to tag" + (
                ": their Actions are linked from another file, tag them there." if linked else "."))
        if linked:
            self.report({"WARNING"}, f"{linked} clips were not tagged: their Actions are linked from another file")
        self.report({"INFO"}, f"{tagged} clips tagged {name}")


class MM_OT_tags_propose(ClipsOperator):
    """Look for tags in the names and the motion of all enabled clips: idle, walk, run, turn, jump, dance and others. \
Nothing is tagged before you take them"""
    bl_idname = "mm.tags_propose"
    bl_label = "Propose Tags"
    bl_options = {"REGISTER"}

    _asked = False

    def invoke(self, context, _event):
        """From a button: in the background."""
        self._asked = not bpy.app.background
        return self.execute(context)

    def run(self, context, ob):
        """From a script: at once."""
        steps = proposing.propose_steps(ob, context.scene)
        if self._asked:
            slices.start(steps, proposing.TITLE, _proposed, ob.session_uid)
            return
        self.report({"INFO"}, f"Tags are proposed for {slices.run(steps)} clips")


class _ProposalOperator(CharacterOperator):
    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not proposing.proposed(active_armature(context)):
            cls.poll_message_set("No tags are proposed: Propose Tags looks for some")
            return False
        return True


class MM_OT_tags_accept(_ProposalOperator):
    """Tag all clips as proposed. Tags that are there stay as they are"""
    bl_idname = "mm.tags_accept"
    bl_label = "Take All"

    def run(self, context, ob):
        self.report({"INFO"}, f"{proposing.accept(ob)} ranges tagged")


class MM_OT_tags_dismiss(_ProposalOperator):
    """Forget the tags that are proposed"""
    bl_idname = "mm.tags_dismiss"
    bl_label = "Dismiss"

    def run(self, context, ob):
        proposing.forget(ob)


def _proposed(_count):
    undo_step("Propose Tags")


def active_action(context):
    """The Action that the active armature plays."""
    ob = active_armature(context)
    return ob.animation_data.action if ob is not None and ob.animation_data else None


def _meaning(name):
    """What a tag with a meaning of its own does; "" of others."""
    return f'Tag "{name}": {_lower(BUILT_IN[name])}' if name in BUILT_IN else ""


def _lower(sentence):
    return sentence[0].lower() + sentence[1:]


def _selected_strips(context, ob):
    """The strips that are selected in the NLA editor; where there is none, the selected ones of the armature."""
    shown = getattr(context, "selected_nla_strips", None)
    if shown is not None:
        return shown
    tracks = ob.animation_data.nla_tracks if ob.animation_data is not None else ()
    return [strip for track in tracks for strip in track.strips if strip.select]


def _checked(name):
    if not name.strip():
        raise MotionError("A tag needs a name.")
    return name.strip()


def _refuse_linked(action):
    if action.library is not None:
        raise MotionError(f'The Action "{action.name}" is linked from another file: tag it there.')


def _tag(action, name, start, end):
    tag = action.mm.tags.add()
    tag.name, tag.start, tag.end = name, start, end


def _range(context, ob, action, kind):
    scene, whole = context.scene, actions.frame_range(action, ob)
    if kind == "PREVIEW":
        if not scene.use_preview_range:
            raise MotionError("There is no preview range: set one in the timeline with P.")
        return scene.frame_preview_start, scene.frame_preview_end
    if kind == "KEYS":
        keys = [key.co.x for curve in actions.fcurves(action, ob) for key in curve.keyframe_points
                if key.select_control_point]
        if not keys:
            raise MotionError(f'No keys of "{action.name}" are selected: select some in the Dope Sheet.')
        return min(keys), max(keys)
    if whole is None:
        raise MotionError(f'The Action "{action.name}" has no keys for "{ob.name}": there is nothing to tag.')
    if kind == "FRAME":
        return scene.frame_current, max(whole[1], scene.frame_current)
    return whole


register, unregister = bpy.utils.register_classes_factory((
    MM_OT_tag_add, MM_OT_tag_strips, MM_OT_tag_remove, MM_OT_tag_clips, MM_OT_tags_propose, MM_OT_tags_accept,
    MM_OT_tags_dismiss))
