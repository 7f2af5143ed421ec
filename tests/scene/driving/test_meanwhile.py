# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever is done to an armature while it is driven: driving goes on or waits, and what was driven can be kept."""

import bpy
import numpy as np
import pytest

from mm_blender.control import stick
from mm_blender.errors import MotionError
from mm_blender.motion import bvh
from mm_blender.playback.record import FrameRecord
from mm_blender.scene import actions, driving
from mm_blender.scene.driving import rescue
from mm_blender.scene.driving.session import register, unregister
from tests.scene.driving.test_session import copy_of, go, hips


@pytest.fixture
def driven(source):
    """An armature that has walked for half a second and walks on, and its session."""
    session = driving.start(bpy.context, [source])
    session.keyboard.press("W", "forward")
    go(session, 0.5)
    return source, session


def edited(ob, change):
    """Change the bones of an armature between two frames of the drive."""
    bpy.context.view_layer.objects.active = ob
    mode = ob.mode
    bpy.ops.object.mode_set(mode="EDIT")
    change(ob.data.edit_bones)
    bpy.ops.object.mode_set(mode=mode)


def add_bones(ob, count=5):
    def change(bones):
        for index in range(count):
            bones.new(f"Extra {index}").tail = (0, 0, 1)

    edited(ob, change)


def add_bones_first(ob):
    def change(bones):
        above = bones.new("AAA")
        above.head, above.tail = (0, 0, -1), (0, 0, -0.5)
        bones["root"].parent = above

    edited(ob, change)


def join(ob):
    other = bpy.data.objects.new("Sword", bpy.data.armatures.new("Sword"))
    bpy.context.scene.collection.objects.link(other)
    add_bones(other, 2)
    bpy.ops.object.select_all(action="DESELECT")
    other.select_set(True)
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.join()


def remove_bones(ob, *names):
    edited(ob, lambda bones: [bones.remove(bones[name]) for name in names])


def exchange_a_bone(ob):
    def change(bones):
        bones.remove(bones["hand.L"])
        bones.new("Hook").tail = (0, 0, 1)

    edited(ob, change)


def rename_bones(ob):
    ob.data.bones["hand.L"].name, ob.data.bones["head"].name = "paw", "skull"


def reparent(ob):
    def change(bones):
        bones["hand.L"].parent = bones["hips"]

    edited(ob, change)


def single_user(ob):
    copy_of(ob)
    bpy.ops.object.select_all(action="DESELECT")
    ob.select_set(True)
    bpy.ops.object.make_single_user(object=True, obdata=True)


def swap_in_a_copy(ob):
    ob.data = ob.data.copy()


def rename_and_swap(ob):
    rename_bones(ob)
    go(driving.current(), 1.0)
    swap_in_a_copy(ob)


def remove_the_action(ob):
    bpy.data.actions.remove(ob.animation_data.action)


def put_to_sleep(ob):
    ob.select_set(False)
    bpy.context.view_layer.objects.active = None


def another_rate(_ob):
    bpy.context.scene.render.fps = 24


def constrain(ob):
    ob.pose.bones["hips"].constraints.new("COPY_LOCATION").target = copy_of(ob)


def other_rotation_modes(ob):
    for bone in ob.pose.bones:
        bone.rotation_mode = "XYZ"


def hang_from_something(ob):
    ob.parent = bpy.data.objects.new("Cart", None)
    bpy.context.scene.collection.objects.link(ob.parent)
    ob.parent.location = (0, 0, 0.5)


def forget_settings(ob):
    for name in ("roles", "clips"):
        getattr(ob.mm, name).clear()
    ob.mm.features.channels.clear()


def no_database(ob):
    ob.mm.bake.path, ob.mm.bake.key = "//nowhere.mmdb", ""


def no_ground(ob):
    ob.mm.drive.ground = bpy.data.collections.new("House")
    go(driving.current(), 0.1)
    bpy.data.collections.remove(ob.mm.drive.ground)


def another_method(ob):
    ob.mm.drive.method = "LMM"


def a_target_that_goes(ob):
    ob.mm.drive.target = target = copy_of(ob)
    go(driving.current(), 0.1)
    bpy.data.objects.remove(target)


def another_view_layer(ob):
    bpy.context.scene.view_layers.new("Second")


def purge(_ob):
    bpy.data.orphans_purge(do_recursive=True)


def flatten(ob):
    ob.animation_data_clear()


def new_world(ob):
    ob.mm.drive.driving = False  # as where a script has reset the settings
    ob.name, ob.data.name = "Hero", "Hero"


GOES_ON = [add_bones, add_bones_first, join, exchange_a_bone, rename_bones, reparent, single_user, swap_in_a_copy,
           rename_and_swap,
           remove_the_action, put_to_sleep, another_rate, constrain, other_rotation_modes, hang_from_something,
           forget_settings, no_database, no_ground, another_method, a_target_that_goes, another_view_layer, purge,
           flatten, new_world, lambda ob: remove_bones(ob, "hand.L", "toe.R"), copy_of]


