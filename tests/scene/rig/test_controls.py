# SPDX-License-Identifier: GPL-3.0-or-later
"""Control rigs, with the one that Rigify generates: what controls hang from, and that poses of them come out right."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from mm_blender.errors import MotionError
from mm_blender.motion import quat
from mm_blender.motion.skeleton import forward
from mm_blender.scene.rig import controls
from tests.scene.rigify import control_rig

DEFORMING = {"torso": None, "spine_fk.002": "DEF-spine.002", "spine_fk.003": "DEF-spine.003", "neck": "DEF-spine.004",
             "head": "DEF-spine.006", "shoulder.%": "DEF-shoulder.%", "upper_arm_fk.%": "DEF-upper_arm.%",
             "forearm_fk.%": "DEF-forearm.%", "hand_fk.%": "DEF-hand.%", "thigh_fk.%": "DEF-thigh.%",
             "shin_fk.%": "DEF-shin.%", "foot_fk.%": "DEF-foot.%", "toe_fk.%": "DEF-toe.%"}
DEFORMING = {name.replace("%", side): bone and bone.replace("%", side)
             for name, bone in DEFORMING.items() for side in ("L", "R")}


@pytest.fixture
def rig():
    return control_rig()


def state(ob):
    """Everything about the pose, exactly."""
    return ([(*bone.location, *bone.rotation_quaternion, *bone.rotation_euler, *bone.rotation_axis_angle, *bone.scale,
              *(value for value in bone.values() if isinstance(value, (int, float)))) for bone in ob.pose.bones],
            [tuple(value for row in bone.matrix for value in row) for bone in ob.pose.bones], ob.data.pose_position)


def test_controls_hang_from_what_carries_them(rig):
    parents = controls.find(rig).parents
    assert parents["root"] is None and parents["torso"] == "root"
    line, name = [], "hand_fk.L"
    while name is not None:
        line.append(name)
        name = parents[name]
    assert line == ["hand_fk.L", "forearm_fk.L", "upper_arm_fk.L", "shoulder.L",
                    "spine_fk.003", "spine_fk.002", "torso", "root"]
    assert [parents[name] for name in ("head", "neck", "thigh_fk.R", "toe_fk.R")] == [
        "neck", "spine_fk.003", "torso", "foot_fk.R"]
    assert "spine_fk.001" not in parents, "there the spine goes down, and the hips have one place only"


def test_roles_of_controls(rig):
    character = controls.find(rig).character(rig)
    assert {role: character.roles[role] for role in ("root", "hips", "chest", "head", "left_foot", "right_hand")} == {
        "root": "root", "hips": "torso", "chest": "spine_fk.003", "head": "head", "left_foot": "foot_fk.L",
        "right_hand": "hand_fk.R"}


def test_trying_leaves_everything_as_it_was(rig):
    bones = rig.pose.bones
    bones["chest"].rotation_quaternion, bones["foot_ik.L"].location = (0.9, 0.3, 0.1, 0), (0.1, 0.2, 0.3)
    bones["shoulder.L"].rotation_euler, bones["hand_ik.R"].scale = (0.3, 0.2, 0.1), (1.1, 1, 1)
    bones["thigh_parent.L"]["IK_FK"], bones["torso"]["neck_follow"] = 0.25, 0.75
    rig.update_tag()
    bpy.context.view_layer.update()
    before = state(rig)
    controls.find(rig)
    assert state(rig) == before


def test_bones_that_carry_controls_away_are_held_still(rig):
    bones = rig.pose.bones
    bones["chest"].rotation_quaternion, bones["tweak_spine.003"].location = (0.9, 0.3, 0.1, 0), (0.1, 0, 0)
    bones["foot_ik.L"].location, bones["hand_ik.R"].rotation_quaternion = (0.1, 0.2, 0.3), (0.9, 0.3, 0.1, 0)
    assert sorted(controls.find(rig).still) == ["chest", "tweak_spine.003"], "not what leaves the controls alone"


def test_deforming_bones_are_where_the_skeleton_of_controls_has_them(extension, rig):
    rig.location, rig.rotation_euler, rig.scale = (1, 2, 0.5), (0, 0, 0.7), (1.5, 1.5, 1.5)
    rig.pose.bones["thigh_parent.R"]["IK_FK"] = 0.0
    bpy.context.view_layer.update()
    found = controls.find(rig)
    skeleton = found.skeleton(rig)
    rng = np.random.default_rng(1)
    turns = quat.exp(rng.uniform(-0.4, 0.4, (len(skeleton), 3)))
    expected, _ = forward(skeleton, skeleton.positions[None], quat.mul(skeleton.rotations, turns)[None])
    found.switch(rig)
    for name, turn in zip(skeleton.names, turns):
        rig.pose.bones[name].matrix_basis = Matrix(quat.to_matrix(turn)).to_4x4()
    rig.update_tag()
    bpy.context.view_layer.update()
    for name, place in zip(skeleton.names, expected[0]):
        bone = DEFORMING.get(name) or name
        assert np.allclose(rig.matrix_world @ rig.pose.bones[bone].head, place + (0, 0, 0.5), atol=1e-4), name


def test_a_control_that_goes_along_with_none_is_named(rig):
    constraint = rig.pose.bones["hand_fk.L"].constraints.new("LIMIT_ROTATION")
    constraint.use_limit_x = constraint.use_limit_y = constraint.use_limit_z = True
    with pytest.raises(MotionError, match=r'"hand_fk\.L" of "rig"'):
        controls.find(rig)


def test_a_hidden_rig_is_named(rig):
    rig.hide_set(True)
    with pytest.raises(MotionError, match='"rig" is hidden'):
        controls.find(rig)


def test_a_metarig_is_no_control_rig(rigs):
    assert not controls.is_control_rig(rigs.biped()) and controls.is_control_rig(control_rig())
