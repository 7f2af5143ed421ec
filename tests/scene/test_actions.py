# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions work the same in every version of Blender."""

import bpy
import pytest

from mm_blender.scene import actions

SLOTS = bpy.app.version >= (4, 4)


def test_a_new_actions_curves_move_the_object_it_was_made_for(rigs):
    ob = rigs.chain()
    action = actions.new_action("Slide", ob)
    curve, = actions.add_fcurves(action, [('pose.bones["b1"].location', 1, "b1")])
    curve.keyframe_points.insert(5, 3)
    actions.assign(ob, action)
    bpy.context.scene.frame_set(5)
    assert ob.pose.bones["b1"].location[1] == 3
    assert [found.data_path for found in actions.fcurves(action, ob)] == ['pose.bones["b1"].location']
    assert curve.group.name == "b1"


def test_a_second_armature_moves_with_the_same_action(rigs):
    first, second = rigs.chain(name="First"), rigs.chain(name="Second")
    action = rigs.animate(first, "Wave", (1, 9))
    actions.assign(second, action)
    second.pose.bones["b1"].location = (0, 0, 0)
    bpy.context.scene.frame_set(9)
    assert any(second.pose.bones["b1"].location)
    assert len(actions.fcurves(action, second)) == len(actions.fcurves(action, first)) == 5 * 7


@pytest.mark.skipif(not SLOTS, reason="slots came with Blender 4.4")
def test_each_object_has_its_own_slot(rigs):
    one, two = rigs.chain(name="One"), rigs.chain(name="Two")
    action = bpy.data.actions.new("Duet")
    for ob, height in ((one, 1), (two, 2)):
        ob.animation_data_create().action = action
        ob.animation_data.action_slot = action.slots.new("OBJECT", ob.name)
        ob.pose.bones["b1"].location[0] = height
        ob.pose.bones["b1"].keyframe_insert("location", index=0, frame=1)
        ob.animation_data.action = None
    assert [actions.fcurves(action, ob)[0].evaluate(1) for ob in (one, two)] == [1, 2]
    assert actions.fcurves(action, one, actions.slot_named(action, "OBTwo"))[0].evaluate(1) == 2
    actions.assign(two, action)
    assert two.animation_data.action_slot.identifier == "OBTwo"


def test_the_range_is_the_artists_or_that_of_the_keys(rigs):
    ob = rigs.chain()
    action = rigs.animate(ob, "Wave", (2.5, 9))
    assert actions.frame_range(action, ob) == (2.5, 9)
    action.use_frame_range, action.frame_start, action.frame_end = True, 1, 20
    assert actions.frame_range(action, ob) == (1, 20)
    assert actions.frame_range(bpy.data.actions.new("Empty"), ob) is None


def test_pose_markers_come_in_order(rigs):
    action = bpy.data.actions.new("Marked")
    for name, frame in (("b]", 9), ("b[", 3)):
        action.pose_markers.new(name).frame = frame
    assert actions.pose_markers(action) == [("b[", 3), ("b]", 9)]


def test_what_animates_an_object_can_be_put_back(rigs):
    ob = rigs.chain()
    mine, other = rigs.animate(ob, "Mine", (1, 9)), rigs.animate(ob, "Other", (1, 9), seed=2)
    actions.assign(ob, mine)
    bound = ob.animation_data
    tracks = [bound.nla_tracks.new() for _ in range(2)]
    tracks[1].is_solo = True
    bound.action_blend_type, bound.action_extrapolation, bound.action_influence = "ADD", "NOTHING", 0.25

    def now():
        return (bound.action, getattr(bound, "action_slot", None), bound.use_nla, bound.action_blend_type,
                bound.action_extrapolation, bound.action_influence, [(t.mute, t.is_solo) for t in bound.nla_tracks])

    before = now()
    with pytest.raises(ZeroDivisionError), actions.kept(ob):
        actions.assign(ob, other)
        bound.use_nla, bound.action_blend_type, bound.action_influence = False, "REPLACE", 1
        tracks[1].is_solo, tracks[0].mute = False, True
        raise ZeroDivisionError
    assert now() == before


def test_an_object_without_animation_has_none_afterwards(rigs):
    ob = rigs.chain()
    action = rigs.animate(ob, "Wave", (1, 9))
    ob.animation_data_clear()
    with actions.kept(ob):
        actions.assign(ob, action)
    assert ob.animation_data is None
