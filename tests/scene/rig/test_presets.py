# SPDX-License-Identifier: GPL-3.0-or-later
"""Bone roles as presets: saved from one armature, loaded onto another with the same bones; otherwise a sentence."""

import json

import bpy
import pytest

from mm_blender.errors import MotionError
from mm_blender.scene import presets as files
from mm_blender.scene.rig import presets
from mm_blender.scene.rig.character import character_of, confidence, fill_roles
from tests import walker


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(files, "own_folder", lambda _name: str(tmp_path))
    return tmp_path


@pytest.fixture
def ob(extension):
    ob = walker.armature()
    fill_roles(ob)
    ob.mm.roles["head"].bone = "chest"
    ob.mm.roles["chest"].bone = ""
    ob.mm.forward = "-Z"
    return ob


def roles(ob):
    return {entry.name: entry.bone for entry in ob.mm.roles}


def test_another_armature_with_the_same_bones_gets_the_roles(ob):
    assert presets.save(ob, " Odd Head ä: 頭") == "Odd Head ä_ 頭"
    other = walker.armature("Other")
    presets.load(other, "Odd Head ä_ 頭")
    assert roles(other) == roles(ob) and other.mm.forward == "-Z"
    assert character_of(other).roles["head"] == "chest"
    assert confidence(other.mm.roles["head"]) == "chosen"


def test_a_bone_that_is_missing_is_named_and_nothing_is_changed(ob):
    presets.save(ob, "walker")
    other = walker.armature("Other", {name: bone for name, bone in walker.BONES.items() if name != "toe.L"})
    fill_roles(other)
    before = roles(other)
    with pytest.raises(MotionError, match=r'The preset "walker" names the bone "toe\.L", which "Other" does not have'):
        presets.load(other, "walker")
    assert roles(other) == before and other.mm.forward == "AUTO"


def test_presets_are_listed_replaced_and_removed(ob):
    for name in ("b", "A", "b"):
        presets.save(ob, name)
    assert presets.PRESETS.names() == ["A", "b"]
    presets.PRESETS.remove("A")
    assert presets.PRESETS.names() == ["b"]
    with pytest.raises(MotionError, match='There is no preset "A"'):
        presets.PRESETS.remove("A")
    with pytest.raises(MotionError, match='There is no preset "A"'):
        presets.load(ob, "A")


def test_names_cannot_leave_the_folder(ob, folder):
    presets.save(ob, "../../evil/x")
    assert len(list(folder.glob("*.json"))) == 1
    for name in ("", "  ", "/"):
        with pytest.raises(MotionError, match="Give the preset a name"):
            presets.save(ob, name)


def test_roles_that_were_never_found_are_not_saved(extension):
    with pytest.raises(MotionError, match='"Walker" has no bone roles to save'):
        presets.save(walker.armature(), "x")


@pytest.mark.parametrize("content", [
    "", "[]", "3", "{}", "[" * 100_000, '{"version": 1e999, "roles": {}, "forward": "AUTO"}',
    '{"version": 1, "roles": {"hips": []}, "forward": []}', '{"version": 1, "roles": 3, "forward": "AUTO"}',
    '{"version": 1, "roles": {"hips": 3}, "forward": "AUTO"}',
    '{"version": 1, "roles": {"wing": "a"}, "forward": "AUTO"}',
    '{"version": 1, "roles": {}, "forward": "UP"}', '{"version": "x", "roles": {}, "forward": "AUTO"}'])
def test_a_damaged_preset_is_told(ob, folder, content):
    (folder / "bad.roles.json").write_text(content)
    before = roles(ob)
    with pytest.raises(MotionError, match='The preset "bad" is damaged: remove it and save it anew'):
        presets.load(ob, "bad")
    assert roles(ob) == before


def test_one_from_the_future_is_told(ob, folder):
    (folder / "new.roles.json").write_text(json.dumps({"version": 99, "roles": {}, "forward": "AUTO"}))
    with pytest.raises(MotionError, match="made by a newer Motion Matching"):
        presets.load(ob, "new")


def test_the_operators_do_the_same(ob):
    assert bpy.ops.mm.roles_preset_save(name="mine") == {"FINISHED"}
    other = walker.armature("Other")
    assert bpy.ops.mm.roles_preset_load(name="mine") == {"FINISHED"}
    assert roles(other) == roles(ob)
    assert bpy.ops.mm.roles_preset_remove(name="mine") == {"FINISHED"} and presets.PRESETS.names() == []
    with pytest.raises(RuntimeError, match='There is no preset "mine"'):
        bpy.ops.mm.roles_preset_load(name="mine")
