# SPDX-License-Identifier: GPL-3.0-or-later
"""The live session: who is driven, what is shown, and that everything comes back."""

import errno
import gc
import math
import os

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from mm_blender.control.device import Device
from mm_blender.control.stick import Recording, Stick
from mm_blender.errors import MotionError
from mm_blender.playback import columns
from mm_blender.scene import actions, driving
from mm_blender.scene.driving import libraries
from mm_blender.scene.driving.session import on_undo
from mm_blender.scene.jobs import baking
from mm_blender.scene.showing.hud import ground_lines_of


@pytest.fixture
def character(source):
    return source


def go(session, seconds=1.0):
    """Drive for so long, a frame at a time."""
    for _ in range(round(seconds * 60)):
        session.tick(bpy.context, 1 / 60)
    bpy.context.view_layer.update()


def hips(ob):
    return np.array(ob.matrix_world @ ob.pose.bones["hips"].head)


def poses(ob):
    return [[tuple(row) for row in bone.matrix_basis] for bone in ob.pose.bones]


def copy_of(ob, place=(3, 0, 0)):
    other = bpy.data.objects.new("Other", ob.data)
    bpy.context.scene.collection.objects.link(other)
    for role in ob.mm.roles:
        entry = other.mm.roles.add()
        entry.name, entry.bone = role.name, role.bone
    other.mm.bake.path, other.mm.bake.key = ob.mm.bake.path, ob.mm.bake.key
    other.mm.drive.relative = "WORLD"
    other.location = place
    bpy.context.view_layer.update()
    return other


def test_the_armature_walks_where_the_keys_say(character):
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 3)
    assert hips(character)[1] > 2 and abs(hips(character)[0]) < 0.5
    assert session.status.clip and "walk" in session.status.tags and session.status.speed > 0.8
    assert session.status.seconds == pytest.approx(3, abs=0.1)


def test_what_is_drawn_before_the_first_frame_marks_no_foot(character):
    session = driving.start(bpy.context, [character])
    drawn = ground_lines_of(session.paths, character.mm.drive, 1.0)
    assert not session.paths.held.any()
    assert np.isfinite(drawn.lines[0]).all() and np.isfinite(drawn.triangles[0]).all()


@pytest.mark.once
def test_nothing_from_before_is_looked_through_by_the_garbage_collector_while_driving(character):
    session = driving.start(bpy.context, [character])
    assert gc.get_freeze_count() > 10000
    session.cancel(bpy.context)
    assert gc.get_freeze_count() == 0


@pytest.mark.once
def test_where_there_is_no_motion_that_way_it_is_said(character):
    character.mm.drive.own_speeds = True
    character.mm.drive.walk = (0.0, 0.5, 0.5)
    session = driving.start(bpy.context, [character])
    go(session, 0.6)
    assert not session.status.sentences
    session.keyboard.press("W", "forward")
    go(session, 0.6)
    assert any("nothing that goes this way at a walk" in sentence for sentence in session.status.sentences)


def test_cancel_brings_back_pose_action_slot_frame_and_selection(character):
    bpy.context.scene.frame_set(20)
    character.pose.bones["head"].rotation_quaternion = (0.9, 0.1, 0.2, 0.3)
    character.select_set(True)
    action, before = character.animation_data.action, poses(character)
    slot = getattr(character.animation_data, "action_slot", None)
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 0.5)
    bpy.context.scene.frame_set(40)
    actions.assign(character, next(other for other in bpy.data.actions if other != action))
    character.select_set(False)
    session.cancel(bpy.context)
    assert poses(character) == before
    assert character.animation_data.action == action
    assert slot is None or character.animation_data.action_slot == slot
    assert bpy.context.scene.frame_current == 20 and character.select_get()
    assert driving.current() is None and not character.mm.drive.driving


def test_a_kept_take_shows_what_was_driven(character):
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 2)
    last = hips(character)
    names = session.keep()
    assert names == ["Demo Character Drive"] == [character.animation_data.action.name]
    bpy.context.scene.frame_set(round(character.animation_data.action.frame_range[1]))
    assert np.allclose(hips(character), last, atol=0.03)


