# SPDX-License-Identifier: GPL-3.0-or-later
"""A private Python with torch: made on a click, where Blender may go online.

The zips for Blender's extensions platform leave this file out: see dev.py.
"""

import bpy

from ..mm_blender.errors import MotionError
from ..mm_blender.scene.jobs import private_python, pythons


class MM_OT_train_environment(bpy.types.Operator):
    """Make a private Python environment and download torch into it: 200 MB to 3 GB. Nothing else is changed"""
    bl_idname = "mm.train_environment"
    bl_label = "Make a Private Environment"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, _context):
        if not bpy.app.online_access:
            cls.poll_message_set(private_python.NOT_ALLOWED)
            return False
        if private_python.making() is not None:
            cls.poll_message_set("It is being made already")
            return False
        return True

    def invoke(self, context, _event):
        """From a button: in the background."""
        return self.execute(context) if bpy.app.background else self._make(waiting=False)

    def execute(self, _context):
        return self._make(waiting=True)

    def _make(self, waiting):
        try:
            private_python.make(waiting)
        except MotionError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class MM_OT_train_environment_cancel(bpy.types.Operator):
    """Stop making the private environment"""
    bl_idname = "mm.train_environment_cancel"
    bl_label = "Cancel"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, _context):
        if private_python.making() is None:
            cls.poll_message_set("Nothing is under way")
            return False
        return True

    def execute(self, _context):
        private_python.stop()
        return {"FINISHED"}


_register, _unregister = bpy.utils.register_classes_factory((MM_OT_train_environment, MM_OT_train_environment_cancel))


def register():
    _register()
    pythons.private = private_python


def unregister():
    pythons.private = None
    private_python.stop()
    _unregister()
