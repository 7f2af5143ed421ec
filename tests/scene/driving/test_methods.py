# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion Matching, Decompressed and Learned behind one switch while driving, and two of them side by side."""

import os

import bpy
import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.matching import database
from mm_blender.scene import driving
from mm_blender.scene.driving import comparing, libraries
from mm_blender.scene.driving.session import on_undo
from mm_blender.scene.jobs import baking, training
from tests.networks.conftest import calm
from tests.scene.driving.test_session import go, hips, poses

pytestmark = pytest.mark.once


@pytest.fixture
def character(small_demo):
    """The demo character with a database and networks that know no more than how to stand."""
    bpy.ops.mm.bake()
    baked = database.load(baking.database_path(small_demo))
    networks = calm(baked)
    networks.save(training.own_networks_path(small_demo), np.zeros((len(baked), networks.latents)))
    small_demo.mm.drive.relative = "WORLD"
    yield small_demo
    driving.stop(bpy.context)
    comparing.remove_copies()


@pytest.fixture
def session(character):
    return driving.start(bpy.context, [character])


def body(ob):
    """A mesh that hangs from the armature."""
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata([(0, 0, 1), (0.1, 0, 1), (0, 0.1, 1)], [], [(0, 1, 2)])
    found = bpy.data.objects.new("Body", mesh)
    bpy.context.scene.collection.objects.link(found)
    found.parent = ob
    found.modifiers.new("Armature", "ARMATURE").object = ob
    return found


def copies():
    return sorted((ob for ob in bpy.data.objects if ob.mm.drive.copied), key=lambda ob: ob.type)


def test_the_method_is_switched_while_driving_and_the_character_goes_on(character, session):
    session.keyboard.press("W", "forward")
    go(session)
    assert session.status.method == "Motion Matching" and session.status.clip
    for method, name in (("LMM", "Learned"), ("DMM", "Decompressed"), ("MM", "Motion Matching")):
        character.mm.drive.method = method
        # Until the next look at the settings nothing changes; then nothing leaps.
        last = hips(character)
        for _ in range(12):
            session.tick(bpy.context, 1 / 60)
            bpy.context.view_layer.update()
            assert np.linalg.norm(hips(character) - last) < 0.1
            last = hips(character)
        assert session.status.method == name
        assert bool(session.status.clip) == (method != "LMM") and not session.status.sentences
        go(session, 0.5)
    session.cancel(bpy.context)


def test_learned_motion_is_driven_without_the_database(character):
    character.mm.drive.method = "LMM"
    os.remove(baking.database_path(character))
    libraries.forget()
    assert libraries.is_ready(character) and not libraries.method_trouble(character, "LMM")
    session = driving.start(bpy.context, [character])
    go(session)
    assert session.status.method == "Learned" and not session.status.clip
    character.mm.drive.method = "MM"
    go(session, 1.0)
    assert session.status.method == "Learned" and any("no database" in text for text in session.status.sentences)
    (name,) = session.keep()
    assert bpy.data.actions[name].frame_range[1] > 40


@pytest.mark.parametrize("method", ["DMM", "LMM"])
def test_what_cannot_be_played_is_said_and_motion_matching_goes_on(character, method):
    os.remove(training.own_networks_path(character))
    character.mm.drive.method = method
    assert "train them" in libraries.method_trouble(character, method)
    session = driving.start(bpy.context, [character])
    go(session)
    assert session.status.method == "Motion Matching"
    assert any("no networks yet" in text for text in session.status.sentences)
    with pytest.raises(MotionError, match="no networks yet"):
        libraries.played_library(character)


def test_networks_of_other_motion_do_not_fit(character):
    character.mm.clips[0].use = False
    bpy.ops.mm.bake()
    assert "other motion" in libraries.method_trouble(character, "LMM") or "this database" in libraries.method_trouble(
        character, "DMM")


def test_networks_that_were_trained_anew_are_taken_while_driving(character, session):
    character.mm.drive.method = "LMM"
    go(session, 0.3)
    before = session.driven.group.libraries[0]
    os.utime(training.own_networks_path(character), ns=(1, 1))
    go(session, 0.3)
    assert session.driven.group.libraries[0] is not before and session.status.method == "Learned"


