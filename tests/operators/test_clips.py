# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips: Actions are collected, shown, moved and removed; deleted, renamed and foreign ones are handled."""

import bpy
import pytest

from mm_blender.scene import actions
from mm_blender.scene.jobs import baking
from mm_blender.scene.reading import clips, rates
from mm_blender.scene.reading.facts import Facts
from mm_blender.steps import run
from tests import walker


@pytest.fixture
def ob(extension):
    return walker.armature()


def names(ob):
    return [clip.action.name if clip.action else clip.name for clip in ob.mm.clips]


def strip(ob, action, start=1):
    bound = ob.animation_data or ob.animation_data_create()
    made = bound.nla_tracks.new().strips.new(action.name, start, action)
    if hasattr(made, "action_slot"):
        made.action_slot = actions.slots(action)[0]
    return made


def trouble(ob, index=0):
    return clips.trouble(ob, ob.mm.clips[index], bpy.context.scene)


# Adding

def test_all_actions_that_fit_are_added_and_no_others(ob):
    walker.walk(ob, "walk")
    walker.walk(ob, "run")
    other = walker.armature("Other", {"bone": ((0, 0, 0), (0, 0, 1), None)})
    other.pose.bones["bone"].keyframe_insert("location", frame=1)
    walker.activate(ob)
    assert bpy.ops.mm.clips_add(source="FITTING") == {"FINISHED"}
    assert sorted(names(ob)) == ["run", "walk"]
    assert ob.mm.roles["hips"].bone == "hips"  # the roles were found on the way


def test_the_first_clip_brings_features_and_later_ones_leave_them(ob):
    clips.add_clips(ob, [walker.walk(ob, "walk")])
    assert len(ob.mm.features.channels) > 3
    ob.mm.features.channels.remove(0)
    count = len(ob.mm.features.channels)
    clips.add_clips(ob, [walker.walk(ob, "run")])
    assert len(ob.mm.features.channels) == count


def test_nothing_is_added_twice(ob):
    walker.walk(ob)
    for _ in range(2):
        bpy.ops.mm.clips_add(source="FITTING")
    assert names(ob) == ["walk"]


def test_a_file_without_actions_that_fit_gets_a_sentence(ob):
    with pytest.raises(RuntimeError, match='No Action in this file moves the bones of "Walker"'):
        bpy.ops.mm.clips_add(source="FITTING")
    assert not len(ob.mm.clips)


def test_the_active_action_is_added(ob):
    walker.walk(ob, "other")
    actions.assign(ob, walker.walk(ob, "playing"))
    bpy.ops.mm.clips_add(source="ACTIVE")
    assert names(ob) == ["playing"]


def test_without_an_active_action_there_is_a_sentence(ob):
    with pytest.raises(RuntimeError, match='"Walker" plays no Action now'):
        bpy.ops.mm.clips_add(source="ACTIVE")


def test_active_actions_and_nla_strips_of_all_selected_armatures_are_added(ob):
    actions.assign(ob, walker.walk(ob, "one"))
    strip(ob, walker.walk(ob, "two"))
    other = walker.armature("Other")
    actions.assign(other, walker.walk(other, "three"))
    other.select_set(True)
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.mm.clips_add(source="SELECTED")
    assert names(ob) == ["one", "two", "three"]
    assert [clip.source for clip in ob.mm.clips] == [None, None, other]


def test_an_armature_with_other_bones_is_refused_before_anything_is_added(ob):
    actions.assign(ob, walker.walk(ob))
    other = walker.armature("Stranger", {"bone": ((0, 0, 0), (0, 0, 1), None)})
    other.select_set(True)
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob
    with pytest.raises(RuntimeError, match='"Stranger" has other bones than "Walker"'):
        bpy.ops.mm.clips_add(source="SELECTED")
    assert not len(ob.mm.clips)


def test_selected_armatures_without_motion_get_a_sentence(ob):
    with pytest.raises(RuntimeError, match="play no Actions and have no NLA strips"):
        bpy.ops.mm.clips_add(source="SELECTED")


