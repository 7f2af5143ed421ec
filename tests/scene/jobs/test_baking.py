# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a database is up to date: every kind of change is noticed and named, and what is no change is not."""

import bpy
import pytest

from mm_blender.scene import actions
from mm_blender.scene.jobs import baking
from tests import walker


@pytest.fixture
def ob(extension, tmp_path):
    """A character that was baked."""
    ob = walker.armature()
    walker.ready(ob, tmp_path / "motion.mmdb", walker.walk(ob), walker.walk(ob, "run", 1.5, 3.0))
    bpy.ops.mm.bake()
    return ob


def changes(ob):
    return baking.changes(ob, bpy.context.scene)


def hips(ob, action="walk"):
    return actions.fcurves(bpy.data.actions[action], ob)[0]


def test_after_a_bake_the_database_is_up_to_date(ob):
    assert changes(ob) == []


@pytest.mark.parametrize("edit", [
    lambda ob: setattr(hips(ob).keyframe_points[3].co, "y", 1.0),
    lambda ob: setattr(hips(ob).keyframe_points[3], "interpolation", "CONSTANT"),
    lambda ob: setattr(hips(ob), "mute", True),
    lambda ob: hips(ob).modifiers.new("NOISE"),
    lambda ob: hips(ob).keyframe_points.insert(100, 0.0),
    lambda ob: setattr(bpy.data.actions["walk"].mm.tags.add(), "name", "slow"),
    lambda ob: setattr(bpy.data.actions["walk"].pose_markers.new("slow["), "frame", 5),
    lambda ob: setattr(ob.mm.clips[0], "speed", 1.5),
    lambda ob: setattr(ob.mm.clips[0], "loop", True),
    lambda ob: setattr(ob.mm.clips[0], "mirror", False),
    lambda ob: (setattr(ob.mm.clips[0], "use_range", True), setattr(ob.mm.clips[0], "end", 30)),
])
def test_an_edited_clip_is_named(ob, edit):
    edit(ob)
    assert changes(ob) == ['Clip "walk" changed']
    bpy.ops.mm.bake()
    assert changes(ob) == []


def test_an_edited_tag_is_a_change_of_its_clip(ob):
    bpy.ops.mm.tag_clips(name="fast", containing="run")
    assert changes(ob) == ['Clip "run" changed']
    bpy.ops.mm.bake()
    bpy.data.actions["run"].mm.tags[0].end -= 1
    assert changes(ob) == ['Clip "run" changed']


def test_clips_that_come_and_go_are_named(ob):
    ob.mm.clips.add().action = walker.walk(ob, "sneak")
    ob.mm.clips[0].use = False
    assert changes(ob) == ['Clip "sneak" was added', 'Clip "walk" was removed']


def test_a_renamed_action_is_another_clip(ob):
    bpy.data.actions["walk"].name = "stroll"
    assert changes(ob) == ['Clip "stroll" was added', 'Clip "walk" was removed']


def test_a_deleted_action_is_a_clip_less(ob):
    bpy.data.actions.remove(bpy.data.actions["run"])
    assert changes(ob) == ['Clip "run" was removed']


def test_the_order_of_the_clips_counts(ob):
    ob.mm.clips.move(0, 1)
    assert changes(ob) == ["The order of the clips changed"]


@pytest.mark.parametrize("edit", [
    lambda ob: setattr(ob.mm.features.channels[0], "weight", 2.0),
    lambda ob: setattr(ob.mm.features.channels[0], "times", (0.1, 0.2, 0.3, 0, 0, 0)),
    lambda ob: ob.mm.features.channels.remove(0), lambda ob: setattr(ob.mm.features, "quality", 0.5),
    lambda ob: setattr(ob.mm.features, "responsiveness", 0.5),
    lambda ob: setattr(ob.mm.features, "past_end", "exclude"),
])
def test_changed_features_are_told(ob, edit):
    edit(ob)
    assert changes(ob) == ["The features changed"]