@pytest.mark.parametrize("extend", [True, False])
def test_the_scene_ends_no_sooner_than_the_take(character, extend):
    scene = bpy.context.scene
    scene.frame_end, character.mm.drive.extend = 60, extend
    session = driving.start(bpy.context, [character])
    go(session, 2)
    session.keep()
    assert scene.frame_end == (round(character.animation_data.action.frame_range[1]) if extend else 60)
    session = driving.start(bpy.context, [character])
    go(session, 0.2)
    session.keep()
    assert scene.frame_end >= (119 if extend else 60), "it never ends sooner"


def the_view():
    return next(area for area in bpy.context.window_manager.windows[0].screen.areas
                if area.type == "VIEW_3D").spaces.active.region_3d


def test_the_view_goes_along_and_after_the_take_back_with_the_character(character):
    view, character.mm.drive.follow = the_view(), True
    view.view_location, view.view_distance = (0, 0, 1), 8
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 3)
    assert view.view_location.y == pytest.approx(session.driven.player.positions[0, 1], abs=0.2)
    session.keep()
    assert np.allclose(view.view_location, (0, 0, 1), atol=1e-3)


def test_a_character_that_is_out_of_sight_is_looked_at(character):
    view, character.mm.drive.follow = the_view(), True
    view.view_location, view.view_distance = (20, 5, 1), 8
    session = driving.start(bpy.context, [character])
    go(session, 0.1)
    assert np.allclose(view.view_location.xy, session.driven.player.positions[0], atol=0.1)
    assert 0.7 < view.view_location.z < 1.3
    session.cancel(bpy.context)
    assert np.allclose(view.view_location, (20, 5, 1))


def test_what_steered_is_of_the_armature_whatever_its_name_and_of_this_file(character, tmp_path):
    session = driving.start(bpy.context, [character])
    go(session, 0.2)
    session.keep()
    character.name = "Hero"
    assert driving.last_input(character) is not None
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert driving.last_input(bpy.data.objects["Hero"]) is None


def test_a_frame_change_does_not_show_the_action(character):
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 2)
    before = hips(character)
    bpy.context.scene.frame_set(30)
    bpy.context.view_layer.update()
    assert np.allclose(hips(character), before, atol=1e-4)


def test_a_file_saved_meanwhile_has_the_pose_from_before(character, tmp_path):
    character.animation_data.action = None
    before = poses(character)
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 1)
    shown = poses(character)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"), copy=True)
    assert driving.current() is session and poses(character) == shown, "driving goes on"
    session.cancel(bpy.context)
    with bpy.data.libraries.load(str(tmp_path / "saved.blend")) as (_, loaded):
        loaded.objects = [character.name]
    assert poses(loaded.objects[0]) == before and not loaded.objects[0].mm.drive.driving


def test_characters_that_share_a_database_go_together_and_the_active_one_is_driven(character):
    other = copy_of(character)
    session = driving.start(bpy.context, [character, other])
    assert len(session.groups) == 1
    session.keyboard.press("W", "forward")
    go(session, 1.5)
    assert hips(character)[1] > 0.7 and abs(hips(other)[1]) < 0.3
    bpy.context.view_layer.objects.active = other
    far = hips(character)[1]
    session.keyboard.release_all()
    session.keyboard.press("D", "right")
    go(session, 2.0)
    assert session.driven.name == other.name and hips(other)[0] > 3.8
    assert hips(character)[1] > far + 1, "the first goes on with what it wanted"
    assert len(session.keep()) == 2
    assert character.animation_data.action != other.animation_data.action


def test_a_character_that_becomes_active_joins(character):
    session = driving.start(bpy.context, [character])
    go(session, 0.5)
    other = copy_of(character)
    bpy.context.view_layer.objects.active = other
    session.keyboard.press("W", "forward")
    go(session, 1.5)
    assert session.driven.name == other.name and hips(other)[1] > 0.5
    session.keep()
    first = other.animation_data.action.frame_range[0]
    assert first == pytest.approx(bpy.context.scene.frame_current + 30, abs=2), "its take begins when it joined"


def test_one_that_cannot_join_is_named_and_driving_goes_on(character):
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    other = copy_of(character)
    other.mm.bake.path = "//nowhere.mmdb"
    bpy.context.view_layer.objects.active = other
    go(session, 1.5)
    assert session.driven.name == character.name and hips(character)[1] > 0.7
    assert any("nowhere.mmdb" in sentence for sentence in session.status.sentences)


