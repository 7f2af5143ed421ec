# SPDX-License-Identifier: GPL-3.0-or-later
"""What panels know: found out in the background, remembered while it is true, forgotten when something is edited."""

import bpy
import numpy as np
import pytest

from mm_blender.matching import database
from mm_blender.scene import actions
from mm_blender.scene.jobs import baking, freshness, slices
from mm_blender.scene.reading import clips, sampling
from tests import walker


@pytest.fixture
def ob(extension, tmp_path):
    ob = walker.armature()
    walker.ready(ob, tmp_path / "motion.mmdb", walker.walk(ob), walker.walk(ob, "run", 1.5, 3.0))
    bpy.ops.mm.bake()
    bpy.ops.mm.clip_show(index=0)
    bpy.context.view_layer.update()
    freshness.forget()
    return ob


@pytest.fixture
def hashed(monkeypatch):
    """The names of the Actions that are hashed, as they are hashed."""
    names, real = [], sampling.fingerprint

    def counted(ob, action, slot=None):
        names.append(action.name)
        return real(ob, action, slot)
    monkeypatch.setattr(sampling, "fingerprint", counted)
    return names


def look():
    """What the timer would do; background mode has none."""
    count = 0
    while freshness.look() is not None:
        count += 1
    return count


def ask(ob):
    freshness.changes(ob, bpy.context.scene)
    look()
    return freshness.changes(ob, bpy.context.scene)


def edit(ob, action):
    curve = actions.fcurves(bpy.data.actions[action], ob)[0]
    curve.keyframe_points[3].co.y += 1.0
    bpy.context.view_layer.update()


def test_the_answer_is_unknown_at_first_and_comes_with_the_timer(ob):
    assert freshness.changes(ob, bpy.context.scene) is None and bpy.app.timers.is_registered(freshness.look)
    look()
    assert freshness.changes(ob, bpy.context.scene) == []


@pytest.mark.parametrize("constrained", [False, True])
def test_upstairs_it_is_baked_as_it_is_downstairs(ob, constrained):
    if constrained:  # read as Blender evaluates it
        ob.pose.bones["head"].constraints.new("LIMIT_SCALE")
        bpy.ops.mm.bake()
    below = database.load(ob.mm.bake.path)
    ob.location.z = 5.0
    bpy.context.view_layer.update()
    assert constrained or ask(ob) == [], "that it was carried upstairs changes nothing"
    bpy.ops.mm.bake()
    above = database.load(ob.mm.bake.path)
    assert np.allclose(above.positions, below.positions, atol=1e-5)
    assert np.allclose(above.features, below.features, atol=1e-3) and (above.contacts == below.contacts).all()


def test_looking_is_done_in_slices(ob, monkeypatch):
    monkeypatch.setattr(freshness, "SLICE", 0.0)
    freshness.changes(ob, bpy.context.scene)
    assert look() > 2 and freshness.changes(ob, bpy.context.scene) == []


def test_an_edited_action_is_looked_at_again_and_no_other(ob, hashed):
    assert ask(ob) == [] and sorted(hashed) == ["run", "walk"]
    hashed.clear()
    edit(ob, "walk")  # the one that the armature plays
    assert freshness.changes(ob, bpy.context.scene) == []  # the old answer stays until the new one is there
    look()
    assert freshness.changes(ob, bpy.context.scene) == ['Clip "walk" changed'] and hashed == ["walk"]


def test_an_edited_action_that_nothing_plays_is_noticed_too(ob):
    ask(ob)
    edit(ob, "run")
    look()
    assert freshness.changes(ob, bpy.context.scene) == ['Clip "run" changed']


def test_settings_are_looked_at_again_after_a_moment(ob, hashed, monkeypatch):
    ask(ob)
    hashed.clear()
    ob.mm.bake.rate = 30  # a script, of which Blender says nothing
    monkeypatch.setattr(freshness, "TRUSTED", 0.0)
    assert ask(ob) == ["Settings changed: Rate"] and hashed == []


def test_a_constraint_is_noticed(ob):
    ask(ob)
    ob.pose.bones["head"].constraints.new("LIMIT_ROTATION")
    bpy.context.view_layer.update()
    look()
    assert freshness.changes(ob, bpy.context.scene) == ['Clip "walk" changed', 'Clip "run" changed']


def test_baking_again_is_noticed(ob):
    edit(ob, "walk")
    assert ask(ob) == ['Clip "walk" changed']
    bpy.ops.mm.bake()
    assert freshness.changes(ob, bpy.context.scene) == [] and ask(ob) == []


