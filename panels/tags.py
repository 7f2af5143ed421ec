# SPDX-License-Identifier: GPL-3.0-or-later
"""Tags: named ranges of the Action that the armature plays, and a query to try them out."""

import bpy

from ..mm_blender.errors import MotionError
from ..mm_blender.matching.tags import BUILT_IN
from ..mm_blender.scene.jobs import proposing, slices
from ..mm_blender.scene.reading import clips
from ..mm_blender.scene.reading.facts import known
from .base import CharacterPanel, draw_job, draw_sentence

MOST = 6  # proposed tags of one Action that are listed


class MM_UL_tags(bpy.types.UIList):
    def draw_item(self, _context, layout, _action_settings, tag, _icon, _active, _property, _index):
        row = layout.row(align=True)
        row.use_property_split = False
        row.prop(tag, "name", text="", emboss=False, icon="BOOKMARKS" if tag.name not in BUILT_IN else "SETTINGS")
        row.prop(tag, "start", text="", emboss=False)
        row.prop(tag, "end", text="", emboss=False)


class MM_MT_tag_add(bpy.types.Menu):
    """Tag a range of the Action"""
    bl_label = "Add Tag"
    bl_idname = "MM_MT_tag_add"

    def draw(self, _context):
        self.layout.operator_context = "INVOKE_DEFAULT"
        self.layout.operator_enum("mm.tag_add", "range")


class MM_PT_tags(CharacterPanel, bpy.types.Panel):
    bl_label = "Tags"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_character(self, context, layout, ob):
        action = ob.animation_data.action if ob.animation_data else None
        if action is None:
            draw_sentence(layout, "Show a clip with the eye beside the list to tag a part of it.", "INFO")
        else:
            layout.label(text=action.name, icon="ACTION", translate=False)
            row = layout.row()
            row.template_list("MM_UL_tags", "", action.mm, "tags", action.mm, "tag_index", rows=3)
            side = row.column(align=True)
            side.menu("MM_MT_tag_add", text="", icon="ADD")
            side.operator("mm.tag_remove", text="", icon="REMOVE")
            for tag in action.mm.proposed[:MOST]:
                draw_sentence(layout, f"Proposed: {tag.name}, {tag.start:g} to {tag.end:g}", "QUESTION")
            if more := len(action.mm.proposed[MOST:]):
                layout.label(text=f"and {more} more", icon="BLANK1")
            if 0 <= action.mm.tag_index < len(action.mm.tags):
                note = BUILT_IN.get(action.mm.tags[action.mm.tag_index].name)
                if note:
                    draw_sentence(layout, note, "INFO")
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator("mm.tag_clips", icon="DUPLICATE")
        layout.operator("mm.tags_propose", icon="VIEWZOOM")
        column = layout.column(align=True)
        column.prop(ob.mm, "query", text="Try a Query")
        self._draw_count(context, column, ob)

    @staticmethod
    def _draw_count(context, layout, ob):
        if not len(ob.mm.clips):
            return
        try:
            selected, total = clips.count_selected(ob, context.scene, ob.mm.query, ob.mm.bake.rate, known)
        except MotionError as error:
            draw_sentence(layout, str(error))
            return
        share = selected / total if total else 0.0
        layout.label(text=f"selects {selected:,} of {total:,} frames ({share:.0%})", icon="FILTER")


def draw_proposals(layout, ob):
    """What is proposed for all clips, with one button to take it; or, where no clip has a tag yet, one to look."""
    if draw_job(layout, proposing.TITLE):
        return
    if sentence := slices.last_error(proposing.TITLE, ob.session_uid):
        draw_sentence(layout, sentence)
    counts = proposing.proposed(ob)
    if not counts:
        if not any(len(clip.action.mm.tags) for clip in ob.mm.clips if clip.action is not None):
            row = layout.row()
            row.operator_context = "INVOKE_DEFAULT"
            row.operator("mm.tags_propose", icon="VIEWZOOM")
        return
    box = layout.box()
    row = box.row(align=True)
    row.label(text="Proposed", icon="BOOKMARKS")
    row.operator("mm.tags_accept")
    row.operator("mm.tags_dismiss", text="", icon="X")
    (first, count), *others = counts
    said = [f"{first} in {count} clip{'s' * (count > 1)}", *(f"{name} in {number}" for name, number in others)]
    draw_sentence(box, ", ".join(said), "BLANK1")


register, unregister = bpy.utils.register_classes_factory((MM_UL_tags, MM_MT_tag_add, MM_PT_tags))
