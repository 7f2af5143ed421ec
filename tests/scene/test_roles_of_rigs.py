# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles of rigs that come with Blender: by name, and with every bone renamed, by shape."""

import bpy
import pytest

import addon_utils  # isort: skip (it is there once bpy is)

from mm_blender.motion.roles import find_character
from mm_blender.motion.skeleton import Skeleton
from mm_blender.scene.rig import skeleton_of

ARM, LEG = ("shoulder", "upper_arm", "forearm", "hand"), ("thigh", "shin", "foot", "toe")
HUMAN = {"hips": "spine", "spine": "spine.001", "chest": "spine.003", "neck": "spine.004", "head": "spine.006"}
RIGS = {
    "human": (HUMAN, "shoulder upper_arm forearm hand thigh shin foot toe"),
    "basic_human": (HUMAN, "shoulder upper_arm forearm hand thigh shin foot toe"),
    "cat": (HUMAN, "shoulder upper_arm forearm hand thigh shin foot r_toe"),
    "horse": ({"hips": "spine.002", "head": "head"},
              "shoulder upper_arm forearm forefoot thigh lower_leg hind_foot r_toe"),
    "wolf": ({"hips": "spine.005", "chest": "spine.008", "head": "spine.011"},
             "shoulder front_thigh front_shin front_foot thigh shin foot toe"),
}


@pytest.fixture(params=RIGS)
def rig(request):
    """The skeleton of one of Rigify's rigs, and the roles that its bones play."""
    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{request.param}_metarig_add")()
    trunk, limbs = RIGS[request.param]
    roles = dict(trunk)
    for part, name in zip((*ARM, *LEG), limbs.split()):
        roles |= {f"left_{part}": f"{name}.L", f"right_{part}": f"{name}.R"}
    yield skeleton_of(bpy.context.object), roles
    addon_utils.disable("rigify", default_set=True)


def test_named_bones_have_their_roles(rig):
    skeleton, expected = rig
    found = find_character(skeleton).roles
    assert {role: found.get(role) for role in expected} == expected
    assert "root" not in found


def test_unnamed_bones_have_them_too(rig):
    skeleton, expected = rig
    unnamed = Skeleton([f"Bone.{joint:03}" for joint in range(len(skeleton))], skeleton.parents, skeleton.positions,
                       skeleton.rotations)
    found = find_character(unnamed)
    roles = {role: skeleton.names[unnamed.index(name)] for role, name in found.roles.items()}
    # Where the head begins a shape does not tell for sure: Rigify has a bone for the face in its place.
    assert roles.pop("head") in (expected.pop("head"), "face")
    expected.pop("neck", None)
    assert {role: roles.get(role) for role in expected} == expected
    left, right = found.roles["left_thigh"], found.roles["right_thigh"]
    assert (found.mirror[left], found.mirror[right]) == (right, left)


def test_a_generated_rig_is_found_by_its_deforming_bones():
    addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_basic_human_metarig_add()
    bpy.ops.pose.rigify_generate()
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE" and "DEF-spine" in ob.data.bones)
    found = find_character(skeleton_of(rig)).roles
    addon_utils.disable("rigify", default_set=True)
    expected = {"hips": "DEF-spine", "left_thigh": "DEF-thigh.L", "left_shin": "DEF-shin.L", "left_foot": "DEF-foot.L",
                "left_toe": "DEF-toe.L", "right_hand": "DEF-hand.R", "right_upper_arm": "DEF-upper_arm.R",
                "head": "DEF-spine.006"}
    assert {role: found.get(role) for role in expected} == expected