def test_what_steered_can_be_saved_and_steers_again(character, tmp_path):
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 2)
    far = hips(character)
    session.cancel(bpy.context)
    bpy.ops.mm.drive_save_input(filepath=str(tmp_path / "stick"))
    assert os.path.exists(tmp_path / "stick.csv")
    bpy.ops.mm.drive_recording(filepath=str(tmp_path / "stick.csv"))
    bpy.context.scene.frame_set(round(character.animation_data.action.frame_range[1]))
    assert np.allclose(hips(character), far, atol=0.15)


def test_what_steered_is_saved_as_the_world_sees_it(character):
    one = driving.start(bpy.context, [character]).driven
    one.hear(0.5, Stick(move_y=1, face_x=1, run=1), np.pi / 2)
    assert one.recording(1.0).at(0.7).numbers == pytest.approx([-1, 0, 0, 1, 1, 0, 0], abs=1e-9)


def test_where_the_disk_is_full_a_take_is_kept_all_the_same_and_it_is_said(character, monkeypatch):
    def full(**options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(columns, "CHUNK", 2000)
    monkeypatch.setattr(columns.tempfile, "TemporaryFile", full)
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 1.5)
    assert [each for each in session.status.sentences if "No space left on device" in each and "kept in memory" in each]
    far, (name,) = hips(character), session.keep()
    bpy.context.scene.frame_set(round(bpy.data.actions[name].frame_range[1]))
    assert np.allclose(hips(character), far, atol=0.05)


def test_a_recording_steers_live(character):
    session = driving.start(bpy.context, [character], Recording.of([0, 1], [Stick(move_x=1), Stick(move_x=1)]))
    go(session, 0.9)
    assert not session.pressed and session.status.device == "Recording"
    pressed = [set(session.pressed) for _ in range(30) if not go(session, 1 / 60)]
    assert pressed.count({"keep"}) == 1 and pressed.count(set()) == 29 and hips(character)[0] > 0.3


class Wheel(Device):
    """A device that nobody knows, which turns to the right."""

    name, is_there = "Wheel", True

    def poll(self, heading=0.0, facing=0.0, seconds=0.0, strafe=False):
        return Stick(move_x=1.0) if self.is_there else None


@pytest.mark.once
def test_the_device_that_was_used_last_steers_until_it_is_gone(character):
    session = driving.start(bpy.context, [character])
    wheel = Wheel()
    session.devices.append(wheel)
    go(session, 0.1)
    assert session.status.device == "Keyboard"
    wheel.in_use = True
    go(session, 1.0)
    assert session.status.device == "Wheel" and hips(character)[0] > 0.2
    wheel.in_use = False
    go(session, 0.1)
    assert session.status.device == "Wheel"
    session.keyboard.press("W", "forward")
    go(session, 0.1)
    assert session.status.device == "Keyboard"
    session.keyboard.release("W")
    wheel.in_use = True
    go(session, 0.1)
    assert session.status.device == "Wheel"
    wheel.is_there = False
    go(session, 0.1)
    assert session.status.device == "Keyboard"


@pytest.mark.once
def test_what_is_pressed_on_any_device_counts(character):
    session = driving.start(bpy.context, [character])
    wheel = Wheel()
    session.devices.append(wheel)
    wheel.pressed = {"toggle_strafe", "cancel"}
    go(session, 1 / 60)
    assert character.mm.drive.strafe and "cancel" in session.pressed


@pytest.mark.once
def test_what_was_pressed_is_pressed_once_though_the_session_waits(character):
    session = driving.start(bpy.context, [character])
    wheel = Wheel()
    session.devices.append(wheel)
    wheel.pressed = {"keep"}
    go(session, 1 / 60)
    assert session.pressed == {"keep"}
    character.scale = (1, 2, 1)
    bpy.context.view_layer.update()
    go(session, 0.1)
    assert session.driven.waits and not session.pressed, "nobody asks the devices meanwhile"


@pytest.mark.once
def test_the_sliders_of_the_features_act_at_once(character):
    session = driving.start(bpy.context, [character])
    go(session, 0.1)
    search = session.driven.group.library.choice().search
    before = search.weights.copy()
    character.mm.features.responsiveness = 4.0
    go(session, 1 / 60)
    assert (search.weights > before).any()


def test_features_that_were_changed_since_the_bake_are_said(character):
    session = driving.start(bpy.context, [character])
    character.mm.features.channels[0].time_count = 2
    character.mm.features.channels[0].weight = 3.0
    go(session, 1.1)
    assert any("bake again" in sentence for sentence in session.status.sentences)


