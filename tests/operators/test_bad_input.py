# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever the artist brings: one clear sentence, nothing lost, and what was there before still loads."""

import errno
import pickle
import re
import zipfile

import bpy
import numpy as np
import pytest

from mm_blender import archive, limits
from mm_blender.matching import database
from mm_blender.scene import actions
from mm_blender.scene.driving import group
from mm_blender.scene.jobs import baking
from mm_blender.scene.reading import clips, sampling
from tests import walker


@pytest.fixture
def baked(character):
    """A character that was baked once: its database must outlive whatever goes wrong."""
    bpy.ops.mm.bake()
    return character


def load(ob):
    return database.load(baking.database_path(ob))


def refuse(ob, sentence):
    """The next bake ends with this sentence, and the last one is still there."""
    before = load(ob)
    with pytest.raises(RuntimeError, match=sentence) as caught:
        bpy.ops.mm.bake()
    assert str(caught.value).count("\n") <= 1  # one sentence, and the end of the line
    assert load(ob).key == before.key == ob.mm.bake.key and len(load(ob)) == len(before)


def only(ob, action):
    """Let this Action be the only clip."""
    ob.mm.clips.clear()
    ob.mm.clips.add().action = action
    return ob


def new_action(ob, name, *channels):
    """An Action with keys: (bone, channel, index, {frame: value})."""
    action = actions.new_action(name, ob)
    curves = actions.add_fcurves(action, [(f'pose.bones["{bone}"].{channel}', index, bone)
                                          for bone, channel, index, _ in channels])
    for curve, (_, _, _, keys) in zip(curves, channels):
        for frame, value in keys.items():
            curve.keyframe_points.insert(frame, value)
    return action


# The armature

def test_no_armature(extension):
    with pytest.raises(RuntimeError, match="Select the character's armature first"):
        bpy.ops.mm.bake()


def test_no_clips_and_no_enabled_clips(baked):
    for clip in baked.mm.clips:
        clip.use = False
    refuse(baked, '"Walker" has no clips to bake: add some in the Clips panel, or enable those')
    baked.mm.clips.clear()
    refuse(baked, "Add clips first")


def test_bones_that_features_need_are_missing(baked):
    baked.mm.roles["left_foot"].bone = ""
    refuse(baked, "left_foot")


def test_a_role_whose_bone_is_gone(baked):
    baked.mm.roles["left_foot"].bone = "claw"
    refuse(baked, 'The role "left_foot" of "Walker" is given to the bone "claw", which does not exist')


def test_an_armature_without_any_feet(extension, tmp_path):
    ob = walker.armature("Snake", {f"link{index}": ((0, index, 0), (0, index + 1, 0), f"link{index - 1}" if index
                                                    else None) for index in range(4)})
    action = new_action(ob, "wriggle", ("link1", "rotation_euler", 0, {1: 0, 50: 1}))
    walker.ready(ob, tmp_path / "snake.mmdb", action)
    with pytest.raises(RuntimeError, match="left_foot"):
        bpy.ops.mm.bake()
    assert not list(tmp_path.iterdir())


def test_zero_length_bones(extension, tmp_path):
    ob = walker.armature()
    walker.activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    end = ob.data.edit_bones["head"]
    end.tail = end.head + (end.tail - end.head) * 1e-5  # Blender deletes shorter ones
    bpy.ops.object.mode_set(mode="OBJECT")
    walker.ready(ob, tmp_path / "motion.mmdb", walker.walk(ob))
    bpy.ops.mm.bake()
    assert np.isfinite(load(ob).features).all()


