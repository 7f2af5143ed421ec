# SPDX-License-Identifier: GPL-3.0-or-later
"""The rig's part in a clip: a change of what evaluates it is noticed, a change of the frame that is shown is not."""

import bpy
import pytest

from mm_blender.scene import actions
from mm_blender.scene.jobs import baking
from mm_blender.scene.reading.fingerprints import nla_fingerprint, rig_fingerprint
from tests import walker


@pytest.fixture
def target(extension):
    """What the rig below looks at: an object of its own."""
    empty = bpy.data.objects.new("Target", None)
    bpy.context.collection.objects.link(empty)
    return empty


@pytest.fixture
def ob(target):
    """A rig with a constraint to another object, IK to a bone of its own, and a driver on a custom property."""
    bones = {**walker.BONES, "ik.L": ((0.1, 0, 0.1), (0.1, 0.2, 0.1), None)}
    ob = walker.armature("Rig", bones)
    ob.data.bones["ik.L"].use_deform = False
    track = ob.pose.bones["head"].constraints.new("DAMPED_TRACK")
    track.target = target
    ik = ob.pose.bones["shin.L"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count = ob, "ik.L", 2
    ob["bend"] = 0.25
    driver = ob.pose.bones["spine"].driver_add("rotation_euler", 0).driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = ob, '["bend"]'
    driver.expression = "var * 2"
    bpy.context.view_layer.update()
    return ob


def constraint(ob, bone, index=0):
    return ob.pose.bones[bone].constraints[index]


CHANGES = {
    "influence": lambda ob, target: setattr(constraint(ob, "head"), "influence", 0.5),
    "muted": lambda ob, target: setattr(constraint(ob, "head"), "mute", True),
    "axis": lambda ob, target: setattr(constraint(ob, "head"), "track_axis", "TRACK_X"),
    "chain": lambda ob, target: setattr(constraint(ob, "shin.L"), "chain_count", 1),
    "subtarget": lambda ob, target: setattr(constraint(ob, "shin.L"), "subtarget", "toe.L"),
    "another target": lambda ob, target: setattr(constraint(ob, "head"), "target", ob),
    "target moved": lambda ob, target: setattr(target, "location", (0, 0, 3)),
    "target animated": lambda ob, target: target.keyframe_insert("location", frame=1),
    "target parented": lambda ob, target: setattr(target, "parent", new_empty("Above")),
    "new constraint": lambda ob, target: ob.pose.bones["chest"].constraints.new("LIMIT_ROTATION"),
    "removed constraint": lambda ob, target: ob.pose.bones["head"].constraints.remove(constraint(ob, "head")),
    "object constraint": lambda ob, target: ob.constraints.new("LIMIT_LOCATION"),
    "driver": lambda ob, target: setattr(ob.animation_data.drivers[0].driver, "expression", "var * 3"),
    "driver muted": lambda ob, target: setattr(ob.animation_data.drivers[0], "mute", True),
    "driven property": lambda ob, target: ob.__setitem__("bend", 0.5),
    "bone property": lambda ob, target: ob.pose.bones["hips"].__setitem__("fk", 1),
    "ik stiffness": lambda ob, target: setattr(ob.pose.bones["shin.L"], "ik_stiffness_x", 0.5),
    "ik target posed": lambda ob, target: setattr(ob.pose.bones["ik.L"], "location", (0, 0.1, 0)),
    "rotation mode": lambda ob, target: setattr(ob.pose.bones["chest"], "rotation_mode", "ZYX"),
    "inherit": lambda ob, target: setattr(ob.data.bones["chest"], "use_inherit_rotation", False),
}


def new_empty(name):
    empty = bpy.data.objects.new(name, None)
    bpy.context.collection.objects.link(empty)
    return empty


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_rig_is_noticed(ob, target, change):
    before = rig_fingerprint(ob)
    assert rig_fingerprint(ob) == before
    CHANGES[change](ob, target)
    bpy.context.view_layer.update()
    assert rig_fingerprint(ob) != before


def test_a_target_whose_animation_is_edited_is_noticed(ob, target):
    target.keyframe_insert("location", frame=1)
    target.keyframe_insert("location", frame=20)
    before = rig_fingerprint(ob)
    bpy.context.scene.frame_set(10)
    assert rig_fingerprint(ob) == before
    actions.fcurves(target.animation_data.action, target)[0].keyframe_points[1].co.y = 2.0
    assert rig_fingerprint(ob) != before


def test_a_plain_rig_does_not_care_for_what_does_not_evaluate_it(ob, target):
    before = rig_fingerprint(ob, evaluated=False)
    for change in ("influence", "target moved", "driver", "driven property", "ik stiffness"):
        CHANGES[change](ob, target)
        assert rig_fingerprint(ob, evaluated=False) == before
    for change in ("rotation mode", "ik target posed", "inherit"):
        CHANGES[change](ob, target)
        assert rig_fingerprint(ob, evaluated=False) != before
        before = rig_fingerprint(ob, evaluated=False)


def test_the_frame_that_is_shown_changes_nothing(ob, tmp_path):
    action = walker.walk(ob)
    influence, = actions.add_fcurves(action, [('pose.bones["head"].constraints["Damped Track"].influence', 0, "head")])
    influence.keyframe_points.insert(1, 0.0)
    influence.keyframe_points.insert(40, 1.0)
    bend, = actions.add_fcurves(action, [('["bend"]', 0, "props")])
    bend.keyframe_points.insert(1, 0.0)
    bend.keyframe_points.insert(40, 1.0)
    walker.ready(ob, tmp_path / "rig.mmdb", action)
    bpy.ops.mm.bake()
    bpy.ops.mm.clip_show(index=0)
    for frame in (1, 15, 40):
        bpy.context.scene.frame_set(frame)
        assert baking.changes(ob, bpy.context.scene) == []
    constraint(ob, "shin.L").influence = 0.5
    assert baking.changes(ob, bpy.context.scene) == ['Clip "walk" changed']


def test_the_signs_and_roundings_of_a_take_change_nothing(ob):
    hand = ob.pose.bones["spine"]
    hand.rotation_mode, hand.rotation_quaternion = "QUATERNION", (0.8, 0.0, -0.6, 0.0)
    before = rig_fingerprint(ob)
    hand.rotation_quaternion, hand.location = (-0.8, 0.0, 0.6, -0.0), (0.0, -0.0, 1e-7)
    assert rig_fingerprint(ob) == before
    hand.rotation_quaternion = (0.8, 0.0, 0.6, 0.0)
    assert rig_fingerprint(ob) != before


def test_every_kind_of_constraint_has_a_fingerprint(ob):
    kinds = bpy.types.Constraint.bl_rna.properties["type"].enum_items.keys()
    for kind in kinds:
        try:
            ob.pose.bones["chest"].constraints.new(kind)
        except (RuntimeError, TypeError):  # not for bones
            continue
    assert len(ob.pose.bones["chest"].constraints) > 20
    before = rig_fingerprint(ob)
    bpy.context.view_layer.update()
    assert rig_fingerprint(ob) == before


@pytest.fixture
def nla(extension):
    ob = walker.armature()
    bound = ob.animation_data_create()
    for name, start in (("walk", 1), ("run", 40)):
        action = walker.walk(ob, name)
        strip = bound.nla_tracks.new().strips.new(name, start, action)
        if hasattr(strip, "action_slot"):
            strip.action_slot = actions.slots(action)[0]
    return ob


@pytest.mark.parametrize("change", [
    lambda track, strip: setattr(track, "mute", True), lambda track, strip: setattr(track, "is_solo", True),
    lambda track, strip: setattr(strip, "frame_end_ui", strip.frame_end + 10),
    lambda track, strip: setattr(strip, "blend_in", 5), lambda track, strip: setattr(strip, "mute", True),
    lambda track, strip: setattr(strip, "blend_type", "ADD"), lambda track, strip: setattr(strip, "use_reverse", True),
    lambda track, strip: setattr(strip, "repeat", 2), lambda track, strip: track.strips.remove(strip),
    lambda track, strip: setattr(actions.fcurves(strip.action)[0].keyframe_points[0].co, "y", 5.0),
])
def test_a_change_of_the_nla_stack_is_noticed(nla, change):
    before = nla_fingerprint(nla)
    assert nla_fingerprint(nla) == before
    track = nla.animation_data.nla_tracks[1]
    change(track, track.strips[0])
    assert nla_fingerprint(nla) != before


def test_an_action_on_top_of_the_nla_stack_counts(nla):
    before = nla_fingerprint(nla)
    actions.assign(nla, walker.walk(nla, "on top"))
    assert nla_fingerprint(nla) != before


def test_showing_a_frame_leaves_the_nla_stack_as_it_is(nla):
    strip = nla.animation_data.nla_tracks[0].strips[0]
    strip.use_animated_influence = True
    strip.fcurves[0].keyframe_points.insert(1, 0.0)
    strip.fcurves[0].keyframe_points.insert(30, 1.0)
    before = nla_fingerprint(nla)
    bpy.context.scene.frame_set(15)
    assert nla_fingerprint(nla) == before
