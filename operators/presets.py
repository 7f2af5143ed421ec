# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of one's own: bone roles, features and settings of driving, kept for other characters."""

import bpy
from bpy.props import StringProperty

from ..mm_blender.scene.driving import drive_presets
from ..mm_blender.scene.reading import feature_presets
from ..mm_blender.scene.rig import presets as role_presets
from ..mm_blender.scene.rig import targets
from .base import CharacterOperator, active_armature


class _Save(CharacterOperator):
    """Writes a preset with a module's save(): subclasses name the module `presets`."""

    bl_label = "Save Preset"
    bl_options = {"REGISTER"}

    name: StringProperty(name="Name", description="What it is called; a preset of that name is replaced")

    def invoke(self, context, _event):
        self.name = self.name or active_armature(context).name
        return context.window_manager.invoke_props_dialog(self)

    def run(self, _context, ob):
        self.report({"INFO"}, f'Saved the preset "{self.presets.save(targets.owner(ob), self.name)}"')


class _Load(CharacterOperator):
    bl_label = "Load Preset"

    name: StringProperty(name="Name", description="What the preset is called")

    def run(self, _context, ob):
        self.presets.load(targets.owner(ob), self.name)


class _Remove(CharacterOperator):
    bl_label = "Remove Preset"
    bl_options = {"REGISTER"}

    name: StringProperty(name="Name", description="What the preset is called")

    def invoke(self, context, event):
        return context.window_manager.invoke_confirm(self, event)

    def run(self, _context, _ob):
        self.presets.PRESETS.remove(self.name)


class _OfRoles:
    presets = role_presets


class MM_OT_roles_preset_save(_OfRoles, _Save):
    """Save the roles of this armature's bones for other armatures with the same bones"""
    bl_idname = "mm.roles_preset_save"


class MM_OT_roles_preset_load(_OfRoles, _Load):
    """Give the bones of this armature the roles that they have in the preset"""
    bl_idname = "mm.roles_preset_load"


class MM_OT_roles_preset_remove(_OfRoles, _Remove):
    """Remove the preset for good; armatures that have its roles keep them"""
    bl_idname = "mm.roles_preset_remove"


class _OfFeatures:
    presets = feature_presets


class MM_OT_features_preset_save(_OfFeatures, _Save):
    """Save the list of features, with weights and sliders, for other characters"""
    bl_idname = "mm.features_preset_save"


class MM_OT_features_preset_load(_OfFeatures, _Load):
    """Replace the list of features by the preset's, with its weights and sliders"""
    bl_idname = "mm.features_preset_load"


class MM_OT_features_preset_remove(_OfFeatures, _Remove):
    """Remove the preset for good; characters that have its features keep them"""
    bl_idname = "mm.features_preset_remove"


class _OfDrive:
    presets = drive_presets


class MM_OT_drive_preset_save(_OfDrive, _Save):
    """Save how this character is driven for others: all settings of Drive but target, method, tag query and meshes"""
    bl_idname = "mm.drive_preset_save"


class MM_OT_drive_preset_load(_OfDrive, _Load):
    """Drive as the preset has it; it acts at once, also while driving"""
    bl_idname = "mm.drive_preset_load"


class MM_OT_drive_preset_remove(_OfDrive, _Remove):
    """Remove the preset for good; characters that are driven so keep their settings"""
    bl_idname = "mm.drive_preset_remove"


register, unregister = bpy.utils.register_classes_factory((
    MM_OT_roles_preset_save, MM_OT_roles_preset_load, MM_OT_roles_preset_remove,
    MM_OT_features_preset_save, MM_OT_features_preset_load, MM_OT_features_preset_remove,
    MM_OT_drive_preset_save, MM_OT_drive_preset_load, MM_OT_drive_preset_remove))