def test_the_nla_stack_becomes_one_clip(ob):
    strip(ob, walker.walk(ob, "one"))
    strip(ob, walker.walk(ob, "two"), 60)
    for _ in range(2):
        bpy.ops.mm.clips_add(source="NLA")
    assert names(ob) == ["Walker NLA"] and clips.frame_range(ob, ob.mm.clips[0])[0] == 1
    assert trouble(ob) == "" and clips.way(ob, ob.mm.clips[0])[0] == "evaluated"


def test_without_nla_strips_there_is_a_sentence(ob):
    with pytest.raises(RuntimeError, match='"Walker" has no NLA strips'):
        bpy.ops.mm.clips_add(source="NLA")


def test_an_nla_stack_that_is_taken_apart_is_in_trouble(ob):
    strip(ob, walker.walk(ob, "one"))
    bpy.ops.mm.clips_add(source="NLA")
    track = ob.animation_data.nla_tracks[0]
    track.mute = True
    assert trouble(ob) == '"Walker" has no NLA strips that play: add some, or remove this clip.'
    track.mute = False
    track.strips.remove(track.strips[0])
    assert "no NLA strips" in trouble(ob)


def test_linked_actions_are_clips_like_any_other(ob, tmp_path):
    walker.walk(ob, "linked").use_fake_user = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, into):
        into.actions = ["linked"]
    ob = walker.armature()
    bpy.ops.mm.clips_add(source="FITTING")
    assert names(ob) == ["linked"] and ob.mm.clips[0].action.library is not None and trouble(ob) == ""
    bpy.ops.mm.clip_show(index=0)
    assert ob.animation_data.action.name == "linked"


# The list

def test_removing_a_clip_keeps_its_action(character):
    character.mm.clip_index = 0
    bpy.ops.mm.clip_remove()
    assert names(character) == ["run"] and "walk" in bpy.data.actions
    bpy.ops.mm.clip_remove()
    with pytest.raises(RuntimeError, match="There are no clips yet"):
        bpy.ops.mm.clip_remove()


def test_an_active_row_past_the_end_means_the_last_one(character):
    character.mm.clip_index = 99
    bpy.ops.mm.clip_remove()
    assert names(character) == ["walk"] and character.mm.clip_index == 0


def test_clips_are_moved_and_stop_at_the_ends(character):
    character.mm.clip_index = 0
    bpy.ops.mm.clip_move(by=1)
    assert names(character) == ["run", "walk"] and character.mm.clip_index == 1
    bpy.ops.mm.clip_move(by=1)
    assert names(character) == ["run", "walk"] and character.mm.clip_index == 1
    bpy.ops.mm.clip_move(by=-1)
    assert names(character) == ["walk", "run"]


def test_showing_a_clip_plays_its_action_from_its_beginning(character):
    bpy.context.scene.frame_set(77)
    bpy.ops.mm.clip_show(index=1)
    bound = character.animation_data
    assert bound.action.name == "run" and character.mm.clip_index == 1 and bpy.context.scene.frame_current == 1
    if hasattr(bound, "action_slot"):
        assert bound.action_slot is not None


def test_showing_a_clip_loses_no_action_that_nobody_else_uses(character):
    draft = walker.walk(character, "draft")
    draft.use_fake_user = False
    actions.assign(character, draft)
    bpy.ops.mm.clip_show(index=0)
    assert draft.users > 0


def test_showing_a_row_that_is_not_there_gets_a_sentence(character):
    with pytest.raises(RuntimeError, match='"Walker" has 2 clips: there is no clip 7'):
        bpy.ops.mm.clip_show(index=7)


def test_showing_a_clip_in_tweak_mode_gets_a_sentence(character):
    strip(character, bpy.data.actions["walk"])
    character.animation_data.nla_tracks[0].strips[0].select = True
    character.animation_data.use_tweak_mode = True
    if character.animation_data.use_tweak_mode:
        with pytest.raises(RuntimeError, match="Tweak Mode"):
            bpy.ops.mm.clip_show(index=1)


