# SPDX-License-Identifier: GPL-3.0-or-later
"""Direct: where the character is to go by itself, along a curve or from place to place."""

import bpy

from ..mm_blender.scene import driving
from ..mm_blender.scene.directing import generating, live, marks, paths, recipe, variations
from ..mm_blender.scene.rig import targets
from .base import CharacterPanel, draw_job, draw_needs_database, draw_sentence, draw_step


class MM_UL_marks(bpy.types.UIList):
    def draw_item(self, _context, layout, _direct, mark, _icon, _active, _property, _index):
        row = layout.split(factor=0.42)
        row.prop(mark, "name", text="", emboss=False, icon="EMPTY_AXIS" if mark.ob else "DECORATE_KEYFRAME")
        said = row.row()
        said.active = False
        said.label(text=marks.summary(mark), translate=False)


class MM_PT_direct(CharacterPanel, bpy.types.Panel):
    bl_label = "Direct"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_character(self, _context, layout, ob):
        ob = targets.owner(ob)
        direct = ob.mm.direct
        layout.prop(direct, "path", icon="OUTLINER_OB_CURVE")
        if direct.path is not None:
            row = layout.row(align=True)
            row.prop(direct, "spline")
            row.prop(direct, "reverse", text="", icon="ARROW_LEFTRIGHT", toggle=True)
        self._draw_marks(layout, direct)
        layout.prop(direct, "start")
        self._draw_generate(layout, ob, direct)

    @staticmethod
    def _draw_marks(layout, direct):
        row = layout.row()
        row.template_list("MM_UL_marks", "", direct, "marks", direct, "mark_index", rows=3)
        side = row.column(align=True)
        side.operator("mm.path_mark_add", text="", icon="ADD")
        side.operator("mm.path_mark_remove", text="", icon="REMOVE")
        if not 0 <= direct.mark_index < len(direct.marks):
            if direct.path is None:
                draw_sentence(layout, "Choose a curve, or add places to go between: selected objects, or Empties at "
                                      "the 3D cursor.", "INFO")
            return
        _draw_mark(layout.box().column(), direct.marks[direct.mark_index])

    @staticmethod
    def _draw_generate(layout, ob, direct):
        draw_needs_database(layout, ob)
        if not draw_job(layout, "Directing"):
            row = layout.row(align=True)
            draw_step(row, "mm.generate_path", icon="KEYFRAME_HLT")
            live_row = row.row(align=True)
            live_row.scale_y = 1.5
            live_row.prop(direct, "update", text="", icon="FILE_REFRESH", toggle=True)
            _draw_variations(layout, ob)
        for sentence in live.sentences(ob):
            draw_sentence(layout, sentence, "INFO")
        if driving.current() is None and (edited := generating.edited(ob)) is not None:
            draw_sentence(layout, f'"{edited.name}" was edited by hand: Generate asks what becomes of it.', "INFO")
        bound = targets.posed(ob).animation_data
        take = bound.action if bound is not None else None
        if recipe.is_directed(take) and take != direct.take:
            layout.operator("mm.take_recall", icon="LOOP_BACK")


class MM_PT_direct_take(CharacterPanel, bpy.types.Panel):
    bl_label = "Take"
    bl_parent_id = "MM_PT_direct"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_character(self, _context, layout, ob):
        ob = targets.owner(ob)
        direct, has_frames, closed = ob.mm.direct, ob.mm.drive.method != "LMM", paths.is_closed(ob.mm.direct)
        column = layout.column()
        column.active = has_frames
        column.row().prop(direct, "plan", expand=True)
        column.prop(direct, "seed")
        row = column.row()
        row.active = has_frames and closed
        row.prop(direct, "loop")
        if not has_frames:
            draw_sentence(layout, "Networks alone have no frames to plan with, to vary or to loop: choose another "
                                  "Method in Drive.", "INFO")
        elif not closed:
            draw_sentence(layout, "Loop needs a closed curve: Alt+C in its Edit Mode.", "INFO")
        layout.prop(direct, "in_place")


def _draw_variations(layout, ob):
    """Other takes: a button, or those that are there to choose one of."""
    ghosts = variations.ghosts_of(ob)
    if not ghosts:
        layout.operator("mm.take_variations", icon="MOD_ARRAY")
        return
    column = layout.box().column()
    draw_sentence(column, "Variations: choose a Seed", "MOD_ARRAY")
    grid = column.grid_flow(row_major=True, columns=min(len(ghosts), 4), even_columns=True, align=True)
    for index, ghost in enumerate(ghosts):
        grid.operator("mm.variation_choose", text=str(recipe.seed_of(variations.take_of(ghost)))).index = index
    row = column.row(align=True)
    row.operator("mm.take_variations", text="Others", icon="FILE_REFRESH")
    row.operator("mm.variations_discard", icon="X")


def _draw_mark(column, mark):
    """What changes at a mark."""
    column.prop(mark, "ob")
    column.separator(factor=0.5)
    column.prop(mark, "gait")
    _draw_switched(column, mark, "Speed", "use_speed", "speed")
    column.prop(mark, "wait")
    _draw_switched(column, mark, "At Frame", "use_frame", "frame")
    column.prop(mark, "exact")
    column.separator(factor=0.5)
    column.prop(mark, "face")
    if mark.face == "OBJECT":
        column.prop(mark, "face_object")
    elif mark.face == "DIRECTION":
        column.prop(mark, "face_angle")
    _draw_switched(column, mark, "Tags", "use_query", "query")


def _draw_switched(column, mark, label, switch, value):
    """A value of a mark that counts only where it is switched on."""
    row = column.row(heading=label)
    row.prop(mark, switch, text="")
    row = row.row()
    row.active = getattr(mark, switch)
    row.prop(mark, value, text="")


register, unregister = bpy.utils.register_classes_factory((
    MM_UL_marks, MM_PT_direct, MM_PT_direct_take))
