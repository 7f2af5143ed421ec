# SPDX-License-Identifier: GPL-3.0-or-later
"""Character: find out which bone plays which role, and say which pose is the T-pose."""

import bpy
from bpy.props import StringProperty

from ..mm_blender.scene import driving
from ..mm_blender.scene.driving import travel
from ..mm_blender.scene.rig import targets
from ..mm_blender.scene.rig.advice import TALL, advice, make_a_person
from ..mm_blender.scene.rig.character import confidence, fill_roles, missing, select_bone
from ..mm_blender.scene.rig.root_bone import add_root
from ..mm_blender.scene.rig.t_pose import clear_stance, has_stance, set_stance
from .base import CharacterOperator, active_armature

_SURE = {
    "certain": "Certain: this is how the bones of {family} rigs are called",
    "likely": "Likely: found by the bone's name",
    "guess": "A guess, from the shape of the rest pose: have a look",
    "chosen": "Chosen by you or by a preset, or found by an earlier version",
    "": "There is no such bone, or none was found",
}


class MM_OT_roles_find(CharacterOperator):
    """Find the hips, feet, hands and so on among the bones, by their names and by the shape of the rest pose"""
    bl_idname = "mm.roles_find"
    bl_label = "Find Bones"

    def run(self, context, ob):
        fill_roles(ob)
        lacking = missing(ob)
        if lacking:
            named = ", ".join(role.replace("_", " ") for role in lacking)
            self.report({"WARNING"}, f"No bone was found for: {named}. Choose them by hand")
        else:
            self.report({"INFO"}, f"{sum(bool(role.bone) for role in ob.mm.roles)} bones found")
            for sentence in advice(ob):
                self.report({"INFO"}, sentence)


class MM_OT_character_resize(CharacterOperator):
    bl_idname = "mm.character_resize"
    bl_label = "Make It as Tall as a Person"
    bl_description = ("Scale the armature object, or the empties that carry it, until the character is 1.7 m tall. "
                      "Bones, rest pose and Actions stay as they are; a database that is baked already is baked again")

    def run(self, context, ob):
        times = make_a_person(ob)
        self.report({"INFO"}, f'"{ob.name}" is {times:.3g} times as large now: {TALL} m')


class MM_OT_role_select(CharacterOperator):
    """Select the bone"""
    bl_idname = "mm.role_select"
    bl_label = "Select Bone"

    role: StringProperty(name="Role", description="The role whose bone is selected, such as left_foot")

    @classmethod
    def description(cls, context, properties):
        ob = active_armature(context)
        entry = ob.mm.roles.get(properties.role) if ob is not None else None
        if entry is None:
            return "Select the bone"
        about = _SURE[confidence(entry)].format(family=ob.mm.family)
        return f"{about}. Click to select the bone in Pose Mode" if entry.bone else about

    def run(self, context, ob):
        select_bone(ob, self.role)


class MM_OT_root_bone_add(CharacterOperator):
    """Put a root bone on the ground, above all bones of the armature that is driven: kept takes travel on it. Actions \
look as before, all other bones are where they were, and the next bake reads all clips again"""
    bl_idname = "mm.root_bone_add"
    bl_label = "Add Root Bone"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if driving.current() is not None:
            cls.poll_message_set("Stop driving first")
            return False
        if found := travel.usual(_driven(context)):
            cls.poll_message_set(f'It has one already: "{found}"')
            return False
        return True

    def run(self, context, _ob):
        ob = _driven(context)
        self.report({"INFO"}, f'The bone "{add_root(ob)}" carries "{ob.name}" now')


def _driven(context):
    """The armature that is posed with the settings of the active one."""
    return targets.posed(targets.owner(active_armature(context)))


class MM_OT_stance_set(CharacterOperator):
    bl_idname = "mm.stance_set"
    bl_label = "Use Current Pose as T-Pose"
    bl_description = ("For a rig whose rest pose is odd: pose it upright, with level arms and toes to the front, then "
                      "press this. The rest pose itself is not touched")

    def run(self, context, ob):
        turned = set_stance(ob)
        self.report({"INFO"}, f"Kept as the T-pose: {turned} bones differ from the rest pose")


class MM_OT_stance_clear(CharacterOperator):
    """Take the rest pose for the T-pose again"""
    bl_idname = "mm.stance_clear"
    bl_label = "Forget T-Pose"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not has_stance(active_armature(context)):
            cls.poll_message_set("No pose has been taken for the T-pose")
            return False
        return True

    def run(self, context, ob):
        clear_stance(ob)


register, unregister = bpy.utils.register_classes_factory((
    MM_OT_roles_find, MM_OT_character_resize, MM_OT_role_select, MM_OT_root_bone_add, MM_OT_stance_set,
    MM_OT_stance_clear))
