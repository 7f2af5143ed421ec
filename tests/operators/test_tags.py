# SPDX-License-Identifier: GPL-3.0-or-later
"""Tags: ranges of Actions by button and by marker, what the built-in ones do, and how many frames a query selects."""

import bpy
import numpy as np
import pytest

from mm_blender.matching import database
from mm_blender.scene import actions
from mm_blender.scene.reading import clips
from tests import walker


@pytest.fixture
def action(character):
    """The Action that the armature plays: frames 1 to 49 at 24 frames per second, two seconds."""
    bpy.ops.mm.clip_show(index=0)
    return character.animation_data.action


def ranges(action):
    return [(tag.name, tag.start, tag.end) for tag in action.mm.tags]


def tag(action, name, start, end):
    entry = action.mm.tags.add()
    entry.name, entry.start, entry.end = name, start, end


def baked(character):
    assert bpy.ops.mm.bake() == {"FINISHED"}
    return database.load(character.mm.bake.path)


# The ranges

def test_the_whole_action_is_tagged(action):
    bpy.ops.mm.tag_add(name="walk", range="ACTION")
    assert ranges(action) == [("walk", 1, 49)] and action.mm.tag_index == 0


def test_the_actions_of_selected_strips_are_tagged_where_they_play(character):
    bound = character.animation_data or character.animation_data_create()
    walk, run = bpy.data.actions["walk"], bpy.data.actions["run"]
    strips = [bound.nla_tracks.new().strips.new(action.name, start, action)
              for action, start in ((walk, 1), (walk, 100), (run, 1))]
    strips[1].action_frame_start, strips[1].action_frame_end = 10, 20
    for strip, chosen in zip(strips, (True, True, False)):
        strip.select = chosen
    for _ in range(2):
        assert bpy.ops.mm.tag_strips(name="slow") == {"FINISHED"}
    assert ranges(walk) == [("slow", 1, 49), ("slow", 10, 20)] and not ranges(run)
    for strip in strips:
        strip.select = False
    with pytest.raises(RuntimeError, match="No strips of Actions are selected"):
        bpy.ops.mm.tag_strips(name="slow")


def test_the_preview_range_is_tagged(action):
    with pytest.raises(RuntimeError, match="There is no preview range"):
        bpy.ops.mm.tag_add(name="walk", range="PREVIEW")
    scene = bpy.context.scene
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 10, 20
    bpy.ops.mm.tag_add(name="walk", range="PREVIEW")
    assert ranges(action) == [("walk", 10, 20)]


def test_the_span_of_the_selected_keys_is_tagged(character, action):
    for curve in actions.fcurves(action, character):
        for key in curve.keyframe_points:
            key.select_control_point = False
    with pytest.raises(RuntimeError, match='No keys of "walk" are selected'):
        bpy.ops.mm.tag_add(name="step", range="KEYS")
    curve = actions.fcurves(action, character)[0]
    for index in (10, 30):
        curve.keyframe_points[index].select_control_point = True
    bpy.ops.mm.tag_add(name="step", range="KEYS")
    (name, start, end), = ranges(action)
    assert name == "step" and (start, end) == pytest.approx((1 + 0.2 * 24, 1 + 0.6 * 24))


def test_from_the_current_frame_on_is_tagged(action):
    bpy.context.scene.frame_set(30)
    bpy.ops.mm.tag_add(name="end", range="FRAME")
    bpy.context.scene.frame_set(80)
    bpy.ops.mm.tag_add(name="later", range="FRAME")
    assert ranges(action) == [("end", 30, 49), ("later", 80, 80)]


def test_a_tag_needs_a_name_and_keys(character, action):
    with pytest.raises(RuntimeError, match="A tag needs a name"):
        bpy.ops.mm.tag_add(name="  ")
    actions.assign(character, actions.new_action("empty", character))
    with pytest.raises(RuntimeError, match='The Action "empty" has no keys for "Walker"'):
        bpy.ops.mm.tag_add(name="walk", range="ACTION")
    assert ranges(action) == []


def test_without_an_action_the_button_says_where_to_get_one(character):
    with pytest.raises(RuntimeError, match="choose one with the eye"):
        bpy.ops.mm.tag_add(name="walk")


