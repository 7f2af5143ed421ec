# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures that are driven with the motion of another one: control rigs, metarigs, scaled and turned ones."""

import math
from dataclasses import replace

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from mm_blender.errors import MotionError
from mm_blender.matching import database
from mm_blender.motion import bvh, demo, quat
from mm_blender.scene import actions, driving
from mm_blender.scene.actions import bone_of
from mm_blender.scene.driving import libraries
from mm_blender.scene.jobs import baking, training
from mm_blender.scene.reading.features import apply_preset
from mm_blender.scene.rig import targets
from mm_blender.scene.rig.armatures import skeleton_of
from mm_blender.scene.rig.t_pose import set_stance
from tests.networks.conftest import calm
from tests.scene.going import Feet, drive, go, place
from tests.scene.rigify import control_rig, metarig

DEFORMING = {"hips": "DEF-spine", "head": "DEF-spine.006", "left_toe": "DEF-toe.L", "right_toe": "DEF-toe.R",
             "left_foot": "DEF-foot.L", "right_hand": "DEF-hand.R"}


@pytest.fixture
def rig(source):
    """The control rig, as the Target of the source."""
    ob = control_rig()
    source.mm.drive.target = ob
    bpy.context.view_layer.objects.active = source
    return ob


def state(ob):
    """All that a drive could change."""
    return [(*bone.location, *bone.rotation_quaternion, *bone.rotation_euler, *bone.scale,
             *(value for value in bone.values() if isinstance(value, (int, float)))) for bone in ob.pose.bones]


def test_a_control_rig_walks_with_its_feet_on_the_ground(source, rig):
    rest = place(rig, "DEF-toe.L")[2]
    feet = Feet(rig, ["DEF-toe.L", "DEF-toe.R"])
    drive(source, 3, feet)
    assert place(rig, "DEF-spine")[1] > 2 and place(rig, "DEF-spine.006")[2] > 1.6
    assert len(feet.slides) > 20 and np.mean(feet.slides) < 0.005 and feet.lowest > rest - 0.005
    assert np.allclose(place(source, "hips")[:2], (0, 0), atol=0.05), "the source stays where it is"
    assert rig.pose.bones["thigh_parent.L"]["IK_FK"] == 1


def test_escape_brings_back_pose_action_and_properties(source, rig):
    bones = rig.pose.bones
    bones["chest"].rotation_quaternion, bones["foot_ik.L"].location = (0.9, 0.3, 0.1, 0), (0.1, 0.2, 0.3)
    bones["thigh_parent.L"]["IK_FK"], bones["torso"]["head_follow"] = 0.25, 0.5
    bones["torso"].keyframe_insert("location", frame=1)
    bones["thigh_parent.L"].keyframe_insert('["IK_FK"]', frame=1)
    action, before = rig.animation_data.action, state(rig)
    session = drive(source, 0.5)
    assert state(rig) != before and tuple(bones["chest"].rotation_quaternion) == (1, 0, 0, 0)
    bpy.context.scene.frame_set(20)
    assert bones["thigh_parent.L"]["IK_FK"] == 1, "also after the Action was shown"
    session.cancel(bpy.context)
    bpy.context.scene.frame_set(1)
    assert rig.animation_data.action == action and not rig.mm.drive.driving
    assert state(rig) == before


def test_a_kept_take_has_keys_on_controls_and_shows_what_was_driven(source, rig):
    bones = rig.pose.bones
    bones["chest"].rotation_quaternion = (0.9, 0.3, 0.1, 0)
    bones["shoulder.R"].rotation_mode = "AXIS_ANGLE"
    session = drive(source, 2)
    driven = {bone: place(rig, bone) for bone in DEFORMING.values()}
    assert session.keep() == ["rig Drive"]
    action = rig.animation_data.action
    keyed = {bone_of(curve.data_path) for curve in actions.fcurves(action, rig)}
    assert {("thigh_fk.L", "rotation_quaternion"), ("shoulder.L", "rotation_euler"), ("torso", "location"),
            ("shoulder.R", "rotation_axis_angle"), ("thigh_parent.L", '["IK_FK"]')} <= keyed
    assert not any(bone.startswith(("DEF-", "MCH-", "ORG-")) or "_ik" in bone for bone, _ in keyed)
    assert source.animation_data.action != action
    bones["thigh_parent.L"]["IK_FK"], bones["chest"].rotation_quaternion = 0.0, (0.9, 0.3, 0.1, 0)
    bpy.context.scene.frame_set(round(action.frame_range[1]))
    for bone, where in driven.items():
        assert np.allclose(place(rig, bone), where, atol=1e-3), bone


