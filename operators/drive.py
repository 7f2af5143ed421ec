# SPDX-License-Identifier: GPL-3.0-or-later
"""Drive: steer the character."""

import os

import bpy
from bpy.props import StringProperty

from ..mm_blender.control import stick
from ..mm_blender.matching import database
from ..mm_blender.playback.drive import drive
from ..mm_blender.scene import baking, takes
from .base import CharacterOperator, active_armature


class MM_OT_drive_recording(CharacterOperator):
    """Let a recorded stick (STICK.csv) steer the character, and keep what it plays as a new Action"""
    bl_idname = "mm.drive_recording"
    bl_label = "Drive from Recording"

    filepath: StringProperty(name="Recording", subtype="FILE_PATH", options={"SKIP_SAVE"},
                             description="A file with the columns time, move_x, move_y, face_x, face_y, run, strafe")
    filter_glob: StringProperty(default="*.csv", options={"HIDDEN"}, description="Which files are shown")

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not active_armature(context).mm.bake.key:
            cls.poll_message_set("Bake a database first")
            return False
        return True

    def invoke(self, context, _event):
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context, ob):
        recording = stick.load(bpy.path.abspath(self.filepath))
        clip, _ = drive(database.load(baking.database_path(ob)), recording)
        action = takes.keep(ob, clip, os.path.splitext(os.path.basename(self.filepath))[0])
        self.report({"INFO"}, f'{clip.duration:.1f} s kept as the Action "{action.name}"')


register, unregister = bpy.utils.register_classes_factory((MM_OT_drive_recording,))
