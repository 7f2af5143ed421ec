# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from mm_blender.motion.sides import find_pairs, split_side, swap_side


@pytest.mark.parametrize("name, side, words", [
    ("thigh.L", "left", ["thigh"]), ("thigh.R.001", "right", ["thigh", "001"]), ("upperarm_l", "left", ["upperarm"]),
    ("LeftUpLeg", "left", ["up", "leg"]), ("mixamorig:RightArm", "right", ["arm"]), ("lThigh", "left", ["thigh"]),
    ("Bip01 L Thigh", "left", ["bip", "01", "thigh"]), ("LHipJoint", "left", ["hip", "joint"]),
    ("RIGHT_ARM", "right", ["arm"]), ("footR", "right", ["foot"]), ("r_toe.L", "left", ["r", "toe"]),
    ("Spine", "", ["spine"]), ("LowerBack", "", ["lower", "back"]), ("roll", "", ["roll"]), ("LR", "", ["lr"]),
    ("L5", "", ["l", "5"]), ("T8", "", ["t", "8"]), ("lfemur", "left", ["femur"]), ("rtoes", "right", ["toes"]),
    ("lefthand", "left", ["hand"]), ("rightfoot", "right", ["foot"]), ("ring", "", ["ring"]), ("rib", "", ["rib"]),
    ("lower", "", ["lower"]), ("rear", "", ["rear"]), ("lash", "", ["lash"]), ("cleft", "", ["cleft"]),
    ("upright", "", ["upright"]), ("leftover", "", ["leftover"]), ("righting", "", ["righting"]), ("leg", "", ["leg"]),
    ("contact.left", "left", ["contact"]), ("", "", []),
])
def test_the_side_of_a_name(name, side, words):
    assert split_side(name) == (side, words)


@pytest.mark.parametrize("one, other", [
    ("thigh.L", "thigh.R"), ("thigh_l", "thigh_r"), ("LeftUpLeg", "RightUpLeg"), ("LEFT_ARM", "RIGHT_ARM"),
    ("lThigh", "rThigh"), ("LThumb", "RThumb"), ("r_toe.L", "r_toe.R"), ("Left:LeftArm", "Left:RightArm"),
    ("lfemur", "rfemur"), ("lefthand", "righthand"), ("Lefthand", "Righthand"), ("contact.left", "contact.right"),
    ("turn_left", "turn_right"), ("Hand L (copy)", "Hand R (copy)"),
])
def test_the_other_side_is_spelled_alike(one, other):
    assert swap_side(one) == other and swap_side(other) == one


@pytest.mark.parametrize("name", ["Spine", "walk", "run", "L5", "lower", "ring", "leftover", "läuft schnell", "", "頭"])
def test_names_without_a_side_stay(name):
    assert swap_side(name) == name


def test_a_pair_needs_both():
    names = ["hand.L", "hand.R", "eye.L", "L5", "R5", "spine", "lip", "rip"]
    assert find_pairs(names) == {"hand.L": "hand.R", "hand.R": "hand.L", "eye.L": "eye.L", "L5": "L5", "R5": "R5",
                                 "spine": "spine", "lip": "lip", "rip": "rip"}
