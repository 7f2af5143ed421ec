# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose that is written live stands where the engine has it."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from mm_blender.matching import database
from mm_blender.motion import quat
from mm_blender.playback.matcher import BakedMotion
from mm_blender.scene.driving.posing import GroupPoser, Poser
from mm_blender.scene.jobs import baking

NAMES = ("hips", "head", "hand.L", "toe.L", "toe.R")
ROOT, YAW = np.array([1.0, -2.0, 0.3]), 0.8


def baked(ob, root="auto"):
    ob.mm.bake.root = root
    bpy.ops.mm.bake()
    return database.load(baking.database_path(ob))


def show(poser, ob, motion, frame):
    """Show a frame of the database at ROOT, turned by YAW."""
    pose = BakedMotion(motion).at([frame])
    poser.look(ob)
    GroupPoser().write([(poser, ob, 0)], [(complex(*ROOT[:2]), YAW)], ROOT[2:], pose.positions, pose.rotations)
    bpy.context.view_layer.update()


def write(ob, motion, frame):
    """Show a frame of the database; where its joints should be."""
    show(Poser(ob, motion), ob, motion, frame)
    clip = motion.clip(0)
    positions = clip.globals()[0][frame] - clip.positions[frame, 0]
    turn = quat.mul(quat.from_yaw(YAW), quat.inv(clip.rotations[frame, 0]))
    return dict(zip(clip.skeleton.names, ROOT + quat.rotate(turn, positions)))


def assert_shown(ob, expected, names=NAMES):
    for name in names:
        shown = ob.matrix_world @ ob.pose.bones[name].head
        assert np.allclose(shown, expected[name], atol=1e-4), name


@pytest.mark.parametrize("root", ["auto", "made"])
def test_bones_stand_where_the_joints_are(small_demo, root):
    assert_shown(small_demo, write(small_demo, baked(small_demo, root), 40))


def test_a_library_override_shows_the_same(small_demo, tmp_path):
    motion, name = baked(small_demo), small_demo.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, into):
        into.objects = [name]
    bpy.context.scene.collection.objects.link(into.objects[0])
    ob = into.objects[0].override_create(remap_local_usages=True)
    ob.animation_data_clear()
    bpy.context.view_layer.update()
    assert_shown(ob, write(ob, motion, 40))


def test_an_armature_that_is_moved_turned_and_scaled_shows_the_same(small_demo):
    motion = baked(small_demo)
    small_demo.matrix_world = Matrix.LocRotScale((3, 1, 0.5), Euler((0, 0, 1.1)), (0.5, 0.5, 0.5))
    bpy.context.view_layer.update()
    show(Poser(small_demo, motion), small_demo, motion, 40)
    shown = small_demo.matrix_world @ small_demo.pose.bones["root"].head
    assert np.allclose(shown, ROOT + [0, 0, small_demo.data.bones["root"].head_local.z * 0.5 + 0.5], atol=1e-4)


def test_rotation_modes_do_not_matter(small_demo):
    for bone, mode in zip(small_demo.pose.bones, ("XYZ", "AXIS_ANGLE", "QUATERNION", "ZYX") * 20):
        bone.rotation_mode = mode
    assert_shown(small_demo, write(small_demo, baked(small_demo), 55))


def test_bones_that_are_no_joints_keep_their_pose(small_demo):
    motion = baked(small_demo)
    bpy.ops.object.mode_set(mode="EDIT")
    prop = small_demo.data.edit_bones.new("prop")
    prop.head, prop.tail, prop.use_deform = (1, 0, 1), (1, 0, 1.5), False
    bpy.ops.object.mode_set(mode="OBJECT")
    small_demo.pose.bones["prop"].location = (0.1, 0.2, 0.3)
    assert_shown(small_demo, write(small_demo, motion, 40))
    assert tuple(small_demo.pose.bones["prop"].location) == pytest.approx((0.1, 0.2, 0.3))


