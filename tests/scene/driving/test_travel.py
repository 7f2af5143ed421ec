# SPDX-License-Identifier: GPL-3.0-or-later
"""A kept take travels on the rig's root bone, or on the bone that is named, and looks the same whichever it is."""

import bpy
import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.playback.direct import in_place
from mm_blender.prepare.recipe import Recipe
from mm_blender.prepare.root import add_root
from mm_blender.scene import actions
from mm_blender.scene.driving import takes, travel
from mm_blender.scene.reading import sampling
from mm_blender.scene.rig.character import character_of
from tests import walker

ROOT = {"root": ((0, 0, 0), (0, 0.3, 0), None)}


def rig(name="root", **bones):
    """The walker with a bone above its hips that deforms nothing, which is no joint of the motion."""
    above = {name: bones.pop(name, ROOT["root"]), **bones}
    below = {bone: (head, tail, parent or name) for bone, (head, tail, parent) in walker.BONES.items()}
    ob = walker.armature(bones={**above, **below})
    for bone in above:
        ob.data.bones[bone].use_deform = False
    bpy.ops.mm.roles_find()
    return ob


def motion(ob):
    """Two seconds of walking, with a root that is made."""
    action = walker.walk(ob)
    clip = sampling.finished(sampling.read_action(ob, action, None, 1, 1 + 2 * 24))
    bpy.data.actions.remove(action)
    return add_root(clip, character_of(ob), Recipe(root="made"))


@pytest.fixture
def ob(extension):
    ob = rig()
    ob.location, ob.rotation_euler.z = (2, 1, 0), 0.7
    bpy.context.view_layer.update()
    return ob


def shown(ob, action, names, frames=(1, 20, 49)):
    actions.assign(ob, action)
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append([list(ob.matrix_world @ ob.pose.bones[name].head) for name in names])
    return np.array(found)


def way(ob, bone):
    """How far a bone's own channels take it."""
    bpy.context.scene.frame_set(1)
    begin = ob.pose.bones[bone].location.copy()
    bpy.context.scene.frame_set(49)
    return (ob.pose.bones[bone].location - begin).length


def test_the_root_bone_carries_the_take_and_every_joint_is_where_it_was(ob):
    clip, joints = motion(ob), ["hips", "head", "toe.L", "toe.R"]
    before = ob.matrix_world.copy()
    plain = shown(ob, takes.write(ob, clip, "Plain", bone="hips"), joints)
    assert way(ob, "hips") > 2 and way(ob, "root") == 0
    action = takes.write(ob, clip, "Take")
    assert np.abs(shown(ob, action, joints) - plain).max() < 1e-4
    assert way(ob, "root") > 2 and way(ob, "hips") < 0.1 and ob.matrix_world == before
    bpy.context.scene.frame_set(49)
    root = ob.matrix_world @ ob.pose.bones["root"].head
    assert abs(root.z) < 1e-4 and (root.xy - type(root)(plain[-1, 0]).xy).length < 0.15, "on the ground, under the hips"


def test_of_several_bones_above_the_hips_the_one_that_is_named_carries(extension):
    ob = rig("world", root=((0, 0.1, 0), (0, 0.3, 0), "world"), cog=((0, 0, 0.9), (0, 0.2, 0.9), "root"))
    for bone in walker.BONES:
        assert bone != "hips" or ob.data.bones[bone].parent.name == "world"
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones["hips"].parent = ob.data.edit_bones["cog"]
    bpy.ops.object.mode_set(mode="OBJECT")
    clip, joints = motion(ob), ["hips", "head", "toe.L"]
    assert travel.usual(ob) == "", "nothing says that the bone above all is one"
    plain = shown(ob, takes.write(ob, clip, "Plain"), joints)
    for name in ("world", "root", "cog"):
        action = takes.write(ob, clip, name, bone=name)
        assert np.abs(shown(ob, action, joints) - plain).max() < 1e-4, name
        assert {bone for bone in ("world", "root", "cog", "hips") if way(ob, bone) > 0.2} == {name}


def test_a_bone_that_cannot_carry_is_told(ob):
    clip = motion(ob)
    with pytest.raises(MotionError, match='The bone "head" does not carry "hips": choose one'):
        takes.write(ob, clip, "Take", bone="head")
    with pytest.raises(MotionError, match='"Walker" has no bone "pelvis"'):
        takes.write(ob, clip, "Take", bone="pelvis")
    assert "Take" not in bpy.data.actions


