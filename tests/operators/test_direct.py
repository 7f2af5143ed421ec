# SPDX-License-Identifier: GPL-3.0-or-later
"""Directing from a script: what the buttons of the Direct panel do."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Vector

from mm_blender.scene import actions
from mm_blender.scene.directing import generating, live, paths


@pytest.fixture
def ob(small_demo):
    bpy.ops.mm.bake()
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(2)
    for point, place in zip(spline.points, ((0, 0, 0, 1), (2, 1, 0, 1), (4, 0, 0, 1))):
        point.co = place
    curve = bpy.data.objects.new("Way", data)
    bpy.context.collection.objects.link(curve)
    small_demo.mm.direct.path = curve
    yield small_demo
    live.unregister()
    live.register()


def hips(ob, frame):
    bpy.context.scene.frame_set(round(frame))
    return np.array(ob.matrix_world @ ob.pose.bones[ob.mm.roles["hips"].bone].head)[:2]


def takes():
    return {action.name for action in bpy.data.actions if action.mm.take}


def edit(ob):
    actions.fcurves(ob.animation_data.action, ob)[0].keyframe_points[5].co[1] += 0.1


def test_it_walks_along_the_curve_to_its_end_from_the_start_frame_on(ob):
    ob.mm.direct.start = 31
    assert bpy.ops.mm.generate_path() == {"FINISHED"}
    take = ob.animation_data.action
    first, last = take.frame_range
    assert first == 31 and take.name == "Demo Character Way" and bpy.context.scene.frame_end >= last
    assert np.linalg.norm(hips(ob, first)) < 0.2
    assert np.linalg.norm(hips(ob, last) - [4, 0]) < 0.2
    assert hips(ob, (first + last) / 2)[1] > 0.4


def test_the_next_one_takes_the_place_of_the_last_until_somebody_edits_it(subtests, ob):
    bpy.ops.mm.generate_path()
    first = ob.animation_data.action.name
    bpy.ops.mm.path_mark_add(place=(2, 1, 0))
    ob.mm.direct.marks[0].wait = 2.0
    length = ob.animation_data.action.frame_range[1]
    bpy.ops.mm.generate_path()
    with subtests.test("replaced"):
        assert takes() == {first} and ob.animation_data.action.frame_range[1] > length + 90
    edit(ob)
    bpy.ops.mm.generate_path()
    with subtests.test("edited: it stays"):
        assert len(takes()) == 2 and first in takes()
        assert generating.edited(ob) is None
    edit_of = ob.mm.direct.take
    curves = actions.fcurves(edit_of, ob)
    curves[0].keyframe_points[5].co[1] += 0.1
    bpy.ops.mm.generate_path(if_edited="REPLACE")
    with subtests.test("edited: replaced on purpose"):
        assert len(takes()) == 2


def test_a_take_on_the_nla_is_replaced_there(ob):
    ob.mm.drive.keep_as = "NLA"
    bpy.ops.mm.generate_path()
    bpy.ops.mm.path_mark_add(place=(2, 1, 0))
    ob.mm.direct.marks[0].wait = 2.0
    bpy.ops.mm.generate_path()
    strips = [strip for track in ob.animation_data.nla_tracks for strip in track.strips]
    playing = [strip for strip in strips if strip.action == ob.mm.direct.take]
    assert len(takes()) == 1 and len(playing) == 1
    assert playing[0].action_frame_end == ob.mm.direct.take.frame_range[1]
    assert np.linalg.norm(hips(ob, ob.mm.direct.take.frame_range[1]) - [4, 0]) < 0.2


def test_how_a_take_was_made_can_be_recalled(ob):
    direct = ob.mm.direct
    bpy.ops.mm.path_mark_add(place=(2, 1, 0))
    direct.marks[0].wait, direct.marks[0].name, direct.start = 1.5, "Door", 7
    bpy.ops.mm.generate_path()
    direct.marks.clear()
    direct.path, direct.start = None, 1
    assert bpy.ops.mm.take_recall() == {"FINISHED"}
    assert direct.path.name == "Way" and direct.start == 7
    assert [(mark.name, mark.wait) for mark in direct.marks] == [("Door", 1.5)]
    bpy.data.objects.remove(bpy.data.objects["Way"])
    assert bpy.ops.mm.take_recall() == {"FINISHED"} and direct.path is None


def test_update_follows_the_curve_and_leaves_what_was_edited(subtests, ob):
    direct = ob.mm.direct
    bpy.ops.mm.generate_path()
    direct.update = True

    def move(y):
        direct.path.data.splines[0].points[2].co.y = y
        direct.path.data.update_tag()
        bpy.context.view_layer.update()
        live.on_update(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
        live.CALM, calm = 0.0, live.CALM
        while live.tick() is not None:
            pass
        live.CALM = calm

    move(3.0)
    with subtests.test("moved"):
        assert len(takes()) == 1
        assert np.linalg.norm(hips(ob, direct.take.frame_range[1]) - [4, 3]) < 0.2
    edit(ob)
    kept = ob.animation_data.action.name
    move(-2.0)
    with subtests.test("edited"):
        assert ob.animation_data.action.name == kept and len(takes()) == 1
        assert "was edited by hand and stays as it is" in live.sentences(ob)[0]
    with subtests.test("trouble"):
        bpy.data.objects.remove(direct.path)
        direct.take.mm.written = ""
        direct.take.mm.recipe = ""
        live.on_update(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
        live.CALM, calm = 0.0, live.CALM
        while live.tick() is not None:
            pass
        live.CALM = calm
        assert "has no path" in live.sentences(ob)[0]


def test_what_cannot_be_gone_is_one_sentence_and_nothing_changes(ob):
    ob.mm.direct.path = None
    before = ob.animation_data.action
    with pytest.raises(RuntimeError, match="has no path: choose a curve"):
        bpy.ops.mm.generate_path()
    assert ob.animation_data.action == before and not takes()


def test_marks_are_added_at_the_cursor_at_objects_and_removed(ob):
    direct = ob.mm.direct
    bpy.context.scene.cursor.location = 3, 0.5, 0
    bpy.ops.mm.path_mark_add()
    assert direct.marks[0].place[0] == pytest.approx(3, abs=0.3)
    direct.path = None
    bpy.ops.mm.path_mark_add()
    assert direct.marks[1].ob.name == "Place" and direct.marks[1].ob.location[0] == 3
    bpy.ops.mm.path_mark_remove(index=0)
    assert [mark.ob.name for mark in direct.marks] == ["Place"]
    bpy.ops.mm.path_mark_remove()
    assert not len(direct.marks) and not bpy.ops.mm.path_mark_remove.poll()


def test_another_seed_is_another_take_of_the_same_way_and_the_same_one_the_same(ob):
    found = []
    for seed in (0, 3, 3):
        bpy.ops.mm.generate_path(seed=seed)
        take = ob.animation_data.action
        found.append([hips(ob, frame) for frame in range(*map(round, take.frame_range), 5)])
        assert np.linalg.norm(found[-1][-1] - [4, 0]) < 0.25
    plain, one, again = ([*map(tuple, np.round(each, 4))] for each in found)
    assert one == again and one != plain


def test_in_place_it_walks_where_the_armature_stands_and_its_root_bone_stays(subtests, ob):
    ob.location, ob.rotation_euler.z = (5, -2, 0), 0.8
    bpy.context.view_layer.update()
    bpy.ops.mm.generate_path()
    last = ob.mm.direct.take.frame_range[1]
    assert np.linalg.norm(hips(ob, last) - [4, 0]) < 0.2
    ob.mm.direct.in_place = True
    bpy.ops.mm.generate_path()
    take, bone = ob.mm.direct.take, ob.pose.bones[ob.mm.roles["hips"].bone]
    assert take.frame_range[1] == last
    frames = range(1, round(last), 6)
    with subtests.test("beside the armature's origin"):
        assert max(np.linalg.norm(hips(ob, frame) - [5, -2]) for frame in frames) < 0.2
    with subtests.test("it faces as at rest"):
        ways = []
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            turn = (bone.matrix.to_3x3() @ bone.bone.matrix_local.to_3x3().inverted()) @ Vector((0, 1, 0))
            ways.append(math.atan2(turn.x, turn.y))
        assert max(map(abs, ways)) < 0.6 and abs(np.mean(ways)) < 0.1
    with subtests.test("it steps all the same"):
        foot = ob.pose.bones[ob.mm.roles["left_foot"].bone]
        places = []
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            places.append(foot.head.y)
        assert np.ptp(places) > 0.3
    with subtests.test("and the root bone stays as at rest"):
        root = ob.pose.bones["root"]
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            assert root.location.length < 1e-4 and root.matrix_basis.to_quaternion().angle < 1e-3


def test_loop_counts_on_a_closed_curve_and_planned_is_another_take(subtests, ob):
    direct = ob.mm.direct
    direct.loop = True
    bpy.ops.mm.generate_path()
    with subtests.test("an open curve is gone to its end"):
        assert not paths.is_closed(direct)
        assert np.linalg.norm(hips(ob, direct.take.frame_range[1]) - [4, 0]) < 0.2
    direct.path.data.splines[0].use_cyclic_u = True
    bpy.ops.mm.generate_path()
    first, last = direct.take.frame_range
    with subtests.test("a closed one round and round"):
        assert paths.is_closed(direct) and np.linalg.norm(hips(ob, first) - hips(ob, last)) < 0.1
    direct.loop, direct.path.data.splines[0].use_cyclic_u = False, False
    bpy.ops.mm.generate_path()
    quick = [hips(ob, frame) for frame in range(1, 90, 10)]
    direct.plan = "PLANNED"
    bpy.ops.mm.generate_path()
    with subtests.test("planned"):
        assert np.linalg.norm(hips(ob, direct.take.frame_range[1]) - [4, 0]) < 0.2
        assert not np.allclose(quick, [hips(ob, frame) for frame in range(1, 90, 10)], atol=1e-4)