def test_a_tag_query_that_cannot_be_heeded_is_said_and_driving_goes_on(character):
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    for query, word in (("walk & ~walk", "not heeded"), ("walk & (", "walk & ("), ("nowhere", "nowhere")):
        character.mm.drive.query = query
        go(session, 1.1)
        assert any(word in sentence for sentence in session.status.sentences), query
    assert hips(character)[1] > 1


def test_only_one_drive_at_a_time(character):
    driving.start(bpy.context, [character])
    with pytest.raises(MotionError, match="already"):
        driving.start(bpy.context, [character])


@pytest.mark.once
def test_meshes_in_the_way_are_walked_along(character):
    walls = bpy.data.collections.new("Walls")
    bpy.context.scene.collection.children.link(walls)
    bpy.ops.mesh.primitive_cube_add(size=2, location=(0, 2.5, 1))
    wall = bpy.context.object
    for collection in wall.users_collection:
        collection.objects.unlink(wall)
    walls.objects.link(wall)
    bpy.context.view_layer.objects.active = character
    character.mm.drive.obstacles = walls
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 4)
    assert session.paths.simulated[1] < 1.3, "the wall begins at 1.5 m"


# What the artist does meanwhile

def test_an_action_that_was_renamed_is_still_the_one_that_comes_back(character):
    action = character.animation_data.action
    session = driving.start(bpy.context, [character])
    go(session, 0.2)
    action.name = "Another Name"
    character.animation_data.action = None
    session.cancel(bpy.context)
    assert character.animation_data.action == action


def test_an_armature_of_another_size_than_it_was_baked_in_is_told(character):
    session = driving.start(bpy.context, [character])
    go(session, 1)
    assert not session.status.sentences
    character.scale = (1.5, 1.5, 1.5)
    bpy.context.view_layer.update()
    go(session, 1)
    assert any("1.50 times as large" in sentence for sentence in session.status.sentences)


def test_a_bone_that_was_renamed_comes_back_too(character):
    before = poses(character)
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 0.5)
    character.data.bones["hips"].name = "pelvis"
    session.rebind()  # as after undo
    go(session, 0.3)
    session.cancel(bpy.context)
    assert poses(character) == before


def test_baking_waits_until_nobody_drives(character):
    driving.start(bpy.context, [character])
    with pytest.raises(RuntimeError, match="Stop driving first"):
        bpy.ops.mm.bake()


def test_a_scene_that_nobody_sees_is_not_covered(character, monkeypatch):
    session = driving.start(bpy.context, [character])
    covered = []
    monkeypatch.setattr(session, "cover", lambda: covered.append(1))
    other = bpy.data.scenes.new("Reading")
    other.collection.objects.link(character)
    other.frame_set(30)
    assert not covered
    bpy.context.scene.frame_set(30)
    assert covered


def test_bones_that_follow_constraints_are_named(character):
    character.pose.bones["hips"].constraints.new("COPY_LOCATION").target = copy_of(character)
    session = driving.start(bpy.context, [character])
    go(session, 0.1)
    assert any('"hips"' in sentence for sentence in session.status.sentences)


def test_the_first_frame_stands_where_the_character_stood(character):
    character.location = (4, 2, 0)
    bpy.context.view_layer.update()
    session = driving.start(bpy.context, [character])
    session.tick(bpy.context, 0.01)
    bpy.context.view_layer.update()
    assert np.allclose(hips(character)[:2], (4, 2), atol=0.2)


@pytest.mark.once
def test_on_a_floor_of_its_own_a_character_walks_there(character):
    low = driven_heights(character)
    character.location.z = 3.0
    bpy.context.view_layer.update()
    assert np.allclose(driven_heights(character), low + 3, atol=1e-4)
    session = driving.start(bpy.context, [character])
    go(session, 0.2)
    paths = session.paths
    assert paths.root[2] == 3 and np.allclose(paths.desired[:, 2], 3) and (paths.toes[:, 2] > 2.9).all()
    character.location.z = 4.0  # lifted while it is driven
    bpy.context.view_layer.update()
    go(session, 0.2)
    assert session.paths.root[2] == 4 and hips(character)[2] > low.min() + 3.9


