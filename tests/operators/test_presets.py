# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of one's own: features and settings of driving, saved in one file and loaded in any other."""

import json

import bpy
import pytest

from mm_blender.matching import schema
from mm_blender.scene import presets
from mm_blender.scene.driving import drive_presets
from mm_blender.scene.reading import feature_presets
from mm_blender.scene.reading.features import schema_of
from tests import walker

# What is the scene's, the database's, or of the moment: a preset says nothing about it.
NOT_IN_PRESETS = {"rna_type", "name", "target", "hands", "method", "compare", "strafe", "query", "gaits", "travel_bone",
                  "ground", "obstacles", "push_nla", "lengthen", "driving", "copied"}


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(presets, "own_folder", lambda _kind: str(tmp_path))
    return tmp_path


@pytest.fixture
def ob(extension):
    ob = walker.armature()
    bpy.ops.mm.features_preset(preset="locomotion")
    ob.mm.features.channels[0].weight, ob.mm.features.responsiveness = 1.5, 2.0
    bpy.ops.mm.feature_add(kind="tag")
    ob.mm.features.channels[-1].of = "sneak"
    return ob


def test_features_go_to_another_character_with_their_weights(ob, folder):
    assert bpy.ops.mm.features_preset_save(name="Prowl") == {"FINISHED"}
    other = walker.armature("Other")
    assert bpy.ops.mm.features_preset_load(name="Prowl") == {"FINISHED"}
    assert schema_of(other) == schema_of(ob)
    assert schema.load(folder / "Prowl.features.json").channels == schema_of(ob).channels, "--schema reads it, too"
    bpy.ops.mm.features_preset_remove(name="Prowl")
    assert feature_presets.PRESETS.names() == []


def test_features_that_are_not_complete_are_not_saved(ob):
    ob.mm.features.channels[-1].of = ""
    with pytest.raises(RuntimeError, match='The feature "tag" needs a tag'):
        bpy.ops.mm.features_preset_save(name="x")
    assert feature_presets.PRESETS.names() == []


def test_how_one_drives_goes_to_another_character_but_not_what_belongs_to_the_scene(ob):
    settings = ob.mm.drive
    settings.velocity_halflife, settings.blend, settings.keep_as, settings.own_speeds = 0.5, "quintic", "NLA", True
    settings.walk, settings.query = (1.0, 0.5, 0.25), "~injured"
    settings.gaits.add().name = "sneak"
    settings.gaits[0].speeds = (0.5, 0.25, 0.25)
    bpy.ops.mm.drive_preset_save(name="Heavy")
    other = walker.armature("Other").mm.drive
    other.gaits.add().name = "trot"
    assert bpy.ops.mm.drive_preset_load(name="Heavy") == {"FINISHED"}
    assert (other.velocity_halflife, other.blend, other.keep_as, other.query) == (0.5, "quintic", "NLA", "")
    assert list(other.walk) == [1.0, 0.5, 0.25]
    assert [(gait.name, list(gait.speeds)) for gait in other.gaits] == [("sneak", [0.5, 0.25, 0.25])]


def test_every_setting_of_driving_is_in_presets_or_left_out_on_purpose(ob):
    known = {prop.identifier for prop in ob.mm.drive.bl_rna.properties}
    assert known == {*drive_presets.NAMES} | NOT_IN_PRESETS and not {*drive_presets.NAMES} & NOT_IN_PRESETS


@pytest.mark.parametrize("kind, content", [
    ("features", "{}"), ("features", '{"version": 1, "channels": [{"kind": "wings"}]}'),
    ("features", '{"version": 1, "channels": [{"kind": "trajectory_position", "times": [0, 1, 2, 3, 4, 5, 6, 7]}]}'),
    ("drive", "[]"), ("drive", '{"version": 1, "settings": {"stay": "much"}, "gaits": {}}'),
    ("drive", '{"version": 1, "settings": {"blend": "magic"}, "gaits": {}}'),
    ("drive", '{"version": 1, "settings": {"walk": [1, 2]}, "gaits": {}}'),
    ("drive", '{"version": 1, "settings": {"follow": 3, "stay": 0.5}, "gaits": {}}'),
    ("drive", '{"version": 1, "settings": {"stay": NaN}, "gaits": {}}'),
    ("drive", '{"version": 1, "settings": {"stay": 0.5}, "gaits": {"sneak": [1, 2, "x"]}}')])
def test_a_damaged_preset_is_told_and_changes_nothing(ob, folder, kind, content):
    (folder / f"bad.{kind}.json").write_text(content)
    before, stay = schema_of(ob), ob.mm.drive.stay
    with pytest.raises(RuntimeError, match='The preset "bad" is damaged: remove it and save it anew'):
        getattr(bpy.ops.mm, f"{kind}_preset_load")(name="bad")
    assert schema_of(ob) == before and ob.mm.drive.stay == stay


def test_an_older_preset_leaves_what_it_does_not_know(ob, folder):
    (folder / "old.drive.json").write_text(json.dumps({"version": 1, "settings": {"stay": 0.25}, "gaits": {}}))
    ob.mm.drive.search_every = 0.3
    bpy.ops.mm.drive_preset_load(name="old")
    assert (ob.mm.drive.stay, round(ob.mm.drive.search_every, 3)) == (0.25, 0.3)
