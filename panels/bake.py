# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake: make the database, and what it holds."""

import os

import bpy

from ..mm_blender.scene.jobs import baking, freshness, ownership, saving, slices
from .base import (
    CharacterPanel,
    active_armature,
    draw_job,
    draw_rate_back,
    draw_sentence,
    draw_step,
    draw_whose,
    sidebar_width,
)


class MM_PT_bake(CharacterPanel, bpy.types.Panel):
    bl_label = "Bake"

    def draw_character(self, context, layout, ob):
        settings = ob.mm.bake
        path, found = ownership.database_path(ob), ownership.whose(ob)
        layout.prop(settings, "path", placeholder=os.path.basename(path))
        if ownership.is_outside(ob):
            draw_sentence(layout, f"Outside of the folder of this .blend: {path}", "INFO")
        if sentence := saving.why_it_stays(ob):
            draw_sentence(layout, sentence, "INFO")
        draw_whose(layout, ob)
        column = layout.column(align=True)
        column.prop(settings, "rate")
        column.prop(settings, "root")
        layout.prop(settings, "mirror")
        layout.prop(settings, "arcs")
        if not draw_job(layout, "Baking"):
            if found.is_used:
                draw_step(layout, "mm.bake", icon="FILE_CACHE", text="Bake to a File of Its Own").own_file = True
            else:
                draw_step(layout, "mm.bake", icon="FILE_CACHE", text="Bake Again" if settings.key else "Bake")
            if sentence := slices.last_error("Baking", ob.session_uid):
                draw_sentence(layout, sentence)
        if settings.key and not found.is_used:
            self._draw_state(context, layout, ob)

    @staticmethod
    def _draw_state(context, layout, ob):
        changes = freshness.changes(ob, context.scene)
        if changes is None:
            layout.label(text="Looking for changes…", icon="SORTTIME")
        elif changes:
            box = layout.box()
            box.label(text="Stale: bake again", icon="FILE_REFRESH")
            for sentence in changes[:4]:
                draw_sentence(box, sentence, "DOT", sidebar_width() - 3)  # a box is narrower
            draw_rate_back(box, ob, context.scene)
            if len(changes) > 4:
                box.label(text=f"and {len(changes) - 4} more")
        else:
            layout.label(text="Up to date", icon="CHECKMARK")
        for sentence in baking.report(ob).get("kept", ()):  # of somebody's work: not only where few look
            draw_sentence(layout, sentence, "INFO")


class MM_PT_bake_report(CharacterPanel, bpy.types.Panel):
    bl_label = "Database"
    bl_parent_id = "MM_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        ob = active_armature(context)
        return bool(ob.mm.bake.key) and not ownership.whose(ob).is_used  # what was baked is not what is played

    def draw_character(self, context, layout, ob):
        report = baking.report(ob)
        if "made_from" not in report:
            draw_sentence(layout, "Another version of Motion Matching baked this: bake again.", "INFO")
            return
        column = layout.column(align=True)
        arcs = f", {report['arcs']} arc copies" if report.get("arcs") else ""
        for label, value in (("Clips", f"{report['clips']}{arcs}"),
                             ("Frames", f"{report['frames']:,} ({report['minutes']:.1f} min)"),
                             ("Features", f"{report['features']} per frame"),
                             ("Size", f"{report['megabytes']:.1f} MB")):
            _row(column, label, value)
        _draw_counts(layout, "Frames per tag", report["frames_per_tag"], "BOOKMARKS")
        _draw_counts(layout, "Not entered by a search", report["not_entered"], "REMOVE")
        _draw_counts(layout, "Seconds excluded", report["excluded"], "CANCEL")
        for sentence in report["left_out"]:
            draw_sentence(layout, f"Left out: {sentence}")
        for sentence in report["warnings"]:
            draw_sentence(layout, sentence, "INFO")


class MM_PT_bake_details(CharacterPanel, bpy.types.Panel):
    bl_label = "Root and Contacts"
    bl_parent_id = "MM_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_character(self, context, layout, ob):
        settings = ob.mm.bake
        column = layout.column(align=True)
        column.active = settings.root != "bone"
        column.prop(settings, "facing")
        column.prop(settings, "root_position")
        column.prop(settings, "root_facing")
        column = layout.column(align=True)
        column.prop(settings, "contact_speed")
        column.prop(settings, "contact_height")
        column.prop(settings, "contact_filter")
        layout.prop(settings, "skip_rest")


def _draw_counts(layout, title, counts, icon):
    if not counts:
        return
    column = layout.column(align=True)
    column.label(text=title, icon=icon)
    for name, count in counts.items():
        _row(column, name, f"{count:,}")


def _row(layout, label, value):
    row = layout.split(factor=0.55)
    row.label(text=label, translate=False)
    row.label(text=value, translate=False)


register, unregister = bpy.utils.register_classes_factory((MM_PT_bake, MM_PT_bake_details, MM_PT_bake_report))
