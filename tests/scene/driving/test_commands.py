# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel commands of features while driving: it is asked for, follows what moves, and can be lifted."""

import bpy
import numpy as np
import pytest

from mm_blender.control.stick import Recording, Stick
from mm_blender.errors import MotionError
from mm_blender.matching.schema import Channel
from mm_blender.playback.drive import drive
from mm_blender.scene import driving
from mm_blender.scene.driving import group, libraries
from mm_blender.scene.reading.features import add_channel

CHANNELS = {"head facing": Channel("bone_facing", "head"), "crouch tag": Channel("tag", "crouch"),
            "turn tag": Channel("tag", "turn"), "trajectory height": Channel("trajectory_height", times=(0.0, 0.5))}


@pytest.fixture
def character(small_demo):
    """Baked with features that can be commanded."""
    for channel in CHANNELS.values():
        add_channel(small_demo, channel)
    bpy.ops.mm.bake()
    small_demo.mm.drive.relative = "WORLD"
    yield small_demo
    driving.stop(bpy.context)


@pytest.fixture
def ball():
    ob = bpy.data.objects.new("Ball", None)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def entry(ob, label):
    return ob.mm.features.channels[list(CHANNELS).index(label) - len(CHANNELS)]


def go(session, seconds=0.2):
    for _ in range(round(seconds * 60)):
        session.tick(bpy.context, 1 / 60)


def asked(session, label):
    """The numbers that a feature asks for now."""
    one = session.driven
    schema, normalisation = one.database.schema, one.database.normalisation
    part = schema.slices[schema.channels.index(CHANNELS[label])]
    return normalisation.undo(one.player.query([one.index]))[0, part]


def seen_from_head(session, ball):
    """The direction of the ball, seen from the head and the root."""
    body = session.driven.body
    head = body.joints()[body.character.joint("head")]
    bpy.context.view_layer.update()
    x, y, z = ball.matrix_world.translation
    away = (complex(x, y) - body.root[0]) * np.exp(-1j * body.root[1])
    way = np.array([away.real, away.imag, z]) - head
    return way / np.linalg.norm(way)


def test_the_head_looks_at_an_object_wherever_it_goes_until_there_is_none(character, ball):
    ball.location = (3, 2, 1)
    entry(character, "head facing").target = ball
    session = driving.start(bpy.context, [character])
    session.keyboard.press("W", "forward")
    for place in ((3, 2, 1), (-4, 0, 2)):
        ball.location = place
        bpy.context.view_layer.update()
        go(session)
        assert asked(session, "head facing") == pytest.approx(seen_from_head(session, ball), abs=1e-3)
    entry(character, "head facing").target = None
    go(session)
    assert np.abs(asked(session, "head facing") - seen_from_head(session, ball)).max() > 0.1


@pytest.mark.parametrize("purged", [True, False])
def test_an_object_that_was_deleted_is_looked_at_no_more(character, ball, purged):
    entry(character, "head facing").target = ball
    session = driving.start(bpy.context, [character])
    go(session)
    (bpy.data.objects.remove if purged else bpy.context.scene.collection.objects.unlink)(ball)
    go(session, 1.2)
    assert not session.driven.player.commands[0]


def test_switches_and_values_are_asked_for_at_once_and_lifted(character):
    session = driving.start(bpy.context, [character])
    go(session)
    usual = asked(session, "trajectory height")
    entry(character, "turn tag").commanded = entry(character, "trajectory height").commanded = True
    entry(character, "trajectory height").value = 0.6
    go(session)
    assert asked(session, "turn tag") == pytest.approx(1) and asked(session, "trajectory height") == pytest.approx(0.6)
    entry(character, "turn tag").on = entry(character, "trajectory height").commanded = False
    go(session)
    assert asked(session, "turn tag") == pytest.approx(0, abs=1e-6)
    assert asked(session, "trajectory height") == pytest.approx(usual)


def test_scripts_command_by_the_label_of_a_feature(character):
    session = driving.start(bpy.context, [character])
    session.command("head facing", (-1, 0, 0))
    go(session, 1.0)
    assert asked(session, "head facing") == pytest.approx([-1, 0, 0], abs=1e-5)
    session.command("head facing")
    go(session)
    assert np.abs(asked(session, "head facing") - (-1, 0, 0)).max() > 0.1
    with pytest.raises(MotionError, match='There is no feature "tail facing" to command'):
        session.command("tail facing", (0, 1, 0))


def test_a_feature_that_was_not_baked_and_a_value_that_is_no_number_are_no_trouble(character):
    add_channel(character, Channel("property", "mood")).commanded = True
    entry_of_height = character.mm.features.channels[-2]
    entry_of_height.commanded, entry_of_height.value = True, float("nan")
    session = driving.start(bpy.context, [character])
    go(session, 1.1)
    assert list(session.driven.player.commands[0]) == []
    assert any("trajectory height" in sentence and "to be nan" in sentence for sentence in session.status.sentences)


def test_a_recording_is_driven_with_what_is_commanded(character, ball):
    ball.location = (2, 2, 2)
    entry(character, "head facing").target = ball
    entry(character, "crouch tag").commanded = True
    bpy.context.view_layer.update()
    staged = group.drive_arguments(character, bpy.context.evaluated_depsgraph_get())
    assert staged["commands"] == {"head facing": pytest.approx((2, 2, 2)), "crouch tag": 1}
    recording = Recording.of([0, 1], [Stick(), Stick()])
    clip, _ = drive(libraries.played_library(character), recording, **staged)
    assert len(clip) > 30


def test_a_character_beside_it_has_commands_of_its_own(character, ball):
    other = character.copy()
    bpy.context.scene.collection.objects.link(other)
    other.location.x = 3
    entry(other, "turn tag").commanded = True
    session = driving.start(bpy.context, [character, other])
    go(session)
    assert [list(commands) for commands in session.driven.player.commands] == [[], ["turn tag"]]
