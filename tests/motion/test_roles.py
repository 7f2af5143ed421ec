# SPDX-License-Identifier: GPL-3.0-or-later
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.motion import bvh, demo, families, quat
from mm_blender.motion.character import ROLES, Character
from mm_blender.motion.roles import find_character, find_roles, rest_facing
from mm_blender.motion.skeleton import Skeleton

# Each line is a chain from a joint that is there already; % stands for the left and then the right side.
# The roles: trunk, then of the left side shoulder, upper arm, forearm, hand, thigh, shin, foot, toe.
RIGS = {
    "Mixamo": (("Left", "Right"), """
        mixamorig:Hips > mixamorig:Spine > mixamorig:Spine1 > mixamorig:Spine2 > mixamorig:Neck > mixamorig:Head
        mixamorig:Head > mixamorig:HeadTop_End
        mixamorig:Spine2 > mixamorig:%Shoulder > mixamorig:%Arm > mixamorig:%ForeArm > mixamorig:%Hand
        mixamorig:%Hand > mixamorig:%HandThumb1 > mixamorig:%HandThumb2
        mixamorig:%Hand > mixamorig:%HandRing1 > mixamorig:%HandRing2
        mixamorig:Hips > mixamorig:%UpLeg > mixamorig:%Leg > mixamorig:%Foot > mixamorig:%ToeBase > mixamorig:%Toe_End
        """, {"hips": "mixamorig:Hips", "spine": "mixamorig:Spine", "chest": "mixamorig:Spine2",
              "neck": "mixamorig:Neck", "head": "mixamorig:Head"},
        "mixamorig:%Shoulder mixamorig:%Arm mixamorig:%ForeArm mixamorig:%Hand "
        "mixamorig:%UpLeg mixamorig:%Leg mixamorig:%Foot mixamorig:%ToeBase"),
    "Mixamo without its prefix": (("Left", "Right"), """
        Hips > Spine > Spine1 > Spine2 > Neck > Head > HeadTop_End
        Spine2 > %Shoulder > %Arm > %ForeArm > %Hand > %HandIndex1
        Hips > %UpLeg > %Leg > %Foot > %ToeBase > %Toe_End
        """, {"hips": "Hips", "spine": "Spine", "chest": "Spine2", "neck": "Neck", "head": "Head"},
        "%Shoulder %Arm %ForeArm %Hand %UpLeg %Leg %Foot %ToeBase"),
    "Mixamo without colons": (("Left", "Right"), """
        mixamorigHips > mixamorigSpine > mixamorigSpine1 > mixamorigSpine2 > mixamorigNeck > mixamorigHead
        mixamorigSpine2 > mixamorig%Shoulder > mixamorig%Arm > mixamorig%ForeArm > mixamorig%Hand
        mixamorigHips > mixamorig%UpLeg > mixamorig%Leg > mixamorig%Foot > mixamorig%ToeBase
        """, {"hips": "mixamorigHips", "spine": "mixamorigSpine", "chest": "mixamorigSpine2", "neck": "mixamorigNeck",
              "head": "mixamorigHead"},
        "mixamorig%Shoulder mixamorig%Arm mixamorig%ForeArm mixamorig%Hand "
        "mixamorig%UpLeg mixamorig%Leg mixamorig%Foot mixamorig%ToeBase"),
    "Unreal": (("l", "r"), """
        root > pelvis > spine_01 > spine_02 > spine_03 > neck_01 > head
        spine_03 > clavicle_% > upperarm_% > lowerarm_% > hand_% > index_01_% > index_02_%
        upperarm_% > upperarm_twist_01_%
        lowerarm_% > lowerarm_twist_01_%
        pelvis > thigh_% > calf_% > foot_% > ball_%
        thigh_% > thigh_twist_01_%
        calf_% > calf_twist_01_%
        root > ik_foot_root > ik_foot_%
        root > ik_hand_root > ik_hand_gun > ik_hand_%
        """, {"root": "root", "hips": "pelvis", "spine": "spine_01", "chest": "spine_03", "neck": "neck_01",
              "head": "head"},
        "clavicle_% upperarm_% lowerarm_% hand_% thigh_% calf_% foot_% ball_%"),
    "Unreal 5": (("l", "r"), """
        root > pelvis > spine_01 > spine_02 > spine_03 > spine_04 > spine_05 > neck_01 > neck_02 > head
        spine_05 > clavicle_% > upperarm_% > lowerarm_% > hand_% > index_metacarpal_% > index_01_% > index_02_%
        hand_% > thumb_01_% > thumb_02_%
        clavicle_% > clavicle_out_%
        upperarm_% > upperarm_twist_01_% > upperarm_twistCor_01_%
        upperarm_% > upperarm_correctiveRoot_% > upperarm_bck_%
        lowerarm_% > lowerarm_twist_01_%
        pelvis > thigh_% > calf_% > foot_% > ball_% > bigtoe_01_%
        thigh_% > thigh_correctiveRoot_% > thigh_fwd_%
        thigh_% > thigh_twist_01_%
        calf_% > calf_correctiveRoot_% > calf_knee_%
        foot_% > ankle_bck_%
        root > ik_foot_root > ik_foot_%
        root > ik_hand_root > ik_hand_gun > ik_hand_%
        root > interaction
        root > center_of_mass
        """, {"root": "root", "hips": "pelvis", "spine": "spine_01", "chest": "spine_05", "neck": "neck_01",
              "head": "head"},
        "clavicle_% upperarm_% lowerarm_% hand_% thigh_% calf_% foot_% ball_%"),
    "MakeHuman for games": (("l", "r"), """
        Root > pelvis > spine_01 > spine_02 > spine_03 > neck_01 > head
        spine_03 > clavicle_% > upperarm_% > lowerarm_% > hand_% > index_01_% > index_02_%
        pelvis > thigh_% > calf_% > foot_% > ball_%
        """, {"root": "Root", "hips": "pelvis", "spine": "spine_01", "chest": "spine_03", "neck": "neck_01",
              "head": "head"},
        "clavicle_% upperarm_% lowerarm_% hand_% thigh_% calf_% foot_% ball_%"),
    "MakeHuman for CMU": (("L", "R"), """
        Hips > %HipJoint > %*UpLeg > %*Leg > %*Foot > %*ToeBase
        Hips > LowerBack > Spine > Spine1 > Neck > Neck1 > Head
        Spine1 > %*Shoulder > %*Arm > %*ForeArm > %*Hand > %Thumb
        %*Hand > %*FingerBase > %*HandFinger1
        """, {"hips": "Hips", "spine": "LowerBack", "chest": "Spine1", "neck": "Neck", "head": "Head"},
        "%*Shoulder %*Arm %*ForeArm %*Hand %*UpLeg %*Leg %*Foot %*ToeBase"),
    "CMU": (("L", "R"), """
        Hips > %HipJoint > %*UpLeg > %*Leg > %*Foot > %*ToeBase
        Hips > LowerBack > Spine > Spine1 > Neck > Neck1 > Head
        Spine1 > %*Shoulder > %*Arm > %*ForeArm > %*Hand > %*FingerBase > %*HandIndex1
        %*Hand > %Thumb
        """, {"hips": "Hips", "spine": "LowerBack", "chest": "Spine1", "neck": "Neck", "head": "Head"},
        "%*Shoulder %*Arm %*ForeArm %*Hand %*UpLeg %*Leg %*Foot %*ToeBase"),
    "LAFAN1": (("Left", "Right"), """
        Hips > %UpLeg > %Leg > %Foot > %Toe
        Hips > Spine > Spine1 > Spine2 > Neck > Head
        Spine2 > %Shoulder > %Arm > %ForeArm > %Hand
        """, {"hips": "Hips", "spine": "Spine", "chest": "Spine2", "neck": "Neck", "head": "Head"},
        "%Shoulder %Arm %ForeArm %Hand %UpLeg %Leg %Foot %Toe"),
    "VRM": (("L", "R"), """
        Root > J_Bip_C_Hips > J_Bip_C_Spine > J_Bip_C_Chest > J_Bip_C_UpperChest > J_Bip_C_Neck > J_Bip_C_Head
        J_Bip_C_Head > J_Adj_%_FaceEye
        J_Bip_C_Head > J_Sec_Hair1_01 > J_Sec_Hair2_01
        J_Bip_C_UpperChest > J_Sec_%_Bust1
        J_Bip_C_UpperChest > J_Bip_%_Shoulder > J_Bip_%_UpperArm > J_Bip_%_LowerArm > J_Bip_%_Hand > J_Bip_%_Index1
        J_Bip_C_Hips > J_Bip_%_UpperLeg > J_Bip_%_LowerLeg > J_Bip_%_Foot > J_Bip_%_ToeBase
        """, {"root": "Root", "hips": "J_Bip_C_Hips", "spine": "J_Bip_C_Spine", "chest": "J_Bip_C_UpperChest",
              "neck": "J_Bip_C_Neck", "head": "J_Bip_C_Head"},
        "J_Bip_%_Shoulder J_Bip_%_UpperArm J_Bip_%_LowerArm J_Bip_%_Hand "
        "J_Bip_%_UpperLeg J_Bip_%_LowerLeg J_Bip_%_Foot J_Bip_%_ToeBase"),
    "VRM humanoid": (("left", "right"), """
        hips > spine > chest > upperChest > neck > head > jaw
        head > %Eye
        upperChest > %Shoulder > %UpperArm > %LowerArm > %Hand > %IndexProximal > %IndexIntermediate
        hips > %UpperLeg > %LowerLeg > %Foot > %Toes
        """, {"hips": "hips", "spine": "spine", "chest": "upperChest", "neck": "neck", "head": "head"},
        "%Shoulder %UpperArm %LowerArm %Hand %UpperLeg %LowerLeg %Foot %Toes"),
    "VRM without upper chest": (("L", "R"), """
        Root > J_Bip_C_Hips > J_Bip_C_Spine > J_Bip_C_Chest > J_Bip_C_Neck > J_Bip_C_Head
        J_Bip_C_Chest > J_Bip_%_Shoulder > J_Bip_%_UpperArm > J_Bip_%_LowerArm > J_Bip_%_Hand
        J_Bip_C_Hips > J_Bip_%_UpperLeg > J_Bip_%_LowerLeg > J_Bip_%_Foot
        """, {"root": "Root", "hips": "J_Bip_C_Hips", "spine": "J_Bip_C_Spine", "chest": "J_Bip_C_Chest",
              "neck": "J_Bip_C_Neck", "head": "J_Bip_C_Head"},
        "J_Bip_%_Shoulder J_Bip_%_UpperArm J_Bip_%_LowerArm J_Bip_%_Hand "
        "J_Bip_%_UpperLeg J_Bip_%_LowerLeg J_Bip_%_Foot -"),
    "Biped": (("L", "R"), """
        Bip01 > Bip01 Pelvis > Bip01 Spine > Bip01 Spine1 > Bip01 Neck > Bip01 Head
        Bip01 Neck > Bip01 % Clavicle > Bip01 % UpperArm > Bip01 % Forearm > Bip01 % Hand > Bip01 % Finger0
        Bip01 Spine > Bip01 % Thigh > Bip01 % Calf > Bip01 % Foot > Bip01 % Toe0
        """, {"hips": "Bip01 Pelvis", "spine": "Bip01 Spine", "chest": "Bip01 Spine1", "neck": "Bip01 Neck",
              "head": "Bip01 Head"},
        "Bip01 % Clavicle,Bip01 % UpperArm,Bip01 % Forearm,Bip01 % Hand,"
        "Bip01 % Thigh,Bip01 % Calf,Bip01 % Foot,Bip01 % Toe0"),
    "classic BVH": (("Left", "Right"), """
        Hips > %Hip > %Knee > %Ankle
        Hips > Chest > Neck > Head
        Chest > %Collar > %Shoulder > %Elbow > %Wrist
        """, {"hips": "Hips", "spine": "Chest", "neck": "Neck", "head": "Head"},
        "%Collar %Shoulder %Elbow %Wrist %Hip %Knee %Ankle -"),
    "classic BVH without collars": (("Left", "Right"), """
        Hips > %Hip > %Knee > %Ankle > %Toe
        Hips > Chest > Chest2 > Neck > Head
        Chest2 > %Shoulder > %Elbow > %Wrist
        """, {"hips": "Hips", "spine": "Chest", "chest": "Chest2", "neck": "Neck", "head": "Head"},
        "- %Shoulder %Elbow %Wrist %Hip %Knee %Ankle %Toe"),
    "Poser": (("l", "r"), """
        hip > abdomen > chest > neck > head > %Eye
        chest > %Collar > %Shldr > %ForeArm > %Hand > %Ring1
        hip > %Buttock > %Thigh > %Shin > %Foot > %Toe
        """, {"hips": "hip", "spine": "abdomen", "chest": "chest", "neck": "neck", "head": "head"},
        "%Collar %Shldr %ForeArm %Hand %Thigh %Shin %Foot %Toe"),
    "Daz Genesis 8": (("l", "r"), """
        hip > pelvis > %ThighBend > %ThighTwist > %Shin > %Foot > %Metatarsals > %Toe > %BigToe
        hip > abdomenLower > abdomenUpper > chestLower > chestUpper > neckLower > neckUpper > head > lowerJaw
        chestUpper > %Collar > %ShldrBend > %ShldrTwist > %ForearmBend > %ForearmTwist > %Hand > %Thumb1
        """, {"hips": "hip", "spine": "abdomenLower", "chest": "chestUpper", "neck": "neckLower", "head": "head"},
        "%Collar %ShldrBend %ForearmBend %Hand %ThighBend %Shin %Foot %Toe"),
    "ASF": (("l", "r"), """
        root > %hipjoint > %femur > %tibia > %foot > %toes
        root > lowerback > upperback > thorax > lowerneck > upperneck > head
        thorax > %clavicle > %humerus > %radius > %wrist > %hand > %fingers
        %wrist > %thumb
        """, {"hips": "root", "spine": "lowerback", "chest": "thorax", "neck": "lowerneck", "head": "head"},
        "%clavicle %humerus %radius %hand %femur %tibia %foot %toes"),
    "MakeHuman": (("L", "R"), """
        root > spine05 > spine04 > spine03 > spine02 > spine01 > neck01 > neck02 > neck03 > head > jaw
        head > eye.%
        spine02 > breast.%
        spine01 > clavicle.% > shoulder01.% > upperarm01.% > upperarm02.% > lowerarm01.% > lowerarm02.% > wrist.%
        wrist.% > finger1-1.% > finger1-2.%
        root > pelvis.% > upperleg01.% > upperleg02.% > lowerleg01.% > lowerleg02.% > foot.% > toe1-1.% > toe1-2.%
        """, {"hips": "root", "spine": "spine05", "chest": "spine01", "neck": "neck01", "head": "head"},
        "clavicle.% upperarm01.% lowerarm01.% wrist.% upperleg01.% lowerleg01.% foot.% toe1-1.%"),
    "Auto-Rig Pro": (("l", "r"), """
        root.x > spine_01.x > spine_02.x > spine_03.x > neck.x > head.x
        spine_03.x > shoulder.% > arm_stretch.% > forearm_stretch.% > hand.% > index1.%
        arm_stretch.% > arm_twist.%
        root.x > thigh_stretch.% > leg_stretch.% > foot.% > toes_01.%
        leg_stretch.% > leg_twist.%
        """, {"hips": "root.x", "spine": "spine_01.x", "chest": "spine_03.x", "neck": "neck.x", "head": "head.x"},
        "shoulder.% arm_stretch.% forearm_stretch.% hand.% thigh_stretch.% leg_stretch.% foot.% toes_01.%"),
    "Auto-Rig Pro with a root": (("l", "r"), """
        c_traj > root.x > spine_01.x > spine_02.x > neck.x > head.x > c_jawbone.x
        spine_02.x > shoulder.% > arm_stretch.% > forearm_stretch.% > hand.% > c_thumb1.%
        spine_02.x > c_breast_01.%
        arm_stretch.% > arm_twist.%
        root.x > thigh_stretch.% > leg_stretch.% > foot.% > toes_01.%
        root.x > c_root_bend.x
        """, {"root": "c_traj", "hips": "root.x", "spine": "spine_01.x", "chest": "spine_02.x", "neck": "neck.x",
              "head": "head.x"},
        "shoulder.% arm_stretch.% forearm_stretch.% hand.% thigh_stretch.% leg_stretch.% foot.% toes_01.%"),
    "Rigify metarig": (("L", "R"), """
        spine > spine.001 > spine.002 > spine.003 > spine.004 > spine.005 > spine.006 > face > nose > nose.001
        face > ear.% > ear.%.001
        spine.003 > shoulder.% > upper_arm.% > forearm.% > hand.% > palm.01.% > f_index.01.%
        spine.003 > breast.%
        spine > pelvis.%
        spine > thigh.% > shin.% > foot.% > toe.%
        foot.% > heel.02.%
        """, {"hips": "spine", "spine": "spine.001", "chest": "spine.003", "neck": "spine.004", "head": "spine.006"},
        "shoulder.% upper_arm.% forearm.% hand.% thigh.% shin.% foot.% toe.%"),
    "Rigify game rig": (("L", "R"), """
        DEF-spine > DEF-spine.001 > DEF-spine.002 > DEF-spine.003 > DEF-spine.004 > DEF-spine.005 > DEF-spine.006
        DEF-spine.003 > DEF-shoulder.% > DEF-upper_arm.% > DEF-upper_arm.%.001 > DEF-forearm.% > DEF-forearm.%.001
        DEF-forearm.%.001 > DEF-hand.% > DEF-thumb.01.%
        DEF-spine > DEF-pelvis.%
        DEF-spine > DEF-thigh.% > DEF-thigh.%.001 > DEF-shin.% > DEF-shin.%.001 > DEF-foot.% > DEF-toe.%
        """, {"hips": "DEF-spine", "spine": "DEF-spine.001", "chest": "DEF-spine.003", "neck": "DEF-spine.004",
              "head": "DEF-spine.006"},
        "DEF-shoulder.% DEF-upper_arm.% DEF-forearm.% DEF-hand.% DEF-thigh.% DEF-shin.% DEF-foot.% DEF-toe.%"),
    "Blender": (("L", "R"), """
        Root > Hips > Spine > Chest > Neck > Head
        Chest > Shoulder.% > UpperArm.% > LowerArm.% > Hand.%
        Hips > UpperLeg.% > LowerLeg.% > Foot.% > Toes.%
        """, {"root": "Root", "hips": "Hips", "spine": "Spine", "chest": "Chest", "neck": "Neck", "head": "Head"},
        "Shoulder.% UpperArm.% LowerArm.% Hand.% UpperLeg.% LowerLeg.% Foot.% Toes.%"),
    "one prefix for all": (("Left", "Right"), """
        Character1_Reference > Character1_Hips > Character1_Spine > Character1_Spine1 > Character1_Neck
        Character1_Neck > Character1_Head
        Character1_Spine1 > Character1_%Shoulder > Character1_%Arm > Character1_%ForeArm > Character1_%Hand
        Character1_Hips > Character1_%UpLeg > Character1_%Leg > Character1_%Foot > Character1_%ToeBase
        """, {"root": "Character1_Reference", "hips": "Character1_Hips", "spine": "Character1_Spine",
              "chest": "Character1_Spine1", "neck": "Character1_Neck", "head": "Character1_Head"},
        "Character1_%Shoulder Character1_%Arm Character1_%ForeArm Character1_%Hand "
        "Character1_%UpLeg Character1_%Leg Character1_%Foot Character1_%ToeBase"),
    "Xsens": (("Left", "Right"), """
        Pelvis > L5 > L3 > T12 > T8 > Neck > Head
        T8 > %Shoulder > %UpperArm > %ForeArm > %Hand
        Pelvis > %UpperLeg > %LowerLeg > %Foot > %Toe
        """, {"hips": "Pelvis", "spine": "L5", "chest": "T8", "neck": "Neck", "head": "Head"},
        "%Shoulder %UpperArm %ForeArm %Hand %UpperLeg %LowerLeg %Foot %Toe"),
    "SMPL": (("L", "R"), """
        Pelvis > %_Hip > %_Knee > %_Ankle > %_Foot
        Pelvis > Spine1 > Spine2 > Spine3 > Neck > Head
        Spine3 > %_Collar > %_Shoulder > %_Elbow > %_Wrist > %_Hand
        """, {"hips": "Pelvis", "spine": "Spine1", "chest": "Spine3", "neck": "Neck", "head": "Head"},
        "%_Collar %_Shoulder %_Elbow %_Hand %_Hip %_Knee %_Ankle %_Foot"),
    "Character Creator": (("L", "R"), """
        CC_Base_Hip > CC_Base_Pelvis > CC_Base_%_Thigh > CC_Base_%_Calf > CC_Base_%_Foot > CC_Base_%_ToeBase
        CC_Base_%_Thigh > CC_Base_%_ThighTwist01
        CC_Base_%_Calf > CC_Base_%_KneeShareBone
        CC_Base_Hip > CC_Base_Waist > CC_Base_Spine01 > CC_Base_Spine02 > CC_Base_NeckTwist01 > CC_Base_NeckTwist02
        CC_Base_NeckTwist02 > CC_Base_Head
        CC_Base_Spine02 > CC_Base_%_Clavicle > CC_Base_%_Upperarm > CC_Base_%_Forearm > CC_Base_%_Hand
        CC_Base_%_Forearm > CC_Base_%_ElbowShareBone
        """, {"hips": "CC_Base_Hip", "spine": "CC_Base_Waist", "chest": "CC_Base_Spine02",
              "neck": "CC_Base_NeckTwist01", "head": "CC_Base_Head"},
        "CC_Base_%_Clavicle CC_Base_%_Upperarm CC_Base_%_Forearm CC_Base_%_Hand "
        "CC_Base_%_Thigh CC_Base_%_Calf CC_Base_%_Foot CC_Base_%_ToeBase"),
    "Daz Genesis 9": (("l", "r"), """
        hip > pelvis > %_thigh > %_shin > %_foot > %_toes > %_bigtoe1
        %_thigh > %_thightwist1
        hip > spine1 > spine2 > spine3 > spine4 > neck1 > neck2 > head
        spine4 > %_shoulder > %_upperarm > %_forearm > %_hand > %_index1
        """, {"hips": "hip", "spine": "spine1", "chest": "spine4", "neck": "neck1", "head": "head"},
        "%_shoulder %_upperarm %_forearm %_hand %_thigh %_shin %_foot %_toes"),
    "joints with an ending": (("L", "R"), """
        root_jnt > pelvis_jnt > spine_01_jnt > spine_02_jnt > chest_jnt > neck_jnt > head_jnt
        chest_jnt > %_clav_jnt > %_arm_jnt > %_elbow_jnt > %_wrist_jnt
        pelvis_jnt > %_leg_jnt > %_knee_jnt > %_ankle_jnt > %_ball_jnt
        """, {"root": "root_jnt", "hips": "pelvis_jnt", "spine": "spine_01_jnt", "chest": "chest_jnt",
              "neck": "neck_jnt", "head": "head_jnt"},
        "%_clav_jnt %_arm_jnt %_elbow_jnt %_wrist_jnt %_leg_jnt %_knee_jnt %_ankle_jnt %_ball_jnt"),
    "leg and calf": (("L", "R"), """
        Pelvis > Spine > Chest > Head
        Chest > Arm.% > Forearm.% > Hand.%
        Pelvis > Leg.% > Calf.% > Foot.%
        """, {"hips": "Pelvis", "spine": "Spine", "chest": "Chest", "head": "Head"},
        "- Arm.% Forearm.% Hand.% Leg.% Calf.% Foot.% -"),
}
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