# What can be wrong with a clip

def test_a_deleted_action_leaves_a_row_that_says_so(character):
    bpy.data.actions.remove(bpy.data.actions["walk"])
    assert names(character) == ["walk", "run"]
    assert trouble(character) == 'The Action "walk" was deleted: remove this clip.'
    with pytest.raises(RuntimeError, match='The Action "walk" was deleted'):
        bpy.ops.mm.clip_show(index=0)
    bpy.ops.mm.clips_remove_missing()
    assert names(character) == ["run"]


def test_a_renamed_action_is_still_the_same_clip(character):
    bpy.data.actions["walk"].name = "stroll / ä.001"
    assert names(character)[0] == "stroll / ä.001" and trouble(character) == ""


def test_an_empty_action_says_that_it_has_no_keys(character):
    character.mm.clips[0].action = actions.new_action("empty", character)
    assert trouble(character).startswith('Action "empty" has no keys for "Walker"')


def test_an_action_with_one_key_needs_motion(character):
    action = actions.new_action("pose", character)
    actions.add_fcurves(action, [('pose.bones["hips"].location', 0, "hips")])[0].keyframe_points.insert(5, 1.0)
    character.mm.clips[0].action = action
    assert trouble(character) == 'Action "pose" has a single frame: it needs at least two frames.'


def test_an_action_of_another_rig_says_so(character):
    action = actions.new_action("alien", character)
    curve = actions.add_fcurves(action, [('pose.bones["tentacle"].location', 0, "tentacle")])[0]
    curve.keyframe_points.insert(1, 0.0)
    curve.keyframe_points.insert(50, 1.0)
    character.mm.clips[0].action = action
    assert trouble(character) == 'Action "alien" moves no bone of "Walker": it belongs to another rig.'


def test_a_range_that_runs_backwards_says_so(character):
    clip = character.mm.clips[0]
    clip.use_range, clip.start, clip.end = True, 30, 10
    assert trouble(character) == 'Action "walk" has the range 30 to 10: it needs at least two frames.'


def test_a_very_short_clip_is_warned_of_unless_it_loops(character):
    clip = character.mm.clips[0]
    clip.use_range, clip.start, clip.end = True, 1, 5
    assert trouble(character) == 'Action "walk" is shorter than 0.33 s: no search can enter it.'
    assert clips.unusable(character, clip) == ""
    clip.loop = True
    assert trouble(character) == ""


@pytest.mark.skipif(bpy.app.version < (4, 4), reason="Actions have slots from Blender 4.4 on")
def test_a_slot_that_is_gone_says_so(character):
    clip = character.mm.clips[0]
    clip.slot = actions.slots(clip.action)[0].identifier
    assert trouble(character) == ""
    clip.slot = "OBGone"
    assert trouble(character) == 'Action "walk" has no slot "OBGone" any more: choose another one.'


def test_speed_and_range_decide_how_long_a_clip_plays(character):
    clip, scene = character.mm.clips[0], bpy.context.scene
    assert clips.seconds(character, clip, scene) == pytest.approx(2.0)
    clip.speed = 2.0
    assert clips.seconds(character, clip, scene) == pytest.approx(1.0)
    clip.use_range, clip.start, clip.end = True, 1, 1 + scene.render.fps
    assert clips.seconds(character, clip, scene) == pytest.approx(0.5)


def test_without_an_armature_every_button_says_so(extension):
    for button in (bpy.ops.mm.clips_add, bpy.ops.mm.clip_remove, bpy.ops.mm.clip_move, bpy.ops.mm.clip_show,
                   bpy.ops.mm.clips_remove_missing):
        with pytest.raises(RuntimeError, match="Select the character's armature first"):
            button()


# Cycles as asset packs have them