@pytest.mark.once
def test_on_a_platform_a_character_walks_on_it_and_has_its_size(character):
    low = driven_heights(character)
    character.parent = platform = bpy.data.objects.new("Platform", None)
    bpy.context.scene.collection.objects.link(platform)
    platform.location = (3, 0, 1)
    bpy.context.view_layer.update()
    assert np.allclose(driven_heights(character), low + 1, atol=1e-4)
    bpy.ops.mm.bake()
    session = driving.start(bpy.context, [character])
    go(session, 0.6)
    assert session.paths.root[2] == 1 and not session.status.sentences


@pytest.mark.once
def test_that_a_platform_moves_while_the_take_plays_is_told(character):
    character.parent = platform = bpy.data.objects.new("Platform", None)
    bpy.context.scene.collection.objects.link(platform)
    for frame in (1, 100):
        platform.location.x = frame / 10
        platform.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.update()
    session = driving.start(bpy.context, [character])
    go(session, 0.6)
    assert any('"Platform"' in note for note in session.status.notes)


@pytest.mark.once
def test_what_was_kept_on_an_upper_floor_stays_there(character):
    character.location.z = 3.0
    bpy.context.view_layer.update()
    session = driving.start(bpy.context, [character])
    go(session, 0.5)
    driven = hips(character)
    session.keep()
    bpy.context.scene.frame_set(math.ceil(character.animation_data.action.frame_range[1]))
    assert hips(character)[2] == pytest.approx(driven[2], abs=0.05)


@pytest.mark.once
def test_upstairs_a_character_stands_on_the_ground_upstairs(character):
    character.mm.drive.ground = bpy.data.collections.new("House")
    bpy.context.scene.collection.children.link(character.mm.drive.ground)
    for z in (0.0, 3.1):
        corners = [(-9, -9, z), (9, -9, z), (9, 9, z), (-9, 9, z)]
        mesh = bpy.data.meshes.new("Floor")
        mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
        character.mm.drive.ground.objects.link(bpy.data.objects.new("Floor", mesh))
    low = driven_heights(character, 2.0)[-1]
    character.location.z = 3.0
    bpy.context.view_layer.update()
    assert driven_heights(character, 2.0)[-1] == pytest.approx(low + 3.1, abs=0.01)


@pytest.mark.once
def test_on_a_terrace_a_character_begins_where_it_stands(character):
    heights = []
    for z in (0.0, 1.2):  # carried there by its pose, as where a take has ended
        character.mm.drive.ground = ground = bpy.data.collections.new("Terrace")
        bpy.context.scene.collection.children.link(ground)
        mesh = bpy.data.meshes.new("Terrace")
        mesh.from_pydata([(-9, -9, z), (9, -9, z), (9, 9, z), (-9, 9, z)], [], [(0, 1, 2, 3)])
        ground.objects.link(bpy.data.objects.new("Terrace", mesh))
        character.pose.bones["root"].location = character.data.bones["root"].matrix_local.inverted().to_3x3() @ Vector(
            (0, 0, z))
        bpy.context.view_layer.update()
        heights.append(driven_heights(character))
    assert np.allclose(heights[1], heights[0] + 1.2, atol=0.01)


def driven_heights(ob, seconds=1.0):
    """How high the hips are in each frame of a walk, which is cancelled afterwards."""
    session, found = driving.start(bpy.context, [ob]), []
    session.keyboard.press("W", "forward")
    for _ in range(round(seconds * 60)):
        session.tick(bpy.context, 1 / 60)
        bpy.context.view_layer.update()
        found.append(hips(ob)[2])
    session.cancel(bpy.context)
    return np.array(found)


@pytest.mark.parametrize("root", ["auto", "made", "adaptive"])
@pytest.mark.parametrize("amid", [0.0, 0.95])
@pytest.mark.once
def test_it_begins_with_the_pose_that_is_shown(character, root, amid):
    character.data.transform(Matrix.Translation((0, 0, -amid)))  # where the object is may be amid the character
    character.location.z = amid
    character.mm.bake.root = root
    bpy.ops.mm.bake()
    bpy.context.scene.frame_set(37)
    character.location, character.rotation_euler = (2, 1, amid), (0, 0, 0.7)
    bpy.context.view_layer.update()
    names = ("hips", "head", "hand.L", "toe.L", "toe.R")
    shown = [[np.array(character.matrix_world @ character.pose.bones[name].head) for name in names]] * 2
    session = driving.start(bpy.context, [character])
    for tick in [0.004] * 4 + [1 / 60] * 40:
        session.tick(bpy.context, tick)
        bpy.context.view_layer.update()
        shown.append([np.array(character.matrix_world @ character.pose.bones[name].head) for name in names])
    ways = np.linalg.norm(np.diff(shown, axis=0), axis=-1)
    assert ways[:5].max() < 0.02 and ways.max() < 0.06, "no joint is faster than 3.6 m/s"
    assert np.linalg.norm(shown[-1][3] - shown[0][3]) > 0.1, "though it was another pose"


