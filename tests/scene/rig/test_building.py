# SPDX-License-Identifier: GPL-3.0-or-later
import bpy
import numpy as np
import pytest
from mathutils import Euler

from mm_blender.errors import MotionError
from mm_blender.motion import bvh, quat
from mm_blender.motion.clip import Clip
from mm_blender.motion.skeleton import Skeleton
from mm_blender.scene.reading.keyframes import write_action
from mm_blender.scene.rig.armatures import skeleton_of
from mm_blender.scene.rig.building import blender_names, build_armature, on_bones

NAMES = ("hips", "hip joint", "thigh", "shin", "foot", "spine", "head", "prop")
PARENTS = (-1, 0, 1, 2, 3, 0, 5, 6)
# The hip joint lies in the hips and the prop in the head: bones without a length.
PLACES = ((0.1, 0.2, 1.0), (0, 0, 0), (0.1, 0, -0.05), (0, 0.02, -0.4), (0, 0, -0.4), (0, 0, 0.3), (0, 0.02, 0.3),
          (0, 0, 0))


def _skeleton(turned=True, scale=1.0):
    rotations = np.random.default_rng(1).normal(size=(len(NAMES), 4)) if turned else quat.identity((len(NAMES),))
    plain = Skeleton(NAMES, PARENTS, np.array(PLACES) * scale, quat.identity((len(NAMES),)))
    positions, rotations = plain.rest[0], quat.normalize(rotations)
    local = quat.mul(quat.inv(rotations[list(PARENTS)]), rotations)
    offsets = quat.inv_rotate(rotations[list(PARENTS)], positions - positions[list(PARENTS)])
    local[0], offsets[0] = rotations[0], positions[0]
    return Skeleton(NAMES, PARENTS, offsets, local)


def _clip(skeleton, frames=12, rate=30.0):
    random = np.random.default_rng(2)
    turns = quat.from_scaled_angle_axis(np.cumsum(random.normal(scale=0.2, size=(frames, len(skeleton), 3)), axis=0))
    positions = np.tile(skeleton.positions, (frames, 1, 1))
    positions[:, 0] += np.linspace((0, 0, 0), (1, 2, 0.1), frames)
    positions[:, 3] += np.linspace((0, 0, 0), (0.02, 0, 0.1), frames)  # a knee that comes loose
    return Clip("dance", skeleton, rate, positions, quat.mul(skeleton.rotations, turns))


def _heads(ob, names, frame):
    whole = int(np.floor(frame))
    bpy.context.scene.frame_set(whole, subframe=frame - whole)
    return np.array([ob.matrix_world @ ob.pose.bones[name].head for name in names])


@pytest.mark.parametrize("turned", [False, True], ids=["plain frames", "turned frames"])
def test_bones_begin_at_the_joints_and_point_to_what_hangs_from_them(turned):
    skeleton = _skeleton(turned)
    ob = build_armature(skeleton, "Actor")
    assert [bone.name for bone in ob.data.bones if bone.parent is None] == ["hips"]
    for joint, name in enumerate(NAMES):
        bone = ob.data.bones[name]
        assert np.allclose(bone.head_local, skeleton.rest[0][joint], atol=1e-6)
        assert bone.length > 1e-3
        assert joint == 0 or bone.parent.name == NAMES[PARENTS[joint]]
    assert np.allclose(ob.data.bones["thigh"].tail_local, skeleton.rest[0][3], atol=1e-6)
    foot = ob.data.bones["foot"]
    assert np.allclose((foot.tail_local - foot.head_local).normalized(), (0, 0, -1), atol=1e-6)


def test_joints_without_a_length_become_short_bones():
    ob = build_armature(_skeleton(), "Actor")
    assert set(ob.data.bones.keys()) == set(NAMES)
    assert 0 < ob.data.bones["prop"].length < 0.3


def test_a_single_joint_becomes_a_bone():
    ob = build_armature(Skeleton(["root"], [-1], [[0, 0, 0]], quat.identity((1,))), "Point")
    assert len(ob.data.bones) == 1


@pytest.mark.parametrize("turned", [False, True], ids=["plain frames", "turned frames"])
def test_the_armature_shows_the_clip_exactly(turned):
    clip = _clip(_skeleton(turned))
    ob = build_armature(clip.skeleton, "Actor")
    shown, word = on_bones(ob, clip)
    assert word == ""
    write_action(ob, shown, "dance", assign=True)
    expected, turns = clip.globals()
    for frame in (0, 5, 11):
        seen = _heads(ob, NAMES, 1 + frame * 24 / 30)
        assert np.abs(seen - expected[frame]).max() < 1e-4
    # Whatever is fixed to a bone turns as its joint does.
    rests = clip.skeleton.rest[1]
    for joint, name in enumerate(NAMES):
        rest, pose = ob.data.bones[name].matrix_local, ob.pose.bones[name].matrix
        turned = np.array((pose @ rest.inverted()).to_quaternion())
        assert abs(turned @ quat.mul(turns[-1, joint], quat.inv(rests[joint]))) > 1 - 1e-5


