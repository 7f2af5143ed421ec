# SPDX-License-Identifier: GPL-3.0-or-later
"""The test drive after a bake, and what is never played any more, at once."""

from functools import partial

import bpy
import pytest

from mm_blender.errors import MotionError
from mm_blender.evaluate.triage import triage
from mm_blender.scene import driving
from mm_blender.scene.driving import trial
from mm_blender.scene.driving.session import on_undo
from mm_blender.scene.jobs import slices
from tests.scene.driving.test_session import go


@pytest.fixture
def character(source, monkeypatch):
    monkeypatch.setattr(trial, "triage", partial(triage, seconds=0.5))
    yield source
    slices.cancel()


def test_it_tells_of_each_clip_and_is_saved_with_the_file(character, tmp_path):
    assert trial.report(character) == {} and trial.about(character, "Demo walk") is None
    bpy.ops.mm.test_drive()
    assert trial.about(character, "Demo walk")["speed"] == pytest.approx(1.35, abs=0.1)
    assert trial.in_words(trial.about(character, "Demo walk"))[0].endswith("on the ground 100%; no jolts")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    trial._found.clear()
    trial._clips.clear()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    found = bpy.data.objects["Demo Character"]
    assert len(trial.report(found)["clips"]) == len(found.mm.clips)
    found.mm.bake.key = "another bake"
    assert trial.report(found) == {}
    found.mm.bake.test_drive = "{damaged"
    assert trial.report(found) == {}


def test_in_the_background_it_stops_nobody(character):
    trial.start(character)
    slices.tick()
    assert slices.quiet() is not None and bpy.ops.mm.bake.poll() and slices.current() is None
    session = driving.start(bpy.context, [character])
    assert slices.tick() == slices.WAIT  # a drive goes first
    go(session, 0.1)
    driving.stop(bpy.context)
    while slices.tick() is not None:
        pass
    assert trial.report(character)["clips"]


def test_a_hint_is_followed_with_one_button(character):
    bpy.ops.mm.test_drive()
    report = trial.report(character)
    report["hints"].append({"clip": "Demo walk", "played": 0.3, "why": "30% of a test drive played it."})
    assert [hint["clip"] for hint in trial.hints(character)] == ["Demo walk"]
    bpy.ops.mm.clip_exclude(name="Demo walk")
    clip = next(clip for clip in character.mm.clips if clip.action.name == "Demo walk")
    assert not clip.use and trial.hints(character) == []


# Never play this

@pytest.fixture
def session(character):
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    go(session, 1.5)
    return session


def played(session, seconds):
    """The clips that are played while driving goes on."""
    names = set()
    for _ in range(round(seconds * 60)):
        go(session, 1 / 60)
        names.add(session.status.clip.removesuffix(" (mirrored)"))
    return names


def test_a_clip_is_not_played_any_more_from_the_next_search_on(session, character):
    name = session.status.clip.removesuffix(" (mirrored)")
    bpy.ops.mm.never_play(what="CLIP")
    assert not next(clip for clip in character.mm.clips if clip.action.name == name).use
    go(session, 0.3)
    assert name not in played(session, 2)
    next(clip for clip in character.mm.clips if clip.action.name == name).use = True  # as undo does
    on_undo()
    go(session, 0.1)
    assert session.driven.group.library.choice().wanted.all()


def test_a_moment_is_tagged_and_not_played_any_more(session, character):
    status = session.status
    bpy.ops.mm.never_play()
    action = bpy.data.actions[status.clip.removesuffix(" (mirrored)")]
    (tag,) = (tag for tag in action.mm.tags if tag.name == "exclude")
    frame = status.second * 60
    assert tag.start <= frame <= tag.end and tag.end - tag.start <= 90
    go(session, 0.3)
    for _ in range(60):
        go(session, 1 / 60)
        status = session.status
        assert status.clip.removesuffix(" (mirrored)") != action.name or not tag.start < status.second * 60 < tag.end


def test_the_last_clip_and_what_is_not_ours_stay(session, character, monkeypatch):
    name = session.status.clip.removesuffix(" (mirrored)")
    for clip in character.mm.clips:
        clip.use = clip.action.name == name
    with pytest.raises(RuntimeError, match="is the only clip that is used: exclude a moment of it"):
        bpy.ops.mm.never_play(what="CLIP")
    bpy.data.actions[name].name = "renamed"
    with pytest.raises(RuntimeError, match="its name has changed since the bake"):
        bpy.ops.mm.never_play()
    character.mm.bake.key, character.mm.bake.owner = "", ""
    with pytest.raises(RuntimeError, match="What is playing is the motion of"):
        bpy.ops.mm.never_play()


def test_why_it_plays_is_told(session):
    found = session.why
    assert found.shares and found.cost[0] > 0 and found.ago < 5
    assert session.status.short


def test_a_database_that_is_gone_is_a_sentence(character):
    character.mm.bake.path = "//gone.mmdb"
    with pytest.raises(MotionError, match="cannot be read"):
        slices.run(trial.steps(character))