@pytest.mark.once
def test_a_take_goes_on_where_the_last_one_ended(character):
    character.mm.drive.keep_as = "NLA"
    actions.assign(character, None)
    for _ in range(2):
        session = driving.start(bpy.context, [character])
        session.keyboard.press("W", "forward")
        go(session, 1.5)
        session.keep()
        bpy.context.scene.frame_set(round(bpy.context.scene.frame_current + 1.5 * 60))
    places = []
    for frame in range(86, 180):
        bpy.context.scene.frame_set(frame)
        places.append([np.array(character.matrix_world @ character.pose.bones[name].head)
                       for name in ("hips", "toe.L", "toe.R", "hand.L")])
    assert places[-1][0][1] > 2
    assert np.linalg.norm(np.diff(places[:8], axis=0), axis=-1).max() < 0.06, "nothing jumps from one to the other"


def test_a_character_that_cannot_be_shown_does_not_stop_the_others(character):
    other = copy_of(character)
    session = driving.start(bpy.context, [character, other])
    session.keyboard.press("W", "forward")
    go(session, 0.2)
    other.scale = (1, 2, 1)
    bpy.context.view_layer.update()
    go(session, 1.5)
    assert hips(character)[1] > 0.7
    assert any("scaled unevenly" in sentence for sentence in session.status.sentences)


@pytest.mark.once
def test_each_one_has_settings_of_its_own(character):
    other, third = copy_of(character), copy_of(character, (-3, 0, 0))
    other.mm.drive.root_position, other.mm.drive.lock_feet = "full", False
    session = driving.start(bpy.context, [character, other, third])
    go(session, 0.6)
    settings = {one.name: one.player.settings for one in session.characters}
    assert settings[other.name].sync.position == "full" and not settings[other.name].lock.on
    assert settings[character.name].sync.position == "adjust_clamp" and settings[character.name].lock.on
    assert len(session.groups) == 2, "those that are alike are worked on together"


def test_when_the_driven_one_is_deleted_another_gets_the_input(character):
    other = copy_of(character)
    session = driving.start(bpy.context, [other, character])
    bpy.context.view_layer.objects.active = other
    go(session, 0.2)
    bpy.data.objects.remove(other)
    go(session, 0.3)
    assert session.driven.name == character.name


def test_a_kept_take_changes_no_clip(character):
    assert baking.changes(character, bpy.context.scene) == []
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 1)
    session.keep()
    bpy.context.scene.frame_set(bpy.context.scene.frame_current + 20)
    assert baking.changes(character, bpy.context.scene) == []


@pytest.mark.parametrize("keep_as", ["ACTION", "NLA", "LENGTHEN"])
def test_all_takes_are_kept_or_none(character, keep_as):
    other = copy_of(character)
    character.mm.drive.keep_as = keep_as
    session = driving.start(bpy.context, [character, other])
    go(session, 0.3)
    action, count = character.animation_data.action, len(bpy.data.actions)
    other.scale = (1, 2, 1)
    bpy.context.view_layer.update()
    with pytest.raises(MotionError, match="Other"):
        session.keep()
    assert len(bpy.data.actions) == count and character.animation_data.action == action
    assert not len(character.animation_data.nla_tracks)
    assert driving.current() is session, "nothing is lost: driving goes on"


def test_a_step_from_a_drive_that_undo_brings_back_shows_the_pose_from_before(character):
    before = poses(character)
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 0.5)
    driven = [bone.matrix_basis.copy() for bone in character.pose.bones]
    session.cancel(bpy.context)
    for bone, basis in zip(character.pose.bones, driven):
        bone.matrix_basis = basis
    character.mm.drive.driving = True
    on_undo()
    assert poses(character) == before and not character.mm.drive.driving


