# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip written as an Action and read again is the same clip."""

import math

import bpy
import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.motion import quat
from mm_blender.motion.clip import Clip
from mm_blender.scene import actions
from mm_blender.scene.reading import from_curves, from_evaluation, keyframes, sampling
from mm_blender.scene.reading.reference import Reference
from mm_blender.scene.rig import armatures

MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")


def motion(ob, frames=40, rate=24, seed=4):
    """A smooth clip on this rig's own skeleton: every joint turns a good deal, the root and one other joint travel."""
    rng = np.random.default_rng(seed)
    skeleton = armatures.skeleton_of(ob)
    t = np.linspace(0, 4, frames)[:, None, None]
    turns = 1.5 * np.sin(t * rng.uniform(0.5, 2, (len(skeleton), 3)) + rng.uniform(0, 6, (len(skeleton), 3)))
    positions = np.repeat(skeleton.positions[None], frames, 0)
    positions[:, 0] += 2 * t[:, 0]
    positions[:, 2] += 0.1 * np.sin(t[:, 0])
    rotations = quat.mul(skeleton.rotations, quat.from_scaled_angle_axis(turns.astype(np.float32)))
    return Clip("Motion", skeleton, rate, positions, rotations)


def check(rigs, ob, clip, start=1):
    action = keyframes.write_action(ob, clip, "Written", start_frame=start)
    frames = start + np.arange(len(clip), dtype=float)
    for way in (from_curves, from_evaluation):
        positions, rotations = sampling.finished(way.read(Reference.of(ob, action), clip.skeleton, frames))
        again = Clip("Again", clip.skeleton, clip.rate, positions, rotations)
        millimetres, degrees = rigs.apart(again, *clip.globals())
        assert millimetres < 0.1 and degrees < 0.01
    return action


@pytest.mark.parametrize("mode", MODES)
def test_written_and_read_again_it_is_the_same_in_every_rotation_mode(rigs, mode):
    ob = rigs.chain()
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    action = check(rigs, ob, motion(ob))
    used = {curve.data_path.rpartition(".")[2] for curve in actions.fcurves(action, ob)}
    assert used == {"location", from_curves.rotation_channel(mode)}


def test_a_scaled_rotated_moved_object_changes_nothing(rigs):
    ob = rigs.chain()
    ob.rotation_euler, ob.scale, ob.location = (math.pi / 2, 0, 0.4), (0.01,) * 3, (3, -2, 1)
    bpy.context.view_layer.update()
    check(rigs, ob, motion(ob), start=-7)


def test_the_short_way_gives_what_the_long_way_gives(rigs):
    ob = rigs.chain()
    ob.rotation_euler, ob.scale, ob.location = (0.3, 0, 0.4), (0.5,) * 3, (3, -2, 1)
    bpy.context.view_layer.update()
    clip = motion(ob)
    joints = {name: index for index, name in enumerate(clip.skeleton.names)}
    short, long = keyframes._local_bases(ob, clip, joints), list(keyframes._bases(ob, clip, joints))
    assert [bone.name for bone, *_ in short] == [bone.name for bone, *_ in long]
    for (_, location, rotation), (_, wanted, turn) in zip(short, long):
        assert np.abs(location - wanted).max() < 1e-5
        assert np.abs((rotation * turn).sum(-1)).min() > 1 - 1e-6


def test_a_pose_that_was_there_before_does_not_show_through(rigs):
    ob = rigs.chain()
    clip = motion(ob)
    for bone in ob.pose.bones:
        bone.location, bone.scale = (0.1, 0.2, 0.3), (1.1, 0.9, 1)
    check(rigs, ob, clip)


def test_bones_between_joints_stay_as_they_are_posed(rigs):
    ob = rigs.chain(6)
    ob.data.bones["b3"].use_deform = False
    ob.pose.bones["b3"].rotation_quaternion = (0.8, 0, 0.6, 0)
    bpy.context.view_layer.update()
    check(rigs, ob, motion(ob))


def test_bones_that_inherit_in_their_own_way_are_solved(rigs):
    ob = rigs.chain(6)
    ob.data.bones["b2"].use_inherit_rotation = False
    ob.data.bones["b4"].use_local_location = False
    clip = motion(ob)
    action = keyframes.write_action(ob, clip, "Written")
    again = sampling.finished(sampling.read_action(ob, action))
    millimetres, degrees = rigs.apart(again, *clip.globals())
    assert millimetres < 0.1 and degrees < 0.01


def test_only_joints_that_leave_their_rest_place_get_location_keys(rigs):
    ob = rigs.chain()
    curves = actions.fcurves(keyframes.write_action(ob, motion(ob), "Written"), ob)
    moved = [curve for curve in curves if curve.data_path.endswith("location")]
    assert {curve.group.name for curve in moved} == {"b0", "b2"}
    assert {curve.group.name for curve in curves} == {"b0", "b1", "b2", "b3", "b4"}
    assert {key.interpolation for curve in curves for key in curve.keyframe_points} == {"LINEAR"}


def test_rotations_do_not_jump_between_keys(rigs):
    ob = rigs.chain()
    ob.pose.bones["b1"].rotation_mode = "ZXY"
    clip = motion(ob, frames=400)
    signs = np.where(np.arange(400) % 2, 1, -1)[:, None, None]
    action = keyframes.write_action(ob, clip.with_changes(rotations=clip.rotations * signs), "Written")
    for curve in actions.fcurves(action, ob):
        if "rotation" in curve.data_path:
            values = np.array([key.co.y for key in curve.keyframe_points])
            assert np.abs(np.diff(values)).max() < 0.5


def test_keys_lie_on_the_scenes_time(rigs):
    bpy.context.scene.render.fps = 30
    ob = rigs.chain()
    action = keyframes.write_action(ob, motion(ob, frames=61, rate=60), "Written", start_frame=10)
    assert actions.frame_range(action, ob) == (10, 40)


def test_the_object_gets_the_action_only_when_asked(rigs):
    ob = rigs.chain()
    clip = motion(ob)
    keyframes.write_action(ob, clip, "Quiet")
    assert ob.animation_data is None
    action = keyframes.write_action(ob, clip, "Shown", assign=True)
    assert ob.animation_data.action == action
    bpy.context.scene.frame_set(20)
    expected = clip.globals()[0][19]
    assert np.allclose([ob.pose.bones[name].head for name in clip.skeleton.names], expected, atol=1e-4)


def test_a_clip_of_another_rig_is_refused(rigs):
    clip = motion(rigs.chain())
    fish = rigs.armature("Fish", {"fin": ((0, 0, 0), (0, 0, 1), None)})
    with pytest.raises(MotionError, match='"Motion" has no joint that is a bone of the armature "Fish"'):
        keyframes.write_action(fish, clip, "Written")
