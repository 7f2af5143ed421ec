# SPDX-License-Identifier: GPL-3.0-or-later
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from mm_blender.errors import MotionError
from mm_blender.motion import bvh, demo, families, quat
from mm_blender.motion.character import ROLES, Character
from mm_blender.motion.roles import find_character, find_roles, rest_facing
from mm_blender.motion.skeleton import Skeleton
from tests.motion import random_rigs
from tests.motion.makers import RIGS

PARTS = ("shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")


def _sided(text, sides):
    """The text for the left and for the right; %* is the side in full."""
    full = ("Left", "Right")
    return [text.replace("%*", full[index]).replace("%", side) for index, side in enumerate(sides)]


def _tree(sides, text):
    """Names and parents, breadth first as Blender's importers have them, or as they come."""
    parents = {}
    for line in (line.strip() for line in text.strip().splitlines()):
        for chain in _sided(line, sides) if "%" in line else [line]:
            names = chain.split(" > ")
            parents.setdefault(names[0], None)
            for parent, name in pairwise(names):
                parents.setdefault(name, parent)
    names = list(parents)
    return names, [-1 if parents[name] is None else names.index(parents[name]) for name in names]


def skeleton_of(sides, text):
    names, parents = _tree(sides, text)
    places = np.random.default_rng(0).normal(size=(len(names), 3))  # names alone have to do
    return Skeleton(names, parents, places, quat.identity((len(names),)))


def expected_of(sides, trunk, limbs):
    expected = dict(trunk)
    parts = limbs.split("," if "," in limbs else None)
    for part, name in zip(PARTS, parts, strict=True):
        if name != "-":
            expected.update(zip((f"left_{part}", f"right_{part}"), _sided(name, sides)))
    return expected


@pytest.mark.parametrize("rig", RIGS)
def test_roles_are_found_by_name(rig):
    sides, text, trunk, limbs = RIGS[rig]
    found = find_character(skeleton_of(sides, text)).roles
    expected = expected_of(sides, trunk, limbs)
    assert set(expected) <= set(ROLES)
    assert found == expected