@pytest.mark.parametrize("change", GOES_ON, ids=lambda change: change.__name__.replace("<lambda>", "remove_bones"))
def test_driving_goes_on_and_the_take_is_kept(driven, change):
    ob, session = driven
    far = hips(ob)[1]
    change(ob)
    bpy.context.view_layer.update()
    go(session, 1.5)
    assert driving.current() is session and not session.driven.waits
    assert hips(ob)[1] > far + 0.5 or change is constrain
    count = len(bpy.data.actions)
    shown = {bone.name: bone.matrix.copy() for bone in ob.pose.bones}
    (name,) = session.keep()
    assert len(bpy.data.actions) == count + 1
    action = bpy.data.actions[name]
    seconds = (action.frame_range[1] - action.frame_range[0]) / bpy.context.scene.render.fps
    assert seconds > 1.9
    assert ob.animation_data.action == action and len(actions.fcurves(action, ob)) > 60
    bpy.context.scene.frame_set(round(action.frame_range[1]))
    for bone in ob.pose.bones:
        assert np.allclose(bone.matrix, shown[bone.name], atol=0.03), bone.name


def test_bones_that_were_exchanged_are_not_taken_for_renamed_ones(driven):
    ob, session = driven
    before = {bone.name: bone.matrix_basis.copy() for bone in ob.pose.bones}
    exchange_a_bone(ob)
    bpy.context.view_layer.update()
    go(session, 1.0)
    assert ob.pose.bones["Hook"].matrix_basis == before["head"].Identity(4)
    session.cancel(bpy.context)
    assert ob.pose.bones["Hook"].matrix_basis == before["head"].Identity(4)


class Gone:
    """What can be taken back: say, by undo."""

    def __init__(self, ob):
        self.ob = ob

    def edit_mode(self):
        bpy.context.view_layer.objects.active = self.ob
        bpy.ops.object.mode_set(mode="EDIT")
        return lambda: bpy.ops.object.mode_set(mode="OBJECT")

    def other_bones(self):
        before, self.ob.data = self.ob.data, bpy.data.armatures.new("Snake")
        edited(self.ob, lambda bones: setattr(bones.new("Snake"), "tail", (0, 0, 1)))
        return lambda: setattr(self.ob, "data", before)

    def no_bones(self):
        before, self.ob.data = self.ob.data, bpy.data.armatures.new("Nothing")
        return lambda: setattr(self.ob, "data", before)

    def uneven(self):
        self.ob.scale = (1, 2, 1)
        return lambda: setattr(self.ob, "scale", (1, 1, 1))

    def zero(self):
        self.ob.scale = (0, 0, 0)
        return lambda: setattr(self.ob, "scale", (1, 1, 1))

    def nowhere(self):
        self.ob.location.x = float("nan")
        return lambda: setattr(self.ob, "location", (0, 0, 0))

    def unlinked(self):
        collection = self.ob.users_collection[0]
        collection.objects.unlink(self.ob)
        return lambda: collection.objects.link(self.ob)

    def excluded(self):
        home = bpy.data.collections.new("Home")
        bpy.context.scene.collection.children.link(home)
        for collection in self.ob.users_collection:
            collection.objects.unlink(self.ob)
        home.objects.link(self.ob)
        layer = bpy.context.view_layer.layer_collection.children["Home"]
        layer.exclude = True
        return lambda: setattr(layer, "exclude", False)

    def scene(self):
        window = bpy.context.window_manager.windows[0]
        before, window.scene = window.scene, bpy.data.scenes.new("Other")
        return lambda: setattr(window, "scene", before)


@pytest.mark.parametrize("what", [name for name in vars(Gone) if not name.startswith("_")])
def test_driving_waits_and_goes_on_when_it_can(driven, what):
    ob, session = driven
    back = getattr(Gone(ob), what)()
    bpy.context.view_layer.update()
    go(session, 0.5)
    seconds = session.seconds
    assert driving.current() is session and session.status.sentences[0]
    go(session, 0.5)
    assert session.seconds == seconds, "nothing is driven meanwhile"
    back()
    bpy.context.view_layer.update()
    go(session, 1.0)
    assert not session.driven.waits and session.seconds > seconds + 0.9
    (name,) = session.keep()
    assert ob.animation_data.action.name == name
    bpy.context.scene.frame_set(90)
    assert np.isfinite(hips(ob)).all() and hips(ob)[1] > 0.5


@pytest.mark.parametrize("what", ["object", "data"])
def test_a_deleted_armature_is_waited_for_until_undo_brings_it_back(source, what):
    bpy.context.view_layer.objects.active = source
    name = source.name
    bpy.ops.ed.undo_push(message="Before")
    session = driving.start(bpy.context, [source])
    session.keyboard.press("W", "forward")
    go(session, 0.5)
    if what == "object":
        bpy.data.objects.remove(source)
    else:
        bpy.data.armatures.remove(source.data)
    bpy.ops.ed.undo_push(message="Delete")
    go(session, 0.5)
    assert "Demo Character" in session.status.sentences[0] and "Undo" in session.status.sentences[0]
    with pytest.raises(MotionError, match="Demo Character"):
        session.keep()
    assert driving.current() is session
    bpy.ops.ed.undo()
    go(session, 1.0)
    (kept,) = session.keep()
    ob = bpy.data.objects[name]
    assert ob.animation_data.action.name == kept and bpy.data.actions[kept].frame_range[1] > 80


