# SPDX-License-Identifier: GPL-3.0-or-later
"""Variations from a script: takes of the same direction side by side, of which one is chosen and the others go."""

import itertools

import bpy
import numpy as np
import pytest

from mm_blender.scene import actions
from mm_blender.scene.directing import live, recipe, variations
from tests.operators import test_direct
from tests.operators.test_direct import edit, takes

ob = test_direct.ob  # the demo character with a curve, a fixture


def everything():
    return {(kind, block.name) for kind in ("objects", "actions", "collections", "meshes", "armatures")
            for block in getattr(bpy.data, kind)}


def body(ob):
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata([(0, 0, 1), (0.1, 0, 1), (0, 0.1, 1)], [], [(0, 1, 2)])
    found = bpy.data.objects.new("Body", mesh)
    bpy.context.scene.collection.objects.link(found)
    found.modifiers.new("Armature", "ARMATURE").object = ob
    return found


def heads(ob, frame=60):
    bpy.context.scene.frame_set(frame)
    return np.array([ob.matrix_world @ bone.head for bone in ob.pose.bones])


def test_three_takes_stand_side_by_side_and_one_becomes_the_take(subtests, ob):
    body(ob)
    bpy.ops.mm.generate_path()
    before, first, plain = everything(), ob.mm.direct.take, heads(ob)
    assert bpy.ops.mm.take_variations() == {"FINISHED"}
    ghosts = variations.ghosts_of(ob)
    with subtests.test("ghosts"):
        assert [recipe.seed_of(variations.take_of(ghost)) for ghost in ghosts] == [1, 2, 3]
        assert all(ghost.data == ob.data and ghost.name in bpy.context.view_layer.objects for ghost in ghosts)
        bodies = [other for other in bpy.data.objects if other.type == "MESH" and other.mm.ghost_of]
        assert [other.modifiers[0].object for other in bodies] == ghosts
        assert {other.data for other in bodies} == {bpy.data.meshes["Body"]}
    with subtests.test("apart from each other, and each another take"):
        far = [np.linalg.norm((heads(one) - heads(other))[0]) for one, other in zip([ob, *ghosts], ghosts)]
        assert min(far) > 0.5
        for one, other in itertools.pairwise(ghosts):
            assert not np.allclose(heads(one) - one.matrix_world.translation,
                                   heads(other) - other.matrix_world.translation, atol=1e-3)
    with subtests.test("the take stays until one is chosen"):
        assert ob.animation_data.action == first and np.array_equal(heads(ob), plain)
    shown = heads(ghosts[1]) - np.array(ghosts[1].matrix_world.translation - ob.matrix_world.translation)
    assert bpy.ops.mm.variation_choose(index=1) == {"FINISHED"}
    with subtests.test("chosen: in place of the one before, and nothing else is left"):
        assert everything() == before and ob.mm.direct.take == ob.animation_data.action
        assert np.allclose(heads(ob), shown, atol=1e-5) and not np.allclose(heads(ob), plain, atol=1e-3)
        assert ob.mm.direct.seed == 2 and not recipe.is_edited(ob, ob.mm.direct.take)
    with subtests.test("it is what Generate makes with this seed"):
        bpy.ops.mm.generate_path()
        assert np.allclose(heads(ob), shown, atol=1e-5)


def test_others_have_other_seeds_and_discarded_they_leave_nothing(ob):
    before = everything()
    bpy.ops.mm.take_variations(count=2)
    bpy.ops.mm.take_variations(count=1)
    assert [recipe.seed_of(variations.take_of(ghost)) for ghost in variations.ghosts_of(ob)] == [3]
    assert not variations.ghosts_of(ob)[0].mm.direct.update and not variations.ghosts_of(ob)[0].mm.bake.key
    assert bpy.ops.mm.variations_discard() == {"FINISHED"}
    assert everything() == before and ob.mm.direct.seed == 0
    assert not bpy.ops.mm.variation_choose.poll() and not bpy.ops.mm.variations_discard.poll()


def test_hand_work_stays(subtests, ob):
    bpy.ops.mm.generate_path()
    edit(ob)
    kept = ob.animation_data.action.name
    bpy.ops.mm.take_variations(count=2)
    edited = variations.take_of(variations.ghosts_of(ob)[1])
    actions.fcurves(edited, ob)[0].keyframe_points[5].co[1] += 0.1
    bpy.ops.mm.variation_choose(index=0)
    with subtests.test("the take that was edited, and the variation that was"):
        assert kept in takes() and edited.name in takes() and len(takes()) == 3
    bpy.ops.mm.take_variations(count=1)
    ghost = variations.ghosts_of(ob)[0]
    actions.fcurves(variations.take_of(ghost), ob)[0].keyframe_points[5].co[1] += 0.1
    bpy.ops.mm.variation_choose(index=0)
    with subtests.test("one that was edited before it was chosen still counts as edited"):
        assert recipe.is_edited(ob, ob.mm.direct.take)


def test_a_file_that_is_opened_has_no_ghosts(ob, tmp_path):
    bpy.ops.mm.generate_path()
    before, name = everything(), ob.name
    bpy.ops.mm.take_variations(count=1)
    path = str(tmp_path / "ghosts.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert everything() == before and bpy.data.objects[name].animation_data.action.mm.take


def test_what_cannot_be_varied_says_so(subtests, ob):
    before = everything()
    with subtests.test("networks alone"):
        ob.mm.drive.method = "LMM"
        with pytest.raises(RuntimeError, match="no frames to vary"):
            bpy.ops.mm.take_variations()
        ob.mm.drive.method = "MM"
    with subtests.test("no such variation"):
        bpy.ops.mm.take_variations(count=1)
        with pytest.raises(RuntimeError, match="has 1 variation: choose"):
            bpy.ops.mm.variation_choose(index=4)
        bpy.ops.mm.variations_discard()
    with subtests.test("no path"):
        ob.mm.direct.path = None
        with pytest.raises(RuntimeError, match="has no path"):
            bpy.ops.mm.take_variations()
    assert everything() == before and live.sentences(ob) == []