def test_a_bake_tells_what_it_found_out(ob, hashed):
    edit(ob, "walk")
    bpy.ops.mm.bake()
    hashed.clear()
    assert ask(ob) == [] and hashed == []


def test_an_action_that_is_edited_while_it_is_baked_is_stale_afterwards(ob):
    edit(ob, "walk")
    steps = baking.bake_steps(ob, bpy.context.scene)
    while "Reading" not in next(steps).text:
        pass
    edit(ob, "run")
    slices.run(steps)
    assert ask(ob) == ['Clip "run" changed']


def test_a_button_lets_it_look_again_and_leaves_the_old_answer_on_screen(ob):
    ask(ob)
    bpy.ops.mm.features_preset(preset="locomotion_past")
    assert freshness.changes(ob, bpy.context.scene) == [] and bpy.app.timers.is_registered(freshness.look)
    look()
    assert freshness.changes(ob, bpy.context.scene) == ["The features changed"]


def test_a_renamed_character_keeps_its_answer_and_a_new_one_has_none(ob):
    ask(ob)
    ob.name = "Renamed"
    other = walker.armature("Walker")
    assert freshness.changes(ob, bpy.context.scene) == []
    assert freshness.changes(other, bpy.context.scene) is None


def test_a_character_that_was_never_baked_has_nothing_to_be_stale(ob):
    ob.mm.bake.key = ""
    assert ask(ob) == []


def test_opening_a_file_forgets_everything(ob):
    ask(ob)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert not freshness._answers and not freshness._asked and not freshness.known.any


def test_undo_forgets_everything(ob):
    ask(ob)
    freshness.on_load()  # what undo_post calls: background mode has no undo
    assert freshness.on_load in bpy.app.handlers.undo_post and freshness.on_load in bpy.app.handlers.redo_post
    assert freshness.changes(ob, bpy.context.scene) is None


# What the rows of the list show

def test_rows_remember_and_follow_edits(ob, monkeypatch):
    known, clip, scene = freshness.known, ob.mm.clips[0], bpy.context.scene
    asked, real = [], actions.frame_range
    monkeypatch.setattr(actions, "frame_range", lambda *rest: asked.append(rest) or real(*rest))
    for _ in range(3):
        assert clips.seconds(ob, clip, scene, known) == pytest.approx(2.0)
        assert clips.trouble(ob, clip, scene, known) == ""
    before = len(asked)
    assert before <= 1
    actions.fcurves(clip.action, ob)[0].keyframe_points.insert(97, 0.0)
    bpy.context.view_layer.update()
    assert clips.seconds(ob, clip, scene, known) == pytest.approx(4.0)
    clip.use_range, clip.start, clip.end = True, 1, 25
    assert clips.seconds(ob, clip, scene, known) == pytest.approx(1.0)
    scene.render.fps = 48
    assert clips.seconds(ob, clip, scene, known) == pytest.approx(0.5)


def test_rows_follow_bones_that_are_renamed(ob):
    known, clip, scene = freshness.known, ob.mm.clips[1], bpy.context.scene
    assert clips.trouble(ob, clip, scene, known) == ""
    freshness.changes(ob, scene)
    for bone in list(ob.data.bones):
        bone.name = "x" + bone.name
    bpy.context.view_layer.update()
    look()
    assert clips.trouble(ob, clip, scene, known) == clips.trouble(ob, clip, scene)


def test_the_way_of_reading_follows_the_rig(ob):
    known, clip = freshness.known, ob.mm.clips[0]
    assert clips.way(ob, clip, known)[0] == "curves"
    limit = ob.pose.bones["head"].constraints.new("LIMIT_ROTATION")
    bpy.context.view_layer.update()
    look()
    assert clips.way(ob, clip, known) == ("evaluated", 'the bone "head" has the constraint "Limit Rotation"')
    limit.mute = True
    bpy.context.view_layer.update()
    look()
    assert clips.way(ob, clip, known)[0] == "curves"


def test_scripts_never_see_what_is_remembered(ob):
    clips.frame_range(ob, ob.mm.clips[1], freshness.known)
    points = actions.fcurves(bpy.data.actions["run"], ob)[0].keyframe_points
    points.insert(200, 0.0)
    assert clips.frame_range(ob, ob.mm.clips[1])[1] == 200 and baking.changes(ob, bpy.context.scene)
