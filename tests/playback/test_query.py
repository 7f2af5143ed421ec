# SPDX-License-Identifier: GPL-3.0-or-later
"""What is searched with: every feature asks for what it wants, and can be commanded to want something else."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from mm_blender.control.intent import Intent
from mm_blender.control.stick import Recording, Stick
from mm_blender.control.stick_guide import StickGuide
from mm_blender.errors import MotionError
from mm_blender.matching import bake
from mm_blender.matching.features import KINDS, Normalisation, Place
from mm_blender.matching.schema import PRESETS, Channel, Schema
from mm_blender.motion import demo, quat
from mm_blender.motion.clip import Tag
from mm_blender.motion.retarget import Retarget
from mm_blender.motion.roles import find_character
from mm_blender.playback.drive import drive
from mm_blender.playback.group import Group
from mm_blender.playback.library import BakedLibrary
from mm_blender.playback.query import Queries
from mm_blender.playback.retarget import RetargetedLibrary, character_of
from mm_blender.prepare.recipe import Recipe
from mm_blender.steps import run
from tests.rigs import renamed_and_rolled, with_lengths
from tests.steering import group_of

RATE = 30.0
NAMES = "idle", "walk", "walk start left", "walk stop right", "crouch down and up"
LEFT, AHEAD, RIGHT = 1.0, 0.0, -1.0
CHANNELS = (Channel("trajectory_height", times=(0.0, 0.5)), Channel("bone_direction", "left_forearm"),
            Channel("bone_facing", "head", (0.0, 0.2)), Channel("tag", "left"), Channel("property", "mood"))
VALUES = {"trajectory position": np.linspace(0.1, 0.6, 6), "trajectory height": [0.7],
          "left_foot position": [0.1, 0.2, 0.3], "left_foot velocity": [0.0, 1.0, 0.0],
          "left_forearm direction": [0.6, 0.8, 0.0], "head facing": [-1.0, 0.0, 0.0], "left tag": [1.0],
          "mood property": [-1.0], "trajectory direction": [1.0, 0.0]}


@pytest.fixture(scope="module")
def database():
    """Someone who stands and walks, looking to the left, ahead and to the right."""
    clips = [clip for clip in demo.clips(RATE) if clip.name in NAMES]
    looking = [_looking(clip, way) for clip in clips for way in (LEFT, AHEAD, RIGHT)]
    sources = [bake.Source(clip.name, partial(_read, clip), clip.name) for clip in looking]
    schema = Schema((*PRESETS["locomotion"].channels, *CHANNELS))
    return run(bake.bake(sources, find_character(demo.skeleton()), schema, Recipe(rate=RATE)))


@pytest.fixture
def group(database):
    group = group_of(BakedLibrary(database))
    group.place(np.array([[2.0, 1.0]]), np.array([np.pi / 2]))
    group.step()
    return group


def _looking(clip, way):
    joint = clip.skeleton.index("head")
    rotations = clip.rotations.copy()
    rotations[:, joint] = quat.mul(rotations[:, joint], quat.from_angle_axis(np.full(len(clip), way), [0.0, 1.0, 0.0]))
    tags = (*clip.tags, Tag("left", 0.0, clip.duration)) if way == LEFT else clip.tags
    return clip.with_changes(name=f"{clip.name} {way:g}", rotations=rotations, tags=tags,
                             curves={"mood": np.full(len(clip), way)})


def _read(clip):
    yield 1.0
    return clip


def _counting(database, label):
    """A library in which of all that tells where the head looks only one feature counts: the others ask for what is
    playing, and hold it back."""
    weights = dict.fromkeys((channel.label for channel in CHANNELS), 0.0) | {label: 3.0}
    library, schema = BakedLibrary(database), database.schema
    library.weigh(replace(schema, channels=[replace(channel, weight=weights.get(channel.label, 1.0))
                                            for channel in schema.channels]))
    return library


def numbers_of(schema, label):
    """The first channel with a label, and which numbers of a query are its own."""
    return next(pair for pair in zip(schema.channels, schema.slices) if pair[0].label == label)


def asked(group, label):
    """The numbers (times, numbers) that the features with a label ask for, in metres and the like; and of what is
    playing."""
    schema, normalisation = group.library.database.schema, group.library.database.normalisation
    channel, part = numbers_of(schema, label)
    return tuple(normalisation.undo(features)[0, part].reshape(len(channel.times), -1)
                 for features in (group.player.query([0]), group.player.matcher.features()))


def test_a_height_is_asked_for_as_it_usually_is(group, database):
    wanted, playing = asked(group, "trajectory height")
    usual = database.normalisation.mean[database.schema.slices[len(PRESETS["locomotion"].channels)]]
    assert wanted[:, 0] == pytest.approx(usual, abs=1e-5) and np.abs(wanted - playing).max() > 0.002


def test_a_height_is_asked_for_as_the_guide_wants_it(database):
    class Low(StickGuide):
        def heights(self, times):
            return [0.6 + time for time in times]

    group = Group(BakedLibrary(database), [Low(RATE)])
    assert asked(group, "trajectory height")[0][:, 0] == pytest.approx([0.6, 1.1], abs=1e-5)


def test_all_kinds_are_commanded_here(database):
    assert {channel.kind for channel in database.schema.channels} == set(KINDS)
    assert {channel.label for channel in database.schema.channels} >= set(VALUES)


@pytest.mark.parametrize("label", VALUES)
def test_what_is_commanded_is_asked_for_until_it_is_lifted(group, label):
    before = group.player.query([0])
    group.command(0, label, VALUES[label])
    wanted = asked(group, label)[0]
    assert wanted == pytest.approx(np.resize(VALUES[label], wanted.shape), abs=1e-5)
    group.command(0, label)
    assert np.array_equal(group.player.query([0]), before)


@pytest.mark.parametrize("label", ["left_forearm direction", "head facing", "left_foot position"])
def test_a_place_in_the_world_is_seen_from_where_the_character_is(group, label):
    group.player.ground = lambda points: 0 * points[..., 2] + 0.4
    group.place(group.player.positions, group.player.yaws)
    (place, yaw), body = group.player.roots[0], group.player.bodies[0]
    seen = np.array([0.5, 2.0, 1.0])  # to its right, in front, and up
    away = complex(*seen[:2]) * np.exp(1j * yaw) + place
    group.command(0, label, Place(away.real, away.imag, seen[2] + 0.4))
    if label != "left_foot position":
        seen = seen - body.joints()[body.character.joint(label.split()[0])]
        seen /= np.linalg.norm(seen)
    wanted = asked(group, label)[0]
    assert wanted == pytest.approx(np.resize(seen, wanted.shape), abs=1e-4)


def test_another_character_is_commanded_in_its_own_metres(database):
    target = renamed_and_rolled(with_lengths(database.character, 1.3))
    group = group_of(RetargetedLibrary(BakedLibrary(database), Retarget(character_of(database), target)))
    usual = asked(group, "trajectory height")[0]
    assert usual[:, 0] == pytest.approx(1.3 * database.character.skeleton.rest[0][1, 2], rel=0.1)
    group.command(0, "trajectory height", 0.7)
    group.command(0, "left_foot position", Place(0.2, 0.4, 0.1))
    assert asked(group, "trajectory height")[0] == pytest.approx(0.7)
    assert asked(group, "left_foot position")[0][0] == pytest.approx([0.2, 0.4, 0.1], abs=1e-5)


def test_each_character_has_its_own_commands(database):
    group = group_of(BakedLibrary(database), 2)
    group.command(1, "mood property", RIGHT)
    _, mood = numbers_of(database.schema, "mood property")
    one, other = database.normalisation.undo(group.player.query([0, 1]))[:, mood]
    assert other == RIGHT and one == pytest.approx(asked(group, "mood property")[1][0], abs=1e-5)


@pytest.mark.parametrize("stick", [Stick(), Stick(move_y=1.0)], ids=["standing", "walking"])
@pytest.mark.parametrize("label, command, looks", [
    ("mood property", LEFT, LEFT), ("mood property", RIGHT, RIGHT), ("left tag", 1, LEFT),
    ("head facing", (1.0, 0.0, 0.0), RIGHT), ("head facing", Place(-500.0, 20.0, 1.6), LEFT)])
def test_it_plays_what_is_commanded(database, stick, label, command, looks):
    group = group_of(_counting(database, label))
    for frame in range(round(5 * RATE)):
        if frame == RATE:
            group.command(0, label, command)
        group.guides[0].steer(stick)
        group.step()
    _, mood = numbers_of(database.schema, "mood property")
    played = database.normalisation.undo(database.features)[group.record.trace().frames[round(2.5 * RATE):], mood]
    assert np.mean(np.isclose(played, looks, atol=1e-3)) > 0.9


def test_a_recording_is_driven_with_commands(database):
    recording = Recording.of([0, 3], [Stick(), Stick()])
    library = _counting(database, "mood property")
    takes = [drive(library, recording, commands={"mood property": way})[0] for way in (LEFT, RIGHT)]
    left, right = (take.rotations[-1, take.skeleton.index("head")] for take in takes)
    assert np.linalg.norm(quat.shortest_turn(left, right)) > 1.0


@pytest.mark.parametrize("label, command, words", [
    ("tail direction", [0, 1, 0], 'There is no feature "tail direction" to command: this motion has "trajectory pos'),
    ("mood property", [1, 2], 'The feature "mood property" cannot be commanded like this: give 1 number.'),
    ("mood property", "happy", "give 1 number"), ("left tag", Place(1, 2, 3), "give 1 number"),
    ("head facing", [1.0], "give 3 or 6 numbers"), ("left_foot velocity", Place(1, 2, 3), "give 3 numbers"),
    ("mood property", float("nan"), 'The feature "mood property" is commanded to be nan: use -1,000,000 to 1,000,000'),
    ("mood property", -1e30, "commanded to be -1e+30"), ("mood property", 10 ** 400, "give 1 number"),
    ("mood property", {"a": 1}, "give 1 number"), ("left_foot position", Place("here", 0, 0), "give 3 numbers"),
    ("head facing", Place(1, float("inf"), 0), "commanded to be inf")])
def test_a_command_that_makes_no_sense_is_one_sentence(group, label, command, words):
    before = group.player.query([0])
    with pytest.raises(MotionError) as caught:
        group.command(0, label, command)
    assert words in str(caught.value) and str(caught.value).endswith(".")
    assert np.array_equal(group.player.query([0]), before)


def test_a_direction_towards_where_the_bone_is_asks_for_nothing(group):
    group.command(0, "head facing", (0, 0, 0))
    assert np.array_equal(*asked(group, "head facing"))


def test_a_tag_that_names_a_gait_asks_for_it_whatever_the_gait_is_called(demo_database):
    schema = Schema([Channel("tag", "gait.zombie"), Channel("tag", "run"), Channel("tag", "happy")])
    facts = replace(demo_database, schema=schema, tags={"gait.zombie": None, "happy": None},
                    normalisation=Normalisation(np.zeros(3), np.ones(3)))
    body, asked = SimpleNamespace(root=(0j, 0.0)), {}
    for gait in ("zombie", "run"):
        guide, query = StickGuide(60), np.full(3, 0.5)
        guide.want(Intent(1j, 0.0, gait))
        Queries(facts).write(query, guide, body)
        asked[gait] = query.tolist()
    assert asked == {"zombie": [1, 0, 0.5], "run": [0, 1, 0.5]}, "what is no gait is as it is playing"
