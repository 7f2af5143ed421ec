# SPDX-License-Identifier: GPL-3.0-or-later
"""What our operators share: the character they work on, and errors as sentences."""

import bpy

from ..mm_blender.errors import MotionError
from ..mm_blender.scene import driving
from ..mm_blender.scene.jobs import freshness, slices
from ..mm_blender.scene.rig.character import active_armature


class CharacterOperator(bpy.types.Operator):
    """An operator that works on the active armature: subclasses write `run(context, ob)`."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        ob = active_armature(context)
        if ob is None:
            cls.poll_message_set("Select the character's armature first")
            return False
        if ob.library is not None:
            cls.poll_message_set("The armature is linked from another file: make a library override of it first")
            return False
        return True

    def execute(self, context):
        try:
            return self.run(context, active_armature(context)) or {"FINISHED"}
        except MotionError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        finally:
            freshness.look_again()


class ClipsOperator(CharacterOperator):
    """An operator that reads all clips of the active armature, in the background if a button was pressed."""

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


def undo_step(message):
    """One undo step, like that of any button, of what a job in the background has changed."""
    for window in bpy.context.window_manager.windows[:1]:
        with bpy.context.temp_override(window=window):
            bpy.ops.ed.undo_push(message=message)


def no_job_running(cls):
    """A poll's last question: only one long job at a time."""
    job = slices.current()
    if job is not None:
        cls.poll_message_set(f"{job.title} is still under way")
    return job is None