def test_a_take_goes_on_when_limbs_are_switched_to_ik(source, rig):
    source.mm.drive.ik_keys = True
    rig.location, rig.rotation_euler = (1, 1, 0), (0, 0, 0.5)
    bpy.context.view_layer.update()
    drive(source, 2).keep()
    action, bones = rig.animation_data.action, ["DEF-foot.L", "DEF-toe.R", "DEF-hand.R", "DEF-shin.L", "DEF-forearm.L"]
    switches = [curve for curve in actions.fcurves(action, rig) if "IK_FK" in curve.data_path]
    assert len(switches) == 4
    for frame in (20, 60, 100):
        shown = []
        for value in (1.0, 0.0):
            for curve in switches:
                curve.keyframe_points[0].co[1] = value
                curve.update()
            bpy.context.scene.frame_set(frame - 1)
            bpy.context.scene.frame_set(frame)
            shown.append([place(rig, bone) for bone in bones])
        assert rig.pose.bones["thigh_parent.L"]["IK_FK"] == 0
        apart = np.linalg.norm(np.subtract(*shown), axis=-1)
        assert apart[:3].max() < 0.002, (frame, apart)
        assert apart[3:].max() < 0.03, "Rigify's IK is a little elastic"


def test_a_take_with_few_keys_is_near_enough(source, rig):
    source.mm.drive.tolerance = 0.01
    session = drive(source, 1)
    driven = place(rig, "DEF-foot.L")
    session.keep()
    curves = actions.fcurves(rig.animation_data.action, rig)
    bpy.context.scene.frame_set(round(rig.animation_data.action.frame_range[1]))
    assert np.linalg.norm(place(rig, "DEF-foot.L") - driven) < 0.02
    assert sum(len(curve.keyframe_points) for curve in curves) < 20 * len(curves)


@pytest.mark.parametrize("how", ["larger", "in centimetres", "lying as from another program", "on a turning platform"])
def test_targets_that_are_scaled_turned_or_parented(source, how):
    ob = metarig()
    bpy.context.view_layer.objects.active = source
    source.mm.drive.target = ob
    size = 1.0
    if how == "larger":
        size, ob.scale, ob.location = 2.0, (2, 2, 2), (3, 1, 0.1)
    elif how == "in centimetres":
        ob.data.transform(Matrix.Scale(100, 4))
        ob.scale = (0.01, 0.01, 0.01)
    elif how == "lying as from another program":
        ob.data.transform(Matrix.Rotation(-math.pi / 2, 4, "X"))
        ob.rotation_euler = (math.pi / 2, 0, 0)
    else:
        above = bpy.data.objects.new("Platform", None)
        bpy.context.scene.collection.objects.link(above)
        above.location, above.rotation_euler, ob.parent = (1, 2, 0), (0, 0, 1.0), above
    ob.data.update_tag()
    bpy.context.view_layer.update()
    before = place(ob, "spine")
    low = place(ob, "toe.L")[2] - ob.matrix_world.translation[2]
    feet = Feet(ob, ["toe.L", "toe.R"])
    drive(source, 2, feet)
    hips = place(ob, "spine")
    assert hips[1] - before[1] > 0.8 * size and np.linalg.norm((hips - before)[:2]) < 5 * size
    assert abs(hips[2] - (before[2] - ob.matrix_world.translation[2])) < 0.15 * size
    assert np.mean(feet.slides) < 0.005 and feet.lowest > low - 0.005


def test_a_database_of_another_drives_without_it(source):
    path = source.mm.bake.path
    bpy.data.objects.remove(source)
    ob = control_rig()
    assert not libraries.is_ready(ob)
    ob.mm.bake.path, ob.mm.drive.relative = path, "WORLD"
    assert libraries.is_ready(ob)
    drive(ob, 2)
    assert place(ob, "DEF-spine")[1] > 1.2


