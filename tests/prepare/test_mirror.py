# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.motion import bvh, quat
from mm_blender.motion.character import Character
from mm_blender.motion.clip import Clip, Tag
from mm_blender.motion.roles import find_character
from mm_blender.motion.skeleton import Skeleton, backward
from mm_blender.prepare.mirror import SUFFIX, find_pairs, mirror
from mm_blender.prepare.recipe import Recipe
from mm_blender.prepare.root import add_root

TILTED = quat.normalize(np.array([0.8, 0.3, -0.4, 0.2]))
FLIP = np.array([-1, 1, 1])


@pytest.mark.parametrize("left, right", [
    ("thigh.L", "thigh.R"), ("thigh.l", "thigh.r"), ("thigh_L", "thigh_R"), ("thigh-l", "thigh-r"),
    ("LeftUpLeg", "RightUpLeg"), ("mixamorig:LeftArm", "mixamorig:RightArm"), ("l_thigh", "r_thigh"),
    ("lThigh", "rThigh"), ("Bip01 L Thigh", "Bip01 R Thigh"), ("LHipJoint", "RHipJoint"), ("LThumb", "RThumb"),
    ("LeftToe", "RightToe"), ("thigh_l", "thigh_r"), ("thigh_twist_01_l", "thigh_twist_01_r"),
    ("DEF-thigh.L.001", "DEF-thigh.R.001"), ("ORG-f_index.01.L", "ORG-f_index.01.R"),
    ("MCH-foot_ik.L", "MCH-foot_ik.R"), ("hand_left", "hand_right"),
    ("J_Bip_L_UpperArm", "J_Bip_R_UpperArm"), ("LEFT_ARM", "RIGHT_ARM"),
    ("leftArm", "rightArm"), ("footL", "footR"), ("r_toe.L", "r_toe.R"),
    ("Character1_LeftFoot", "Character1_RightFoot"),
])
def test_the_other_side_of_a_bone_is_found_in_its_name(left, right):
    assert find_pairs([left, "spine", right]) == {left: right, right: left, "spine": "spine"}


def test_letters_inside_words_are_no_sides():
    names = ["Spine", "Spire", "Collar", "Correr", "Lower", "Rower", "RootLow", "RootRow", "Ball", "Barr", "roll",
             "rorr"]
    assert find_pairs(names) == {name: name for name in names}


def test_a_bone_without_a_partner_is_its_own():
    assert find_pairs(["hand.L", "eye.R", "L_prop"]) == {"hand.L": "hand.L", "eye.R": "eye.R", "L_prop": "L_prop"}


@pytest.mark.parametrize("roll, turned", [(0, None), (3, None), (0, TILTED), (4, TILTED)],
                         ids=["plain", "rolled", "turned rest", "rolled and turned rest"])
def test_every_joint_stands_where_its_partner_is_seen_in_the_mirror(biped, dance, roll, turned):
    clip = dance(biped(roll, turned))
    pairs = find_pairs(clip.skeleton.names)
    flipped = mirror(clip, pairs)
    assert np.abs(flipped.globals()[0] - _partners(clip, pairs, clip.globals()[0]) * FLIP).max() < 1e-5
    # The root stays upright: yaw becomes minus yaw.
    turn = np.abs((flipped.rotations[:, 0] * clip.rotations[:, 0] * [1, 1, 1, -1]).sum(-1))
    assert np.allclose(turn, 1, atol=1e-6) and np.abs(flipped.rotations[:, 0, 1:3]).max() == 0


@pytest.mark.parametrize("roll", [0, 5])
def test_skin_on_the_bones_is_mirrored_too(biped, dance, roll):
    clip = dance(biped(roll, TILTED))
    pairs = find_pairs(clip.skeleton.names)
    normal = quat.rotate(TILTED, [1.0, 0, 0])
    rest, _ = clip.skeleton.rest
    marks = rest + np.random.default_rng(0).normal(size=rest.shape) * 0.1
    others = _partners(clip, pairs, marks[None])[0]
    reflected = others - 2 * (others @ normal)[:, None] * normal  # where each mark's twin is in the rest pose
    seen = _partners(clip, pairs, _carried(clip, marks)) * FLIP
    assert np.abs(_carried(mirror(clip, pairs), reflected) - seen)[:, 1:].max() < 1e-5


def test_twice_is_the_original(biped, dance):
    clip = dance(biped(2, TILTED), tags=(Tag("turn_left", 0, 1),), contacts=np.eye(120, 2, dtype=bool))
    again = mirror(mirror(clip, find_pairs(clip.skeleton.names)), find_pairs(clip.skeleton.names))
    _same(clip, again)
    assert (again.name, again.tags) == (clip.name, clip.tags) and np.array_equal(again.contacts, clip.contacts)


def test_contacts_tags_and_curves_change_sides(biped, dance):
    contacts = np.zeros((120, 2), dtype=bool)
    contacts[:30, 0] = True
    tags = (Tag("contact.left", 0, 0.5), Tag("turn_right", 1, 1.5), Tag("upright", 0, 1))
    flipped = mirror(dance(biped(), contacts=contacts, tags=tags, curves={"grip.L": np.arange(120)}),
                     find_pairs(biped().names))
    assert flipped.name == "dance" + SUFFIX
    assert flipped.tags == (Tag("contact.right", 0, 0.5), Tag("turn_left", 1, 1.5), Tag("upright", 0, 1))
    assert flipped.contacts[:30, 1].all() and not flipped.contacts[:, 0].any()
    assert list(flipped.curves) == ["grip.R"]


