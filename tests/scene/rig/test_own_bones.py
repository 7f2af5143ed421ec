# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones of a Target that follow nothing are the artist's: while driving, in the take, and after Esc."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion

from mm_blender.scene import actions
from mm_blender.scene.actions import bone_of
from tests.scene.going import Feet, drive, go, place
from tests.scene.rigify import control_rig, metarig

pytestmark = pytest.mark.once

FINGER, JAW = "f_index.01.L", "jaw"


@pytest.fixture
def target(source):
    """Rigify's human, with a face and fingers, as the Target of the source, which has none."""
    ob = metarig("human")
    source.mm.drive.target = ob
    bpy.context.view_layer.objects.active = source
    return ob


def numbers(ob, names):
    """All numbers of the pose of some bones."""
    return [(*bone.location, *bone.rotation_quaternion, *bone.rotation_euler, *bone.scale)
            for bone in map(ob.pose.bones.get, names)]


def bases(ob, names):
    return [np.array(ob.pose.bones[name].matrix_basis) for name in names]


def pose(ob):
    """Fingers and jaw as an artist has them: in numbers that a matrix would not bring back."""
    finger, jaw = ob.pose.bones[FINGER], ob.pose.bones[JAW]
    finger.rotation_mode, finger.rotation_euler = "YXZ", (0.3, -3.9, 0.2)
    jaw.rotation_mode, jaw.rotation_quaternion, jaw.scale = "QUATERNION", (-1.8, 0.4, 0, 0), (1, 1.2, 1)
    bpy.context.view_layer.update()
    return numbers(ob, (FINGER, JAW))


def test_they_keep_their_pose_while_driving_in_the_take_and_after_escape(source, target):
    posed, shown = pose(target), bases(target, (FINGER, JAW))
    session = drive(source, 1)
    assert np.allclose(bases(target, (FINGER, JAW)), shown, atol=1e-4) and place(target, "spine")[1] > 0.5
    session.cancel(bpy.context)
    assert numbers(target, (FINGER, JAW)) == posed
    drive(source, 1).keep()
    bpy.context.scene.frame_set(20)
    assert numbers(target, (FINGER, JAW)) == posed
    keyed = {bone_of(curve.data_path)[0] for curve in actions.fcurves(target.animation_data.action, target)}
    assert {"spine", "thigh.L", "toe.L", "hand.L", "spine.006"} <= keyed and len(keyed) < 30
    assert not any(name.startswith(("f_", "thumb", "palm", "heel", "breast", "pelvis", "jaw")) for name in keyed)


def test_what_the_artist_does_to_them_meanwhile_stays(source, target):
    session = drive(source, 0.5)
    pose(target)
    shown = bases(target, (FINGER, JAW))
    go(session, 1)
    assert np.allclose(bases(target, (FINGER, JAW)), shown, atol=1e-4)
    session.keep()
    assert np.allclose(bases(target, (FINGER, JAW)), shown, atol=1e-4)


def test_whatever_else_is_done_to_a_driven_bone_is_undone(source, target):
    session, thigh = drive(source, 0.5), target.pose.bones["thigh.L"]
    thigh.scale, thigh.location, target.pose.bones["forearm.L"].rotation_mode = (2, 2, 2), (1, 0, 0), "XYZ"
    go(session, 1)
    arm, hand = (target.pose.bones[name] for name in ("upper_arm.L", "hand.L"))
    assert np.allclose(thigh.scale, 1) and np.allclose(thigh.location, 0, atol=1e-6)
    turned = target.pose.bones["forearm.L"].rotation_euler.copy()
    go(session, 0.5)
    assert target.pose.bones["forearm.L"].rotation_euler != turned, "it goes on in its new rotation mode"
    assert (hand.head - arm.head).length > 0.3


def between(ob, name, above):
    """A new bone, that deforms, between a bone and the one that it hung from."""
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    bones = ob.data.edit_bones
    new, bone = bones.new(name), bones[above]
    new.head, new.tail, new.parent = bone.parent.head, bone.head, bone.parent
    bone.use_connect, bone.parent = False, new
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_bone_between_two_that_are_driven_stays_as_it_is_posed(source, target):
    between(target, "helper", "shin.L")
    bpy.context.view_layer.objects.active = source
    helper, rest = target.pose.bones["helper"], place(target, "toe.L")[2]
    helper.rotation_quaternion = Quaternion((1, 0, 0), math.radians(8))
    posed, feet = bases(target, ["helper"]), Feet(target, ["toe.L", "toe.R"])
    bpy.context.view_layer.update()
    session = drive(source, 3, feet)
    assert session.driven.poser.layout is not None, "it is posed the quick way"
    assert place(target, "spine")[1] > 2 and np.allclose(bases(target, ["helper"]), posed, atol=1e-4)
    assert len(feet.slides) > 20 and np.mean(feet.slides) < 0.005 and feet.lowest > rest - 0.005
    driven = {bone: place(target, bone) for bone in ("toe.L", "toe.R", "spine.006")}
    session.keep()
    action = target.animation_data.action
    assert "helper" not in {bone_of(curve.data_path)[0] for curve in actions.fcurves(action, target)}
    bpy.context.scene.frame_set(round(action.frame_range[1]))
    for bone, where in driven.items():
        assert np.allclose(place(target, bone), where, atol=2e-3), bone


