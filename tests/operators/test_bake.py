# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake: what the artist set reaches the file, and nothing of the artist's is touched."""

from functools import partial

import bpy
import numpy as np
import pytest

from mm_blender.matching import database
from mm_blender.scene import actions
from mm_blender.scene.jobs import baking, slices
from mm_blender.scene.reading import sampling
from tests import walker


def load(ob):
    return database.load(baking.database_path(ob))


@pytest.fixture
def read(monkeypatch):
    """The names of the Actions that are read, as they are read."""
    names, real = [], sampling.read_action

    def counted(ob, action, *rest, **options):
        names.append(action.name)
        return real(ob, action, *rest, **options)

    monkeypatch.setattr(sampling, "read_action", counted)
    return names


def test_a_bake_makes_a_database_of_all_clips_and_their_mirror_images(character):
    assert bpy.ops.mm.bake() == {"FINISHED"}
    db = load(character)
    assert [(part.source, part.mirrored) for part in db.ranges] == [
        ("walk", False), ("walk", True), ("run", False), ("run", True)]
    assert db.rate == 60 and len(db.clip(0)) == 121 and db.schema.name == "locomotion" and db.notes["left_out"] == []


def test_the_motion_in_the_database_is_the_motion_of_the_action(character):
    bpy.ops.mm.bake()
    walked = load(character).clip(0).globals()[0][:, 0]
    assert np.linalg.norm(walked[-1] - walked[0]) == pytest.approx(2.4, abs=0.05)
    assert np.abs(walked[:, 2]).max() < 1e-4


def test_every_setting_reaches_the_database(character):
    settings = character.mm.bake
    values = {"rate": 30.0, "root": "made", "root_position": 0.25, "root_facing": 0.75, "facing": "hips_shoulders",
              "contact_speed": 0.3, "contact_height": 0.1, "contact_filter": 0.2, "skip_rest": False}
    for name, value in values.items():
        setattr(settings, name, value)
    character.mm.clips[0].mirror = False
    character.mm.clips[1].speed = 2.0
    character.mm.clips[1].use = False
    bpy.ops.mm.bake()
    db = load(character)
    assert {name: getattr(db.recipe, name) for name in values} == pytest.approx(values)
    assert [(part.source, part.mirrored) for part in db.ranges] == [("walk", False)] and len(db) == 61


def test_speed_range_and_loop_of_a_clip_reach_the_database(character):
    character.mm.bake.mirror = False
    walk, run = character.mm.clips
    walk.use_range, walk.start, walk.end, walk.speed = True, 13, 37, 2.0  # half a second to one and a half
    run.loop = True
    bpy.ops.mm.bake()
    first, second = load(character).ranges
    assert len(first) == 31 and first.speed == 2.0 and first.source_start == pytest.approx(13 / 24) and second.loop


def test_the_report_says_what_the_database_holds(character):
    assert baking.report(character) == {}
    bpy.ops.mm.tag_clips(name="locomotion")
    bpy.ops.mm.bake()
    report, db = baking.report(character), load(character)
    assert report["frames"] == len(db) and report["features"] == 27 and report["clips"] == 2
    assert report["frames_per_tag"] == {"locomotion": len(db)} and report["megabytes"] > 0
    assert report["minutes"] == pytest.approx(len(db) / 60 / 60, abs=1e-3) and report["not_entered"]


def test_nothing_of_the_artists_is_touched(character):
    scene = bpy.context.scene
    bpy.ops.mm.clip_show(index=1)
    scene.frame_set(17)
    character.pose.bones["head"].rotation_euler.x = 0.3
    ik = character.pose.bones["shin.L"].constraints.new("LIMIT_ROTATION")  # so that it is evaluated
    other = walker.armature("Other")
    walker.activate(character)
    other.select_set(True)

    def state():
        return {"frame": scene.frame_current, "action": character.animation_data.action,
                "pose": [tuple(value for row in bone.matrix_basis for value in row) for bone in character.pose.bones],
                "curves": [sampling.fingerprint(character, action) for action in bpy.data.actions],
                "selected": [one.name for one in bpy.context.selected_objects], "active": bpy.context.object,
                "hidden": [one.hide_viewport for one in bpy.data.objects], "scenes": list(bpy.data.scenes),
                "objects": list(bpy.data.objects), "influence": ik.influence, "mode": bpy.context.mode}
    before = state()
    bpy.ops.mm.bake()
    assert len(load(character)) and state() == before


