# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips: the Actions that the character is made of."""

import bpy

from ..mm_blender.scene.driving import trial
from ..mm_blender.scene.jobs import slices
from ..mm_blender.scene.reading import clips, rates
from ..mm_blender.scene.reading.facts import known
from ..mm_blender.scene.reading.sampling import scene_rate
from ..mm_blender.scene.rig import targets
from .base import CharacterPanel, active_armature, draw_job, draw_sentence, short, sidebar_width
from .tags import draw_proposals

IMPORTING = "Importing motion"  # the title of its job


class MM_UL_clips(bpy.types.UIList):
    """Rows of clips; Blender's own search field filters them by name."""

    def draw_item(self, context, layout, settings, clip, _icon, _active, _property, index):
        ob, action = settings.id_data, clip.action
        # A split keeps its proportions in a narrow sidebar; in a row everything would shrink into each other.
        split = layout.split(factor=0.57)
        split.use_property_split = False
        split.active = clip.use
        row = split.row(align=True)
        row.prop(clip, "use", text="")
        if clips.trouble(ob, clip, context.scene, known):
            row.label(text="", icon="ERROR")
        name = short(tuple(map(_name, settings.clips)), max(int(0.57 * sidebar_width()) - 9, 8))[_name(clip)]
        if action is None:
            row.label(text=name, icon="NLA" if clip.use_nla else "LIBRARY_DATA_BROKEN", translate=False)
        elif name == action.name or index == settings.clip_index:
            row.prop(action, "name", text="", emboss=False)  # a double click renames it
        else:
            row.label(text=name, translate=False)
        row = split.split(factor=0.5)
        seconds = clips.seconds(ob, clip, context.scene, known)
        row.label(text=f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s")
        icons = row.row(align=True)
        icons.label(text="", icon="BOOKMARKS" if action is not None and len(action.mm.tags) else "BLANK1")
        icons.label(text="", icon="FILE_REFRESH" if clip.loop else "BLANK1")

    def filter_items(self, _context, settings, property_name):
        # Search by the Action's present name and by its tags: the stored name is only that of a deleted one.
        entries = getattr(settings, property_name)
        flags = []
        for clip in entries:
            words = [_name(clip)]
            words += [tag.name for tag in clip.action.mm.tags] if clip.action else []
            found = self.filter_name.lower() in " ".join(words).lower()
            flags.append(self.bitflag_filter_item if found else 0)
        if not self.use_filter_sort_alpha:
            return flags, []
        names = [(index, _name(clip)) for index, clip in enumerate(entries)]
        return flags, bpy.types.UI_UL_list.sort_items_helper(names, key=lambda entry: entry[1].lower())


class MM_MT_clips_add(bpy.types.Menu):
    """More ways to add clips"""
    bl_label = "Add Clips"
    bl_idname = "MM_MT_clips_add"

    def draw(self, _context):
        layout = self.layout
        layout.operator_enum("mm.clips_add", "source")
        layout.separator()
        layout.operator("mm.import_motion", icon="IMPORT")
        layout.separator()
        layout.operator("mm.clips_remove_missing", icon="TRASH")


class MM_PT_clips(CharacterPanel, bpy.types.Panel):
    bl_label = "Clips"

    def draw_header_preset(self, context):
        ob = active_armature(context)
        if len(ob.mm.clips):
            used = clips.enabled(ob)
            total = sum(clips.seconds(ob, clip, context.scene, known) for clip in used)
            many = "1 clip" if len(used) == 1 else f"{len(used)} clips"
            long = f"{total:.0f} s" if total < 60 else f"{total / 60:.1f} min"
            self.layout.label(text=f"{many}, {long}")

    def draw_character(self, context, layout, ob):
        if draw_job(layout, IMPORTING):
            return
        if sentence := slices.last_error(IMPORTING):
            draw_sentence(layout, sentence)
        if not len(ob.mm.clips):
            owner = targets.owner(ob)
            draw_sentence(layout, "Add the Actions that the character is made of." if owner == ob else
                          f'None are needed: it is driven with the motion of "{owner.name}".', "INFO")
            column = layout.column(align=True)
            column.operator("mm.clips_add", text="Add All Actions That Fit", icon="ACTION").source = "FITTING"
            column.operator("mm.import_motion", icon="IMPORT")
            column.menu("MM_MT_clips_add", text="More Ways to Add", icon="DOWNARROW_HLT")
            return
        row = layout.row()
        row.template_list("MM_UL_clips", "", ob.mm, "clips", ob.mm, "clip_index", rows=6)
        side = row.column(align=True)
        side.menu("MM_MT_clips_add", text="", icon="ADD")
        side.operator("mm.clip_remove", text="", icon="REMOVE")
        side.separator()
        side.operator("mm.clip_show", text="", icon="HIDE_OFF")
        side.separator()
        side.operator("mm.clip_move", text="", icon="TRIA_UP").by = -1
        side.operator("mm.clip_move", text="", icon="TRIA_DOWN").by = 1
        rate, count = rates.own_rate(ob, context.scene, known)
        if count:
            many = f"{count} clips were" if count > 1 else "One clip was"
            draw_sentence(layout, f"{many} made at {rate:g} fps, and this file runs at {scene_rate(context.scene):g}: "
                          "poses are left out.", "TIME")
            layout.operator("mm.scene_rate", text=f"Set Scene to {rate:g} fps").rate = rate
        if given := [clip for clip in clips.enabled(ob) if clip.in_place and clip.travel]:
            many = f"{len(given)} clips are" if len(given) > 1 else "One clip is"
            draw_sentence(layout, f"{many} made in place and get travel: " + ", ".join(
                f"{clip.name} {clips.given_travel(clip):.2f} m/s" for clip in given[:4])
                + (f" and {len(given) - 4} more." if len(given) > 4 else "."), "CON_FOLLOWPATH")
        draw_proposals(layout, ob)
        if ob.mm.clip_index < len(ob.mm.clips):
            self._draw_clip(context, layout, ob, ob.mm.clips[ob.mm.clip_index])

    @staticmethod
    def _draw_clip(context, layout, ob, clip):
        if problem := clips.trouble(ob, clip, context.scene, known):
            draw_sentence(layout, problem)
        column = layout.column()
        if not clip.use_nla:
            column.prop(clip, "action")
        if clip.source is not None:
            column.prop(clip, "source")
        span = clips.frame_range(ob, clip, known)
        row = column.row(heading="Range", align=True)
        row.prop(clip, "use_range", text="")
        part = row.row(align=True)
        part.active = clip.use_range
        if clip.use_range:
            part.prop(clip, "start", text="")
            part.prop(clip, "end", text="")
        elif span:
            part.label(text=f"all, {span[0]:.4g} to {span[1]:.4g}")
        column.prop(clip, "speed")
        row = column.row(heading="Also")
        row.prop(clip, "mirror", toggle=True)
        row.prop(clip, "loop", toggle=True)
        row = column.row(heading="Give It Travel", align=True)
        row.prop(clip, "travel", text="")
        part = row.row(align=True)
        part.active = clip.travel and bool(clip.in_place or clip.travel_speed)
        part.prop(clip, "travel_speed", text="")
        if clip.in_place:
            draw_sentence(column, f"Made in place: its feet go back at {clip.in_place:.2f} m/s. "
                          + (f"It travels {clips.given_travel(clip):.2f} m/s in the bake." if clip.travel else
                             "Without travel it stays on the spot."), "INFO")
        if not clips.unusable(ob, clip, known):
            way, reason = clips.way(ob, clip, known)
            text = "Read from F-curves" if way == "curves" else f"Evaluated frame by frame: {reason}"
            draw_sentence(column, text, "FCURVE" if way == "curves" else "PLAY")
        if figures := trial.about(ob, _name(clip)):
            for sentence in trial.in_words(figures):
                draw_sentence(column, sentence, "INFO")


def _name(clip):
    return clip.action.name if clip.action is not None else clip.name


register, unregister = bpy.utils.register_classes_factory((MM_UL_clips, MM_MT_clips_add, MM_PT_clips))
