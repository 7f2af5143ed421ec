# SPDX-License-Identifier: GPL-3.0-or-later
"""Test Drive: which of the baked clips do harm, and how much each one is played."""

import bpy

from ..mm_blender.scene.driving import trial
from ..mm_blender.scene.jobs import ownership, slices
from .base import CharacterPanel, active_armature, draw_sentence, short, sidebar_width

MOST = 6  # clips that are listed
HINT, CLIP = 0.68, 0.8  # how much of a row their names take


class MM_PT_bake_test_drive(CharacterPanel, bpy.types.Panel):
    bl_label = "Test Drive"
    bl_parent_id = "MM_PT_bake"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        ob = active_armature(context)
        return bool(ob.mm.bake.key) and not ownership.whose(ob).is_used

    def draw_character(self, context, layout, ob):
        job = slices.quiet()
        if job is not None and job.about == ob.session_uid:
            row = layout.row(align=True)
            row.progress(factor=job.share, text=f"{job.share:.0%}  {job.text}")
            row.operator("mm.job_cancel", text="", icon="CANCEL")
            return
        said = trial.report(ob)
        if not said:
            draw_sentence(layout, "It drives what is baked out of sight, and tells which clips do harm.", "INFO")
        else:
            _draw_hints(layout, ob, said)
        row = layout.row()
        row.operator_context = "INVOKE_DEFAULT"
        row.operator("mm.test_drive", icon="PLAY", text="Test Again" if said else "Test Drive")


def _draw_hints(layout, ob, said):
    hints = trial.hints(ob)
    names, width = tuple(clip["clip"] for clip in said["clips"]), sidebar_width()
    room = max(int(HINT * width) - 5, 10), max(int(CLIP * width) - 2, 10)
    for hint in hints:
        box = layout.box()
        row = box.split(factor=HINT)
        row.label(text=short(names, room[0])[hint["clip"]], icon="QUESTION", translate=False)
        row.operator("mm.clip_exclude", text="Exclude").name = hint["clip"]
        draw_sentence(box, hint["why"], "BLANK1")
    for sentence in said["said"]:
        draw_sentence(layout, sentence, "QUESTION")
    if not hints and not said["said"]:
        draw_sentence(layout, f"Nothing stands out in {said['driven_seconds']} s: all stops come to rest, and no clip "
                              "is in the way.", "CHECKMARK")
    column = layout.column(align=True)
    column.label(text="Played most")
    for clip in sorted(said["clips"], key=lambda clip: -clip["played"])[:MOST]:
        row = column.split(factor=CLIP)
        row.label(text=short(names, room[1])[clip["clip"]], translate=False)
        row.label(text=f"{clip['played']:.0%}")


register, unregister = bpy.utils.register_classes_factory((MM_PT_bake_test_drive,))