@pytest.mark.once
def test_a_recording_is_driven_with_the_sliders_as_they_are(character, tmp_path):
    library = libraries.library_of(character)
    before = library.choice().search.weights.copy()
    (tmp_path / "go.csv").write_text("time,move_x,move_y,face_x,face_y,run,strafe\n0,0,1,0,0,0,0\n1,0,1,0,0,0,0\n")
    character.mm.features.responsiveness = 4.0
    bpy.ops.mm.drive_recording(filepath=str(tmp_path / "go.csv"))
    assert (library.choice().search.weights > before).any()


def kept_places(ob, seconds, times=2):
    """Where joints (F, J, 3) are in each frame of so many takes, one from the end of the other on, walking on; and in
    which frames of each take it jumped."""
    jumps = []
    for index in range(times):
        bpy.context.scene.frame_set(1 + round(60 * seconds) * index)
        session = driving.start(bpy.context, [ob])
        session.keyboard.press("W", "forward")
        go(session, seconds)
        jumps.append(np.flatnonzero(session.driven.group.record.trace().jumped))
        session.keep()
    places = []
    for frame in range(1, round(60 * seconds) * times + 1):
        bpy.context.scene.frame_set(frame)
        places.append([ob.matrix_world @ ob.pose.bones[name].head for name in ("hips", "toe.L", "toe.R", "hand.R")])
    return np.array(places), jumps


@pytest.mark.once
def test_who_walks_walks_on_from_one_take_to_the_next(character):
    seams, ordinary = [], []
    for seconds in (1.5, 1.7, 1.9, 2.1, 2.3):
        character.animation_data_clear()
        places, (jumps, _) = kept_places(character, seconds)
        seam = round(60 * seconds)
        speeds = np.linalg.norm(np.diff(places[:, 0, :2], axis=0), axis=-1) * 60
        pushes = np.linalg.norm(np.diff(places, 2, axis=0), axis=-1).max(axis=-1) * 60 ** 2
        assert speeds[seam - 8:seam + 20].min() > 0.9 * speeds[seam - 60:seam].min(), "it goes on as fast"
        assert pushes[seam - 10:seam + 10].max() < 110, "m/s²; from rest it was 90 to 320"
        seams.append(pushes[seam - 2:seam + 8].max())
        ordinary += [pushes[jump - 2:jump + 8].max() for jump in jumps if 2 < jump < seam - 8]
    assert np.median(seams) < max(ordinary), "the seam is pushed no harder than a transition within a take"


@pytest.mark.parametrize("keep_as", ["ACTION", "NLA", "LENGTHEN"])
@pytest.mark.once
def test_three_takes_are_all_there_one_after_the_other(character, keep_as):
    character.mm.drive.keep_as = keep_as
    before = len(bpy.data.actions)
    places, _ = kept_places(character, 1.0, 3)
    assert np.linalg.norm(np.diff(places, axis=0), axis=-1).max() < 0.12, "nothing jumps"
    assert places[-1, 0, 1] - places[70, 0, 1] > 1.5, "it goes on walking"
    assert len(bpy.data.actions) == before + 3 and bpy.context.scene.frame_end >= 181


def test_who_was_posed_by_hand_begins_from_rest(character):
    bpy.context.scene.frame_set(30)
    session = driving.start(bpy.context, [character])
    assert abs(session.driven.guide.velocity) > 0.3, "its Action walks"
    session.cancel(bpy.context)
    character.pose.bones["hand.L"].rotation_quaternion = (0.7, 0.7, 0, 0)
    bpy.context.view_layer.update()
    posed = poses(character)
    session = driving.start(bpy.context, [character])
    assert session.driven.guide.velocity == 0
    assert np.abs(np.array(poses(character)) - posed).max() < 1e-4, "and keeps what it was given"


def test_takes_of_a_target_and_of_several_characters_are_all_there_too(character):
    other, target = copy_of(character), copy_of(character, (-3, 0, 0))
    other.mm.drive.target = target
    for index in range(3):
        bpy.context.scene.frame_set(1 + 30 * index)
        session = driving.start(bpy.context, [character, other])
        go(session, 0.5)
        assert len(session.keep()) == 2
    assert other.animation_data is None
    for ob in (character, target):
        assert [strip.frame_start for strip in ob.animation_data.nla_tracks[-1].strips] == [1, 31, 61]
