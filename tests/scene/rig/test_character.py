# SPDX-License-Identifier: GPL-3.0-or-later
"""The armature as a character: roles by the artist's settings, what is missing, and which way it faces."""

import bpy
import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.scene.rig import character
from tests import walker
from tests.scene.downloads import demo_without_toes


@pytest.fixture
def ob(extension):
    return walker.armature()


def test_roles_are_found_when_the_artist_has_not_looked(ob):
    found = character.character_of(ob)
    assert found.roles["hips"] == "hips" and found.roles["left_foot"] == "foot.L"
    assert found.mirror["foot.L"] == "foot.R" and len(ob.mm.roles) > 0


def test_a_foot_without_toes_stands_where_its_bone_ends_whatever_hangs_from_it(extension):
    ob = demo_without_toes(tip=True)
    tails = [ob.data.bones[f"foot.{side}"].tail_local[:] for side in "LR"]

    def soles():
        found = character.character_of(ob)
        return found.contact_places(*(part[None] for part in found.skeleton.rest))[0]

    assert soles() == pytest.approx(np.array(tails), abs=1e-5)
    bpy.ops.object.mode_set(mode="EDIT")
    lace = ob.data.edit_bones.new("lace.L")
    lace.parent, lace.head, lace.tail = ob.data.edit_bones["foot.L"], (0.1, 0, 0.15), (0.1, 0, 0.2)
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.scale = 2, 2, 2
    bpy.context.view_layer.update()
    ob.mm.roles["left_toe"].bone = ob.mm.roles["right_toe"].bone = ""
    assert soles() == pytest.approx(2 * np.array(tails), abs=1e-5)


def test_the_artists_choice_goes_before_what_was_found(ob):
    character.fill_roles(ob)
    ob.mm.roles["head"].bone = "chest"
    character.fill_roles(ob, overwrite=False)
    assert character.character_of(ob).roles["head"] == "chest"


def test_roles_without_a_bone_are_absent(ob):
    character.fill_roles(ob)
    ob.mm.roles["head"].bone = ""
    assert "head" not in character.character_of(ob).roles


def test_a_bone_that_is_gone_or_does_not_deform_is_named(ob):
    character.fill_roles(ob)
    ob.data.bones["toe.L"].use_deform = False
    with pytest.raises(MotionError, match=r'"left_toe" of "Walker" is given to the bone .*, which does not deform'):
        character.character_of(ob)
    ob.mm.roles["left_toe"].bone = "gone"
    with pytest.raises(MotionError, match='given to the bone "gone", which does not exist: choose another'):
        character.character_of(ob)


def test_bones_without_names_are_mirrored_by_their_shape(extension):
    new = {name: f"Bone.{index:03}" for index, name in enumerate(walker.BONES)}
    ob = walker.armature("Unnamed", {new[name]: (head, tail, parent and new[parent])
                                     for name, (head, tail, parent) in walker.BONES.items()})
    found = character.character_of(ob)
    assert found.mirror[new["foot.L"]] == new["foot.R"] and found.mirror[new["head"]] == new["head"]


def test_what_is_needed_and_missing_is_told(ob):
    assert set(character.missing(ob)) == set(character.NEEDED)  # nothing was found yet
    character.fill_roles(ob)
    assert character.missing(ob) == []
    ob.mm.roles["hips"].bone = "gone"
    assert character.missing(ob) == ["hips"]


def test_an_axis_of_the_artists_choice_is_used_for_a_root_bone(extension):
    bones = {"root": ((0, 0, 0), (0, 0.3, 0), None),
             **{name: (head, tail, parent or "root") for name, (head, tail, parent) in walker.BONES.items()}}
    ob = walker.armature("Rooted", bones)
    character.fill_roles(ob)
    assert ob.mm.roles["root"].bone == "root" and character.character_of(ob).forward == "-Y"
    ob.mm.forward = "+X"
    assert character.character_of(ob).forward == "+X"


def test_the_active_armature_is_the_objects_own_or_that_of_its_mesh(ob):
    assert character.active_armature(bpy.context) == ob
    child = bpy.data.objects.new("Hat", bpy.data.meshes.new("Hat"))
    bpy.context.collection.objects.link(child)
    walker.activate(child)
    assert character.active_armature(bpy.context) is None
    child.parent = ob
    assert character.active_armature(bpy.context) == ob
    above = bpy.data.objects.new("Root Node", None)
    bpy.context.collection.objects.link(above)
    walker.activate(above)
    assert character.active_armature(bpy.context) is None
    ob.parent = above
    assert character.active_armature(bpy.context) == ob, "importers leave the empty above it active"
    bpy.context.view_layer.objects.active = None
    assert character.active_armature(bpy.context) is None
