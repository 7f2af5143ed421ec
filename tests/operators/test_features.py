# SPDX-License-Identifier: GPL-3.0-or-later
"""Features: presets, a list of one's own, and how both reach the engine."""

import bpy
import pytest

from mm_blender.errors import MotionError
from mm_blender.matching import database
from mm_blender.matching.features import KINDS
from mm_blender.matching.schema import PRESETS, Channel
from mm_blender.scene.reading.features import add_channel, channel_of, schema_of, size_of
from tests import walker


@pytest.fixture
def ob(extension):
    return walker.armature()


@pytest.mark.parametrize("preset, numbers", [("locomotion", 27), ("locomotion_past", 31), ("quadruped", 39)])
def test_a_preset_has_as_many_numbers_as_its_paper_says(ob, preset, numbers):
    assert bpy.ops.mm.features_preset(preset=preset) == {"FINISHED"}
    assert size_of(ob) == numbers == schema_of(ob).size


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_survives_the_way_through_the_settings(ob, preset):
    bpy.ops.mm.features_preset(preset=preset)
    assert schema_of(ob) == PRESETS[preset]


def test_a_preset_replaces_the_list(ob):
    for preset in ("quadruped", "locomotion"):
        bpy.ops.mm.features_preset(preset=preset)
    assert schema_of(ob).name == "locomotion"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_added_and_is_complete(ob, kind):
    bpy.ops.mm.feature_add(kind=kind)
    channel, = schema_of(ob).channels
    assert channel.kind == kind and size_of(ob) == channel.size and ob.mm.features.index == 0


@pytest.mark.parametrize("channel", [
    Channel("bone_position", "head", (-0.2, 0.0, 0.4), 1.5), Channel("tag", "run", (0.1,), 0.0),
    Channel("property", "hips/sway"), Channel("trajectory_height", times=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6))])
def test_a_feature_survives_the_way_through_the_settings(ob, channel):
    assert channel_of(add_channel(ob, channel)) == channel


def test_a_feature_of_ones_own_makes_it_a_custom_list(ob):
    bpy.ops.mm.features_preset(preset="locomotion")
    ob.mm.features.channels[0].weight = 2.0
    assert schema_of(ob).name == "custom" and schema_of(ob).channels[0].weight == 2.0


def test_features_are_moved_and_removed(ob):
    for kind in ("bone_position", "bone_velocity", "tag"):
        bpy.ops.mm.feature_add(kind=kind)
    bpy.ops.mm.feature_move(by=-1)
    assert [entry.kind for entry in ob.mm.features.channels] == ["bone_position", "tag", "bone_velocity"]
    bpy.ops.mm.feature_remove()
    ob.mm.features.index = 99
    bpy.ops.mm.feature_remove()
    assert [entry.kind for entry in ob.mm.features.channels] == ["bone_position"]
    bpy.ops.mm.feature_remove()
    with pytest.raises(RuntimeError, match="There are no features yet"):
        bpy.ops.mm.feature_remove()


def test_an_incomplete_feature_does_not_count_and_is_named_when_it_matters(ob):
    bpy.ops.mm.features_preset(preset="locomotion")
    bpy.ops.mm.feature_add(kind="tag")
    ob.mm.features.channels[-1].of = " "
    assert size_of(ob) == 27
    with pytest.raises(MotionError, match='The feature "tag" needs a tag'):
        schema_of(ob)


def test_no_features_at_all_get_a_sentence(ob):
    with pytest.raises(MotionError, match='"Walker" has no features: choose a preset'):
        schema_of(ob)


def test_the_sliders_and_the_end_of_clips_reach_the_database(character):
    features = character.mm.features
    features.responsiveness, features.quality, features.past_end = 2.0, 0.5, "exclude"
    bpy.ops.mm.bake()
    schema = database.load(character.mm.bake.path).schema
    assert (schema.responsiveness, schema.quality, schema.past_end) == (2.0, 0.5, "exclude")
    weights = dict(zip((channel.kind for channel in schema.channels), schema.weights()))
    assert weights["trajectory_position"] == pytest.approx(2 ** 0.5)
    assert weights["bone_position"] == pytest.approx(0.5 ** 0.5)


def test_a_role_without_a_bone_that_a_feature_needs_is_named(character):
    add_channel(character, Channel("bone_position", "left_hand"))
    character.mm.roles["left_hand"].bone = ""
    with pytest.raises(RuntimeError, match="left_hand"):
        bpy.ops.mm.bake()


def test_a_feature_for_a_property_that_no_clip_animates_gets_a_sentence(character):
    add_channel(character, Channel("property", "mood"))
    with pytest.raises(RuntimeError, match='"mood"'):
        bpy.ops.mm.bake()
