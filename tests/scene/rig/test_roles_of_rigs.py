# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles of rigs that come with Blender: by name, and with every bone renamed, by shape; generated rigs by their
deforming bones and by their controls."""

import pytest

from mm_blender.motion.families import find_controls
from mm_blender.motion.roles import find_roles
from mm_blender.motion.skeleton import Skeleton
from mm_blender.scene.rig import controls
from mm_blender.scene.rig.armatures import skeleton_of
from tests.scene.rigify import control_rig, metarig

ARM, LEG = ("shoulder", "upper_arm", "forearm", "hand"), ("thigh", "shin", "foot", "toe")
HUMAN = {"hips": "spine", "spine": "spine.001", "chest": "spine.003", "neck": "spine.004", "head": "spine.006"}
# The trunk, the limbs, and what the chains of spine and neck have.
RIGS = {
    "human": (HUMAN, "shoulder upper_arm forearm hand thigh shin foot toe",
              "spine.001 spine.002 spine.003", "spine.004 spine.005"),
    "basic_human": (HUMAN, "shoulder upper_arm forearm hand thigh shin foot toe",
                    "spine.001 spine.002 spine.003", "spine.004 spine.005"),
    "cat": (HUMAN, "shoulder upper_arm forearm hand thigh shin foot r_toe",
            "spine.001 spine.002 spine.003", "spine.004 spine.005"),
    "horse": ({"hips": "spine.002", "spine": "spine.003", "chest": "spine.005", "neck": "neck.001", "head": "head"},
              "shoulder upper_arm forearm forefoot thigh lower_leg hind_foot r_toe",
              "spine.003 spine.004 spine.005", "spine.006 neck.001 neck.002 neck.003 neck.004"),
    "wolf": ({"hips": "spine.005", "spine": "spine.006", "chest": "spine.008", "neck": "spine.009",
              "head": "spine.011"},
             "shoulder front_thigh front_shin front_foot thigh shin foot toe",
             "spine.006 spine.007 spine.008", "spine.009 spine.010"),
}
CONTROLS = {
    "human": "shoulder upper_arm_fk forearm_fk hand_fk thigh_fk shin_fk foot_fk toe_fk",
    "basic_human": "shoulder upper_arm_fk forearm_fk hand_fk thigh_fk shin_fk foot_fk toe_fk",
    "cat": "shoulder upper_arm_fk forearm_fk hand_fk thigh_fk shin_fk foot_fk r_toe",
    "horse": "shoulder upper_arm_fk forearm_fk forefoot_fk thigh_fk lower_leg_fk hind_foot_fk r_toe_fk",
    "wolf": "shoulder front_thigh_fk front_shin_fk front_foot_fk thigh_fk shin_fk foot_fk toe",
}


def _sided(trunk, limbs):
    """role → bone, with the limbs of both sides."""
    return {**trunk, **{f"{side}_{part}": f"{name}.{side[0].upper()}" for part, name in zip((*ARM, *LEG), limbs.split())
                        for side in ("left", "right")}}


@pytest.fixture(params=RIGS)
def rig(request):
    """The skeleton of one of Rigify's metarigs, and the roles that its bones play."""
    return skeleton_of(metarig(request.param)), _sided(*RIGS[request.param][:2])


def test_named_bones_have_their_roles_for_certain(rig):
    skeleton, expected = rig
    found = find_roles(skeleton)
    assert found.character.roles == expected
    assert found.family == "Rigify" and set(found.confidence.values()) == {"certain"}


def test_unnamed_bones_have_them_too_as_a_guess(rig):
    skeleton, expected = rig
    unnamed = Skeleton([f"Bone.{joint:03}" for joint in range(len(skeleton))], skeleton.parents, skeleton.positions,
                       skeleton.rotations)
    found = find_roles(unnamed)
    roles = {role: skeleton.names[unnamed.index(name)] for role, name in found.character.roles.items()}
    # Where the head begins a shape does not tell for sure: Rigify has a bone for the face in its place.
    assert roles.pop("head") in (expected.pop("head"), "face")
    expected.pop("neck", None)
    assert {role: roles.get(role) for role in expected} == expected
    assert found.family == "" and set(found.confidence.values()) == {"guess"}
    left, right = found.character.roles["left_thigh"], found.character.roles["right_thigh"]
    assert (found.character.mirror[left], found.character.mirror[right]) == (right, left)


@pytest.mark.parametrize("kind", CONTROLS)
def test_a_generated_rig_is_found_by_its_deforming_bones(kind):
    trunk, limbs, *chains = RIGS[kind]
    found = find_roles(skeleton_of(control_rig(kind)))
    assert found.character.roles == {role: f"DEF-{name}" for role, name in _sided(trunk, limbs).items()}
    assert found.family == "Rigify" and set(found.confidence.values()) == {"certain"}
    names = found.character.skeleton.names
    for name, expected in zip(("spine", "neck"), chains, strict=True):
        assert [names[joint] for joint in found.character.chain(name)] == [f"DEF-{bone}" for bone in expected.split()]


@pytest.mark.parametrize("kind", CONTROLS)
def test_a_generated_rig_has_its_controls(kind):
    ob = control_rig(kind)
    names = ob.data.bones.keys()
    found = find_controls(names)
    assert found.roles == _sided({"root": "root", "hips": "torso", "neck": "neck", "head": "head"}, CONTROLS[kind])
    spine = {name for name in names if name.startswith("spine_fk")}
    assert len(spine) >= 4 and {*found.roles.values(), *spine} <= set(found.bones)
    assert ("f_index.02.L" in found.bones) == (kind in ("human", "wolf"))
    assert set(found.ik) >= {f"{side}_{part}" for side in ("left", "right")
                             for part in ("hand", "forearm", "foot", "shin")}
    for bone in (*found.bones, *found.ik.values()):
        assert bone in ob.pose.bones
    assert len(found.properties) == 10
    for bone, key, value in found.properties:
        assert isinstance(value, type(ob.pose.bones[bone][key]))


def test_controls_are_a_character_with_a_spine():
    ob = control_rig()
    found = find_roles(controls.find(ob).skeleton(ob))
    assert (found.family, found.confidence["spine"]) == ("Rigify", "certain")
    assert found.character.roles["spine"] == "spine_fk.002" and found.character.roles["chest"] == "spine_fk.003"
    assert [found.character.skeleton.names[joint] for joint in found.character.chain("spine")] == [
        "spine_fk.002", "spine_fk.003"]


def test_a_metarig_has_no_controls():
    assert find_controls(metarig().data.bones.keys()) is None