@pytest.mark.parametrize("change", ["scaled", "rotated", "parented"])
def test_an_armature_that_is_scaled_rotated_or_parented(baked, change):
    straight = load(baked)
    if change == "scaled":
        baked.scale = (2, 2, 2)
    elif change == "rotated":
        baked.rotation_euler.z = 1.0
    else:
        parent = bpy.data.objects.new("Parent", None)
        bpy.context.collection.objects.link(parent)
        baked.parent, parent.location, parent.rotation_euler.z = parent, (3, 2, 0), 2.0
    bpy.context.view_layer.update()
    baked.mm.bake.contact_speed, baked.mm.bake.contact_height = 0.3, 0.12
    bpy.ops.mm.bake()
    turned, factor = load(baked), 2 if change == "scaled" else 1
    assert turned.normalisation.mean == pytest.approx(
        np.where(np.abs(straight.normalisation.mean) < 2, straight.normalisation.mean, 0) * _sizes(straight, factor),
        abs=5e-3 * factor)


def _sizes(db, factor):
    """Which features grow with the character: all but directions."""
    sizes = np.full(db.schema.size, float(factor))
    for channel, part in zip(db.schema.channels, db.schema.slices):
        if channel.kind.endswith("direction"):
            sizes[part] = 1.0
    return sizes


@pytest.mark.parametrize("scale, sentence", [
    ((-1, 1, 1), '"Walker" has a negative scale'), ((1, 2, 1), '"Walker" is scaled unevenly'),
    ((0, 0, 0), '"Walker" has a scale of zero')])
def test_a_scale_that_no_skeleton_can_have(baked, scale, sentence):
    baked.scale = scale
    bpy.context.view_layer.update()
    refuse(baked, sentence + ".*apply its scale")


@pytest.mark.parametrize("place, sentence", [
    ({"location": (float("nan"), 0, 0)}, "has a location, rotation or scale that is not a number: clear them with Alt"),
    ({"scale": (float("nan"),) * 3}, "that is not a number"), ({"scale": (1e30,) * 3}, "or scaled by more"),
    ({"location": (3e38, 0, 0)}, "is further away than 10,000,000 m"),
])
def test_a_place_where_no_skeleton_can_be(baked, place, sentence, recwarn):
    for name, value in place.items():
        setattr(baked, name, value)
    bpy.context.view_layer.update()
    refuse(baked, sentence)
    assert not recwarn.list


# Settings: a script, or a file that was damaged, may have set anything

@pytest.mark.parametrize("group, name, sentence", [
    ("bake", "root_position", 'The setting "root position" of the bake is nan'),
    ("bake", "contact_filter", 'The setting "contact filter" of the bake is nan'),
    ("features", "responsiveness", "The responsiveness is nan: use 0 to 1,000,000"),
    ("features", "quality", "The quality is nan"),
])
def test_a_setting_that_is_not_a_number(baked, group, name, sentence):
    setattr(getattr(baked.mm, group), name, float("nan"))
    assert sentence in baking.changes(baked, bpy.context.scene)[0]
    refuse(baked, sentence)


@pytest.mark.parametrize("name, value, sentence", [
    ("weight", float("nan"), 'The feature "trajectory position" has the weight nan: use 0 to 1,000,000'),
    ("times", [float("nan")] * 6, 'The feature "trajectory position" looks nan s ahead'),
])
def test_a_feature_that_is_not_a_number(baked, name, value, sentence):
    setattr(baked.mm.features.channels[0], name, value)
    refuse(baked, sentence)


def test_numbers_that_no_search_can_count_with_cannot_be_set(baked):
    feature, features = baked.mm.features.channels[0], baked.mm.features
    feature.weight, feature.times, features.responsiveness, features.quality = 1e20, [1e20] * 6, 3e38, float("inf")
    assert (feature.weight, features.responsiveness, features.quality) == (1e6, 1e6, 1e6) and set(feature.times) == {30}


@pytest.mark.parametrize("name", ["velocity_halflife", "search_every", "blend_halflife", "root_radius", "lock_release"])
def test_a_drive_setting_that_is_not_a_number(baked, tmp_path, name):
    (tmp_path / "stick.csv").write_text("time,move_x,move_y,face_x,face_y,run,strafe\n0,0,1,0,0,0,0\n1,0,0,0,0,0,0\n")
    setattr(baked.mm.drive, name, float("nan"))
    with pytest.raises(RuntimeError, match="of the Drive panel is not a number: set it anew"):
        bpy.ops.mm.drive_recording(filepath=str(tmp_path / "stick.csv"))