def test_a_recording_is_kept_on_the_target(source, rig, tmp_path):
    (tmp_path / "go.csv").write_text("time,move_x,move_y,face_x,face_y,run,strafe\n0,0,1,0,0,0,0\n2,0,1,0,0,0,0\n")
    assert bpy.ops.mm.drive_recording(filepath=str(tmp_path / "go.csv")) == {"FINISHED"}
    action = rig.animation_data.action
    assert action.name == "go" and source.animation_data.action != action
    bpy.context.scene.frame_set(round(action.frame_range[1]))
    assert place(rig, "DEF-spine")[1] > 1.2


def test_a_recording_steers_the_target_that_is_active(source, rig, tmp_path):
    (tmp_path / "go.csv").write_text("time,move_x,move_y,face_x,face_y,run,strafe\n0,0,1,0,0,0,0\n1,0,1,0,0,0,0\n")
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.mm.drive_recording(filepath=str(tmp_path / "go.csv")) == {"FINISHED"}
    assert rig.animation_data.action.name == "go"


def test_two_targets_of_two_sources_go_together(source, rig):
    other = bpy.data.objects.new("Other", source.data)
    bpy.context.scene.collection.objects.link(other)
    other.mm.bake.path, other.mm.bake.key, other.mm.drive.relative = source.mm.bake.path, source.mm.bake.key, "WORLD"
    other.mm.drive.target = meta = metarig()
    meta.location = (3, 0, 0)
    bpy.context.view_layer.objects.active = source
    bpy.context.view_layer.update()
    session = driving.start(bpy.context, [source, other])
    session.keyboard.press("W", "forward")
    go(session, 1.5)
    assert place(rig, "DEF-spine")[1] > 0.7 and place(meta, "spine")[1] < 0.4
    bpy.context.view_layer.objects.active = meta
    go(session, 1.5)
    assert session.driven.name == meta.name and place(meta, "spine")[1] > 0.7, "the active one gets the input"
    assert sorted(session.keep()) == ["metarig Drive", "rig Drive"]


def test_the_same_target_is_not_driven_twice(source, rig):
    other = bpy.data.objects.new("Other", source.data)
    bpy.context.scene.collection.objects.link(other)
    other.mm.bake.path, other.mm.bake.key, other.mm.drive.target = source.mm.bake.path, source.mm.bake.key, rig
    with pytest.raises(MotionError, match='"rig" is driven by another'):
        driving.start(bpy.context, [source, other])
    assert driving.current() is None and not rig.mm.drive.driving


@pytest.mark.parametrize("gone", ["source", "target"])
def test_one_that_is_gone_is_waited_for_and_with_esc_the_other_is_as_before(source, rig, gone):
    rig.pose.bones["thigh_parent.L"]["IK_FK"] = 0.25
    before, name = state(rig), (source if gone == "source" else rig).name
    session = drive(source, 0.5)
    bpy.data.objects.remove(bpy.data.objects[name])
    go(session, 1)
    assert session.status.sentences == (f'Waiting: "{name}" is gone. Undo brings it back.',)
    with pytest.raises(MotionError, match=f'"{name}" is gone'):
        session.keep()
    session.cancel(bpy.context)
    assert driving.current() is None
    assert gone == "target" or (state(rig) == before and not rig.mm.drive.driving)


def test_renamed_objects_and_bones_go_on(source, rig):
    before = state(rig)
    session = drive(source, 0.3)
    source.name, rig.name = "Another", "Puppet"
    rig.data.bones["thigh_fk.L"].name = "leg"
    rig.data.bones["thigh_parent.L"].name = "leg switch"
    session.rebind()  # as after undo
    go(session, 1.0)
    assert place(rig, "DEF-spine")[1] > 0.5
    session.cancel(bpy.context)
    assert state(rig) == before


def test_a_file_saved_meanwhile_has_everything_from_before(source, rig, tmp_path):
    before = state(rig)
    session = drive(source, 0.5)
    shown = state(rig)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"), copy=True)
    assert driving.current() is session and state(rig) == shown, "driving goes on"
    session.cancel(bpy.context)
    with bpy.data.libraries.load(str(tmp_path / "saved.blend")) as (_, loaded):
        loaded.objects = [rig.name]
    assert state(loaded.objects[0]) == before and not loaded.objects[0].mm.drive.driving