def test_a_recording_is_driven_with_the_method(character, tmp_path):
    stick = tmp_path / "stick.csv"
    stick.write_text("time,move_x,move_y,face_x,face_y,run,strafe\n0,0,1,0,0,0,0\n1,0,1,0,0,0,0\n")
    found = {}
    for method in ("MM", "LMM"):
        character.mm.drive.method = method
        bpy.context.scene.frame_set(1)
        bpy.ops.mm.drive_recording(filepath=str(stick))
        bpy.context.scene.frame_set(20)
        found[method] = np.array(character.pose.bones["head"].matrix)
    assert np.abs(found["MM"] - found["LMM"]).max() > 0.05


def test_compare_has_a_copy_beside_that_plays_the_other_method(character, session):
    mesh = body(character)
    character.mm.drive.compare = True
    session.keyboard.press("W", "forward")
    go(session, 2)
    armature, copied_mesh = copies()
    assert armature.type == "ARMATURE" and copied_mesh.parent == armature and mesh.parent == character
    assert copied_mesh.modifiers[0].object == armature and mesh.modifiers[0].object == character
    beside = hips(armature) - hips(character)
    assert 0.5 < np.hypot(*beside[:2]) < 1.7 and hips(character)[1] > 1.0
    status = session.status
    assert status.method == "Motion Matching" and status.beside == "Learned"
    assert status.apart[0] > 5 and status.apart[1] > 5, "one walks, the other stands"
    session.cancel(bpy.context)
    assert not copies() and "Body" in bpy.data.objects


def test_a_copy_with_the_same_method_does_the_same(character, session, monkeypatch):
    monkeypatch.setattr(comparing, "other_method", lambda method: "MM")
    monkeypatch.setattr("mm_blender.scene.driving.session.other_method", lambda method: "MM")
    character.mm.drive.compare = True
    session.keyboard.press("W", "forward")
    go(session, 4)
    assert session.status.beside == "Motion Matching" and session.status.apart[0] < 0.5


def test_the_copy_is_the_other_way_round_where_learned_motion_is_driven(character, session):
    character.mm.drive.compare = True
    go(session, 0.3)
    (first,) = (ob.session_uid for ob in copies())
    character.mm.drive.method = "LMM"
    go(session, 0.3)
    (second,) = (ob.session_uid for ob in copies())
    assert session.status.method == "Learned" and session.status.beside == "Motion Matching" and first != second


def test_switched_off_the_copy_goes_and_leaves_nothing(character, session):
    counts = len(bpy.data.objects), len(bpy.data.armatures), len(bpy.data.actions)
    character.mm.drive.compare = True
    go(session, 0.3)
    assert len(bpy.data.objects) == counts[0] + 1
    character.mm.drive.compare = False
    go(session, 0.3)
    assert (len(bpy.data.objects), len(bpy.data.armatures), len(bpy.data.actions)) == counts
    assert not session.status.beside


def test_a_kept_take_is_of_the_character_alone(character, session):
    character.mm.drive.compare = True
    session.keyboard.press("W", "forward")
    go(session, 1)
    assert len(session.keep()) == 1 and not copies()


def test_a_saved_file_has_no_copy_in_it_and_comparing_goes_on(character, session, tmp_path):
    character.mm.drive.compare = True
    go(session, 0.5)
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    with bpy.data.libraries.load(path) as (inside, _):
        assert not [name for name in inside.objects if "Compare" in name]
    go(session, 0.5)
    assert len(copies()) == 1


def test_a_copy_that_is_deleted_is_made_again(character, session):
    character.mm.drive.compare = True
    go(session, 0.3)
    bpy.data.objects.remove(copies()[0])
    go(session, 0.3)
    assert len(copies()) == 1


def test_copies_that_turn_up_when_nobody_drives_are_removed(character):
    found = character.copy()
    found.mm.drive.copied = True
    on_undo()
    assert not copies() and character.name in bpy.data.objects


def test_without_networks_there_is_nothing_to_compare_with(character):
    os.remove(training.own_networks_path(character))
    character.mm.drive.compare = True
    session = driving.start(bpy.context, [character])
    go(session, 1)
    assert not copies() and any("nothing to compare with" in text for text in session.status.sentences)
    before = poses(character)
    session.cancel(bpy.context)
    assert poses(character) != before
