# SPDX-License-Identifier: GPL-3.0-or-later
"""What different makers call the bones of their characters, and which role each one plays.

Each line is a chain from a joint that is there already; % stands for the left and then the right side, %* for the side
in full. The roles: of the trunk, then of the left side shoulder, upper arm, forearm, hand, thigh, shin, foot, toe.
"""

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
    "MetaHuman": (("l", "r"), """
        root > pelvis > spine_01 > spine_02 > spine_03 > spine_04 > spine_05 > neck_01 > neck_02 > head
        head > FACIAL_C_FacialRoot > FACIAL_C_Jaw
        spine_05 > spine_04_latissimus_%
        spine_05 > clavicle_% > upperarm_% > lowerarm_% > hand_% > middle_metacarpal_% > middle_01_%
        clavicle_% > clavicle_pec_%
        upperarm_% > upperarm_correctiveRoot_% > upperarm_out_%
        lowerarm_% > lowerarm_twist_02_%
        hand_% > wrist_inner_%
        pelvis > thigh_% > calf_% > foot_% > ball_% > bigtoe_01_% > bigtoe_02_%
        thigh_% > thigh_twist_01_%
        thigh_% > thigh_correctiveRoot_% > thigh_bck_%
        calf_% > calf_twist_02_%
        foot_% > ankle_fwd_%
        """, {"root": "root", "hips": "pelvis", "spine": "spine_01", "chest": "spine_05", "neck": "neck_01",
              "head": "head"},
        "clavicle_% upperarm_% lowerarm_% hand_% thigh_% calf_% foot_% ball_%"),
    "Ready Player Me": (("Left", "Right"), """
        Hips > Spine > Spine1 > Spine2 > Neck > Head > HeadTop_End
        Head > %Eye
        Spine2 > %Shoulder > %Arm > %ForeArm > %Hand > %HandThumb1 > %HandThumb2
        Hips > %UpLeg > %Leg > %Foot > %ToeBase > %Toe_End
        """, {"hips": "Hips", "spine": "Spine", "chest": "Spine2", "neck": "Neck", "head": "Head"},
        "%Shoulder %Arm %ForeArm %Hand %UpLeg %Leg %Foot %ToeBase"),
    "Godot humanoid": (("Left", "Right"), """
        Root > Hips > Spine > Chest > UpperChest > Neck > Head > Jaw
        Head > %Eye
        UpperChest > %Shoulder > %UpperArm > %LowerArm > %Hand > %IndexProximal > %IndexIntermediate > %IndexDistal
        %Hand > %ThumbMetacarpal > %ThumbProximal
        Hips > %UpperLeg > %LowerLeg > %Foot > %Toes
        """, {"root": "Root", "hips": "Hips", "spine": "Spine", "chest": "UpperChest", "neck": "Neck", "head": "Head"},
        "%Shoulder %UpperArm %LowerArm %Hand %UpperLeg %LowerLeg %Foot %Toes"),
    "Roblox R15": (("Left", "Right"), """
        HumanoidRootPart > LowerTorso > UpperTorso > Head
        UpperTorso > %UpperArm > %LowerArm > %Hand
        LowerTorso > %UpperLeg > %LowerLeg > %Foot
        """, {"root": "HumanoidRootPart", "hips": "LowerTorso", "spine": "UpperTorso", "head": "Head"},
        "- %UpperArm %LowerArm %Hand %UpperLeg %LowerLeg %Foot -"),
    "Second Life": (("Left", "Right"), """
        mPelvis > mTorso > mChest > mNeck > mHead > mSkull
        mHead > mEye%
        mChest > mCollar% > mShoulder% > mElbow% > mWrist%
        mPelvis > mHip% > mKnee% > mAnkle% > mFoot% > mToe%
        """, {"hips": "mPelvis", "spine": "mTorso", "chest": "mChest", "neck": "mNeck", "head": "mHead"},
        "mCollar% mShoulder% mElbow% mWrist% mHip% mKnee% mAnkle% mFoot%"),
    "Second Life Bento": (("Left", "Right"), """
        mPelvis > mSpine1 > mSpine2 > mTorso > mSpine3 > mSpine4 > mChest > mNeck > mHead > mFaceRoot > mFaceJaw
        mChest > mCollar% > mShoulder% > mElbow% > mWrist% > mHandIndex1% > mHandIndex2%
        mChest > mWingsRoot > mWing1%
        mPelvis > mHip% > mKnee% > mAnkle% > mFoot% > mToe%
        mPelvis > mHindLimbsRoot > mHindLimb1% > mHindLimb2%
        mPelvis > mTail1 > mTail2
        """, {"hips": "mPelvis", "spine": "mSpine1", "chest": "mChest", "neck": "mNeck", "head": "mHead"},
        "mCollar% mShoulder% mElbow% mWrist% mHip% mKnee% mAnkle% mFoot%"),
    "Kinect v2": (("Left", "Right"), """
        SpineBase > SpineMid > SpineShoulder > Neck > Head
        SpineShoulder > Shoulder% > Elbow% > Wrist% > Hand% > HandTip%
        Wrist% > Thumb%
        SpineBase > Hip% > Knee% > Ankle% > Foot%
        """, {"hips": "SpineBase", "spine": "SpineMid", "chest": "SpineShoulder", "neck": "Neck", "head": "Head"},
        "- Shoulder% Elbow% Hand% Hip% Knee% Ankle% Foot%"),
    "Azure Kinect": (("LEFT", "RIGHT"), """
        PELVIS > SPINE_NAVEL > SPINE_CHEST > NECK > HEAD > NOSE
        HEAD > EYE_%
        SPINE_CHEST > CLAVICLE_% > SHOULDER_% > ELBOW_% > WRIST_% > HAND_% > HANDTIP_%
        WRIST_% > THUMB_%
        PELVIS > HIP_% > KNEE_% > ANKLE_% > FOOT_%
        """, {"hips": "PELVIS", "spine": "SPINE_NAVEL", "chest": "SPINE_CHEST", "neck": "NECK", "head": "HEAD"},
        "CLAVICLE_% SHOULDER_% ELBOW_% HAND_% HIP_% KNEE_% ANKLE_% FOOT_%"),
    "SMPL-X": (("left", "right"), """
        pelvis > %_hip > %_knee > %_ankle > %_foot
        pelvis > spine1 > spine2 > spine3 > neck > head > jaw
        head > %_eye_smplhf
        spine3 > %_collar > %_shoulder > %_elbow > %_wrist > %_index1 > %_index2 > %_index3
        """, {"hips": "pelvis", "spine": "spine1", "chest": "spine3", "neck": "neck", "head": "head"},
        "%_collar %_shoulder %_elbow %_wrist %_hip %_knee %_ankle %_foot"),
    "Rokoko": (("Left", "Right"), """
        Hips > Spine > Spine2 > Spine3 > Spine4 > Neck > Head
        Spine4 > %Shoulder > %Arm > %ForeArm > %Hand > %Finger1Metacarpal > %Finger1Proximal
        Hips > %Thigh > %Shin > %Foot > %Toe > %ToeTip
        """, {"hips": "Hips", "spine": "Spine", "chest": "Spine4", "neck": "Neck", "head": "Head"},
        "%Shoulder %Arm %ForeArm %Hand %Thigh %Shin %Foot %Toe"),
    "OptiTrack": (("L", "R"), """
        Hip > Ab > Chest > Neck > Head
        Chest > %Shoulder > %UArm > %FArm > %Hand > %Thumb1
        Hip > %Thigh > %Shin > %Foot > %Toe
        """, {"hips": "Hip", "spine": "Ab", "chest": "Chest", "neck": "Neck", "head": "Head"},
        "%Shoulder %UArm %FArm %Hand %Thigh %Shin %Foot %Toe"),
    "Perception Neuron": (("Left", "Right"), """
        Robot_Hips > Robot_Spine > Robot_Spine1 > Robot_Spine2 > Robot_Neck > Robot_Neck1 > Robot_Head
        Robot_Spine2 > Robot_%Shoulder > Robot_%Arm > Robot_%ForeArm > Robot_%Hand > Robot_%InHandIndex
        Robot_Hips > Robot_%UpLeg > Robot_%Leg > Robot_%Foot
        """, {"hips": "Robot_Hips", "spine": "Robot_Spine", "chest": "Robot_Spine2", "neck": "Robot_Neck",
              "head": "Robot_Head"},
        "Robot_%Shoulder Robot_%Arm Robot_%ForeArm Robot_%Hand Robot_%UpLeg Robot_%Leg Robot_%Foot -"),
    "Vicon Shogun": (("Left", "Right"), """
        Hips > Spine > Spine1 > Spine2 > Spine3 > Neck > Neck1 > Head > HeadEnd
        Spine3 > %Shoulder > %Arm > %ForeArm > %Hand > %HandMiddle1
        Hips > %UpLeg > %Leg > %Foot > %ToeBase > %ToeBaseEnd
        """, {"hips": "Hips", "spine": "Spine", "chest": "Spine3", "neck": "Neck", "head": "Head"},
        "%Shoulder %Arm %ForeArm %Hand %UpLeg %Leg %Foot %ToeBase"),
    "Qualisys": (("Left", "Right"), """
        Reference > Hips > Spine > Spine1 > Spine2 > Neck > Head
        Spine2 > %Shoulder > %Arm > %ForeArm > %ForeArmRoll > %Hand
        Hips > %UpLeg > %Leg > %Foot > %ToeBase
        """, {"root": "Reference", "hips": "Hips", "spine": "Spine", "chest": "Spine2", "neck": "Neck",
              "head": "Head"},
        "%Shoulder %Arm %ForeArm %Hand %UpLeg %Leg %Foot %ToeBase"),
    "Maya HumanIK with rolls": (("Left", "Right"), """
        Character1_Reference > Character1_Hips > Character1_Spine > Character1_Spine1 > Character1_Spine2
        Character1_Spine2 > Character1_Neck > Character1_Head
        Character1_Spine2 > Character1_%Shoulder > Character1_%Arm > Character1_%ArmRoll > Character1_%ForeArm
        Character1_%ForeArm > Character1_%ForeArmRoll > Character1_%Hand > Character1_%HandIndex1
        Character1_Hips > Character1_%UpLeg > Character1_%UpLegRoll > Character1_%Leg > Character1_%LegRoll
        Character1_%LegRoll > Character1_%Foot > Character1_%ToeBase
        """, {"root": "Character1_Reference", "hips": "Character1_Hips", "spine": "Character1_Spine",
              "chest": "Character1_Spine2", "neck": "Character1_Neck", "head": "Character1_Head"},
        "Character1_%Shoulder Character1_%Arm Character1_%ForeArm Character1_%Hand "
        "Character1_%UpLeg Character1_%Leg Character1_%Foot Character1_%ToeBase"),
    "Valve": (("L", "R"), """
        ValveBiped.Bip01_Pelvis > ValveBiped.Bip01_Spine > ValveBiped.Bip01_Spine1 > ValveBiped.Bip01_Spine2
        ValveBiped.Bip01_Spine2 > ValveBiped.Bip01_Spine4 > ValveBiped.Bip01_Neck1 > ValveBiped.Bip01_Head1
        ValveBiped.Bip01_Spine4 > ValveBiped.Bip01_%_Clavicle > ValveBiped.Bip01_%_UpperArm
        ValveBiped.Bip01_%_UpperArm > ValveBiped.Bip01_%_Forearm > ValveBiped.Bip01_%_Hand
        ValveBiped.Bip01_%_Hand > ValveBiped.Bip01_%_Finger0 > ValveBiped.Bip01_%_Finger01
        ValveBiped.Bip01_Pelvis > ValveBiped.Bip01_%_Thigh > ValveBiped.Bip01_%_Calf > ValveBiped.Bip01_%_Foot
        ValveBiped.Bip01_%_Foot > ValveBiped.Bip01_%_Toe0
        """, {"hips": "ValveBiped.Bip01_Pelvis", "spine": "ValveBiped.Bip01_Spine", "chest": "ValveBiped.Bip01_Spine4",
              "neck": "ValveBiped.Bip01_Neck1", "head": "ValveBiped.Bip01_Head1"},
        "ValveBiped.Bip01_%_Clavicle ValveBiped.Bip01_%_UpperArm ValveBiped.Bip01_%_Forearm ValveBiped.Bip01_%_Hand "
        "ValveBiped.Bip01_%_Thigh ValveBiped.Bip01_%_Calf ValveBiped.Bip01_%_Foot ValveBiped.Bip01_%_Toe0"),
    "3ds Max CAT": (("L", "R"), """
        CATRigHub001 > CATRigSpine1 > CATRigSpine2 > CATRigSpine3 > CATRigHub002 > CATRigNeck1 > CATRigHub003
        CATRigHub002 > CATRig%ArmCollarbone > CATRig%Arm1 > CATRig%Arm2 > CATRig%ArmPalm > CATRig%ArmDigit11
        CATRigHub001 > CATRig%Leg1 > CATRig%Leg2 > CATRig%LegAnkle > CATRig%LegDigit11
        """, {"hips": "CATRigHub001", "spine": "CATRigSpine1", "chest": "CATRigHub002", "neck": "CATRigNeck1",
              "head": "CATRigHub003"},
        "CATRig%ArmCollarbone CATRig%Arm1 CATRig%Arm2 CATRig%ArmPalm "
        "CATRig%Leg1 CATRig%Leg2 CATRig%LegAnkle CATRig%LegDigit11"),
    "3ds Max CAT base human": (("L", "R"), """
        Base HumanPelvis > Base HumanSpine1 > Base HumanSpine2 > Base HumanRibcage > Base HumanNeck > Base HumanHead
        Base HumanRibcage > Base Human%ArmCollarbone > Base Human%ArmUpperarm > Base Human%ArmForearm
        Base Human%ArmForearm > Base Human%ArmPalm > Base Human%ArmDigit11
        Base HumanPelvis > Base Human%LegThigh > Base Human%LegCalf > Base Human%LegAnkle > Base Human%LegDigit11
        """, {"hips": "Base HumanPelvis", "spine": "Base HumanSpine1", "chest": "Base HumanRibcage",
              "neck": "Base HumanNeck", "head": "Base HumanHead"},
        "Base Human%ArmCollarbone,Base Human%ArmUpperarm,Base Human%ArmForearm,Base Human%ArmPalm,"
        "Base Human%LegThigh,Base Human%LegCalf,Base Human%LegAnkle,Base Human%LegDigit11"),
    "Advanced Skeleton": (("L", "R"), """
        Root_M > Spine1_M > Spine2_M > Chest_M > Neck_M > Head_M > HeadEnd_M
        Head_M > Eye_%
        Chest_M > Scapula_% > Shoulder_% > ShoulderPart1_% > Elbow_% > ElbowPart1_% > Wrist_% > IndexFinger1_%
        Root_M > Hip_% > HipPart1_% > Knee_% > KneePart1_% > Ankle_% > Toes_% > ToesEnd_%
        """, {"hips": "Root_M", "spine": "Spine1_M", "chest": "Chest_M", "neck": "Neck_M", "head": "Head_M"},
        "Scapula_% Shoulder_% Elbow_% Wrist_% Hip_% Knee_% Ankle_% Toes_%"),
    "mGear": (("L", "R"), """
        local_C0_root > spine_C0_pelvis_jnt > spine_C0_0_jnt > spine_C0_1_jnt > spine_C0_2_jnt
        spine_C0_2_jnt > neck_C0_0_jnt > neck_C0_1_jnt > head_C0_0_jnt
        spine_C0_2_jnt > clavicle_%0_0_jnt > uparm_%0_0_jnt > lowarm_%0_0_jnt > hand_%0_0_jnt
        spine_C0_pelvis_jnt > upleg_%0_0_jnt > lowleg_%0_0_jnt > foot_%0_0_jnt > foot_%0_1_jnt
        """, {"root": "local_C0_root", "hips": "spine_C0_pelvis_jnt", "spine": "spine_C0_0_jnt",
              "chest": "spine_C0_2_jnt", "neck": "neck_C0_0_jnt", "head": "head_C0_0_jnt"},
        "clavicle_%0_0_jnt uparm_%0_0_jnt lowarm_%0_0_jnt hand_%0_0_jnt "
        "upleg_%0_0_jnt lowleg_%0_0_jnt foot_%0_0_jnt foot_%0_1_jnt"),
    "DeepMotion": (("l", "r"), """
        root > hips_JNT > spine_JNT > spine1_JNT > spine2_JNT > neck_JNT > head_JNT
        spine2_JNT > %_shoulder_JNT > %_arm_JNT > %_forearm_JNT > %_hand_JNT > %_handIndex1_JNT
        hips_JNT > %_upleg_JNT > %_leg_JNT > %_foot_JNT > %_toebase_JNT
        """, {"root": "root", "hips": "hips_JNT", "spine": "spine_JNT", "chest": "spine2_JNT", "neck": "neck_JNT",
              "head": "head_JNT"},
        "%_shoulder_JNT %_arm_JNT %_forearm_JNT %_hand_JNT %_upleg_JNT %_leg_JNT %_foot_JNT %_toebase_JNT"),
    "Cascadeur": (("l", "r"), """
        pelvis > stomach > chest > neck > head
        chest > clavicle_% > arm_% > forearm_% > hand_%
        pelvis > thigh_% > calf_% > foot_% > toe_%
        """, {"hips": "pelvis", "spine": "stomach", "chest": "chest", "neck": "neck", "head": "head"},
        "clavicle_% arm_% forearm_% hand_% thigh_% calf_% foot_% toe_%"),
    "iPi": (("L", "R"), """
        Hip > LowerSpine > MiddleSpine > Chest > Neck > Head
        Chest > %Clavicle > %Shoulder > %Forearm > %Hand
        Hip > %Thigh > %Shin > %Foot > %Toe
        """, {"hips": "Hip", "spine": "LowerSpine", "chest": "Chest", "neck": "Neck", "head": "Head"},
        "%Clavicle %Shoulder %Forearm %Hand %Thigh %Shin %Foot %Toe"),
    "MikuMikuDance": (("左", "右"), """
        全ての親 > センター > グルーブ > 腰 > 上半身 > 上半身2 > 首 > 頭 > 両目
        上半身2 > %肩 > %腕 > %腕捩 > %ひじ > %手捩 > %手首 > %人指１ > %人指２
        腰 > 下半身 > %足 > %ひざ > %足首 > %つま先
        """, {"root": "全ての親", "hips": "腰", "spine": "上半身", "chest": "上半身2", "neck": "首", "head": "頭"},
        "%肩 %腕 %ひじ %手首 %足 %ひざ %足首 %つま先"),
    "MikuMikuDance in Blender": (("L", "R"), """
        全ての親 > センター > グルーブ > 腰 > 上半身 > 上半身2 > 首 > 頭
        上半身2 > 肩.% > 腕.% > 腕捩.% > ひじ.% > 手捩.% > 手首.% > 人指１.%
        腰 > 下半身 > 足D.% > ひざD.% > 足首D.% > 足先EX.%
        """, {"root": "全ての親", "hips": "腰", "spine": "上半身", "chest": "上半身2", "neck": "首", "head": "頭"},
        "肩.% 腕.% ひじ.% 手首.% 足D.% ひざD.% 足首D.% 足先EX.%"),
    "Skyrim": (("L", "R"), """
        NPC Root [Root] > NPC COM [COM ] > NPC Pelvis [Pelv] > NPC % Thigh [%Thg] > NPC % Calf [%Clf]
        NPC % Calf [%Clf] > NPC % Foot [%ft ]
        NPC % Foot [%ft ] > NPC % Toe0 [%Toe]
        NPC COM [COM ] > NPC Spine [Spn0] > NPC Spine1 [Spn1] > NPC Spine2 [Spn2] > NPC Neck [Neck] > NPC Head [Head]
        NPC Spine2 [Spn2] > NPC % Clavicle [%Clv] > NPC % UpperArm [%Uar] > NPC % Forearm [%Lar] > NPC % Hand [%Hnd]
        """, {"root": "NPC Root [Root]", "hips": "NPC Pelvis [Pelv]", "spine": "NPC Spine [Spn0]",
              "chest": "NPC Spine2 [Spn2]", "neck": "NPC Neck [Neck]", "head": "NPC Head [Head]"},
        "NPC % Clavicle [%Clv],NPC % UpperArm [%Uar],NPC % Forearm [%Lar],NPC % Hand [%Hnd],"
        "NPC % Thigh [%Thg],NPC % Calf [%Clf],NPC % Foot [%ft ],NPC % Toe0 [%Toe]"),
    "Grand Theft Auto": (("L", "R"), """
        SKEL_ROOT > SKEL_Pelvis > SKEL_%_Thigh > SKEL_%_Calf > SKEL_%_Foot > SKEL_%_Toe0
        SKEL_ROOT > SKEL_Spine_Root > SKEL_Spine0 > SKEL_Spine1 > SKEL_Spine2 > SKEL_Spine3 > SKEL_Neck_1 > SKEL_Head
        SKEL_Spine3 > SKEL_%_Clavicle > SKEL_%_UpperArm > SKEL_%_Forearm > SKEL_%_Hand > SKEL_%_Finger00
        """, {"root": "SKEL_ROOT", "hips": "SKEL_Pelvis", "spine": "SKEL_Spine0", "chest": "SKEL_Spine3",
              "neck": "SKEL_Neck_1", "head": "SKEL_Head"},
        "SKEL_%_Clavicle SKEL_%_UpperArm SKEL_%_Forearm SKEL_%_Hand SKEL_%_Thigh SKEL_%_Calf SKEL_%_Foot SKEL_%_Toe0"),
    "Unity's Ethan": (("Left", "Right"), """
        EthanSkeleton > EthanHips > EthanSpine > EthanSpine1 > EthanSpine2 > EthanNeck > EthanHead > EthanHead1
        EthanNeck > Ethan%Shoulder > Ethan%Arm > Ethan%ForeArm > Ethan%Hand > Ethan%HandIndex1
        EthanHips > Ethan%UpLeg > Ethan%Leg > Ethan%Foot > Ethan%Toe1 > Ethan%Toe2
        """, {"root": "EthanSkeleton", "hips": "EthanHips", "spine": "EthanSpine", "chest": "EthanSpine2",
              "neck": "EthanNeck", "head": "EthanHead"},
        "Ethan%Shoulder Ethan%Arm Ethan%ForeArm Ethan%Hand Ethan%UpLeg Ethan%Leg Ethan%Foot Ethan%Toe1"),
    "Biped with underscores": (("L", "R"), """
        Bip001 > Bip001_Pelvis > Bip001_Spine > Bip001_Spine1 > Bip001_Spine2 > Bip001_Neck > Bip001_Head
        Bip001_Spine2 > Bip001_%_Clavicle > Bip001_%_UpperArm > Bip001_%_Forearm > Bip001_%_Hand > Bip001_%_Finger0
        Bip001_Pelvis > Bip001_%_Thigh > Bip001_%_Calf > Bip001_%_Foot > Bip001_%_Toe0
        """, {"hips": "Bip001_Pelvis", "spine": "Bip001_Spine", "chest": "Bip001_Spine2", "neck": "Bip001_Neck",
              "head": "Bip001_Head"},
        "Bip001_%_Clavicle Bip001_%_UpperArm Bip001_%_Forearm Bip001_%_Hand "
        "Bip001_%_Thigh Bip001_%_Calf Bip001_%_Foot Bip001_%_Toe0"),
    "KayKit": (("l", "r"), """
        root > hips > spine > chest > head
        chest > upperarm.% > lowerarm.% > wrist.% > hand.% > handslot.%
        hips > upperleg.% > lowerleg.% > foot.% > toes.%
        root > kneeIK.%
        root > control-toe-roll.% > control-heel-roll.% > control-foot-roll.%
        """, {"root": "root", "hips": "hips", "spine": "spine", "chest": "chest", "head": "head"},
        "- upperarm.% lowerarm.% hand.% upperleg.% lowerleg.% foot.% toes.%"),
    "Quaternius": (("L", "R"), """
        Bone > Foot.%
        Bone > Body > Hips > Abdomen > Torso > Neck > Head
        Torso > Shoulder.% > UpperArm.% > LowerArm.% > Palm2.% > Middle1.% > Middle2.%
        LowerArm.% > Palm1.% > Index.%
        Body > UpperLeg.% > LowerLeg.%
        Bone > PoleTarget.%
        """, {"hips": "Body", "spine": "Abdomen", "chest": "Torso", "neck": "Neck", "head": "Head"},
        "Shoulder.% UpperArm.% LowerArm.% Palm2.% UpperLeg.% LowerLeg.% Foot.% -"),
    "CloudRig": (("L", "R"), """
        DEF-Hips > DEF-Spine > DEF-RibCage > DEF-Chest > DEF-Neck > DEF-Head
        DEF-Chest > DEF-Clavicle.% > DEF-UpperArm1.% > DEF-UpperArm2.% > DEF-Forearm1.% > DEF-Forearm2.% > DEF-Wrist.%
        DEF-Hips > DEF-Thigh1.% > DEF-Thigh2.% > DEF-Knee1.% > DEF-Knee2.% > DEF-Foot.% > DEF-Toes.%
        """, {"hips": "DEF-Hips", "spine": "DEF-Spine", "chest": "DEF-Chest", "neck": "DEF-Neck", "head": "DEF-Head"},
        "DEF-Clavicle.% DEF-UpperArm1.% DEF-Forearm1.% DEF-Wrist.% DEF-Thigh1.% DEF-Knee1.% DEF-Foot.% DEF-Toes.%"),
    "numbered limbs": (("L", "R"), """
        Skeleton_torso_joint_1 > Skeleton_torso_joint_2 > torso_joint_3 > Skeleton_neck_joint_1 > Skeleton_neck_joint_2
        torso_joint_3 > Skeleton_arm_joint_%__4_ > Skeleton_arm_joint_%__3_ > Skeleton_arm_joint_%__2_
        Skeleton_torso_joint_1 > leg_joint_%_1 > leg_joint_%_2 > leg_joint_%_3 > leg_joint_%_5
        """, {"hips": "Skeleton_torso_joint_1", "spine": "Skeleton_torso_joint_2", "chest": "torso_joint_3",
              "neck": "Skeleton_neck_joint_1", "head": "Skeleton_neck_joint_2"},
        "- Skeleton_arm_joint_%__4_ Skeleton_arm_joint_%__3_ Skeleton_arm_joint_%__2_ "
        "leg_joint_%_1 leg_joint_%_2 leg_joint_%_3 leg_joint_%_5"),
    "a fox": (("Left", "Right"), """
        b_Root_00 > b_Hip_01 > b_Spine01_02 > b_Spine02_03 > b_Neck_04 > b_Head_05
        b_Spine02_03 > b_%UpperArm_06 > b_%ForeArm_07 > b_%Hand_08
        b_Hip_01 > b_Tail01_012 > b_Tail02_013
        b_Hip_01 > b_%Leg01_015 > b_%Leg02_016 > b_%Foot01_017 > b_%Foot02_018
        """, {"root": "b_Root_00", "hips": "b_Hip_01", "spine": "b_Spine01_02", "chest": "b_Spine02_03",
              "neck": "b_Neck_04", "head": "b_Head_05"},
        "- b_%UpperArm_06 b_%ForeArm_07 b_%Hand_08 b_%Leg01_015 b_%Leg02_016 b_%Foot01_017 b_%Foot02_018"),
    "legs of two bones": (("L", "R"), """
        Hips > Spine > Head
        Spine > UpperArm.% > LowerArm.%
        Hips > UpperLeg.% > LowerLeg.%
        """, {"hips": "Hips", "spine": "Spine", "head": "Head"}, "- UpperArm.% LowerArm.% - UpperLeg.% - LowerLeg.% -"),
    "one bone for the spine": (("L", "R"), """
        pelvis > spine > head
        spine > arm.% > elbow.% > hand.%
        pelvis > thigh.% > knee.% > foot.%
        """, {"hips": "pelvis", "spine": "spine", "head": "head"}, "- arm.% elbow.% hand.% thigh.% knee.% foot.% -"),
}