@pytest.mark.parametrize("name, value, label", [
    ("rate", 30, "Rate"), ("root", "made", "Root"), ("facing", "hips_shoulders", "Facing"),
    ("root_position", 0.1, "Smooth Position"), ("root_facing", 0.1, "Smooth Facing"),
    ("contact_speed", 0.3, "Contact Speed"), ("contact_height", 0.2, "Contact Height"),
    ("contact_filter", 0.3, "Contact Filter"), ("skip_rest", False, "Skip Rest Pose")])
def test_a_changed_setting_is_named(ob, name, value, label):
    setattr(ob.mm.bake, name, value)
    assert changes(ob) == [f"Settings changed: {label}"]


def test_mirroring_is_a_change_of_every_clip(ob):
    ob.mm.bake.mirror = False
    assert changes(ob) == ['Clip "walk" changed', 'Clip "run" changed']


def test_another_rest_pose_or_role_is_another_character(ob):
    ob.mm.roles["head"].bone = "chest"
    assert changes(ob) == ["The character changed: its rest pose, its roles, its size or its height"]
    ob.mm.roles["head"].bone = "head"
    assert changes(ob) == []
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones["head"].head.z += 0.1
    bpy.ops.object.mode_set(mode="OBJECT")
    assert changes(ob) == ["The character changed: its rest pose, its roles, its size or its height"]


def test_another_frame_rate_is_told_once_and_not_for_every_clip(ob):
    before = bpy.context.scene.render.fps
    bpy.context.scene.render.fps = 25
    sentence, = changes(ob)
    assert f"from {before} to 25" in sentence
    assert baking.rate_before(ob, bpy.context.scene) == before, "one button sets it back"
    bpy.context.scene.render.fps = before
    assert baking.rate_before(ob, bpy.context.scene) is None and changes(ob) == []


def test_a_file_that_is_gone_or_another_one_is_told(ob, tmp_path):
    path = tmp_path / "motion.mmdb"
    path.rename(tmp_path / "moved.mmdb")
    assert changes(ob) == ["The file motion.mmdb is missing"]
    ob.mm.bake.rate = 30
    bpy.ops.mm.bake()
    (tmp_path / "moved.mmdb").replace(path)
    assert changes(ob) == ["The file motion.mmdb holds another bake"]


def test_what_makes_a_bake_impossible_is_told(ob):
    ob.mm.roles["left_foot"].bone = "gone"
    assert changes(ob) == ['The role "left_foot" of "Walker" is given to the bone "gone", which does not exist: '
                           "choose another one in the Character panel."]
    ob.mm.roles["left_foot"].bone = "foot.L"
    ob.mm.features.channels.clear()
    assert changes(ob) == ['"Walker" has no features: choose a preset in the Features panel.']


@pytest.mark.parametrize("look", [
    lambda ob: bpy.ops.mm.clip_show(index=1),
    lambda ob: bpy.context.scene.frame_set(20),
    lambda ob: setattr(ob, "name", "Renamed"),
    lambda ob: setattr(ob.mm, "show_facing", False),
    lambda ob: setattr(ob.mm, "query", "walk"),
    lambda ob: setattr(ob.mm.features, "show", True),
    lambda ob: setattr(hips(ob).keyframe_points[3], "select_control_point", False),
    lambda ob: ob.animation_data_clear(),
    lambda ob: setattr(ob, "location", (1, 2, 0)),
])
def test_looking_around_makes_nothing_stale(ob, look):
    bpy.ops.mm.clip_show(index=0)
    look(ob)
    bpy.context.view_layer.update()
    assert changes(ob) == []


def test_a_path_may_be_given_in_many_ways(ob, tmp_path):
    for path in (f"{tmp_path}/motion", f"{tmp_path}/x/../motion.mmdb", f"{tmp_path}/motion.MMDB"):
        ob.mm.bake.path = path
        assert baking.database_path(ob).lower() == str(tmp_path / "motion.mmdb").lower()