def test_a_rig_with_constraints_is_evaluated(character):
    bpy.ops.mm.bake()
    plain = load(character)
    limit = character.pose.bones["thigh.L"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.max_x, limit.owner_space = True, 0.1, "LOCAL"
    bpy.ops.mm.bake()
    assert np.abs(load(character).rotations - plain.rotations).max() > 0.05


def test_only_changed_actions_are_read_again(character, read):
    bpy.ops.mm.bake()
    assert read == ["walk", "run"]
    first = load(character)
    bpy.ops.mm.bake()
    assert read == ["walk", "run"] and load(character).notes["reused"] == 2
    curve = actions.fcurves(bpy.data.actions["run"], character)[0]
    curve.keyframe_points[5].co.y += 0.1
    bpy.ops.mm.bake()
    assert read == ["walk", "run", "run"]
    again = load(character)
    assert np.array_equal(first.clip(0).rotations, again.clip(0).rotations)
    bpy.ops.mm.features_preset(preset="locomotion_past")  # features are measured anew, motion is not read
    bpy.ops.mm.bake()
    assert len(read) == 3 and load(character).schema.size == 31


def test_a_changed_tag_reads_its_action_alone(character, read):
    bpy.ops.mm.bake()
    bpy.ops.mm.tag_clips(name="fast", containing="run")
    bpy.ops.mm.bake()
    assert read == ["walk", "run", "run"] and load(character).tags["fast"].any()


def test_the_nla_stack_is_baked_as_one_clip(character):
    character.mm.clips.clear()
    bound = character.animation_data_create()
    for action, start in ((bpy.data.actions["walk"], 1), (bpy.data.actions["run"], 60)):
        strip = bound.nla_tracks.new().strips.new(action.name, start, action)
        if hasattr(strip, "action_slot"):
            strip.action_slot = actions.slots(action)[0]
    bpy.ops.mm.clips_add(source="NLA")
    bpy.ops.mm.bake()
    part = load(character).ranges[0]
    assert part.source == "Walker NLA" and len(part) == pytest.approx((60 + 36 - 1) / 24 * 60, abs=3)


def test_clips_of_another_armature_with_the_same_bones_are_baked_too(character):
    other = walker.armature("Double")
    actions.assign(other, walker.walk(other, "sneak"))
    character.select_set(True)
    bpy.context.view_layer.objects.active = character
    bpy.ops.mm.clips_add(source="SELECTED")
    bpy.ops.mm.bake()
    assert "sneak" in {part.source for part in load(character).ranges}


def test_a_linked_action_and_one_of_the_same_name_are_two_clips(extension, tmp_path):
    walker.walk(walker.armature(), "walk", speed=3.0).use_fake_user = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = walker.armature()
    own = walker.walk(ob, "walk", speed=1.0)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, into):
        into.actions, into.objects = ["walk"], ["Walker"]
    walker.ready(ob, tmp_path / "motion.mmdb", own, into.actions[0])
    bpy.ops.mm.bake()
    roots = [load(ob).clip(index).globals()[0][:, 0] for index in (0, 2)]
    assert [np.linalg.norm(root[-1] - root[0]) for root in roots] == pytest.approx([2, 6], abs=0.1)


# Files

def test_a_blend_that_was_never_saved_has_its_database_elsewhere(character):
    character.mm.bake.path = "//motion.mmdb"
    bpy.ops.mm.bake()
    assert not bpy.data.filepath and len(load(character)) and baking.changes(character, bpy.context.scene) == []


