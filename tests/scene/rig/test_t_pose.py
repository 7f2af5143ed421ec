# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose that is taken for the T-pose: as it was shown, by name, whatever happens to the object."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Quaternion

from mm_blender.errors import MotionError
from mm_blender.scene.rig.armatures import skeleton_of
from mm_blender.scene.rig.t_pose import clear_stance, has_stance, set_stance, stance_of
from tests import walker


@pytest.fixture
def ob(extension):
    """An armature whose arms hang, posed with level arms."""
    ob = walker.armature()
    for side, sign in (("L", 1), ("R", -1)):
        ob.pose.bones[f"upper_arm.{side}"].rotation_euler = 0.7, 0.2 * sign, 0.1
        ob.pose.bones[f"thigh.{side}"].rotation_euler = 0, 0, 0.3 * sign
    bpy.context.view_layer.update()
    return ob


def shown(ob, names):
    """The rotations of bones in the world, as Blender shows them."""
    bpy.context.view_layer.update()
    return np.array([(ob.matrix_world @ ob.pose.bones[name].matrix).to_quaternion() for name in names])


def rest_again(ob):
    for bone in ob.pose.bones:
        bone.rotation_euler = 0, 0, 0
    bpy.context.view_layer.update()


def same(one, other):
    """Whether rotations are the same, to a fiftieth of a degree; a quaternion and its negative are."""
    sign = np.sign((one * other).sum(-1, keepdims=True))
    return np.abs(one - sign * other).max() < 2e-4


def test_the_pose_comes_back_as_it_was_shown(ob):
    names = skeleton_of(ob).names
    pose = shown(ob, names)
    assert set_stance(ob) == 4
    rest_again(ob)
    assert not same(shown(ob, names), pose)
    assert same(stance_of(ob), pose)
    assert same(stance_of(ob, ["forearm.L"]), pose[[names.index("forearm.L")]])


@pytest.mark.parametrize("text", [
    "{", "[]", "5", 5000 * "[", '{"hips": 1}', '{"hips": [1, 0, 0]}', '{"hips": [NaN, 0, 0, 0]}', '{"hips": "x"}',
    '{"hips": [0, 0, 0, 0]}', '{"hips": [1e200, 0, 0, 0]}', '{"hips": {"x": 1}}',
])
def test_one_that_was_damaged_is_told(ob, text):
    ob.mm.stance = text
    with pytest.raises(MotionError, match='The T-pose that "Walker" keeps is damaged: set it again'):
        stance_of(ob)


def test_without_one_there_is_none(ob):
    assert stance_of(ob) is None and not has_stance(ob)
    set_stance(ob)
    clear_stance(ob)
    assert stance_of(ob) is None


def test_the_rest_pose_can_be_said_to_be_it(ob):
    rest_again(ob)
    assert set_stance(ob) == 0 and has_stance(ob)
    assert same(stance_of(ob), skeleton_of(ob).rest[1])


def test_it_turns_with_the_object_and_survives_new_bones_and_rolls(ob):
    set_stance(ob)
    ob.rotation_euler, ob.location, ob.scale = (0.1, 0.2, 1.0), (3, 2, 1), (0.5, 0.5, 0.5)
    walker.activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = ob.data.edit_bones.new("hand.L")
    bone.head, bone.tail, bone.parent = (0.7, 0, 1.45), (0.8, 0, 1.45), ob.data.edit_bones["forearm.L"]
    ob.data.edit_bones["shin.L"].roll += 0.5
    bpy.ops.object.mode_set(mode="OBJECT")
    names = skeleton_of(ob).names
    found = dict(zip(names, stance_of(ob)))
    pose = dict(zip(names, shown(ob, names)))
    assert all(same(found[name], pose[name]) for name in names)
    turned = Quaternion(found["hand.L"]) @ Quaternion(found["forearm.L"]).inverted()
    rest = dict(zip(names, skeleton_of(ob).rest[1]))
    at_rest = Quaternion(rest["hand.L"]) @ Quaternion(rest["forearm.L"]).inverted()
    between = Quaternion(found["forearm.L"]) @ Quaternion(rest["forearm.L"]).inverted()
    assert turned.rotation_difference(between @ at_rest @ between.inverted()).angle < 1e-3


def test_what_constraints_do_belongs_to_the_pose(ob):
    copy = ob.pose.bones["head"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = ob, "upper_arm.L"
    names = skeleton_of(ob).names
    pose = shown(ob, names)
    set_stance(ob)
    ob.pose.bones["head"].constraints.remove(copy)
    rest_again(ob)
    assert same(stance_of(ob), pose)


def test_an_armature_in_rest_position_is_told(ob):
    ob.data.pose_position = "REST"
    with pytest.raises(MotionError, match='"Walker" shows its rest position: switch it to Pose Position'):
        set_stance(ob)
    assert not has_stance(ob)


def test_it_is_saved_with_the_file(ob, tmp_path):
    set_stance(ob)
    before = stance_of(ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rig.blend"))
    assert same(stance_of(bpy.data.objects["Walker"]), before)


def test_the_operators_keep_and_forget_it(ob):
    assert bpy.ops.mm.stance_set() == {"FINISHED"}
    assert has_stance(ob)
    assert bpy.ops.mm.stance_clear() == {"FINISHED"}
    assert not has_stance(ob)
    with pytest.raises(RuntimeError, match="No pose has been taken"):
        bpy.ops.mm.stance_clear()
    assert Euler(ob.pose.bones["thigh.L"].rotation_euler).z == pytest.approx(0.3)  # the pose itself is untouched