def test_a_bone_between_that_is_posed_meanwhile_is_minded(source, target):
    between(target, "helper", "forearm.L")
    bpy.context.view_layer.objects.active = source
    session = drive(source, 0.5)
    poser = session.driven.poser
    before = poser.layout
    target.pose.bones["helper"].rotation_quaternion = (0.9, 0.3, 0, 0)
    go(session, 0.6)
    assert poser.layout is not before
    wanted = session.driven.clip(target)
    arm, hand = (wanted.skeleton.index(name) for name in ("forearm.L", "hand.L"))
    _, turns = wanted.globals()
    for joint, name in ((arm, "forearm.L"), (hand, "hand.L")):
        shown = np.array(target.pose.bones[name].matrix.to_quaternion())
        assert abs(shown @ turns[-1, joint]) > 0.9999, name


def test_many_bones_in_other_rotation_modes_are_posed_all_the_same(source, target):
    rest = place(target, "toe.L")[2]
    for bone in target.pose.bones:
        bone.rotation_mode = "XYZ"
    target.pose.bones[FINGER].rotation_euler = (0.3, 0, 0.2)
    feet = Feet(target, ["toe.L", "toe.R"])
    session = drive(source, 2, feet)
    assert session.driven.poser.layout is not None
    assert place(target, "spine")[1] > 1.2 and np.mean(feet.slides) < 0.005 and feet.lowest > rest - 0.005
    assert np.allclose(target.pose.bones[FINGER].rotation_euler, (0.3, 0, 0.2), atol=1e-5)


def test_a_twin_has_all_of_its_bones_driven(source):
    other = bpy.data.objects.new("Twin", source.data.copy())
    bpy.context.scene.collection.objects.link(other)
    for number, bone in enumerate(list(other.data.bones)):
        bone.name = f"bone {number}"
    other.data.transform(Matrix.Scale(1.5, 4))
    source.mm.drive.target = other
    bpy.context.view_layer.update()
    session = drive(source, 1)
    assert session.driven.poser.layout.at.size == len(other.data.bones)


def animate(bone, frames=(1, 30, 60)):
    """Let a bone turn."""
    for number, frame in enumerate(frames):
        bone.rotation_mode, bone.rotation_quaternion = "QUATERNION", (1, 0.3 * (number % 2), 0, 0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def turned(ob, bone, frame):
    bpy.context.scene.frame_set(frame)
    return tuple(ob.pose.bones[bone].rotation_quaternion)


def test_their_animation_goes_on_in_the_take(source, target):
    animate(target.pose.bones[FINGER])
    animate(target.pose.bones["thigh.L"])
    own, curves = target.animation_data.action, actions.fcurves(target.animation_data.action, target)
    curves[0].modifiers.new("CYCLES").cycles_after = 3
    wanted = [turned(target, FINGER, frame) for frame in (1, 17, 30, 71)]
    bpy.context.scene.frame_set(1)
    session = drive(source, 2)
    bpy.context.scene.frame_set(17)
    shown = target.pose.bones[FINGER].rotation_quaternion
    assert np.allclose(shown, Quaternion(wanted[1]).normalized()), "the timeline plays it, too"
    bpy.context.scene.frame_set(1)
    session.keep()
    assert target.animation_data.action != own
    assert [turned(target, FINGER, frame) for frame in (1, 17, 30, 71)] == wanted
    found = [curve for curve in actions.fcurves(target.animation_data.action, target) if FINGER in curve.data_path]
    assert len(found) == 4 and found[0].modifiers[0].cycles_after == 3
    assert len(actions.fcurves(own, target)) == 8, "the Action itself is as it was"


def test_animation_that_would_carry_driven_bones_away_is_left_out(source):
    source.mm.drive.target = rig = control_rig("human")
    bpy.context.view_layer.objects.active = source
    bones = rig.pose.bones
    animate(bones["f_index.01.L"])
    animate(bones["chest"])
    bones["chest"].rotation_quaternion = (1, 0, 0, 0)
    wanted = turned(rig, "f_index.01.L", 30)
    bpy.context.scene.frame_set(1)
    session = drive(source, 1.5)
    head = place(rig, "DEF-spine.006")
    session.keep()
    end = round(rig.animation_data.action.frame_range[1])
    assert turned(rig, "f_index.01.L", 30) == wanted
    assert turned(rig, "chest", 30) == (1, 0, 0, 0)
    bpy.context.scene.frame_set(min(end, 1 + round(1.5 * 60)))
    assert np.allclose(place(rig, "DEF-spine.006"), head, atol=2e-3)