@settings(max_examples=60, derandomize=True, deadline=None, database=None,
          suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(random_rigs.rigs())
def test_no_bone_has_two_roles_and_limbs_are_as_they_were_built(rig):
    found = find_roles(rig.skeleton).character.roles
    assert len(set(found.values())) == len(found)
    assert {role: name for role, name in found.items() if role.startswith(("left", "right"))} == {
        role: name for role, name in rig.roles.items() if role.startswith(("left", "right"))}
    if rig.told:
        assert found == rig.roles


FAMILIES = {
    "Mixamo": ("Mixamo", "Mixamo without its prefix", "Mixamo without colons", "Ready Player Me", "Vicon Shogun",
               "Qualisys"),
    "Unreal": ("Unreal", "Unreal 5", "MakeHuman for games", "MetaHuman"),
    "CMU": ("CMU", "MakeHuman for CMU"),
    "LAFAN1": ("LAFAN1",),
    "VRM (VRoid)": ("VRM", "VRM without upper chest"),
    "VRM humanoid": ("VRM humanoid", "Godot humanoid"),
    "MakeHuman": ("MakeHuman",),
    "Auto-Rig Pro": ("Auto-Rig Pro", "Auto-Rig Pro with a root"),
    "Rigify": ("Rigify metarig", "Rigify game rig"),
}


@pytest.mark.parametrize("rig", RIGS)
def test_a_family_is_recognised_and_certain_other_names_are_likely(rig):
    family = next((family for family, rigs in FAMILIES.items() if rig in rigs), "")
    found = find_roles(skeleton_of(*RIGS[rig][:2]))
    assert found.family == family
    assert set(found.confidence) == set(found.character.roles)
    assert set(found.confidence.values()) == {"certain" if family else "likely"}


def test_every_family_is_tested():
    files = [json.loads(path.read_text()) for path in Path(families.__file__).parent.glob("*.json")]
    assert {file["name"] for file in files} == set(FAMILIES)
    for file in files:
        for table in (file["roles"], file.get("controls", {}).get("roles", {})):
            assert set(table) <= {"root", "hips", "spine", "chest", "neck", "head", *PARTS}


def test_a_limb_that_the_family_does_not_name_is_found_by_its_own():
    sides, text, *_ = RIGS["Rigify metarig"]
    found = find_roles(skeleton_of(sides, text.replace("toe.%", "toes.%")))
    assert found.character.roles["left_toe"] == "toes.L" and found.confidence["left_toe"] == "likely"
    assert found.confidence["left_foot"] == found.confidence["hips"] == "certain"


def test_a_namespace_of_its_own_does_not_matter():
    sides, text, trunk, limbs = RIGS["Unreal"]
    names, parents = _tree(sides, text)
    places = np.random.default_rng(0).normal(size=(len(names), 3))
    found = find_roles(Skeleton([f"hero:{name}" for name in names], parents, places, quat.identity((len(names),))))
    assert found.family == "Unreal"
    assert found.character.roles == {role: f"hero:{name}" for role, name in expected_of(sides, trunk, limbs).items()}


@pytest.mark.parametrize("rig", RIGS)
def test_every_bone_with_a_side_has_its_partner(rig):
    sides, text, *_ = RIGS[rig]
    skeleton = skeleton_of(sides, text)
    mirror = find_character(skeleton).mirror
    for line in text.strip().splitlines():
        for pattern in (name for name in line.strip().split(" > ") if "%" in name):
            left, right = _sided(pattern, sides)
            assert (mirror[left], mirror[right]) == (right, left)
    middle = [name for name in skeleton.names if mirror[name] == name]
    assert len(middle) + 2 * sum("%" in name for name in {n for line in text.strip().splitlines()
                                                          for n in line.strip().split(" > ")}) == len(skeleton)


@pytest.mark.parametrize("rig", ["Unreal", "Biped", "MakeHuman"])
def test_capitals_do_not_matter(rig):
    sides, text, trunk, limbs = RIGS[rig]
    sides = [side.upper() for side in sides]
    upper = {role: name.upper() for role, name in trunk.items()}
    assert find_character(skeleton_of(sides, text.upper())).roles == expected_of(sides, upper, limbs.upper())


# Chains: each line is what the spine, then the neck, has from the bottom up.
CHAINS = {
    "Mixamo": ("mixamorig:Spine mixamorig:Spine1 mixamorig:Spine2", "mixamorig:Neck"),
    "CMU": ("LowerBack Spine Spine1", "Neck Neck1"),
    "LAFAN1": ("Spine Spine1 Spine2", "Neck"),
    "VRM": ("J_Bip_C_Spine J_Bip_C_Chest J_Bip_C_UpperChest", "J_Bip_C_Neck"),
    "classic BVH": ("Chest", "Neck"),
    "ASF": ("lowerback upperback thorax", "lowerneck upperneck"),
    "MakeHuman": ("spine05 spine04 spine03 spine02 spine01", "neck01 neck02 neck03"),
    "Rigify metarig": ("spine.001 spine.002 spine.003", "spine.004 spine.005"),
    "leg and calf": ("Spine Chest", ""),
}


@pytest.mark.parametrize("rig", CHAINS)
def test_chains_have_all_joints_between_hips_and_head(rig):
    character = find_character(skeleton_of(*RIGS[rig][:2]))
    for name, expected in zip(("spine", "neck"), CHAINS[rig], strict=True):
        assert [character.skeleton.names[joint] for joint in character.chain(name)] == expected.split()


def test_arms_that_hang_from_the_neck_do_not_make_it_spine():
    character = find_character(skeleton_of(*RIGS["Biped"][:2]))
    names = character.skeleton.names
    assert [names[joint] for joint in character.chain("spine")] == ["Bip01 Spine", "Bip01 Spine1"]
    assert [names[joint] for joint in character.chain("neck")] == ["Bip01 Neck"]


def test_a_spine_beside_the_hips_is_a_chain_too():
    skeleton = skeleton_of(("L", "R"), """
        Cog > Hips > Thigh.% > Shin.% > Foot.%
        Cog > Spine > Chest > Neck > Head
        Chest > UpperArm.% > Forearm.% > Hand.%""")
    character = Character(skeleton, {**find_character(skeleton).roles, "hips": "Hips"})
    assert [skeleton.names[joint] for joint in character.chain("spine")] == ["Spine", "Chest"]
    assert [skeleton.names[joint] for joint in character.chain("neck")] == ["Neck"]


FINGERS = {
    "LeftHand > LeftHandThumb1 > LeftHandThumb2; LeftHand > LeftHandIndex1 > LeftHandIndex2 > LeftHandIndex3":
        ("LeftHandThumb1 LeftHandThumb2", "LeftHandIndex1 LeftHandIndex2 LeftHandIndex3"),
    "hand.L > palm.01.L > thumb.01.L > thumb.02.L; palm.01.L > f_index.01.L > f_index.02.L":
        ("thumb.01.L thumb.02.L", "f_index.01.L f_index.02.L"),
    "hand_l > thumb_01_l > thumb_02_l; hand_l > index_metacarpal_l > index_01_l > index_02_l":
        ("thumb_01_l thumb_02_l", "index_01_l index_02_l"),
    "hand.L > finger1-1.L > finger1-2.L; hand.L > metacarpal1.L > finger2-1.L > finger2-2.L":
        ("finger1-1.L finger1-2.L", "finger2-1.L finger2-2.L"),
    "Bip01 L Hand > Bip01 L Finger0 > Bip01 L Finger01; Bip01 L Hand > Bip01 L Finger1 > Bip01 L Finger11":
        ("Bip01 L Finger0,Bip01 L Finger01", "Bip01 L Finger1,Bip01 L Finger11"),
}


@pytest.mark.parametrize("text", FINGERS)
def test_fingers_are_chains(text):
    skeleton = skeleton_of(("", ""), text.replace("; ", "\n"))
    character = Character(skeleton, {"left_hand": skeleton.names[0]})
    for finger, expected in zip(("left_thumb", "left_index"), FINGERS[text], strict=True):
        assert [skeleton.names[joint] for joint in character.chain(finger)] == expected.split(
            "," if "," in expected else None)
    assert character.chain("left_pinky") == [] and character.chain("right_thumb") == []


def test_a_chain_that_nobody_knows_is_named():
    with pytest.raises(MotionError, match='no chain "left_tentacle"'):
        find_character(demo.skeleton()).chain("left_tentacle")


def test_the_demo_character_is_found():
    roles = find_character(demo.skeleton()).roles
    assert set(roles) == set(ROLES)


def test_real_files_have_all_roles(lafan1, cmu):
    for folder, family, missing in ((lafan1, "LAFAN1", set()), (cmu, "CMU", {"root"})):
        found = find_roles(bvh.read(next(folder.glob("*.bvh"))).skeleton)
        assert set(ROLES) - set(found.character.roles) == missing
        assert found.family == family and set(found.confidence.values()) == {"certain"}


# By shape

def _standing(forward=(0, -1, 0), toes=True):
    """A plain biped, unnamed, that faces a direction; and its joints' roles in order."""
    limb = {"left": 1, "right": -1}
    joints = [("hips", None, (0, 0, 1)), ("spine", "hips", (0, 0, 1.2)), ("chest", "spine", (0, 0, 1.4)),
              ("neck", "chest", (0, 0, 1.55)), ("head", "neck", (0, 0, 1.65))]
    for side, sign in limb.items():
        joints += [(f"{side}_shoulder", "chest", (0.05 * sign, 0, 1.5)),
                   (f"{side}_upper_arm", f"{side}_shoulder", (0.2 * sign, 0, 1.5)),
                   (f"{side}_forearm", f"{side}_upper_arm", (0.45 * sign, 0, 1.45)),
                   (f"{side}_hand", f"{side}_forearm", (0.7 * sign, 0, 1.4)),
                   (f"{side}_thigh", "hips", (0.1 * sign, 0, 0.95)),
                   (f"{side}_shin", f"{side}_thigh", (0.1 * sign, -0.01, 0.5)),
                   (f"{side}_foot", f"{side}_shin", (0.1 * sign, 0, 0.08))]
        if toes:
            joints.append((f"{side}_toe", f"{side}_foot", (0.1 * sign, -0.13, 0.02)))
    roles = [joint[0] for joint in joints]
    parents = [-1 if parent is None else roles.index(parent) for _, parent, _ in joints]
    yaw = quat.from_yaw(quat.yaw(np.array(forward, dtype=float)) - quat.yaw(np.array([0, -1.0, 0])))
    places = quat.rotate(yaw, np.array([place for _, _, place in joints]))
    local = places - places[parents]
    local[0] = places[0]
    names = [f"Bone.{index:03}" for index in range(len(joints))]
    return Skeleton(names, parents, local, quat.identity((len(joints),))), roles


@pytest.mark.parametrize("forward", [(0, -1, 0), (0, 1, 0), (1, 0, 0), (-1, 0, 0)])
def test_a_standing_shape_tells_the_roles_whichever_way_it_faces(forward):
    skeleton, roles = _standing(forward)
    found = find_roles(skeleton)
    character = found.character
    assert character.roles == {role: skeleton.names[joint] for joint, role in enumerate(roles)}
    assert found.family == "" and set(found.confidence.values()) == {"guess"}
    facing = rest_facing(skeleton, {role: skeleton.index(name) for role, name in character.roles.items()})
    assert np.allclose(facing, forward, atol=1e-6)
    for role, name in character.roles.items():
        other = role.replace("left", "RIGHT").replace("right", "left").replace("RIGHT", "right")
        assert character.mirror[name] == character.roles[other]


def test_a_shape_without_toes_has_feet():
    skeleton, roles = _standing(toes=False)
    assert find_character(skeleton).roles == {role: skeleton.names[joint] for joint, role in enumerate(roles)}


def _unnamed(skeleton):
    return Skeleton([f"Bone.{joint:03}" for joint in range(len(skeleton))], skeleton.parents, skeleton.positions,
                    skeleton.rotations)


@pytest.mark.parametrize("subject", ["16", "18", "20", "36", "69"])
def test_real_people_are_not_quite_symmetric(cmu, subject):
    skeleton = bvh.read(min(cmu.glob(f"{subject}_*.bvh"))).skeleton
    unnamed = _unnamed(skeleton)
    found = {role: skeleton.names[unnamed.index(name)] for role, name in find_character(unnamed).roles.items()}
    assert found == find_character(skeleton).roles


def test_a_rest_pose_that_does_not_stand_gives_no_roles(lafan1):
    skeleton = bvh.read(next(lafan1.glob("*.bvh"))).skeleton
    assert find_character(_unnamed(skeleton)).roles == {}


def test_bones_that_are_cut_in_two_are_one():
    skeleton, roles = _standing()
    names, parents, places = [], [], []
    for joint, role in enumerate(roles):
        cut = role.endswith(("shin", "foot", "forearm", "hand"))  # what hangs from the middle of the bone above
        parent = roles[skeleton.parents[joint]] if joint else None
        if cut:
            names.append(f"{parent} twist")
            parents.append(names.index(parent))
            places.append(skeleton.positions[joint] / 2)
        names.append(role)
        parents.append(names.index(names[-2] if cut else parent) if joint else -1)
        places.append(skeleton.positions[joint] / (2 if cut else 1))
    found = find_character(Skeleton([f"Bone.{joint}" for joint in range(len(names))], parents, places,
                                    quat.identity((len(names),)))).roles
    assert {role: names[int(name.removeprefix("Bone."))] for role, name in found.items()} == dict(zip(roles, roles))


def test_a_shape_that_tells_nothing_gives_no_roles_and_no_error():
    line = Skeleton([f"Bone.{index}" for index in range(4)], [-1, 0, 1, 2], np.eye(4, 3), quat.identity((4,)))
    assert not any(role.startswith(("left", "right")) for role in find_character(line).roles)
    point = Skeleton(["Bone"], [-1], [[0, 0, 0]], quat.identity((1,)))
    assert "left_foot" not in find_character(point).roles
