# SPDX-License-Identifier: GPL-3.0-or-later
"""Create Demo Character: something to bake and to play with, without any files."""

import bpy

from ..mm_blender.scene.demo import character
from ..mm_blender.scene.reading.sampling import scene_rate


class MM_OT_create_demo(bpy.types.Operator):
    """Add a character with a body and about eight minutes of motion (standing, walking, running, turning and
    crouching) as tagged Actions, ready to bake"""
    bl_idname = "mm.create_demo"
    bl_label = "Create Demo Character"
    bl_options = {"REGISTER", "UNDO"}

    with_mesh: bpy.props.BoolProperty(name="Body", default=True, description="Add a body, not the armature alone")

    @classmethod
    def poll(cls, context):
        if context.mode != "OBJECT":
            cls.poll_message_set("Switch to Object Mode first")
            return False
        return True

    def execute(self, context):
        before = scene_rate(context.scene)
        ob = character.create(context, self.with_mesh)
        rate = scene_rate(context.scene)
        changed = f"; the scene now runs at {rate:g} fps" if rate != before else ""
        self.report({"INFO"}, f'"{ob.name}" has {len(ob.mm.clips)} Actions{changed}')
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((MM_OT_create_demo,))