def test_without_a_root_bone_it_is_the_hips_as_ever(extension):
    ob = walker.armature()
    bpy.ops.mm.roles_find()
    action = takes.write(ob, motion(ob), "Take")
    shown(ob, action, ["hips"])
    assert travel.usual(ob) == "" and way(ob, "hips") > 2


def test_a_take_that_is_lengthened_may_have_travelled_on_the_hips(ob):
    clip = motion(ob)
    first = takes.keep(ob, clip, "First", bone="hips")
    for curve in [curve for curve in actions.fcurves(first, ob) if '"root"' in curve.data_path]:
        actions._bags(first, ob)[0].fcurves.remove(curve)  # as an earlier version has kept it
    before = shown(ob, first, ["hips", "head"], (1, 20, 40))
    positions = clip.positions.copy()
    positions[:, 0] += (0, 3, 0)
    whole = takes.keep(ob, clip.with_changes(positions=positions), "Whole", start_frame=41, keep_as="LENGTHEN")
    assert np.abs(shown(ob, whole, ["hips", "head"], (1, 20, 40)) - before).max() < 1e-4
    assert travel.usual(ob) == "root" and whole.frame_range[1] > 80


def test_who_goes_on_from_a_take_on_a_root_bone_goes_on_from_there(ob, tmp_path):
    walker.ready(ob, tmp_path / "motion.mmdb", walker.walk(ob, seconds=4.0))
    bpy.ops.mm.bake()
    (tmp_path / "go.csv").write_text("time,move_x,move_y,face_x,face_y,run,strafe\n0,0,1,0,0,0,0\n2,0,1,0,0,0,0\n")
    ob.mm.drive.keep_as, ends = "LENGTHEN", [1]
    for _ in range(2):
        bpy.context.scene.frame_set(ends[-1])
        bpy.ops.mm.drive_recording(filepath=str(tmp_path / "go.csv"))
        ends.append(round(ob.animation_data.action.frame_range[1]))
    hips, steps = [], range(1, ends[-1] + 1)
    for frame in steps:
        bpy.context.scene.frame_set(frame)
        hips.append(list(ob.matrix_world @ ob.pose.bones["hips"].head))
    assert ends[-1] > 90 and np.linalg.norm(np.diff(hips, axis=0), axis=-1).max() < 0.15
    assert way(ob, "root") > 1 and way(ob, "hips") < 0.1


def test_a_rig_without_a_root_bone_gets_one_and_nothing_else_changes(extension, tmp_path):
    ob = walker.armature()
    walker.ready(ob, tmp_path / "motion.mmdb", walker.walk(ob, seconds=4.0))
    bpy.ops.mm.bake()
    joints, walk = ["hips", "head", "toe.L"], bpy.data.actions["walk"]
    before = shown(ob, walk, joints)
    assert bpy.ops.mm.root_bone_add() == {"FINISHED"}
    assert ob.data.bones["hips"].parent.name == "root" == travel.usual(ob) and not ob.data.bones["root"].use_deform
    assert np.abs(shown(ob, walk, joints) - before).max() < 1e-5
    with pytest.raises(RuntimeError, match='It has one already: "root"'):
        bpy.ops.mm.root_bone_add()
    (tmp_path / "go.csv").write_text("time,move_x,move_y,face_x,face_y,run,strafe\n0,0,1,0,0,0,0\n2,0,1,0,0,0,0\n")
    bpy.context.scene.frame_set(1)
    bpy.ops.mm.drive_recording(filepath=str(tmp_path / "go.csv"))
    assert way(ob, "root") > 1 and way(ob, "hips") < 0.1


def test_in_place_the_bone_that_carries_a_take_stays_as_at_rest(subtests, ob):
    clip = motion(ob)
    still = in_place(clip, *travel.stand_of(ob, clip))
    for bone in ("root", "hips"):
        take = takes.write(ob, still, bone, bone=bone)
        heads = shown(ob, take, ["hips", "toe.L"])
        with subtests.test(bone):
            assert way(ob, "root") < 1e-4 and np.linalg.norm(heads[:, 0, :2] - [2, 1], axis=1).max() < 0.2
            assert np.ptp(heads[:, 1], axis=0).max() > 0.1
