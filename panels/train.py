# SPDX-License-Identifier: GPL-3.0-or-later
"""Train: networks that take the database's place, made in the background."""


import bpy

from ..mm_blender.errors import MotionError
from ..mm_blender.scene.jobs import pythons, training
from ..mm_blender.scene.settings import MODEL_ADVICE
from ..mm_blender.scene.showing import plots
from ..mm_blender.training.watching.run import LOG, folder_of
from .base import CharacterPanel, draw_sentence, sidebar_width

# The figures that are shown while it trains, with the network that each is of.
_FIGURES = (("decompressor", "joint_error_cm", "Poses as stored", "{:.2f} cm"),
            ("decompressor", "new_motion_cm", "Poses, new motion", "{:.2f} cm"),
            ("stepper", "drift_1s_learned_cm", "After a second", "{:.1f} cm"),
            ("projector", "projector_ratio", "Jumps, 1 is best", "{:.2f}"))
_VERDICTS = {"good": "CHECKMARK", "usable": "CHECKBOX_HLT", "not yet": "INFO"}
_ENDED = ("cancelled", "interrupted")


class MM_PT_train(CharacterPanel, bpy.types.Panel):
    bl_label = "Train"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_character(self, context, layout, ob):
        _draw_python(layout)
        column = layout.column(align=True)
        column.prop(ob.mm.train, "model")
        draw_sentence(column, MODEL_ADVICE[ob.mm.train.model], "BLANK1")
        column.prop(ob.mm.train, "minutes")
        try:
            status = training.status(ob)
        except MotionError as error:
            draw_sentence(layout, str(error))
            return
        if status.word in ("running", "waiting", "stopping"):
            _draw_under_way(layout, status)
        else:
            _draw_buttons(layout, ob, status)
        _draw_plot(context, layout, ob, status)
        _draw_log(layout, ob)


def _draw_python(layout):
    """Which torch there is, or how to come by one."""
    private = pythons.private
    if private is not None and (making := private.making()) is not None:
        share, text = making
        row = layout.row(align=True)
        row.progress(factor=share, text=text)
        row.operator("mm.train_environment_cancel", text="", icon="CANCEL")
        return
    sentence = pythons.sentence()
    row = layout.row()
    icon = "CHECKMARK" if pythons.found() else "ERROR" if sentence else "SORTTIME"
    draw_sentence(row, sentence or "Looking for a Python with torch…", icon, width=sidebar_width() - 4)
    button = row.row()
    button.operator_context = "INVOKE_DEFAULT"
    button.operator("mm.train_test", text="", icon="FILE_REFRESH")
    if private is not None and sentence and not pythons.found() and not pythons.chosen():
        column = layout.column()
        column.operator_context = "INVOKE_DEFAULT"
        column.operator("mm.train_environment", icon="IMPORT")
        if not bpy.app.online_access:
            draw_sentence(layout, f"{private.NOT_ALLOWED}.", "INTERNET_OFFLINE")
    if private is not None and (trouble := private.trouble()):
        draw_sentence(layout, trouble)


def _draw_under_way(layout, status):
    row = layout.row(align=True)
    if status.before:
        row.label(text=f"Waits for {', '.join(status.before)}", icon="SORTTIME", translate=False)
    else:
        text = "Stopping…" if status.word == "stopping" else status.progress.text
        row.progress(factor=status.progress.share, text=f"{status.progress.share:.0%}  {text}")
    row.operator("mm.train_cancel", text="", icon="CANCEL")


def _draw_buttons(layout, ob, status):
    row = layout.row(align=True)
    row.scale_y = 1.5
    row.operator_context = "INVOKE_DEFAULT"
    known, shipped = training.figures(ob), training.is_shipped(ob)
    if status.resumable:
        row.operator("mm.train_resume", icon="PLAY")
    row.operator("mm.train", icon="EXPERIMENTAL",
                 text="Train Again" if status.resumable or (known and not shipped) else "Train")
    if (job := training.current()) is not None:
        row = layout.row(align=True)
        row.label(text=f"{job.name} is being trained", icon="SORTTIME", translate=False)
        row.operator("mm.train_cancel", text="", icon="CANCEL")
    sentence = status.trouble
    if not sentence and status.word in _ENDED:
        sentence = f"The training was {status.word}: {'resume it to go on' if status.resumable else 'train again'}."
    if sentence and sentence != pythons.sentence():  # that stands above already
        draw_sentence(layout, sentence, "ERROR" if status.trouble else "INFO")
    if training.is_stale(ob):
        draw_sentence(layout, "The database was baked anew since the networks were trained: train again.",
                      "FILE_REFRESH")
    elif verdict := str(known.get("verdict", "")):
        whose = "This character comes with networks. " if shipped else ""
        draw_sentence(layout, f"{whose}{verdict.capitalize()}. {known.get('reason', '')}",
                      _VERDICTS.get(verdict, "INFO"))


def _draw_plot(context, layout, ob, status):
    """The course of the training, and below it what its colours mean."""
    output = training.own_networks_path(ob)
    figures = status.progress.figures or training.figures(ob)
    if icon := plots.icon_of(output, status.progress):
        unit = 20 * context.preferences.system.ui_scale
        width = context.region.width if context.region is not None else 280
        layout.template_icon(icon, scale=min(max(5.0, width / unit - 3), 24.0))
    column = layout.column(align=True)
    for network, name, label, form in _FIGURES:
        value = figures.get(name)
        if isinstance(value, float):
            row = column.split(factor=0.6)
            row.label(text=label, icon_value=plots.swatch(network))
            row.label(text=form.format(value), translate=False)


def _draw_log(layout, ob):
    """On demand. No panel of its own: Blender would leave its title behind when this one grows or shrinks."""
    header, body = layout.panel("mm_train_log", default_closed=True)
    header.label(text="Log")
    if body is None:
        return
    lines = (pythons.private and pythons.private.log()) or training.log(ob)
    column = body.column(align=True)
    column.scale_y = 0.7
    for line in [line for line in lines if line.strip()][-12:] or ["Nothing was said yet."]:
        column.label(text=line, translate=False)
    log = folder_of(training.own_networks_path(ob)) / LOG
    if log.is_file():
        body.operator("wm.path_open", text="Open the Log", icon="TEXT").filepath = str(log)


register, unregister = bpy.utils.register_classes_factory((MM_PT_train,))