def test_settings_and_freshness_survive_saving_and_opening(character, tmp_path):
    (tmp_path / "Ünï cöde. dir").mkdir()
    blend = tmp_path / "Ünï cöde. dir" / "my scene.blend"
    character.mm.bake.path, character.mm.bake.rate = "//sub. motion ä", 30
    bpy.ops.mm.tag_clips(name="locomotion")
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    bpy.ops.mm.bake()
    assert (blend.parent / "sub. motion ä.mmdb").is_file()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    ob = bpy.data.objects["Walker"]
    assert [clip.action.name for clip in ob.mm.clips] == ["walk", "run"] and ob.mm.bake.rate == 30
    assert ob.mm.roles["hips"].bone == "hips" and len(ob.mm.features.channels) == 7
    assert ob.mm.clips[0].action.mm.tags[0].name == "locomotion"
    assert baking.changes(ob, bpy.context.scene) == [] and baking.report(ob)["frames"] == len(load(ob))


def test_a_folder_as_path_gets_a_file_in_it(character, tmp_path):
    character.mm.bake.path = f"{tmp_path}/"
    bpy.ops.mm.bake()
    assert (tmp_path / "motion.mmdb").is_file()


# In the background

def finish(job=None):
    while slices.current() is not None:
        slices.tick()


def test_a_cancelled_bake_leaves_the_old_database(character):
    bpy.ops.mm.bake()
    before = load(character)
    character.mm.bake.rate = 30
    steps = 0
    while True:  # cancelled after the first step, after the second …
        slices.start(baking.bake_steps(character, bpy.context.scene), "Baking", lambda _: None)
        for _ in range(steps := steps + 1):
            if slices.current() is None or next(slices.current().steps, None) is None:
                break
        else:
            assert bpy.ops.mm.job_cancel() == {"FINISHED"}
            after = load(character)
            assert after.key == before.key == character.mm.bake.key and len(after) == len(before)
            assert slices.current() is None and slices.last_error() == ""
            continue
        slices.cancel()
        break
    assert steps > 5
    assert load(character).rate == 30


def test_no_second_job_starts_while_one_is_under_way(character):
    slices.start(baking.bake_steps(character, bpy.context.scene), "Baking", lambda _: None)
    with pytest.raises(RuntimeError, match="Baking is still under way"):
        bpy.ops.mm.bake()
    slices.cancel()
    with pytest.raises(RuntimeError, match="Nothing is under way"):
        bpy.ops.mm.job_cancel()


def test_the_artist_may_change_the_list_while_it_is_baked(character):
    slices.start(baking.bake_steps(character, bpy.context.scene), "Baking", lambda _: None)
    next(slices.current().steps)
    character.mm.clips.remove(1)
    finish()
    assert slices.last_error() == "" and {part.source for part in load(character).ranges} == {"walk"}


def test_an_action_that_is_deleted_while_it_is_baked_is_left_out(character):
    steps = baking.bake_steps(character, bpy.context.scene)
    while "Reading" not in next(steps).text:
        pass
    bpy.data.actions.remove(bpy.data.actions["run"])
    db = slices.run(steps)
    assert {part.source for part in db.ranges} == {"walk"} and '"run" is gone' in db.notes["left_out"][0]


def test_whatever_is_renamed_while_it_is_baked_is_baked(character, extension):
    done = partial(extension.operators.bake._done, character.name, character.session_uid)
    slices.start(baking.bake_steps(character, bpy.context.scene), "Baking", done)
    while "Reading" not in next(slices.current().steps).text:
        pass
    for block in (character, character.data, bpy.context.scene, *bpy.data.actions):
        block.name = f"{block.name} renamed"
    finish()
    assert slices.last_error() == ""
    db = load(character)
    assert {part.source for part in db.ranges} == {"walk", "run"} and not db.notes["left_out"]


def test_a_character_that_is_deleted_while_it_is_baked_ends_the_bake_with_a_sentence(character, tmp_path):
    slices.start(baking.bake_steps(character, bpy.context.scene), "Baking", lambda _: None)
    next(slices.current().steps)
    bpy.data.objects.remove(character)
    finish()
    assert slices.last_error() == '"Walker" was deleted during the bake: bake again.'
    assert not list(tmp_path.iterdir())


def test_a_bake_from_a_button_without_a_window_is_done_at_once(character):
    assert bpy.ops.mm.bake("INVOKE_DEFAULT") == {"FINISHED"}
    assert slices.current() is None and len(load(character))