def test_removing_a_tag(action):
    with pytest.raises(RuntimeError, match="The Action has no tags"):
        bpy.ops.mm.tag_remove()
    for name in ("a", "b", "c"):
        bpy.ops.mm.tag_add(name=name)
    action.mm.tag_index = 1
    bpy.ops.mm.tag_remove()
    assert [name for name, _, _ in ranges(action)] == ["a", "c"]
    action.mm.tag_index = 99
    bpy.ops.mm.tag_remove()
    assert [name for name, _, _ in ranges(action)] == ["a"] and action.mm.tag_index == 0


def test_many_clips_are_tagged_in_one_go_and_none_twice(character):
    bpy.ops.mm.tag_clips(name="locomotion")
    bpy.ops.mm.tag_clips(name="fast", containing="RUN")
    assert ranges(bpy.data.actions["walk"]) == [("locomotion", 1, 49)]
    assert ranges(bpy.data.actions["run"]) == [("locomotion", 1, 37), ("fast", 1, 37)]
    with pytest.raises(RuntimeError, match="No enabled clip was left to tag"):
        bpy.ops.mm.tag_clips(name="fast", containing="run")
    assert len(bpy.data.actions["run"].mm.tags) == 2


def test_disabled_clips_are_not_tagged(character):
    character.mm.clips[0].use = False
    bpy.ops.mm.tag_clips(name="some")
    assert not len(bpy.data.actions["walk"].mm.tags) and len(bpy.data.actions["run"].mm.tags)


def test_linked_actions_are_tagged_in_their_own_file(extension, tmp_path):
    action = walker.walk(walker.armature(), "linked")
    action.use_fake_user = True
    tag(action, "there", 1, 20)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, into):
        into.actions = ["linked"]
    ob = walker.ready(walker.armature(), tmp_path / "motion.mmdb", into.actions[0])
    bpy.ops.mm.clip_show(index=0)
    for button in (lambda: bpy.ops.mm.tag_add(name="here"), bpy.ops.mm.tag_remove,
                   lambda: bpy.ops.mm.tag_clips(name="here")):
        with pytest.raises(RuntimeError, match="linked from another file"):
            button()
    assert list(baked(ob).tags) == ["there"]


# What they do

def test_tags_reach_the_database_in_seconds(character, action):
    tag(action, "step", 13, 25)  # half a second to one second
    character.mm.bake.mirror = False
    db = baked(character)
    assert np.flatnonzero(db.tags["step"]).tolist() == list(range(30, 61))


def test_pose_markers_are_ranges_too(character, action):
    for name, frame in (("step[", 13), ("step]", 25), ("note", 5)):
        action.pose_markers.new(name).frame = frame
    character.mm.bake.mirror = False
    db = baked(character)
    assert list(db.tags) == ["step"] and np.flatnonzero(db.tags["step"]).tolist() == list(range(30, 61))


def test_a_range_whose_ends_are_exchanged_is_the_same_range(character, action):
    tag(action, "step", 25, 13)
    assert clips.tags_of(action, (1, 49)) == [("step", 13, 25)]


def test_exclude_leaves_the_frames_out_and_says_how_many(character, action):
    character.mm.bake.mirror = False
    before = len(baked(character))
    tag(action, "exclude", 1, 13)
    db = baked(character)
    assert before - len(db) == pytest.approx(30, abs=3) and "exclude" not in db.tags
    assert db.notes["excluded"]["walk"] == pytest.approx(0.5, abs=0.05)


def test_no_enter_frames_are_there_but_no_search_may_jump_to_them(character, action):
    tag(action, "no-enter", 1, 13)
    character.mm.bake.mirror = False
    db = baked(character)
    assert (db.barred()[:31] == 1).all() and not (db.barred()[31:60] == 1).any()


def test_contact_tags_replace_what_was_measured(character, action):
    tag(action, "contact.left", 13, 25)
    character.mm.bake.mirror = False
    contacts = baked(character).contacts[:len(baked(character).clip(0)), 0]
    assert np.flatnonzero(contacts).tolist() == list(range(30, 61))