def test_a_drive_goes_on_with_what_was_set_before_when_a_setting_becomes_no_number(baked):
    played = group.DrivenGroup([baked])
    played.prepare(baked, bpy.context)
    before = played.player.settings
    baked.mm.drive.velocity_halflife = float("nan")
    played.prepare(baked, bpy.context)
    assert played.player.settings == before and "is not a number" in played.sentences[-1]


# Clips

@pytest.mark.parametrize("base", [1e5, 1e4, 25.0])
def test_a_scene_slower_than_a_frame_a_second(baked, base):
    bpy.context.scene.render.fps_base = base
    sentence = "The scene has .* frames per second, and motion has at least 1: look at its frame rate"
    assert re.match(sentence, clips.trouble(baked, baked.mm.clips[0], bpy.context.scene))
    assert clips.count_selected(baked, bpy.context.scene, "", 60.0) == (0, 0)
    refuse(baked, sentence)


@pytest.mark.parametrize("start, end, sentence", [
    (1, 1e6, r'Action "walk", which plays for 41,666.6\d s, would have 2,499,99\d frames, and a clip has at most 2,0'),
    (1, 3e38, "would have far too many frames"), (float("-inf"), float("inf"), "would have far too many frames"),
    (float("nan"), 10, "has the range nan to 10: it needs at least two frames"),
])
def test_a_range_that_nobody_can_play(baked, start, end, sentence):
    clip = only(baked, baked.mm.clips[0].action).mm.clips[0]
    clip.use_range, clip.start, clip.end = True, start, end
    assert re.search(sentence, clips.trouble(baked, clip, bpy.context.scene))
    refuse(baked, sentence)


def test_all_clips_together_of_more_frames_than_memory_has_room_for(baked, monkeypatch):
    monkeypatch.setattr(sampling, "read_action", None)  # nothing is read
    monkeypatch.setattr(limits, "ALL_POSES", 1000)
    baked.mm.bake.rate = 30
    refuse(baked, r"All clips together would have \d+ frames, and a database of \d+ joints has at most")


def test_an_action_of_another_rig(baked):
    only(baked, new_action(baked, "alien", ("tentacle", "location", 0, {1: 0, 50: 1})))
    refuse(baked, 'Action "alien" moves no bone of "Walker": it belongs to another rig')


def test_an_action_with_one_key(baked):
    only(baked, new_action(baked, "pose", ("hips", "location", 0, {5: 1})))
    refuse(baked, 'Action "pose" has a single frame')


def test_an_empty_action(baked):
    only(baked, new_action(baked, "empty"))
    refuse(baked, 'Action "empty" has no keys for "Walker"')


def test_a_deleted_action(baked):
    bpy.data.actions.remove(bpy.data.actions["run"])
    bpy.ops.mm.bake()
    assert load(baked).notes["left_out"] == ['The Action "run" was deleted: remove this clip.']


def test_not_a_number_in_a_curve(baked):
    action = walker.walk(baked, "broken")
    points = actions.fcurves(action, baked)[0].keyframe_points
    values = np.empty(len(points) * 2, dtype=np.float32)
    points.foreach_get("co", values)
    values[21] = np.nan
    points.foreach_set("co", values)
    only(baked, action)
    refuse(baked, 'The Action "broken" has a value that is not a number: bone "hips", location')


