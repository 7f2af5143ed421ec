# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature becomes a skeleton of the bones that matter, in metres in the world."""

import math
import subprocess
import sys

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from mm_blender.errors import MotionError
from mm_blender.scene import actions
from mm_blender.scene.reading import sampling
from mm_blender.scene.rig import armatures


def test_the_rest_pose_is_where_blender_shows_it(extension, rigs):
    ob = rigs.chain()
    ob.rotation_euler, ob.scale, ob.location = (math.pi / 2, 0.2, 0), (0.01,) * 3, (1, 2, 3)
    positions, rotations = armatures.skeleton_of(ob).rest
    bpy.context.view_layer.update()
    for joint, bone in enumerate(ob.data.bones):
        world = ob.matrix_world @ bone.matrix_local
        assert np.allclose(positions[joint], world.to_translation() - Vector((0, 0, armatures.floor(ob))), atol=1e-5)
        assert abs(np.dot(rotations[joint], world.to_quaternion())) > 1 - 1e-6


def test_the_floor_is_where_the_object_is_if_the_rest_pose_stands_there(extension, rigs):
    ob = rigs.biped()
    assert armatures.floor(ob) == 0
    for height in (3.0, -2.5):
        ob.location.z = height
        assert armatures.floor(ob) == height
    ob.location.z = 0.05
    assert armatures.floor(ob) == 0, "soles are brought to the ground like that"


def test_an_object_amid_its_character_stands_on_the_ground_below(extension, rigs):
    ob = rigs.biped()
    hips = max(bone.head_local.z for bone in ob.data.bones) / 2
    ob.data.transform(Matrix.Translation((0, 0, -hips)))
    ob.location.z = hips
    assert armatures.floor(ob) == 0


def test_a_parent_carries_the_floor_along(extension, rigs):
    ob, platform = rigs.biped(), bpy.data.objects.new("Platform", None)
    bpy.context.collection.objects.link(platform)
    ob.parent, platform.location.z = platform, 1.0
    bpy.context.view_layer.update()
    assert armatures.floor(ob) == 1 and armatures.skeleton_of(ob).rest[0][:, 2].min() < 0.2


def test_what_lifts_the_object_itself_lifts_it_off_the_floor(extension, rigs):
    ob = rigs.biped()
    ob.location.z = 2.0
    action = rigs.animate(ob, "Lift", (1, 12))
    actions.assign(ob, action)
    assert armatures.floor(ob) == 2
    actions.add_fcurves(action, [("location", 2, "Object")])[0].keyframe_points.insert(1, 2.0)
    assert armatures.floor(ob) == 0
    ob.animation_data.action = None
    assert armatures.floor(ob) == 2
    ob.mm.clips.add().action = action
    assert armatures.floor(ob) == 0, "its clips count, too"
    ob.mm.clips[0].source = rigs.chain(name="Another")
    assert armatures.floor(ob) == 2, "those of another armature move that one"


def test_bones_that_do_not_deform_are_left_out_and_bridged(rigs):
    ob = rigs.chain(5)
    ob.data.bones["b2"].use_deform = False
    skeleton = armatures.skeleton_of(ob)
    assert skeleton.names == ("b0", "b1", "b3", "b4")
    assert list(skeleton.parents) == [-1, 0, 1, 2]


def test_a_bone_that_all_hang_from_is_added_when_they_need_a_root(rigs):
    ob = rigs.armature("Rig", {"root": ((0, 0, 0), (0, 1, 0), None), "left": ((1, 0, 0), (1, 0, 1), "root"),
                               "right": ((-1, 0, 0), (-1, 0, 1), "root")})
    ob.data.bones["root"].use_deform = False
    assert armatures.bones_of(ob) == ["root", "left", "right"]


def test_loose_bones_and_a_smaller_body_are_left_out(rigs):
    bones = {"hips": ((0, 0, 0), (0, 0, 1), None), "spine": ((0, 0, 1), (0, 0, 2), "hips"),
             "neck": ((0, 0, 2), (0, 0, 3), "spine"), "ik": ((1, 0, 0), (1, 1, 0), None)}
    assert armatures.bones_of(rigs.armature("One", bones)) == ["hips", "spine", "neck"]
    bones |= {"tail": ((1, 1, 0), (1, 2, 0), "ik")}
    two = rigs.armature("Two", bones)
    assert armatures.bones_of(two) == ["hips", "spine", "neck"] and armatures.loose_bones(two) == ["ik", "tail"]
    assert set(armatures.whole_skeleton(two).names) == set(bones)


