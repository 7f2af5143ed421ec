# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake: make the database, in a file that is the character's own."""

import os
from functools import partial

import bpy
from bpy.props import BoolProperty

from ..mm_blender.scene.driving import trial
from ..mm_blender.scene.jobs import baking, freshness, ownership, slices
from ..mm_blender.scene.reading.reference import found_again
from .base import CharacterOperator, ClipsOperator, active_armature, undo_step


class MM_OT_bake(ClipsOperator):
    """Make the database from the clips. Blender stays usable meanwhile; only what has changed is read again"""
    bl_idname = "mm.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER"}

    replace: BoolProperty(name="Replace", options={"SKIP_SAVE"},
                          description="Bake into the chosen file even if it is another character's; what is in it now "
                                      "is kept beside it")
    own_file: BoolProperty(name="File of Its Own", options={"SKIP_SAVE"},
                           description="If the chosen file is another character's, bake into a new one")

    _asked = False

    def invoke(self, context, event):
        """From a button: in the background, and after a question if it takes another one's place."""
        ob = active_armature(context)
        if bpy.app.background:
            return self.execute(context)
        self._asked = True
        if self.replace and (sentence := ownership.said(ob)):
            title = f"Replace {os.path.basename(ownership.database_path(ob))}?"
            message = f"{sentence.partition(':')[0]}. It will be kept beside the new one"
            return context.window_manager.invoke_confirm(self, event, title=title, message=message,
                                                         confirm_text="Replace", icon="WARNING")
        return self.execute(context)

    def run(self, context, ob):
        """From a script: at once."""
        steps = baking.bake_steps(ob, context.scene, self.replace, self.own_file)
        if self._asked:
            slices.start(steps, "Baking", partial(done, ob.name, ob.session_uid), ob.session_uid)
            return
        database = slices.run(steps)
        freshness.up_to_date(ob)
        if ownership.is_outside(ob):
            self.report({"WARNING"}, f'"{ownership.database_path(ob)}" is outside of the folder of this .blend')
        for sentence in database.notes["left_out"] + database.notes["warnings"]:
            self.report({"WARNING"}, sentence)
        self.report({"INFO"}, f"{len(database)} frames baked into {os.path.basename(baking.database_path(ob))}")


class MM_OT_database_adopt(CharacterOperator):
    """Let this character own the database that it plays and that belongs to nobody: its bakes go into that file"""
    bl_idname = "mm.database_adopt"
    bl_label = "Adopt"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if ownership.whose(active_armature(context)).word != "nobody's":
            cls.poll_message_set("Only a database that belongs to nobody can be adopted")
            return False
        return True

    def run(self, _context, ob):
        ownership.adopt(ob)
        self.report({"INFO"}, f'{os.path.basename(ownership.database_path(ob))} belongs to "{ob.name}" now')


class MM_OT_test_drive(CharacterOperator):
    """Let some hands drive what is baked for a while, out of sight, and tell which clips do harm"""
    bl_idname = "mm.test_drive"
    bl_label = "Test Drive"
    bl_options = {"REGISTER"}

    _asked = False

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not active_armature(context).mm.bake.key:
            cls.poll_message_set("Bake first")
            return False
        return True

    def invoke(self, context, _event):
        """From a button: in the background."""
        self._asked = not bpy.app.background
        return self.execute(context)

    def run(self, context, ob):
        """From a script: at once."""
        if self._asked:
            trial.start(ob)
            return
        trial.keep(ob.name, ob.session_uid, ob.mm.bake.key, slices.run(trial.steps(ob)))
        said = trial.report(ob)
        for sentence in [*(f"{hint['clip']}: {hint['why']}" for hint in said["hints"]), *said["said"]]:
            self.report({"WARNING"}, sentence)
        self.report({"INFO"}, f"Tested for {said['driven_seconds']} s")


class MM_OT_job_cancel(bpy.types.Operator):
    """Stop at once; what was there before stays"""
    bl_idname = "mm.job_cancel"
    bl_label = "Cancel"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, _context):
        if slices.current() is None and slices.quiet() is None:
            cls.poll_message_set("Nothing is under way")
            return False
        return True

    def execute(self, _context):
        slices.cancel()
        return {"FINISHED"}


def done(name, uid, _database):
    ob = found_again(bpy.data.objects, name, uid)
    freshness.up_to_date(ob)
    undo_step("Bake Motion Database")  # the report is now in the settings
    trial.start(ob)


register, unregister = bpy.utils.register_classes_factory((
    MM_OT_bake, MM_OT_database_adopt, MM_OT_test_drive, MM_OT_job_cancel))