def test_bad_clips_are_left_out_of_a_bake_with_good_ones(baked):
    for action in (new_action(baked, "alien", ("tentacle", "location", 0, {1: 0, 50: 1})),
                   new_action(baked, "pose", ("hips", "location", 0, {5: 1}))):
        baked.mm.clips.add().action = action
    bpy.ops.mm.bake()
    db = load(baked)
    assert {part.source for part in db.ranges} == {"walk", "run"} and len(db.notes["left_out"]) == 2
    assert baking.report(baked)["left_out"] == db.notes["left_out"]
    assert baking.changes(baked, bpy.context.scene) == []  # baking again would change nothing


def test_clips_shorter_than_the_longest_feature_time(baked):
    for clip in baked.mm.clips:
        clip.use_range, clip.start, clip.end = True, 1, 10
    bpy.ops.mm.bake()
    assert len(load(baked))
    baked.mm.features.past_end = "exclude"
    refuse(baked, "longer clips")


def test_clips_of_two_skeletons(baked):
    other = walker.armature("Tall", {name: (tuple(np.multiply(head, 1.5)), tuple(np.multiply(tail, 1.5)), parent)
                                     for name, (head, tail, parent) in walker.BONES.items()})
    clip = baked.mm.clips.add()
    clip.action, clip.source = walker.walk(other, "stride"), other
    walker.activate(baked)
    bpy.ops.mm.bake()
    db = load(baked)
    assert {part.source for part in db.ranges} == {"walk", "run", "stride"} and not db.notes["left_out"]
    hips = db.skeleton.index(db.character.roles["hips"])
    heights = {part.source: np.median(db.clip(index).globals()[0][:, hips, 2]) for index, part in enumerate(db.ranges)}
    assert heights["stride"] == pytest.approx(heights["walk"], abs=0.05), "it is retargeted"


def test_strange_names_everywhere(extension, tmp_path):
    folder = tmp_path / "Ünï cöde. (1)"
    folder.mkdir()
    ob = walker.armature("Figur/ä. 1")
    action = walker.walk(ob, 'geh "schnell"/ß. 日本')
    walker.ready(ob, folder / "bewegung. ä", action)
    ob.mm.clips[0].action.mm.tags.add().name = "läuft schnell/1"
    ob.mm.clips[0].action.mm.tags[0].end = 30
    bpy.ops.mm.bake()
    db = database.load(folder / "bewegung. ä.mmdb")
    assert db.ranges[0].source == action.name and list(db.tags) == ["läuft schnell/1"]
    assert baking.changes(ob, bpy.context.scene) == []


def test_the_same_motion_at_24_25_and_29_97_frames_per_second_is_the_same_database(extension, tmp_path):
    found = []
    for fps, base in ((24, 1.0), (25, 1.0), (30, 1.001)):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = fps, base
        ob = walker.armature()
        action = walker.walk(ob, seconds=3.0, step=0.01)
        walker.ready(ob, tmp_path / f"{fps}.mmdb", action)
        tag = action.mm.tags.add()
        tag.name, tag.start, tag.end = "middle", 1 + fps / base, 1 + 2 * fps / base
        bpy.ops.mm.bake()
        found.append(load(ob))
    for other in found[1:]:
        frames = min(len(found[0].clip(0)), len(other.clip(0)))
        assert abs(len(found[0]) - len(other)) <= 4 and frames > 170
        for before, after in zip(found[0].clip(0).globals(), other.clip(0).globals()):
            # A sine of one hertz through 24 points a second, by cubic curves: millimetres.
            assert np.abs(before[3:frames - 3] - after[3:frames - 3]).max() < 5e-3
        assert abs(int(found[0].tags["middle"].sum()) - int(other.tags["middle"].sum())) <= 2


# The file

def test_a_folder_that_does_not_exist(baked, tmp_path):
    path, baked.mm.bake.path = baked.mm.bake.path, str(tmp_path / "no" / "motion.mmdb")
    with pytest.raises(RuntimeError, match="no\" does not exist: create it, or choose another file"):
        bpy.ops.mm.bake()
    baked.mm.bake.path = path
    assert baking.changes(baked, bpy.context.scene) == []


