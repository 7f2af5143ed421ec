# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that lack something, have four legs, or change while they are driven: they go on, or it is said why not."""

import bpy
import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.scene import actions, driving
from mm_blender.scene.rig.character import character_of
from tests.scene.going import Feet, drive, go, place
from tests.scene.rigify import control_rig, metarig

pytestmark = pytest.mark.once


def edited(ob, *gone, spine=False):
    """An armature without some of its bones, or with one bone for its spine."""
    active = bpy.context.view_layer.objects.active
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    bones = ob.data.edit_bones
    if spine:
        top, above = bones["spine.003"].tail.copy(), bones["spine.003"].children
        bones["spine.001"].tail, gone = top, ("spine.002", "spine.003")
        for bone in above:
            bone.parent = bones["spine.001"]
    for name in gone:
        bones.remove(bones[name])
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = active
    return ob


@pytest.mark.parametrize("lacks", ["toes", "spine"])
def test_a_target_without_toes_or_with_one_spine_bone_walks(source, lacks):
    ob = edited(metarig(), "toe.L", "toe.R") if lacks == "toes" else edited(metarig(), spine=True)
    # A foot without toes stands where its bone ends.
    bones, end = (["foot.L", "foot.R"], "tail") if lacks == "toes" else (["toe.L", "toe.R"], "head")
    source.mm.drive.target, rest, feet = ob, place(ob, bones[0], end)[2], Feet(ob, bones, end)
    head = place(ob, "spine.006")[2]
    drive(source, 3, feet)
    assert place(ob, "spine")[1] > 2 and abs(place(ob, "spine.006")[2] - head) < 0.12
    assert len(feet.slides) > 20 and np.mean(feet.slides) < 0.005 and feet.lowest > rest - 0.005


def test_a_target_with_four_legs_is_told_to_have_motion_of_its_own(source, subtests):
    for kind in ("wolf", "horse", "cat"):
        with subtests.test(kind):
            source.mm.drive.target = ob = metarig(kind)
            before = place(ob, ob.pose.bones[0].name)
            with pytest.raises(MotionError) as told:
                driving.start(bpy.context, [source])
            assert str(told.value) == (
                f'The Target "{ob.name}" walks on four legs, and motion is only put onto other characters from two '
                "legs to two: bake and drive it with motion of its own bones.")
            assert driving.current() is None and not ob.mm.drive.driving and source.mm.drive.target == ob
            assert np.array_equal(place(ob, ob.pose.bones[0].name), before)


def test_a_target_with_four_legs_that_is_to_walk_on_two_goes_on_its_hind_ones(source):
    ob = metarig("wolf")
    ob.mm.legs = "TWO"
    roles = character_of(ob).roles
    hips, toes = roles["hips"], [roles[f"{side}_toe"] for side in ("left", "right")]
    source.mm.drive.target, before, feet = ob, place(ob, hips), Feet(ob, toes)
    rest = place(ob, toes[0])[2]
    drive(source, 2, feet)
    way = place(ob, hips) - before
    assert way[1] > 0.25 * before[2] and abs(way[2]) < 0.15 * before[2], "as far as its legs are long"
    assert np.mean(feet.slides) < 0.01 and feet.lowest > rest - 0.005


@pytest.mark.parametrize("scale, sentence", [((1, 2, 1), "scaled unevenly"), ((-1, 1, 1), "negative scale")])
def test_a_target_with_a_scale_that_no_skeleton_can_have_is_refused(source, scale, sentence):
    source.mm.drive.target = ob = metarig()
    ob.scale = scale
    bpy.context.view_layer.update()
    with pytest.raises(MotionError, match=sentence):
        driving.start(bpy.context, [source])
    assert driving.current() is None and not ob.mm.drive.driving


def test_a_bone_that_is_deleted_meanwhile_is_done_without(source):
    source.mm.drive.target = ob = metarig()
    session = drive(source, 0.5)
    edited(ob, "forearm.L")
    go(session, 1.5)
    assert place(ob, "spine")[1] > 1.2 and session.status.sentences == ()
    session.cancel(bpy.context)
    assert np.allclose(ob.pose.bones["thigh.L"].rotation_quaternion, (1, 0, 0, 0))


def test_a_control_that_is_deleted_meanwhile_is_named_and_waited_for(source):
    source.mm.drive.target = ob = control_rig()
    session = drive(source, 0.5)
    edited(ob, "thigh_fk.L")
    go(session, 0.5)
    assert session.status.sentences[0].startswith('The control "thigh_fk.L" of "rig" is gone')
    session.cancel(bpy.context)
    assert ob.pose.bones["thigh_parent.R"]["IK_FK"] == 0 and not ob.mm.drive.driving


def test_a_target_is_changed_only_when_driving_is_over(source):
    source.mm.drive.target = ob = metarig()
    session = drive(source, 0.5)
    source.mm.drive.target = None
    go(session, 1.5)
    assert place(ob, "spine")[1] > 1.2
    session.cancel(bpy.context)
    bpy.context.view_layer.update()
    assert abs(place(ob, "spine")[1]) < 0.1 and not ob.mm.drive.driving


def test_the_source_and_its_actions_are_untouched(source):
    def content():
        return {action.name: [(curve.data_path, curve.array_index, [tuple(key.co) for key in curve.keyframe_points])
                              for curve in actions.fcurves(action, source)] for action in bpy.data.actions}

    source.mm.drive.target, before = control_rig(), content()
    drive(source, 1).keep()
    after = content()
    assert {name: after[name] for name in before} == before and set(after) - set(before) == {"rig Drive"}