def test_a_bone_above_all_joints_stays_as_it_is_posed(small_demo):
    motion = baked(small_demo)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = small_demo.data.edit_bones
    master = bones.new("master")
    master.head, master.tail, master.use_deform = (0, 0.1, 0), (0, 0.4, 0.2), False
    bones["root"].parent = master
    bpy.ops.object.mode_set(mode="OBJECT")
    small_demo.pose.bones["master"].location = (0.1, 0.2, 0.3)
    small_demo.pose.bones["master"].rotation_quaternion = (0.8, 0, 0.6, 0)
    assert_shown(small_demo, write(small_demo, motion, 40))
    assert Poser(small_demo, motion).layout is not None, "that is no reason to be slow"


def test_bones_that_hang_in_another_way_are_worked_out_one_by_one(small_demo):
    motion = baked(small_demo)
    for bone in small_demo.data.bones:
        bone.use_inherit_rotation = bone.name != "head"
    assert_shown(small_demo, write(small_demo, motion, 40))


def test_renamed_bones_go_on(small_demo):
    motion = baked(small_demo)
    poser = Poser(small_demo, motion)
    expected = write(small_demo, motion, 40)
    small_demo.data.bones["head"].name = "skull"
    small_demo.location.x = 1e-5  # it looks at the bones again
    bpy.context.view_layer.update()
    show(poser, small_demo, motion, 40)
    assert_shown(small_demo, expected | {"skull": expected["head"]}, ("hips", "skull", "toe.L"))


def test_without_a_bone_the_others_go_on(small_demo):
    motion = baked(small_demo)
    poser = Poser(small_demo, motion)
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("hand.L",):
        small_demo.data.edit_bones.remove(small_demo.data.edit_bones[name])
    bpy.ops.object.mode_set(mode="OBJECT")
    show(poser, small_demo, motion, 40)
    assert_shown(small_demo, write(small_demo, motion, 40), ("hips", "head", "toe.L"))


def test_armatures_that_are_posed_together_are_posed_like_each_alone(small_demo):
    motion = baked(small_demo)
    obs = [small_demo, *(small_demo.copy() for _ in range(2))]
    for ob in obs[1:]:
        bpy.context.collection.objects.link(ob)
    obs[1].location.x = 2
    obs[2].data = small_demo.data.copy()
    obs[2].data.bones["head"].use_inherit_rotation = False  # is worked out one by one
    bpy.context.view_layer.update()
    posers, pose = [Poser(ob, motion) for ob in obs], BakedMotion(motion).at([10, 40, 70])
    roots, heights = [(1 + 2j, 0.3), (0j, -2.0), (3j, 1.0)], np.array([0.1, 0.2, 0.3])
    for who in ([0, 1, 2], [2, 0], [1], [2]):
        group_poser = GroupPoser()
        group_poser.write([(posers[at], obs[at], at) for at in who], roots, heights, pose.positions, pose.rotations)
        together = [[bone.matrix_basis.copy() for bone in obs[at].pose.bones] for at in who]
        for at, found in zip(who, together):
            GroupPoser().write([(posers[at], obs[at], 0)], roots[at:], heights[at:], pose.positions[at:],
                             pose.rotations[at:])
            for bone, basis in zip(obs[at].pose.bones, found):
                assert np.allclose(bone.matrix_basis, basis, atol=1e-6), (who, at, bone.name)


def test_a_group_goes_on_when_others_are_posed(small_demo):
    motion, group_poser = baked(small_demo), GroupPoser()
    poser, pose = Poser(small_demo, motion), BakedMotion(motion).at([40, 10])
    shown = [(complex(*ROOT[:2]), YAW), (0j, 0.0)], np.array([ROOT[2], 0.0]), pose.positions, pose.rotations
    expected = write(small_demo, motion, 40)
    for index in (0, 1, None, 0):
        group_poser.write([(poser, small_demo, index)] if index is not None else [], *shown)
    bpy.context.view_layer.update()
    assert_shown(small_demo, expected)
