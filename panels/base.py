# SPDX-License-Identifier: GPL-3.0-or-later
"""What our panels share: the place in the sidebar, the character that they speak of, sentences, menus of presets."""

from functools import lru_cache

import bpy

from ..mm_blender.scene import driving
from ..mm_blender.scene.driving import libraries
from ..mm_blender.scene.jobs import baking, ownership, slices
from ..mm_blender.scene.rig.character import active_armature
from ..mm_blender.text import short_names


class CharacterPanel:
    """A panel of the sidebar that is shown for an armature: subclasses write `draw_character(context, layout, ob)`.
    While one is being driven the panel Drive and its parts speak of that, and all others make way."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Motion Matching"

    @classmethod
    def poll(cls, context):
        is_drive = "MM_PT_drive" in (cls.__name__, getattr(cls, "bl_parent_id", ""))
        return (is_drive or driving.current() is None) and spoken_of(context) is not None

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        self.draw_character(context, layout, spoken_of(context))


def spoken_of(context):
    """The armature whose settings panels show: the driven one's, or else that of the active one; or None."""
    session = driving.current()
    return session.driven.owner() if session is not None else active_armature(context)


def draw_sentence(layout, text, icon="ERROR", width=None):
    """A sentence over as many lines as it needs: labels do not wrap. `width` in letters, or that of the sidebar."""
    column = layout.column(align=True)
    column.scale_y = 0.8
    for index, line in enumerate(_wrapped(text, width or sidebar_width())):
        column.label(text=line, icon=icon if index == 0 else "BLANK1", translate=False)


def draw_lines(layout, sentences, count):
    """Sentences (text, icon) on so many lines, which are there whatever is said: what stands below does not move. What
    has no room ends with three dots."""
    lines = [(line, icon if index == 0 else "BLANK1") for text, icon in sentences
             for index, line in enumerate(_wrapped(text, sidebar_width()))]
    if len(lines) > count:
        line, icon = lines[count - 1]
        lines[count - 1:] = [(f"{line.rstrip('.')}…", icon)]
    column = layout.column(align=True)
    column.scale_y = 0.8
    for line, icon in [*lines, *[("", "BLANK1")] * (count - len(lines))]:
        column.label(text=line, icon=icon, translate=False)


def draw_presets(layout, presets):
    """The artist's own presets of one kind (Presets), to load, save and remove."""
    names = presets.names()
    for name in names:
        layout.operator(f"mm.{presets.kind}_preset_load", text=name, translate=False).name = name
    if names:
        layout.separator()
    layout.operator_context = "INVOKE_DEFAULT"
    layout.operator(f"mm.{presets.kind}_preset_save", text="Save…", icon="ADD")
    if names:
        layout.menu(f"MM_MT_{presets.kind}_presets_remove", icon="REMOVE")


def draw_presets_to_remove(layout, presets):
    layout.operator_context = "INVOKE_DEFAULT"
    for name in presets.names():
        layout.operator(f"mm.{presets.kind}_preset_remove", text=name, translate=False).name = name


def draw_step(layout, operator, **looks):
    """The button of a step on the way to a character that is driven."""
    row = layout.row()
    row.scale_y = 1.5
    row.operator_context = "INVOKE_DEFAULT"
    return row.operator(operator, **looks)


def draw_rate_back(layout, ob, scene):
    """One button for a scene whose frame rate was changed after the bake: importing an FBX file does that."""
    if (rate := baking.rate_before(ob, scene)) is not None:
        button = layout.operator("wm.context_set_int", text=f"Set Scene Back to {rate} fps", icon="TIME")
        button.data_path, button.value = "scene.render.fps", rate


def draw_needs_database(layout, ob):
    """That there is no database yet, where there is none."""
    if not libraries.is_ready(ob):
        draw_sentence(layout, "Bake a database first: it is what the character knows how to do.", "INFO")


def draw_whose(layout, ob):
    """Whose the database is, if it is not the character's own, and what can be done about it."""
    sentence = ownership.said(ob)
    if not sentence:
        return
    box = layout.box()
    draw_sentence(box, sentence, "LINKED")
    row = box.row(align=True)
    row.operator_context = "INVOKE_DEFAULT"
    if ownership.whose(ob).word == "nobody's":
        row.operator("mm.database_adopt")
    if len(ob.mm.clips):
        row.operator("mm.bake", text="Replace…").replace = True


def draw_job(layout, title):
    """The progress of a job with this title, with Cancel; False when there is none."""
    job = slices.current()
    if job is None or job.title != title:
        return False
    row = layout.row(align=True)
    row.progress(factor=job.share, text=f"{job.share:.0%}  {job.text}")
    row.operator("mm.job_cancel", text="", icon="CANCEL")
    return True


@lru_cache(maxsize=16)
def short(names, most):
    """short_names() of a tuple of names, remembered from one drawing to the next."""
    return short_names(names, most)


def sidebar_width():
    """How many letters of a sentence stand side by side, about."""
    region = bpy.context.region
    if region is None or region.type != "UI":
        return 46
    return max(20, int((region.width / bpy.context.preferences.system.ui_scale - 72) / 5.8))


def _wrapped(text, width):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]