def _skeleton(sides, text):
    names, parents = _tree(sides, text)
    places = np.random.default_rng(0).normal(size=(len(names), 3))  # names alone have to do
    return Skeleton(names, parents, places, quat.identity((len(names),)))


def _expected(sides, trunk, limbs):
    expected = dict(trunk)
    parts = limbs.split("," if "," in limbs else None)
    for part, name in zip(PARTS, parts, strict=True):
        if name != "-":
            expected.update(zip((f"left_{part}", f"right_{part}"), _sided(name, sides)))
    return expected


@pytest.mark.parametrize("rig", RIGS)
def test_roles_are_found_by_name(rig):
    sides, text, trunk, limbs = RIGS[rig]
    found = find_character(_skeleton(sides, text)).roles
    expected = _expected(sides, trunk, limbs)
    assert set(expected) <= set(ROLES)
    assert found == expected


FAMILIES = {
    "Mixamo": ("Mixamo", "Mixamo without its prefix", "Mixamo without colons"),
    "Unreal": ("Unreal", "Unreal 5", "MakeHuman for games"),
    "CMU": ("CMU", "MakeHuman for CMU"),
    "LAFAN1": ("LAFAN1",),
    "VRM (VRoid)": ("VRM", "VRM without upper chest"),
    "VRM humanoid": ("VRM humanoid",),
    "MakeHuman": ("MakeHuman",),
    "Auto-Rig Pro": ("Auto-Rig Pro", "Auto-Rig Pro with a root"),
    "Rigify": ("Rigify metarig", "Rigify game rig"),
}