def test_loop_makes_the_clip_go_round(character, action):
    tag(action, "loop", 1, 49)
    loops = {part.source: part.loop for part in baked(character).ranges}
    assert loops == {"walk": True, "run": False}


# Queries

@pytest.mark.parametrize("query", ["", "walk", "~walk", "walk & fast", "fast | step.L", "step.R & ~step.L"])
def test_a_query_counts_what_the_baked_database_holds(character, query):
    walk, run = bpy.data.actions["walk"], bpy.data.actions["run"]
    tag(walk, "walk", 1, 49)
    tag(walk, "step.L", 5.5, 20)
    tag(walk, "exclude", 30, 34)
    tag(run, "fast", 10, 30)
    tag(run, "step.R", 2, 8)
    tag(walk, "fast", 40, 49)
    character.mm.clips[0].speed = 1.3
    character.mm.clips[1].mirror = False
    counted = clips.count_selected(character, bpy.context.scene, query, character.mm.bake.rate)
    db = baked(character)
    assert counted == (int(db.select(query).sum()), len(db))


def test_clips_that_are_not_baked_are_not_counted(character):
    everything = clips.count_selected(character, bpy.context.scene, "", 60)[1]
    character.mm.clips.add().name = "deleted"
    empty = character.mm.clips.add()
    empty.action = actions.new_action("empty", character)
    assert clips.count_selected(character, bpy.context.scene, "", 60)[1] == everything
    character.mm.clips[0].use = False
    assert clips.count_selected(character, bpy.context.scene, "", 60)[1] < everything


def test_a_count_follows_every_change(character):
    scene = bpy.context.scene
    count = lambda query="": clips.count_selected(character, scene, query, character.mm.bake.rate)[0]  # noqa: E731
    seen = [count()]
    character.mm.bake.rate = 30
    seen.append(count())
    character.mm.clips[0].speed = 2
    seen.append(count())
    character.mm.bake.mirror = False
    seen.append(count())
    tag(bpy.data.actions["walk"], "exclude", 1, 20)
    seen.append(count())
    assert seen == sorted(seen, reverse=True) and len(set(seen)) == 5


# What is proposed

def proposals(action):
    return [(tag.name, tag.start, tag.end) for tag in action.mm.proposed]


def test_tags_are_proposed_and_taken_with_one_button(character):
    bpy.data.actions["walk"].name = "Take 001"
    with pytest.raises(RuntimeError, match="Propose Tags looks for some"):
        bpy.ops.mm.tags_accept()
    bpy.ops.mm.tags_propose()
    take, run = bpy.data.actions["Take 001"], bpy.data.actions["run"]
    assert proposals(take) == [("walk", 1, 49)] and proposals(run) == [("run", 1, 37)]
    assert not ranges(take) and not ranges(run)  # nothing is tagged before it is taken
    bpy.ops.mm.tags_accept()
    assert ranges(take) == [("walk", 1, 49)] and ranges(run) == [("run", 1, 37)] and not proposals(take)
    assert bpy.ops.mm.tags_propose() == {"FINISHED"} and not proposals(take), "they are there already"


def test_tags_that_are_there_are_never_changed_or_doubled(character):
    walk = bpy.data.actions["walk"]
    tag(walk, "walk", 5, 10)
    bpy.ops.mm.tags_propose()
    assert not proposals(walk)
    walk.mm.tags.clear()
    bpy.ops.mm.tags_propose()
    tag(walk, "walk", 7, 9)  # by hand, meanwhile
    bpy.ops.mm.tags_accept()
    assert ranges(walk) == [("walk", 7, 9)]


def test_proposals_can_be_dismissed_and_undone_with_nothing_left(character):
    bpy.ops.mm.tags_propose()
    bpy.ops.mm.tags_dismiss()
    assert not any(proposals(action) or ranges(action) for action in bpy.data.actions)


def test_proposals_are_in_the_actions_own_frames_at_any_rate_of_the_scene(character):
    walk = bpy.data.actions["walk"]
    clip = character.mm.clips[0]
    clip.use_range, clip.start, clip.end = True, 13, 37
    bpy.context.scene.render.fps = 48
    bpy.ops.mm.tags_propose()
    assert proposals(walk) == [("walk", 13, 37)]