def test_all_methods_drive_the_target_and_it_goes_on_where_it_is(source, rig):
    baked = database.load(baking.database_path(source))
    networks = calm(baked)
    networks.save(training.own_networks_path(source), np.zeros((len(baked), networks.latents)))
    session = drive(source, 0.7)
    for method, name in (("LMM", "Learned"), ("DMM", "Decompressed"), ("MM", "Motion Matching")):
        source.mm.drive.method = method
        last = place(rig, "DEF-spine")
        for _ in range(8):
            go(session, 1 / 30)
            now = place(rig, "DEF-spine")
            assert np.linalg.norm(now - last) < 0.15, "nothing leaps"
            last = now
        assert session.status.method == name and 0.6 < last[2] < 1.3


def test_an_undo_meanwhile_is_gone_on_from(source, rig):
    before = state(rig)
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.ed.undo_push(message="Again")
    session, names = drive(source, 0.5), (source.name, rig.name)
    bpy.ops.ed.undo()
    go(session, 1.0)
    source, rig = (bpy.data.objects[name] for name in names)
    assert place(rig, "DEF-spine")[1] > 0.3 and rig.pose.bones["thigh_parent.L"]["IK_FK"] == 1
    session.cancel(bpy.context)
    assert state(rig) == before


def test_the_hands_slider_acts_at_once(source, rig):
    session = driving.start(bpy.context, [source])
    go(session, 0.5)
    reach = place(rig, "DEF-hand.R")
    source.mm.drive.hands = 1.0
    go(session, 0.5)
    assert np.linalg.norm(place(rig, "DEF-hand.R") - reach) > 0.02


def test_a_target_is_not_compared_and_that_is_said(source, rig):
    source.mm.drive.compare = True
    session = drive(source, 0.7)
    assert any("not of a Target" in sentence for sentence in session.status.sentences)
    assert not any(ob.mm.drive.copied for ob in bpy.data.objects)


def test_what_a_target_lacks_is_named(source, rigs):
    source.mm.drive.target = rigs.chain()
    bpy.context.view_layer.objects.active = source
    with pytest.raises(MotionError, match=r"(?i)hips|thigh"):
        driving.start(bpy.context, [source])
    assert driving.current() is None and not source.mm.drive.target.mm.drive.driving


def test_a_target_that_is_in_no_scene_is_named(source, rig):
    bpy.context.scene.collection.objects.unlink(rig)
    assert '"rig" is in no scene' in targets.trouble(source)
    with pytest.raises(MotionError, match="in no scene"):
        driving.start(bpy.context, [source])


def test_an_armature_with_the_bones_of_the_database_is_posed_as_ever(source):
    assert libraries.library_of(source).retarget is None
    other = bpy.data.objects.new("Other", source.data)
    bpy.context.scene.collection.objects.link(other)
    source.mm.drive.target = other
    assert libraries.library_of(source).retarget is None
    other.data = source.data.copy()
    bpy.context.view_layer.objects.active = other
    bpy.ops.object.mode_set(mode="EDIT")
    other.data.edit_bones["forearm.L"].roll += 1.0
    bpy.ops.object.mode_set(mode="OBJECT")
    assert libraries.library_of(source).retarget is not None, "another roll is another skeleton"


def test_a_rig_whose_rest_pose_sits_needs_a_pose_that_stands(source):
    ob = metarig()
    source.mm.drive.target = ob
    height = place(ob, "spine")[2]
    turn_thighs(ob, -1.4)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.armature_apply()
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(MotionError, match="does not stand"):
        driving.start(bpy.context, [source])
    turn_thighs(ob, 1.4)
    set_stance(ob)
    turn_thighs(ob, 0)
    session = drive(source, 2)
    assert place(ob, "spine")[1] > 1.2 and abs(place(ob, "spine")[2] - height) < 0.1
    assert np.degrees(ob.pose.bones["shin.L"].y_axis.angle(ob.pose.bones["thigh.L"].y_axis)) < 90
    session.cancel(bpy.context)