@pytest.fixture
def in_place(small_demo):
    """The demo character with two clips as asset packs have them, and no tags."""
    ob = small_demo
    found = [clip.action for clip in ob.mm.clips if clip.name.endswith(("idle", "walk"))]
    ob.mm.clips.clear()
    for name, action in zip(("idle", "walk"), found, strict=True):
        action.name = name
        action.mm.tags.clear()
        for curve in actions.fcurves(action, ob):
            if curve.data_path == 'pose.bones["root"].location':
                for point in curve.keyframe_points:
                    point.co.y = 0.0
                curve.update()
        clips.add_clips(ob, [action], look=True)
    return ob


def test_a_cycle_in_place_is_noticed_and_travels_in_the_bake_unless_the_artist_says_no(in_place):
    ob, clip = in_place, in_place.mm.clips["walk"]
    assert clip.loop and clip.travel and clip.in_place == pytest.approx(1.35, rel=0.02)
    assert not ob.mm.clips["idle"].in_place and ob.mm.clips["idle"].loop
    ob.mm.bake.mirror = False
    bpy.ops.mm.bake()
    assert "travels 1.35 m/s" in baking.report(ob)["warnings"][0] and baking.report(ob)["arcs"] == 4
    for setting, value in (("travel_speed", 1.0), ("travel", False)):
        setattr(clip, setting, value)
        assert baking.changes(ob, bpy.context.scene) == ['Clip "walk" changed']
    ob.mm.bake.arcs = "off"
    assert "Settings changed: Arc Copies" in baking.changes(ob, bpy.context.scene)
    bpy.ops.mm.bake()
    assert not baking.report(ob)["warnings"] and baking.report(ob)["arcs"] == 0


def test_the_loop_that_was_found_can_be_undone(ob):
    walker.walk(ob, "walk", seconds=1.0)
    bpy.ops.mm.clips_add(source="FITTING")
    assert ob.mm.clips[0].loop and not ob.mm.clips[0].in_place
    ob.mm.clips[0].loop = False
    bpy.ops.mm.clips_add(source="FITTING")
    assert not ob.mm.clips[0].loop


def test_a_range_that_is_no_whole_number_of_frames_is_read_to_its_end(ob):
    bpy.context.scene.render.fps = 24
    action = walker.walk(ob, "walk", seconds=1.0, step=1 / 30)
    for curve in actions.fcurves(action, ob):
        for point in curve.keyframe_points:
            point.co.x *= 0.7
        curve.update()
    bpy.ops.mm.clips_add(source="FITTING")
    clip = ob.mm.clips[0]
    raw = run(clips.source_of(ob, clip, bpy.context.scene).read())
    assert clip.loop and raw.duration == pytest.approx(0.7, abs=1e-3)


def test_the_scene_takes_the_rate_of_the_clips_and_they_last_as_long(ob):
    scene = bpy.context.scene
    scene.render.fps = 24
    action = walker.walk(ob, "walk", seconds=1.0, step=1 / 30, start=0)
    walker.walk(ob, "by hand", seconds=1.0, step=1 / 12, start=0)
    bpy.ops.mm.clips_add(source="FITTING")
    action.mm.tags.add().end = 12.0
    assert rates.own_rate(ob, scene, Facts()) == (30.0, 1)
    before = [clips.seconds(ob, clip, scene) for clip in ob.mm.clips]
    keys = [tuple(point.co) for point in actions.fcurves(action, ob)[0].keyframe_points]
    assert bpy.ops.mm.scene_rate(rate=30.0) == {"FINISHED"} and scene.render.fps == 30
    assert [clips.seconds(ob, clip, scene) for clip in ob.mm.clips] == pytest.approx(before, abs=1e-3)
    assert rates.own_rate(ob, scene, Facts()) == (0.0, 0)
    walk = next(clip.action for clip in ob.mm.clips if clip.action.name.startswith("walk"))
    assert walk != action and walk.mm.tags[0].end == pytest.approx(15.0)
    assert [tuple(point.co) for point in actions.fcurves(action, ob)[0].keyframe_points] == keys  # as it was
