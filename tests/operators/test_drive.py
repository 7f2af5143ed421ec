# SPDX-License-Identifier: GPL-3.0-or-later
"""Drive from Recording: a stick steers the demo character, and the take is an ordinary Action."""

import time
from functools import partial
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from mm_blender.control import stick
from mm_blender.matching import database
from mm_blender.playback.drive import drive
from mm_blender.scene import driving
from mm_blender.scene.driving import group, rescue, takes
from mm_blender.scene.jobs import baking
from mm_blender.scene.reading import sampling

STICK = "time,move_x,move_y,face_x,face_y,run,strafe\n0,0,1,0,0,0,0\n2,1,0,0,0,0,0\n4,0,0,0,0,0,0\n"


@pytest.fixture
def character(small_demo, tmp_path):
    (tmp_path / "take.csv").write_text(STICK)
    return small_demo


def driven(ob, tmp_path):
    """What the engine plays, in the world, where the armature stands now."""
    settings = group.drive_arguments(ob, bpy.context.evaluated_depsgraph_get())
    return drive(database.load(baking.database_path(ob)), stick.load(tmp_path / "take.csv"), **settings)[0]


@pytest.mark.parametrize("root", ["auto", "made"])
def test_the_kept_action_shows_what_was_played(character, tmp_path, root):
    character.mm.bake.root = root
    bpy.ops.mm.bake()
    before = {action.name: sampling.fingerprint(character, action) for action in bpy.data.actions}
    clip = driven(character, tmp_path)
    bpy.ops.mm.drive_recording(filepath=str(tmp_path / "take.csv"))
    action = character.animation_data.action
    assert action.name == "take" and len(bpy.data.actions) == len(before) + 1
    positions = clip.globals()[0]
    assert np.linalg.norm(positions[-1, 0] - positions[0, 0]) > 1, "it walked"
    for frame in (0, 60, 150, 239):
        bpy.context.scene.frame_set(1 + frame)
        for name in ("hips", "head", "hand.L", "toe.L", "toe.R"):
            shown = character.matrix_world @ character.pose.bones[name].head
            assert np.allclose(shown, positions[frame, clip.skeleton.index(name)], atol=2e-4), (frame, name)
    assert before == {name: sampling.fingerprint(character, bpy.data.actions[name]) for name in before}


def test_the_root_bone_keeps_its_own_axes(character, tmp_path):
    bpy.ops.mm.bake()
    clip = driven(character, tmp_path)
    took = takes.on_rig(character, clip)
    assert took.skeleton.names[0] == "root"
    assert np.allclose(took.positions[:, 0], clip.positions[:, 0], atol=1e-5)
    assert np.allclose(np.abs((took.rotations[:, 0] * clip.rotations[:, 0]).sum(-1)), 1, atol=1e-5)


def test_a_take_has_the_scenes_rate(character, tmp_path):
    bpy.ops.mm.bake()
    bpy.context.scene.render.fps = 24
    bpy.ops.mm.drive_recording(filepath=str(tmp_path / "take.csv"))
    first, last = character.animation_data.action.frame_range
    assert (first, last) == (1, pytest.approx(1 + 24 * 4, abs=1.1))


def test_without_a_database_the_button_is_grey(character, tmp_path):
    with pytest.raises(RuntimeError, match="Bake a database first"):
        bpy.ops.mm.drive_recording(filepath=str(tmp_path / "take.csv"))


def test_a_missing_recording_gets_a_sentence(character, tmp_path):
    bpy.ops.mm.bake()
    with pytest.raises(RuntimeError, match=r"nowhere\.csv"):
        bpy.ops.mm.drive_recording(filepath=str(tmp_path / "nowhere.csv"))
    assert not any(action.name == "nowhere" for action in bpy.data.actions)


def test_a_database_that_is_of_another_bake_is_driven_with_a_warning(character, tmp_path, capfd):
    bpy.ops.mm.bake()
    character.mm.bake.key = "of another bake"
    bpy.ops.mm.drive_recording(filepath=str(tmp_path / "take.csv"))
    assert 'The file demo.mmdb holds another bake: bake "Demo Character" again' in capfd.readouterr().out


def test_the_second_take_is_said_to_be_on_a_track(character, tmp_path, capfd):
    bpy.ops.mm.bake()
    bpy.ops.mm.drive_recording(filepath=str(tmp_path / "take.csv"))
    assert "track" not in capfd.readouterr().out
    bpy.context.scene.frame_set(round(character.animation_data.action.frame_range[1]))
    bpy.ops.mm.drive_recording(filepath=str(tmp_path / "take.csv"))
    assert 'on the NLA track "take"' in capfd.readouterr().out
    assert [strip.name for strip in character.animation_data.nla_tracks["take"].strips] == ["take", "take.001"]


def test_a_recording_beside_the_file_may_be_given_as_such(character, tmp_path, recwarn):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.mm.bake()
    bpy.ops.mm.drive_recording(filepath="//take.csv")
    assert character.animation_data.action.name == "take" and not recwarn.list


def test_save_input_suggests_a_name_that_no_recording_has(character, extension, tmp_path, monkeypatch):
    bpy.ops.mm.bake()
    session = driving.start(bpy.context, [character])
    session.tick(bpy.context, 0.5)
    session.keep()
    names = []
    for moment in (1e9, 1e9 + 1):
        monkeypatch.setattr(rescue, "time", SimpleNamespace(strftime=partial(when, moment)))
        window_manager = SimpleNamespace(fileselect_add=lambda operator: names.append(operator.filepath))
        extension.operators.drive.MM_OT_drive_save_input.invoke(
            SimpleNamespace(filepath=""), SimpleNamespace(object=character, window_manager=window_manager), None)
    assert names[0] != names[1]
    bpy.ops.mm.drive_save_input(filepath=str(tmp_path / names[0]))
    assert stick.load(tmp_path / names[0]).duration
    known = bpy.ops.mm.drive_save_input.get_rna_type().properties
    assert known["check_existing"].default, "a name that is there is red"


def test_a_script_keeps_or_cancels_what_is_driven(character, capfd):
    for button in (bpy.ops.mm.drive_keep, bpy.ops.mm.drive_cancel):
        with pytest.raises(RuntimeError, match="No character is being driven: press Drive first"):
            button()
    bpy.ops.mm.bake()
    before, count = character.animation_data.action, len(bpy.data.actions)
    driving.start(bpy.context, [character]).tick(bpy.context, 0.2)
    assert bpy.ops.mm.drive_cancel() == {"FINISHED"}
    assert driving.current() is None and character.animation_data.action == before
    assert len(bpy.data.actions) == count
    driving.start(bpy.context, [character]).tick(bpy.context, 0.2)
    assert bpy.ops.mm.drive_keep() == {"FINISHED"}
    assert driving.current() is None and character.animation_data.action.mm.take
    assert '0.2 s kept as "Demo Character Drive"' in capfd.readouterr().out


def test_a_take_that_cannot_be_kept_is_told_and_driving_goes_on(character):
    bpy.ops.mm.bake()
    character.mm.drive.travel_bone = "no bone"
    session = driving.start(bpy.context, [character])
    session.tick(bpy.context, 0.5)
    with pytest.raises(RuntimeError, match='has no bone "no bone": choose another one in Take'):
        bpy.ops.mm.drive_keep()
    assert driving.current() is session
    character.mm.drive.travel_bone = ""
    bpy.ops.mm.drive_keep()


def when(moment, form):
    return time.strftime(form, time.gmtime(moment))