def test_bones_keep_their_own_lengths(biped, dance):
    plain = biped(1)
    lengths = np.random.default_rng(1).uniform(0.8, 1.2, size=(len(plain), 1))
    uneven = Skeleton(plain.names, plain.parents, plain.positions * lengths, plain.rotations)
    clip = dance(uneven)
    flipped = mirror(clip, find_pairs(uneven.names))
    assert np.abs(flipped.positions[:, 2:] - uneven.positions[2:]).max() < 1e-6
    _same(clip, mirror(flipped, find_pairs(uneven.names)))


def test_an_actor_whose_sides_are_not_quite_alike_does_not_lean(biped, dance):
    plain = biped()
    positions = plain.positions + np.where(np.arange(len(plain)) == plain.index("hand.L"), 0.03, 0)[:, None]
    clip = dance(Skeleton(plain.names, plain.parents, positions, plain.rotations))
    at_rest = clip.with_changes(rotations=np.repeat(plain.rotations[None], len(clip), axis=0))
    _same_turns(mirror(at_rest, find_pairs(plain.names)).rotations, at_rest.rotations)


def test_sides_that_hang_on_different_bones_are_mirrored_as_well(biped, dance):
    skeleton = biped(1)
    parents = skeleton.parents.copy()
    parents[skeleton.index("hand.L")] = 0
    loose = Skeleton(skeleton.names, parents, skeleton.positions, skeleton.rotations)
    positions, rotations = backward(loose, *(array[None] for array in skeleton.rest))
    skeleton = Skeleton(skeleton.names, parents, positions[0], rotations[0])
    clip = dance(skeleton)
    pairs = find_pairs(skeleton.names)
    flipped = mirror(clip, pairs)
    assert np.abs(flipped.globals()[0] - _partners(clip, pairs, clip.globals()[0]) * FLIP).max() < 1e-5


def test_without_sides_there_is_a_sentence(biped, dance):
    clip = dance(biped())
    with pytest.raises(MotionError, match="no two bones are each other's left and right"):
        mirror(clip, {name: name for name in clip.skeleton.names})
    with pytest.raises(MotionError, match=r'the other side of bone "thigh\.R" is "thigh\.L"'):
        mirror(clip, {"thigh.R": "thigh.L"})


def test_sides_that_lie_on_each_other_give_a_sentence():
    skeleton = Skeleton(["root", "arm.L", "arm.R"], [-1, 0, 0], np.zeros((3, 3)), quat.identity((3,)))
    clip = Clip("flat", skeleton, 60, np.zeros((2, 3, 3)), quat.identity((2, 3)))
    with pytest.raises(MotionError, match="lie on each other"):
        mirror(clip, find_pairs(skeleton.names))


def test_lafan1_is_mirrored_though_its_rest_pose_is_no_pose(lafan1):
    raw = bvh.read(sorted(lafan1.glob("*walk*.bvh"))[0], 0.01)
    _mirrors_well(raw, find_character(raw.skeleton), near=2e-5)


def test_cmu_is_mirrored_within_what_the_actors_sides_differ(cmu):
    raw = bvh.read(cmu / "16_08.bvh", 0.056444).slice(1, 200)
    character = find_character(raw.skeleton)
    _mirrors_well(raw, character, near=0.05)
    even = _even(raw.skeleton)
    positions = np.repeat(even.positions[None], len(raw), axis=0)
    positions[:, 0] = raw.positions[:, 0]
    _mirrors_well(raw.with_changes(skeleton=even, positions=positions), character, near=1e-5)


def _mirrors_well(raw, character, near):
    character = Character(raw.skeleton, character.roles, character.mirror, character.forward)
    clip = add_root(raw, character, Recipe())
    pairs = find_pairs(clip.skeleton.names)
    flipped = mirror(clip, pairs)
    assert np.abs(flipped.globals()[0] - _partners(clip, pairs, clip.globals()[0]) * FLIP).max() < near
    _same(clip, mirror(flipped, pairs))


def _even(skeleton):
    """The skeleton (built along X) with both sides alike."""
    pairs = find_pairs(skeleton.names)
    other = skeleton.positions[[skeleton.index(pairs[name]) for name in skeleton.names]] * FLIP
    return Skeleton(skeleton.names, skeleton.parents, (skeleton.positions + other) / 2, skeleton.rotations)


def _partners(clip, pairs, values):
    return values[:, [clip.skeleton.index(pairs[name]) for name in clip.skeleton.names]]


def _carried(clip, marks):
    """Points (J, 3) of the rest pose, one on each bone, as the clip carries them: (F, J, 3)."""
    rest_positions, rest_rotations = clip.skeleton.rest
    positions, rotations = clip.globals()
    return positions + quat.rotate(rotations, quat.inv_rotate(rest_rotations, marks - rest_positions))


def _same(a, b):
    assert np.abs(a.positions - b.positions).max() < 1e-5
    _same_turns(a.rotations, b.rotations)


def _same_turns(a, b):
    assert np.minimum(np.abs(a - b).max(-1), np.abs(a + b).max(-1)).max() < 1e-5