def test_a_copy_of_one_whose_rest_pose_is_a_line_needs_no_pose_that_stands(extension, tmp_path):
    bvh.write(tmp_path / "walk.bvh", along_x(next(clip for clip in demo.clips(60) if clip.name == "walk")))
    bpy.ops.mm.import_motion(filepath=str(tmp_path / "walk.bvh"))
    source = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    bpy.context.view_layer.objects.active = source
    apply_preset(source, "locomotion")
    source.mm.bake.path, source.mm.drive.relative = str(tmp_path / "walk.mmdb"), "WORLD"
    bpy.ops.mm.bake()
    other = bpy.data.objects.new("Copy", source.data.copy())
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.objects.active = other
    bpy.ops.object.mode_set(mode="EDIT")
    for number, bone in enumerate(other.data.edit_bones):
        bone.name, bone.roll = f"my_{bone.name}", bone.roll + 0.3 * number
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = source
    source.mm.drive.target, feet = other, Feet(other, ["my_toe.L", "my_toe.R"])
    rest = place(other, "my_head") - place(other, "my_hips")
    session = drive(source, 3, feet)
    assert abs(rest[2]) < 0.1 and place(other, "my_head")[2] > 1.4 and place(other, "my_hips")[1] > 1.2
    assert np.mean(feet.slides) < 0.005 and feet.lowest > -0.005
    session.cancel(bpy.context)


def along_x(clip):
    """The clip with bones whose X axes point to their first children: the rest pose of its BVH file is a line."""
    skeleton = clip.skeleton
    rolls, above = quat.identity((len(skeleton),)), np.maximum(skeleton.parents, 0)
    for joint in range(1, len(skeleton)):
        for child in skeleton.children(joint)[:1]:
            rolls[joint] = quat.between(np.array([1.0, 0, 0]), skeleton.positions[child])
    back = quat.inv(rolls)[above]
    return clip.with_changes(skeleton=replace(skeleton, positions=quat.rotate(back, skeleton.positions)),
                             positions=quat.rotate(back, clip.positions),
                             rotations=quat.mul(quat.mul(back, clip.rotations), rolls))


def turn_thighs(ob, angle):
    for name in ("thigh.L", "thigh.R"):
        bone = ob.pose.bones[name]
        rest = bone.bone.matrix_local.to_3x3()
        bone.rotation_quaternion = (rest.inverted() @ Matrix.Rotation(angle, 3, "X") @ rest).to_quaternion()
    bpy.context.view_layer.update()


# Bake through the rig

def test_clips_of_armatures_with_other_bones_are_baked_for_the_active_one(source, tmp_path):
    source.mm.drive.target = other = metarig()
    bpy.context.view_layer.objects.active = source
    (tmp_path / "go.csv").write_text("time,move_x,move_y,face_x,face_y,run,strafe\n0,0,1,0,0,0,0\n3,0,1,0,0,0,0\n")
    bpy.ops.mm.drive_recording(filepath=str(tmp_path / "go.csv"))
    source.mm.drive.target = None
    other.select_set(True)
    assert bpy.ops.mm.clips_add(source="SELECTED") == {"FINISHED"}
    assert source.mm.clips[-1].source == other
    bpy.ops.mm.bake()
    assert baking.report(source)["left_out"] == [] and baking.changes(source, bpy.context.scene) == []
    baked = libraries.library_of(source).database
    clip = baked.clip(next(index for index, part in enumerate(baked.ranges) if part.source == "go"))
    own = skeleton_of(source)
    assert clip.skeleton.names == own.names
    places, _ = clip.globals()
    height = places[:, own.index("hips"), 2].mean()
    assert clip.positions[-1, 0, 1] > 2 and abs(height - own.rest[0][own.index("hips"), 2]) < 0.1
    toes = [clip.skeleton.index(baked.character.roles[f"{side}_toe"]) for side in ("left", "right")]
    speeds = clip.rate * np.linalg.norm(np.diff(places[:, toes, :2], axis=0), axis=-1)
    assert speeds[clip.contacts[1:] & clip.contacts[:-1]].mean() < 0.005, "feet that stand do not slide"
    other.mm.roles["head"].bone = ""
    assert baking.changes(source, bpy.context.scene) == ['Clip "go" changed'], "another mapping is another clip"
