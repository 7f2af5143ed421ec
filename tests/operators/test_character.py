# SPDX-License-Identifier: GPL-3.0-or-later
"""Character: bones get their roles by a button, and what is missing is named."""

import bpy
import pytest

from mm_blender.scene.rig.character import NEEDED, confidence, missing
from tests import walker
from tests.scene.rigify import metarig


def test_the_button_finds_the_bones(extension):
    ob = walker.armature()
    assert bpy.ops.mm.roles_find() == {"FINISHED"}
    found = {role.name: role.bone for role in ob.mm.roles}
    assert found["hips"] == "hips" and found["left_foot"] == "foot.L" and found["right_thigh"] == "thigh.R"
    assert found["left_toe"] == "toe.L" and missing(ob) == []


def test_pressing_it_again_finds_them_anew(extension):
    ob = walker.armature()
    bpy.ops.mm.roles_find()
    ob.mm.roles["hips"].bone = "head"
    bpy.ops.mm.roles_find()
    assert ob.mm.roles["hips"].bone == "hips"


def test_how_sure_a_bone_is_can_be_told(extension):
    ob = walker.armature()
    bpy.ops.mm.roles_find()
    assert ob.mm.family == "" and confidence(ob.mm.roles["hips"]) == "likely"
    ob.mm.roles["hips"].bone = "head"
    ob.mm.roles["left_toe"].bone = ""
    assert confidence(ob.mm.roles["hips"]) == "chosen" and confidence(ob.mm.roles["left_toe"]) == ""
    unnamed = walker.armature("Unnamed", _renamed(walker.BONES))
    bpy.ops.mm.roles_find()
    assert confidence(unnamed.mm.roles["left_foot"]) == "guess"
    metarig()
    bpy.ops.mm.roles_find()
    assert bpy.context.object.mm.family == "Rigify"
    assert confidence(bpy.context.object.mm.roles["hips"]) == "certain"


def test_settings_of_before_are_the_artists_choice(extension):
    ob = walker.armature()
    entry = ob.mm.roles.add()
    entry.name, entry.bone = "hips", "hips"
    assert confidence(entry) == "chosen"


def test_a_roles_bone_is_selected(extension):
    ob = walker.armature()
    bpy.ops.mm.roles_find()
    assert bpy.ops.mm.role_select(role="left_foot") == {"FINISHED"}
    assert ob.mode == "POSE" and ob.data.bones.active.name == "foot.L"
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["foot.L"]
    assert bpy.ops.mm.role_select(role="head") == {"FINISHED"}
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["head"]
    with pytest.raises(RuntimeError, match='"Walker" has no bone with the role "neck"'):
        bpy.ops.mm.role_select(role="neck")


def _renamed(bones):
    """The same bones with names that say nothing."""
    new = {name: f"Bone.{index:03}" for index, name in enumerate(bones)}
    return {new[name]: (head, tail, parent and new[parent]) for name, (head, tail, parent) in bones.items()}


def test_what_is_needed_and_not_found_is_named(extension):
    ob = walker.armature("Snake", {f"link{index}": ((0, index, 0), (0, index + 1, 0), f"link{index - 1}" if index
                                                    else None) for index in range(4)})
    assert bpy.ops.mm.roles_find() == {"FINISHED"}
    assert set(missing(ob)) & set(NEEDED) and "left_foot" in missing(ob)


def test_an_armature_without_bones_gets_a_sentence(extension):
    ob = bpy.data.objects.new("Empty", bpy.data.armatures.new("Empty"))
    bpy.context.collection.objects.link(ob)
    walker.activate(ob)
    with pytest.raises(RuntimeError, match='The armature "Empty" has no bones'):
        bpy.ops.mm.roles_find()


def test_without_an_armature_the_button_says_what_to_select(extension):
    with pytest.raises(RuntimeError, match="Select the character's armature first"):
        bpy.ops.mm.roles_find()
    bpy.ops.object.add(type="EMPTY")
    with pytest.raises(RuntimeError, match="Select the character's armature first"):
        bpy.ops.mm.roles_find()


def test_with_the_mesh_selected_its_armature_is_meant(extension):
    ob = walker.armature()
    body = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    bpy.context.collection.objects.link(body)
    body.modifiers.new("Armature", "ARMATURE").object = ob
    walker.activate(body)
    bpy.ops.mm.roles_find()
    assert ob.mm.roles["hips"].bone == "hips"


def test_a_linked_armature_is_refused_with_what_to_do(extension, tmp_path):
    walker.armature("Rig")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "rig.blend"), link=True) as (_, into):
        into.objects = ["Rig"]
    bpy.context.collection.objects.link(into.objects[0])
    walker.activate(into.objects[0])
    with pytest.raises(RuntimeError, match="make a library override"):
        bpy.ops.mm.roles_find()


def test_strange_names_are_bones_like_any_other(extension):
    bones = {name.replace("hips", 'Hüfte "1"/a.b c\\'): (head, tail, parent and parent.replace(
        "hips", 'Hüfte "1"/a.b c\\')) for name, (head, tail, parent) in walker.BONES.items()}
    ob = walker.armature("Ünï/code. x", bones)
    bpy.ops.mm.roles_find()
    assert ob.mm.roles["left_foot"].bone == "foot.L" and ob.mm.roles["hips"].bone == 'Hüfte "1"/a.b c\\'
