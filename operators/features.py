# SPDX-License-Identifier: GPL-3.0-or-later
"""Features: choose what is compared when the next frame is searched for."""

import bpy
from bpy.props import EnumProperty, IntProperty

from ..mm_blender.matching.features import KINDS
from ..mm_blender.matching.schema import PRESETS, Channel
from ..mm_blender.scene.reading.features import add_channel, apply_preset
from ..mm_blender.scene.settings import KIND_ITEMS
from .base import CharacterOperator, active_armature

_PRESET_NOTES = {
    "locomotion": "The 27 numbers of Learned Motion Matching: where the path leads in one second, feet and hips",
    "locomotion_past": "The same with one sample of the past: steadier in strafes and turns",
    "quadruped": "Four feet: the fore feet have the roles of hands",
}


class MM_OT_features_preset(CharacterOperator):
    """Replace the list of features by a preset"""
    bl_idname = "mm.features_preset"
    bl_label = "Feature Preset"

    preset: EnumProperty(name="Preset", items=[(name, name.replace("_", " ").title(), _PRESET_NOTES[name])
                                               for name in PRESETS], description="Which features")

    @classmethod
    def description(cls, _context, properties):
        return _PRESET_NOTES[properties.preset]

    def run(self, context, ob):
        apply_preset(ob, self.preset)


class MM_OT_feature_add(CharacterOperator):
    """Add a feature to the list"""
    bl_idname = "mm.feature_add"
    bl_label = "Add Feature"

    kind: EnumProperty(name="Feature", items=KIND_ITEMS, description="What it measures")

    @classmethod
    def description(cls, _context, properties):
        return KINDS[properties.kind].tooltip

    def run(self, context, ob):
        add_channel(ob, Channel(self.kind, *KINDS[self.kind].usual))
        ob.mm.features.index = len(ob.mm.features.channels) - 1


class _FeatureOperator(CharacterOperator):
    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not len(active_armature(context).mm.features.channels):
            cls.poll_message_set("There are no features yet")
            return False
        return True


class MM_OT_feature_remove(_FeatureOperator):
    """Remove the feature from the list"""
    bl_idname = "mm.feature_remove"
    bl_label = "Remove Feature"

    def run(self, context, ob):
        features = ob.mm.features
        features.channels.remove(_index(features))
        features.index = _index(features)


class MM_OT_feature_move(_FeatureOperator):
    """Move the feature up or down in the list"""
    bl_idname = "mm.feature_move"
    bl_label = "Move Feature"

    by: IntProperty(name="By", default=-1, description="Rows: negative for up")

    def run(self, context, ob):
        features = ob.mm.features
        to = max(0, min(_index(features) + self.by, len(features.channels) - 1))
        features.channels.move(_index(features), to)
        features.index = to


def _index(features):
    """The active row, which may lie past the end of a list that got shorter."""
    return max(0, min(features.index, len(features.channels) - 1))


register, unregister = bpy.utils.register_classes_factory((
    MM_OT_features_preset, MM_OT_feature_add, MM_OT_feature_remove, MM_OT_feature_move))
