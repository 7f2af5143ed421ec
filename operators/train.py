# SPDX-License-Identifier: GPL-3.0-or-later
"""Train: make networks that take the database's place, and the Python that can."""

import os
from contextlib import suppress

import bpy
from bpy.props import IntProperty

from ..mm_blender.errors import MotionError
from ..mm_blender.scene.jobs import pythons, training
from ..mm_blender.scene.jobs.ownership import database_path
from .base import CharacterOperator, active_armature


class _Train(CharacterOperator):
    """Starts a training: at once from a script, in the background from a button."""

    bl_options = {"REGISTER"}
    resume = False
    _asked = False

    iterations: IntProperty(name="Iterations", default=0, min=0, options={"SKIP_SAVE"},
                            description="Of each network, instead of minutes: exactly repeatable. 0 for minutes")

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        try:
            ob = active_armature(context)
            if not os.path.isfile(database_path(ob)):
                cls.poll_message_set("Bake first")
                return False
            if training.job_of(training.own_networks_path(ob)) is not None:
                cls.poll_message_set("It is being trained already")
                return False
        except MotionError as error:
            cls.poll_message_set(str(error))
            return False
        return True

    def invoke(self, context, event):
        """From a button: in the background, and after a question if hours of training would be given up."""
        if bpy.app.background:
            return self.execute(context)
        self._asked = True
        if not self.resume and (sentence := training.given_up(active_armature(context))):
            return context.window_manager.invoke_confirm(self, event, title="Train again?", message=sentence,
                                                         confirm_text="Train Again", icon="WARNING")
        return self.execute(context)

    def run(self, context, ob):
        order = training.order_of(ob, self.resume, self.iterations)
        if self._asked:
            training.start(order, ob.name)
            return {"FINISHED"}
        figures = training.run(order)
        name = os.path.basename(order.output)
        if "verdict" not in figures:
            self.report({"WARNING"}, f"The training of {name} was cancelled: resume it to go on.")
            return {"CANCELLED"}
        self.report({"INFO"}, f"{name} is trained: {figures['verdict']}. {figures['reason']}")
        return {"FINISHED"}


class MM_OT_train(_Train):
    """Train networks on the database, in a process of its own. Blender stays usable meanwhile"""
    bl_idname = "mm.train"
    bl_label = "Train"


class MM_OT_train_resume(_Train):
    """Go on with the training that was cancelled or interrupted, from its last checkpoint"""
    bl_idname = "mm.train_resume"
    bl_label = "Resume"
    resume = True

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not training.status(active_armature(context)).resumable:
            cls.poll_message_set("There is no training to go on with")
            return False
        return True


class MM_OT_train_cancel(CharacterOperator):
    """Stop the training and keep a checkpoint, so that it can be resumed; networks from before stay"""
    bl_idname = "mm.train_cancel"
    bl_label = "Cancel"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if cls._output(active_armature(context)) is None:
            cls.poll_message_set("Nothing is being trained")
            return False
        return True

    def run(self, _context, ob):
        training.cancel(self._output(ob))

    @staticmethod
    def _output(ob):
        """The networks whose training is meant: the armature's own, or whatever is being trained; or None."""
        with suppress(MotionError):  # it may have no database any more
            if training.status(ob).word in ("running", "waiting", "stopping"):
                return training.own_networks_path(ob)
        job = training.current()
        return job.output if job is not None else None


class MM_OT_train_test(bpy.types.Operator):
    """Look again which Python has torch, and say what is wrong"""
    bl_idname = "mm.train_test"
    bl_label = "Test"
    bl_options = {"REGISTER"}

    def invoke(self, context, _event):
        """From a button: the panel says it when it is known."""
        if bpy.app.background:
            return self.execute(context)
        pythons.test()
        return {"FINISHED"}

    def execute(self, _context):
        pythons.test()
        pythons.wait()
        self.report({"INFO"} if pythons.found() else {"WARNING"}, pythons.sentence())
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((
    MM_OT_train, MM_OT_train_resume, MM_OT_train_cancel, MM_OT_train_test))