@pytest.mark.parametrize("rig", RIGS)
def test_a_family_is_recognised_and_certain_other_names_are_likely(rig):
    family = next((family for family, rigs in FAMILIES.items() if rig in rigs), "")
    found = find_roles(_skeleton(*RIGS[rig][:2]))
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
    found = find_roles(_skeleton(sides, text.replace("toe.%", "toes.%")))
    assert found.character.roles["left_toe"] == "toes.L" and found.confidence["left_toe"] == "likely"
    assert found.confidence["left_foot"] == found.confidence["hips"] == "certain"


def test_a_namespace_of_its_own_does_not_matter():
    sides, text, trunk, limbs = RIGS["Unreal"]
    names, parents = _tree(sides, text)
    places = np.random.default_rng(0).normal(size=(len(names), 3))
    found = find_roles(Skeleton([f"hero:{name}" for name in names], parents, places, quat.identity((len(names),))))
    assert found.family == "Unreal"
    assert found.character.roles == {role: f"hero:{name}" for role, name in _expected(sides, trunk, limbs).items()}


@pytest.mark.parametrize("rig", RIGS)
def test_every_bone_with_a_side_has_its_partner(rig):
    sides, text, *_ = RIGS[rig]
    skeleton = _skeleton(sides, text)
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
    assert find_character(_skeleton(sides, text.upper())).roles == _expected(sides, upper, limbs.upper())


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
    character = find_character(_skeleton(*RIGS[rig][:2]))
    for name, expected in zip(("spine", "neck"), CHAINS[rig], strict=True):
        assert [character.skeleton.names[joint] for joint in character.chain(name)] == expected.split()


def test_arms_that_hang_from_the_neck_do_not_make_it_spine():
    character = find_character(_skeleton(*RIGS["Biped"][:2]))
    names = character.skeleton.names
    assert [names[joint] for joint in character.chain("spine")] == ["Bip01 Spine", "Bip01 Spine1"]
    assert [names[joint] for joint in character.chain("neck")] == ["Bip01 Neck"]


def test_a_spine_beside_the_hips_is_a_chain_too():
    skeleton = _skeleton(("L", "R"), """
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
    skeleton = _skeleton(("", ""), text.replace("; ", "\n"))
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