def test_bones_can_be_chosen(rigs):
    ob = rigs.chain()
    skeleton = armatures.skeleton_of(ob, ["b3", "b1", "b4"])
    assert skeleton.names == ("b1", "b3", "b4") and list(skeleton.parents) == [-1, 0, 1]
    with pytest.raises(MotionError, match='"Chain" has no bone "tail"'):
        armatures.skeleton_of(ob, ["b1", "tail"])
    fork = rigs.armature("Fork", {"base": ((0, 0, 0), (0, 1, 0), None), "l": ((1, 0, 0), (1, 0, 1), "base"),
                                  "r": ((-1, 0, 0), (-1, 0, 1), "base")})
    with pytest.raises(MotionError, match='no common root: "l", "r"'):
        armatures.skeleton_of(fork, ["l", "r"])


@pytest.mark.parametrize("scale,word", [((1, 1, 2), "unevenly"), ((-1, -1, -1), "negative"), ((0, 0, 0), "zero")])
def test_a_scale_that_bends_the_rig_is_refused(rigs, scale, word):
    ob = rigs.chain()
    ob.scale = scale
    with pytest.raises(MotionError, match=f'"Chain" .*{word}.*Ctrl\\+A'):
        armatures.skeleton_of(ob)


def test_what_is_not_a_rig_is_refused(rigs):
    empty = bpy.data.objects.new("Empty", bpy.data.armatures.new("Empty"))
    with pytest.raises(MotionError, match='"Empty" has no bones'):
        armatures.skeleton_of(empty)
    with pytest.raises(MotionError, match='"Box" is not an armature'):
        armatures.skeleton_of(bpy.data.objects.new("Box", bpy.data.meshes.new("Box")))
    with pytest.raises(MotionError, match="no active object"):
        armatures.skeleton_of(None)


def test_tiny_bones_are_bones(rigs):
    ob = rigs.armature("Tiny", {"a": ((0, 0, 0), (0, 0, 1), None), "b": ((0, 0, 1), (0, 0, 1.00001), "a"),
                                "c": ((0, 0, 1.00001), (0, 0, 1.5), "b")})
    clip = sampling.finished(sampling.read_action(ob, rigs.animate(ob, "Wave", (1, 9))))
    assert len(clip.skeleton) == len(ob.data.bones) and np.isfinite(clip.rotations).all()


RIGIFY = """
import os, sys, bpy, addon_utils
bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
addon_utils.enable("rigify", default_set=True)
bpy.ops.object.armature_basic_human_metarig_add()
bpy.ops.pose.rigify_generate()
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[1])
os._exit(0)
"""


@pytest.fixture
def rigify(tmp_path):
    """A generated Rigify rig. Made in a process of its own: bpy 4.5 does not end any more once Rigify was used."""
    path = tmp_path / "rigify.blend"
    subprocess.run([sys.executable, "-c", RIGIFY, path], check=True, stdout=subprocess.DEVNULL)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.context.object


def test_a_rigify_rig_is_one_tree_of_its_deforming_bones(rigs, rigify):
    ob = rigify
    skeleton = armatures.skeleton_of(ob)
    parent = {name: skeleton.names[above] for name, above in zip(skeleton.names, skeleton.parents)}
    assert set(skeleton.names) == {bone.name for bone in ob.data.bones if bone.use_deform}
    assert skeleton.names[0] == "DEF-spine"
    assert parent["DEF-thigh.L"] == "DEF-spine" and parent["DEF-shoulder.R"] == "DEF-spine.003"
    assert parent["DEF-upper_arm.L"] == "DEF-shoulder.L" and parent["DEF-hand.L"] == "DEF-forearm.L.001"
    action = rigs.animate(ob, "Dance", (1, 6.5, 12), bones={"torso", "hand_ik.L", "foot_ik.R", "chest"})
    assert sampling.how_to_read(ob, action)[0] == "evaluated"
    clip = sampling.finished(sampling.read_action(ob, action))
    millimetres, degrees = rigs.apart(clip, *rigs.truth(ob, action, range(1, 13), skeleton.names))
    assert millimetres < 0.1 and degrees < 0.02
