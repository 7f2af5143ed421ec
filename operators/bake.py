# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake: make the database."""

import os
from functools import partial

import bpy

from ..mm_blender.errors import MotionError
from ..mm_blender.scene import baking, driving, freshness, jobs
from .base import CharacterOperator, active_armature, no_job_running


class MM_OT_bake(CharacterOperator):
    """Make the database from the clips. Blender stays usable meanwhile; only what has changed is read again"""
    bl_idname = "mm.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not len(active_armature(context).mm.clips):
            cls.poll_message_set("Add clips first")
            return False
        if driving.current() is not None:
            cls.poll_message_set("Stop driving first: clips are read from the armature")
            return False
        return no_job_running(cls)

    def invoke(self, context, _event):
        """From a button: in the background."""
        if bpy.app.background:
            return self.execute(context)
        ob = active_armature(context)
        try:
            jobs.start(baking.bake_steps(ob, context.scene), "Baking", partial(_done, ob.name),
                       ob.session_uid)
        except MotionError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}

    def run(self, context, ob):
        """From a script: at once."""
        database = jobs.run(baking.bake_steps(ob, context.scene))
        freshness.up_to_date(ob)
        for sentence in database.notes["left_out"] + database.notes["warnings"]:
            self.report({"WARNING"}, sentence)
        self.report({"INFO"}, f"{len(database)} frames baked into {os.path.basename(baking.database_path(ob))}")


class MM_OT_job_cancel(bpy.types.Operator):
    """Stop at once; what was there before stays"""
    bl_idname = "mm.job_cancel"
    bl_label = "Cancel"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, _context):
        if jobs.current() is None:
            cls.poll_message_set("Nothing is under way")
            return False
        return True

    def execute(self, _context):
        jobs.cancel()
        return {"FINISHED"}


def _done(name, _database):
    freshness.up_to_date(bpy.data.objects[name, None])
    # The report is now in the settings: one undo step, like any button.
    for window in bpy.context.window_manager.windows[:1]:
        with bpy.context.temp_override(window=window):
            bpy.ops.ed.undo_push(message="Bake Motion Database")


register, unregister = bpy.utils.register_classes_factory((MM_OT_bake, MM_OT_job_cancel))
