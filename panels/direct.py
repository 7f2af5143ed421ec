# SPDX-License-Identifier: GPL-3.0-or-later
"""Direct: where the character is to go by itself, along a curve or from place to place."""

import bpy

from ..mm_blender.scene import driving
from ..mm_blender.scene.directing import generating, live, marks, recipe
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
        column = layout.column()
        column.prop(direct, "start")
        column.prop(direct, "seed")
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
        for sentence in live.sentences(ob):
            draw_sentence(layout, sentence, "INFO")
        if driving.current() is None and (edited := generating.edited(ob)) is not None:
            draw_sentence(layout, f'"{edited.name}" was edited by hand: Generate asks what becomes of it.', "INFO")
        bound = targets.posed(ob).animation_data
        take = bound.action if bound is not None else None
        if recipe.is_directed(take) and take != direct.take:
            layout.operator("mm.take_recall", icon="LOOP_BACK")


def _draw_mark(column, mark):
    """What changes at a mark."""
    column.prop(mark, "ob")
    column.separator(factor=0.5)
    column.prop(mark, "gait")
    row = column.row(heading="Speed")
    row.prop(mark, "use_speed", text="")
    value = row.row()
    value.active = mark.use_speed
    value.prop(mark, "speed", text="")
    column.prop(mark, "wait")
    row = column.row(heading="At Frame")
    row.prop(mark, "use_frame", text="")
    value = row.row()
    value.active = mark.use_frame
    value.prop(mark, "frame", text="")
    column.prop(mark, "exact")
    column.separator(factor=0.5)
    column.prop(mark, "face")
    if mark.face == "OBJECT":
        column.prop(mark, "face_object")
    elif mark.face == "DIRECTION":
        column.prop(mark, "face_angle")
    row = column.row(heading="Tags")
    row.prop(mark, "use_query", text="")
    value = row.row()
    value.active = mark.use_query
    value.prop(mark, "query", text="")


register, unregister = bpy.utils.register_classes_factory((MM_UL_marks, MM_PT_direct))
