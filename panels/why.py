# SPDX-License-Identifier: GPL-3.0-or-later
"""Why This Clip: what the last jump cost beside going on, feature by feature; and the way to never see it again."""

import bpy

from ..mm_blender.scene import driving
from .base import CharacterPanel, draw_lines, draw_sentence

MOST = 5  # features that are listed


class MM_PT_drive_why(CharacterPanel, bpy.types.Panel):
    bl_label = "Why This Clip?"
    bl_parent_id = "MM_PT_drive"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return super().poll(context) and driving.current() is not None

    def draw_character(self, context, layout, ob):
        session = driving.current()
        status, why = session.status, session.why
        if not status.clip:
            draw_sentence(layout, "Networks play what they have learned: there is no clip.", "INFO")
            return
        layout.label(text=f"{status.short}, {status.second:.1f} s", icon="ACTION", translate=False)
        row = layout.row(align=True)
        row.label(text="Never play")
        row.operator("mm.never_play", text="Moment").what = "MOMENT"
        row.operator("mm.never_play", text="Clip").what = "CLIP"
        if why is None:
            draw_sentence(layout, "Nothing was searched yet.", "INFO")
            return
        chosen, stayed = why.cost
        said = (f"Jumped {why.ago:.1f} s ago: it cost {chosen:.2f}, to stay {stayed:.2f}." if why.jumped
                else f"It stays: nothing costs less than {stayed:.2f}.")
        draw_lines(layout, [(said, "FORWARD")], 2)
        column = layout.column(align=True)
        _row(column, "Cost of", "this", "stay")
        for label, mine, others in why.shares[:MOST]:
            _row(column, label.replace("_", " ").title(), f"{mine:.2f}", f"{others:.2f}")


def _row(layout, label, *values):
    split = layout.split(factor=0.6)
    split.label(text=label, translate=False)
    row = split.row(align=True)
    for value in values:
        row.label(text=value, translate=False)
