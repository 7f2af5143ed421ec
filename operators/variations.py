# SPDX-License-Identifier: GPL-3.0-or-later
"""Variations: other takes of the same direction, side by side, to choose one of."""

from functools import partial

import bpy
from bpy.props import IntProperty

from ..mm_blender.errors import MotionError
from ..mm_blender.scene import driving
from ..mm_blender.scene.directing import live, recipe, variations
from ..mm_blender.scene.jobs import slices
from ..mm_blender.scene.reading.reference import found_again
from ..mm_blender.scene.rig import targets
from .base import CharacterOperator, active_armature, no_job_running
from .drive import DatabaseOperator


class MM_OT_take_variations(DatabaseOperator):
    """Make other takes of the same direction, with the next seeds, and show them side by side, to \
choose one of. The take that it plays stays until then"""
    bl_idname = "mm.take_variations"
    bl_label = "Variations"
    bl_options = {"UNDO"}

    count: IntProperty(name="Count", default=3, min=1, max=12, options={"SKIP_SAVE"}, description="How many")

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if driving.current() is not None:
            cls.poll_message_set("Stop driving first: Enter keeps the take, Esc cancels")
            return False
        if sentence := variations.trouble(targets.owner(active_armature(context))):
            cls.poll_message_set(sentence)
            return False
        return no_job_running(cls)

    def invoke(self, context, _event):
        """From a button: in the background, with progress and Cancel."""
        if bpy.app.background:
            return self.execute(context)
        ob = targets.owner(active_armature(context))
        try:
            slices.start(variations.steps(ob, context.evaluated_depsgraph_get(), self.count), "Directing",
                         partial(_done, ob.name, ob.session_uid), ob.session_uid)
        except MotionError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}

    def run(self, context, ob):
        ob = targets.owner(ob)
        made = slices.run(variations.steps(ob, context.evaluated_depsgraph_get(), self.count))
        self.report({"INFO"}, f"{len(variations.show(ob, made))} variations: choose one in the panel Direct")


class VariedOperator(CharacterOperator):
    """An operator for an armature that has variations."""

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not variations.ghosts_of(targets.owner(active_armature(context))):
            cls.poll_message_set("There are no variations: make some first")
            return False
        return True


class MM_OT_variation_choose(VariedOperator):
    """Let the character play this variation, in place of the take that was generated before; the others go"""
    bl_idname = "mm.variation_choose"
    bl_label = "Choose"

    index: IntProperty(name="Variation", min=0, options={"SKIP_SAVE"}, description="Which one, from 0 on")

    def run(self, context, ob):
        ob = targets.owner(ob)
        action = variations.choose(ob, self.index)
        if action.mm.recipe == recipe.text_of(ob):
            live.made(ob, context.evaluated_depsgraph_get(), [])
        self.report({"INFO"}, f'"{action.name}" is the variation with Seed {ob.mm.direct.seed}')


class MM_OT_variations_discard(VariedOperator):
    """Remove all variations; the take that the character plays stays"""
    bl_idname = "mm.variations_discard"
    bl_label = "Discard"

    def run(self, _context, ob):
        variations.discard(targets.owner(ob))


def _done(name, uid, made):
    ob = found_again(bpy.data.objects, name, uid)
    if ob is None:
        raise MotionError(f'"{name}" is gone: nothing was made.')
    variations.show(ob, made)
    for window in bpy.context.window_manager.windows[:1]:
        with bpy.context.temp_override(window=window):
            bpy.ops.ed.undo_push(message="Variations")


register, unregister = bpy.utils.register_classes_factory((
    MM_OT_take_variations, MM_OT_variation_choose, MM_OT_variations_discard))
