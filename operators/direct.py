# SPDX-License-Identifier: GPL-3.0-or-later
"""Direct: let the character go along a curve, or from place to place, straight to keyframes."""

from functools import partial

import bpy
from bpy.props import EnumProperty, FloatVectorProperty, IntProperty

from ..mm_blender.errors import MotionError
from ..mm_blender.scene import driving
from ..mm_blender.scene.directing import generating, live, marks, recipe
from ..mm_blender.scene.directing.paths import path_of
from ..mm_blender.scene.jobs import slices
from ..mm_blender.scene.reading.reference import found_again
from ..mm_blender.scene.rig import targets
from .base import CharacterOperator, active_armature, no_job_running, undo_step
from .drive import DatabaseOperator

# Metres: a longer path is gone in the background, with progress and Cancel.
LONG = {"QUICK": 60.0, "PLANNED": 6.0}
IF_EDITED = (("NEW", "New Action", "The edited take stays as it is, and a new Action is written"),
             ("REPLACE", "Replace It", "The edited take is replaced, and the edits are gone"))


class MM_OT_generate_path(DatabaseOperator):
    """Let the character go along its path, and keep that as keyframes. The take that was generated before is \
replaced, unless somebody has edited its keys"""
    bl_idname = "mm.generate_path"
    bl_label = "Generate"

    seed: IntProperty(name="Seed", min=0, options={"SKIP_SAVE"},
                      description="Another number gives another take of the same direction")
    if_edited: EnumProperty(name="The edited take", items=IF_EDITED, options={"SKIP_SAVE"},
                            description="What becomes of a take whose keys were edited by hand")
    _from_button = False

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if driving.current() is not None:
            cls.poll_message_set("Stop driving first: Enter keeps the take, Esc cancels")
            return False
        return no_job_running(cls)

    def invoke(self, context, _event):
        """From a button: whoever has edited the take is asked, and a long path is gone in the background."""
        if bpy.app.background:
            return self.execute(context)
        self._from_button, ob = True, targets.owner(active_armature(context))
        self.seed = ob.mm.direct.seed
        if generating.edited(ob) is not None:
            return context.window_manager.invoke_props_dialog(self)
        return self.execute(context)

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        if self._from_button:
            edited = generating.edited(targets.owner(active_armature(context)))
            if edited is not None:
                layout.label(text=f'The keys of "{edited.name}" were edited.', icon="INFO", translate=False)
                layout.prop(self, "if_edited", expand=True)
        layout.prop(self, "seed")

    def run(self, context, ob):
        ob = targets.owner(ob)
        if self.properties.is_property_set("seed"):
            ob.mm.direct.seed = self.seed
        depsgraph, replace = context.evaluated_depsgraph_get(), self.if_edited == "REPLACE"
        steps = generating.steps(ob, depsgraph)
        if self._from_button and path_of(ob, depsgraph)[0].length > LONG[ob.mm.direct.plan]:
            slices.start(steps, "Directing", partial(_done, ob.name, ob.session_uid, replace), ob.session_uid)
            return
        directed = slices.run(steps)
        action = _write(ob, directed, replace)
        live.made(ob, depsgraph, directed.sentences)
        for sentence in directed.sentences:
            self.report({"WARNING"}, sentence)
        self.report({"INFO"}, f'{directed.clip.duration:.1f} s generated as the Action "{action.name}"')


class MM_OT_take_recall(CharacterOperator):
    """Set the Direct panel as it was when the take that the armature plays was generated"""
    bl_idname = "mm.take_recall"
    bl_label = "Direct as This Take"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not recipe.is_directed(_playing(active_armature(context))):
            cls.poll_message_set("The armature plays no take that was generated")
            return False
        return True

    def run(self, _context, ob):
        for sentence in recipe.recall(targets.owner(ob), _playing(ob)):
            self.report({"WARNING"}, sentence)


class MM_OT_path_mark_add(CharacterOperator):
    """Add a mark: on the curve, at the selected point of the curve that is being edited or near the 3D cursor; \
without a curve at each selected object, or with an Empty at the 3D cursor"""
    bl_idname = "mm.path_mark_add"
    bl_label = "Add Mark"

    place: FloatVectorProperty(name="Place", size=3, subtype="TRANSLATION", options={"SKIP_SAVE"},
                               description="Where in the world, instead of at the 3D cursor")

    def run(self, context, ob):
        ob = targets.owner(ob)
        curve = ob.mm.direct.path
        if curve is not None:
            given = self.properties.is_property_set("place")
            place = self.place if given else marks.pointed_at(context, curve)
            marks.add(ob, context.evaluated_depsgraph_get(), place)
            return
        known = [mark.ob for mark in ob.mm.direct.marks]
        chosen = [other for other in context.selected_objects
                  if other.type != "ARMATURE" and other.find_armature() is None and other not in known]
        marks.add_objects(ob, chosen or [marks.new_place(context)])


class MM_OT_path_mark_remove(CharacterOperator):
    """Remove the mark from the path; its object stays"""
    bl_idname = "mm.path_mark_remove"
    bl_label = "Remove Mark"

    index: IntProperty(name="Mark", default=-1, min=-1, options={"SKIP_SAVE"},
                       description="Which one, from 0 on; -1 for the selected one")

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not len(targets.owner(active_armature(context)).mm.direct.marks):
            cls.poll_message_set("There are no marks")
            return False
        return True

    def run(self, _context, ob):
        ob = targets.owner(ob)
        marks.remove(ob, self.index if self.index >= 0 else ob.mm.direct.mark_index)


def _playing(ob):
    bound = targets.posed(targets.owner(ob)).animation_data
    return bound.action if bound is not None else None


def _write(ob, directed, replace_edited):
    instead = generating.replaceable(ob) or (generating.edited(ob) if replace_edited else None)
    return generating.write(ob, directed, instead)


def _done(name, uid, replace_edited, directed):
    """A long path was gone in the background."""
    ob = found_again(bpy.data.objects, name, uid)
    if ob is None:
        raise MotionError(f'"{name}" is gone: nothing was written.')
    _write(ob, directed, replace_edited)
    live.made(ob, bpy.context.evaluated_depsgraph_get(), directed.sentences)
    undo_step("Generate Motion")


register, unregister = bpy.utils.register_classes_factory((
    MM_OT_generate_path, MM_OT_take_recall, MM_OT_path_mark_add, MM_OT_path_mark_remove))