@pytest.mark.parametrize("end", ["keep", "finish"])
@pytest.mark.parametrize("gone", ["armature", "settings"])
def test_whoever_is_gone_for_good_keeps_the_others_from_nothing_and_is_saved_as_a_file(source, folder, gone, end):
    other, shown = copy_of(source), source
    if gone == "settings":
        shown = source.mm.drive.target = copy_of(source, (6, 0, 0))
    name, missing = shown.name, source.name
    session = driving.start(bpy.context, [source, other])
    bpy.context.view_layer.objects.active = other
    go(session, 1.0)
    bpy.data.objects.remove(source)
    go(session, 0.5)
    said = driving.finish(bpy.context) if end == "finish" else session.keep() and session.not_kept
    assert other.animation_data.action.mm.take
    (path,) = rescue.saved()
    assert f'"{missing}" is gone: what "{name}" played is in {path}' in said
    assert bvh.read(path, 1.0).duration == pytest.approx(1.5, abs=0.05)
    assert len(list(folder.glob(f"{name} *.bvh"))) == 1


def test_a_deleted_armature_can_be_cancelled_too(driven):
    ob, session = driven
    bpy.data.objects.remove(ob)
    go(session, 0.2)
    session.cancel(bpy.context)
    assert driving.current() is None


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(rescue, "own_folder", lambda name: str(tmp_path))
    yield tmp_path
    rescue.forget()


def test_when_another_file_is_opened_what_was_driven_is_in_files(driven, folder):
    ob, session = driven
    go(session, 1.0)
    ob.name = "Héro/1"
    go(session, 0.5)
    rate, length = session.driven.database.rate, len(session.driven.group.record)
    place = session.driven.player.positions[0]
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert driving.current() is None
    (path,) = rescue.saved()
    clip = bvh.read(path, 1.0)
    assert clip.rate == pytest.approx(rate) and len(clip) == length
    assert np.allclose(clip.positions[-1, 0, :2], place, atol=0.02)
    recording = stick.load(path.replace(".bvh", ".csv"))
    assert recording.duration == pytest.approx(2.0, abs=0.1) and recording.at(1.0).move[1] == 1
    rescue.forget()
    unregister()
    register()
    assert rescue.saved() == (path,), "it is told of after the next start, too"


def test_when_the_extension_is_disabled_the_take_is_kept(driven, folder):
    ob, session = driven
    go(session, 1.0)
    unregister()
    register()
    assert driving.current() is None and not ob.mm.drive.driving
    assert ob.animation_data.action.mm.take and len(list(folder.glob("*.bvh"))) == 1


@pytest.mark.parametrize("trouble", ["no place", "nothing to keep it with"])
def test_what_can_not_be_saved_stops_nothing(driven, folder, monkeypatch, capsys, trouble):
    ob, session = driven
    go(session, 1.0)
    if trouble == "no place":
        monkeypatch.setattr(rescue, "own_folder", lambda name: "/dev/null/nowhere")
    else:
        bpy.data.objects.remove(ob)
    driving.finish(bpy.context)
    assert driving.current() is None
    assert ("cannot be saved" if trouble == "no place" else "cannot be kept") in capsys.readouterr().out
    assert bool(rescue.saved()) == (trouble != "no place")


def too_little_memory(*_):
    raise MemoryError


@pytest.mark.parametrize("end", [lambda: driving.finish(bpy.context), lambda: bpy.ops.wm.read_homefile(use_empty=True)],
                         ids=["the window is closed", "another file is opened"])
@pytest.mark.parametrize("at", [(FrameRecord, "clip"), (bvh, "write")], ids=["clip", "file"])
def test_too_little_memory_to_save_what_was_driven_leaves_nobody_driving(driven, folder, monkeypatch, capsys, at, end):
    _, session = driven
    go(session, 1.0)
    monkeypatch.setattr(*at, too_little_memory)
    end()
    assert driving.current() is None and not rescue.saved()
    assert 'what was driven with "Demo Character" cannot be saved: the memory is full' in capsys.readouterr().out


def test_what_is_kept_as_an_action_is_not_offered_as_a_file_too(driven, folder):
    ob, session = driven
    go(session, 1.0)
    assert driving.finish(bpy.context) == "What was driven is kept."
    assert ob.animation_data.action.mm.take and len(list(folder.glob("*.bvh"))) == 1 and not rescue.saved()


def test_hardly_anything_is_not_saved(source, folder):
    session = driving.start(bpy.context, [source])
    go(session, 0.3)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert not list(folder.glob("*.bvh"))