def test_the_object_carries_the_motion_with_it():
    clip = _clip(_skeleton())
    ob = build_armature(clip.skeleton, "Actor")
    ob.location, ob.rotation_euler = (3, 1, 0.5), Euler((0, 0, 0.7))
    bpy.context.view_layer.update()
    write_action(ob, on_bones(ob, clip)[0], "dance", assign=True)
    expected = quat.rotate(quat.from_yaw(0.7), clip.globals()[0][-1]) + np.array([3, 1, 0.5])
    assert np.abs(_heads(ob, NAMES, 1 + 11 * 24 / 30) - expected).max() < 1e-4


def test_the_same_skeleton_in_another_order_of_joints_fits():
    clip = _clip(_skeleton())
    order = [0, 5, 6, 7, 1, 2, 3, 4]
    parents = [-1 if PARENTS[joint] < 0 else order.index(PARENTS[joint]) for joint in order]
    other = Skeleton([NAMES[j] for j in order], parents, clip.skeleton.positions[order], clip.skeleton.rotations[order])
    ob = build_armature(other, "Actor")
    shown, word = on_bones(ob, clip)
    assert word == "" and np.abs(shown.globals()[0] - clip.globals()[0]).max() < 1e-5


def test_a_larger_actor_is_scaled_to_the_armature_and_named():
    ob = build_armature(_skeleton(), "Actor")
    clip = _clip(_skeleton(scale=1.2))
    shown, word = on_bones(ob, clip)
    assert "1.2 times as large" in word
    path, expected = shown.positions[:, 0], clip.positions[:, 0] / 1.2
    assert np.abs(path - expected).max() < 1e-3
    assert np.abs(shown.positions[:, 1:3] - shown.skeleton.positions[1:3]).max() < 1e-5  # no bone leaves its joint


def test_other_bone_lengths_are_named():
    ob = build_armature(_skeleton(), "Actor")
    skeleton = _skeleton()
    longer = skeleton.positions.copy()
    longer[4] *= 1.2
    _, word = on_bones(ob, _clip(Skeleton(NAMES, PARENTS, longer, skeleton.rotations)))
    assert '"foot" differs most' in word


def test_other_bones_another_tree_and_another_rest_pose_are_refused_by_name():
    ob = build_armature(_skeleton(), "Actor")
    skeleton = _skeleton()
    renamed = Skeleton(("hips", "hip joint", "thigh", "shin", "paw", "spine", "head", "prop"), PARENTS,
                       skeleton.positions, skeleton.rotations)
    with pytest.raises(MotionError, match='no bone "paw"'):
        on_bones(ob, _clip(renamed))
    rehung = Skeleton(NAMES, (-1, 0, 1, 2, 3, 0, 5, 5), skeleton.positions, skeleton.rotations)
    with pytest.raises(MotionError, match='"prop" hangs from another one'):
        on_bones(ob, _clip(rehung))
    turned = skeleton.rotations.copy()
    turned[2] = quat.mul(turned[2], quat.from_angle_axis(np.float32(1.0), np.array([1.0, 0, 0])))
    with pytest.raises(MotionError, match="another rest pose"):
        on_bones(ob, _clip(Skeleton(NAMES, PARENTS, skeleton.positions, turned)))


def test_motion_of_an_armature_in_another_rest_pose_keeps_its_pose_in_the_world():
    ob = build_armature(_skeleton(), "Actor")
    posed = skeleton_of(ob)
    turned = posed.rotations.copy()
    turned[1:] = quat.mul(turned[1:], quat.from_angle_axis(np.float32(1.0), np.array([1.0, 0, 0])))
    other = Skeleton(posed.names, posed.parents, posed.positions, turned)
    clip = _clip(other)
    shown, _ = on_bones(ob, clip, bone_frames=True)
    order = [shown.skeleton.names.index(name) for name in posed.names]
    for seen, expected in zip(shown.globals(), clip.globals()):
        assert np.abs(seen[:, order] - expected).max() < 1e-4


def test_building_leaves_mode_selection_and_active_object_alone():
    build_armature(_skeleton(), "First")
    first = bpy.data.objects["First"]
    bpy.context.view_layer.objects.active = first
    first.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    second = build_armature(_skeleton(), "Second")
    assert bpy.context.object == first and first.mode == "POSE"
    assert first.select_get() and not second.select_get()


def test_names_that_blender_would_cut_stay_different():
    long = "b" * 70
    skeleton = Skeleton(["root", long + "1", long + "2", "ü" * 40], [-1, 0, 0, 0], np.eye(4, 3), quat.identity((4,)))
    names = blender_names(skeleton).names
    ob = build_armature(blender_names(skeleton), "Long")
    assert len(set(names)) == 4 and set(ob.data.bones.keys()) == set(names)


def test_the_bones_of_real_actors_are_built(cmu, tmp_path):
    clip = bvh.read(sorted(cmu.glob("*.bvh"))[0], bvh.UNITS["cmu"])
    ob = build_armature(clip.skeleton, "CMU")
    assert len(ob.data.bones) == len(clip.skeleton)
    shown, _ = on_bones(ob, clip)
    assert np.abs(shown.globals()[0] - clip.globals()[0]).max() < 1e-4