def test_no_file_at_all_is_one_named_after_blend_and_armature(baked, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    baked.mm.bake.path = " "
    bpy.ops.mm.bake()
    assert baked.mm.bake.path == "//shot_Walker.mmdb" and (tmp_path / "shot_Walker.mmdb").is_file()


def test_a_folder_in_the_place_of_the_file(baked, tmp_path):
    (tmp_path / "folder.mmdb").mkdir()
    baked.mm.bake.path = str(tmp_path / "folder.mmdb")
    with pytest.raises(RuntimeError, match=r'folder.mmdb" is a folder: choose a file name'):
        bpy.ops.mm.bake()


def test_a_folder_that_is_read_only(baked, monkeypatch):
    baked.mm.bake.rate = 30
    monkeypatch.setattr(baking.os, "access", lambda path, mode: False)
    refuse(baked, "is read-only: choose another file")


def test_a_disk_that_is_full(baked, monkeypatch):
    baked.mm.bake.rate = 30

    fill_disk(monkeypatch)
    refuse(baked, "the disk is full; free some space and try again")
    assert not [path for path in (baking.os.listdir(baking.os.path.dirname(baked.mm.bake.path))) if path[0] == "."]


def fill_disk(monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(archive.np.lib.format, "write_array", full)


def _truncated(path):
    path.write_bytes(path.read_bytes()[:2000])


def _foreign(path):
    path.write_bytes(b"These are not the frames you are looking for.")


def _newer(path):
    header, arrays = archive.read(path, database.KIND, database.VERSION, database._ARRAYS)
    header = {key: value for key, value in header.items() if key not in ("kind", "version")}
    archive.write(path, database.KIND, database.VERSION + 1, header, arrays)


class _Evil:
    def __reduce__(self):
        return print, ("this must never be printed",)


def _pickled(path):
    with zipfile.ZipFile(path, "w") as file, file.open("header.npy", "w") as entry:
        np.lib.format.write_array(entry, np.array([_Evil()], dtype=object), allow_pickle=True)
    assert pickle.dumps(_Evil())


@pytest.mark.parametrize("spoil", [_truncated, _foreign, _newer, _pickled])
def test_a_file_that_cannot_be_read_is_kept_beside_the_new_one(baked, tmp_path, spoil, capfd):
    path = tmp_path / "motion.mmdb"
    spoil(path)
    spoilt = path.read_bytes()
    assert "motion.mmdb" in baking.changes(baked, bpy.context.scene)[0]
    assert bpy.ops.mm.bake() == {"FINISHED"}
    assert len(load(baked)) and (tmp_path / "motion.mmdb.unreadable").read_bytes() == spoilt
    assert "It was kept as motion.mmdb.unreadable" in baking.report(baked)["warnings"][0]
    assert baking.changes(baked, bpy.context.scene) == []
    spoil(path)
    bpy.ops.mm.bake()
    assert (tmp_path / "motion.mmdb.unreadable2").is_file()
    assert "this must never be printed" not in capfd.readouterr().out


def test_a_disk_that_is_full_leaves_even_an_unreadable_file_where_it_was(baked, tmp_path, monkeypatch):
    path = tmp_path / "motion.mmdb"
    _foreign(path)
    fill_disk(monkeypatch)
    with pytest.raises(RuntimeError, match="the disk is full"):
        bpy.ops.mm.bake()
    assert [one.name for one in tmp_path.iterdir()] == ["motion.mmdb"] and b"These are not" in path.read_bytes()


def test_a_mistake_in_reading_is_not_swallowed(baked, monkeypatch):
    def mistake(*_, **__):
        raise KeyError("a mistake of ours")
    monkeypatch.setattr(sampling, "read_action", mistake)
    baked.mm.bake.rate = 30
    before = load(baked).key
    with pytest.raises(RuntimeError, match="a mistake of ours"):
        bpy.ops.mm.bake()
    assert load(baked).key == before
