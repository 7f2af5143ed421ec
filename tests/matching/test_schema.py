# SPDX-License-Identifier: GPL-3.0-or-later
import json

import pytest

from mm_blender.errors import MotionError
from mm_blender.matching.features import KINDS
from mm_blender.matching.schema import PRESETS, Channel, Schema, load


@pytest.mark.parametrize("name, size", [("locomotion", 27), ("locomotion_past", 31), ("quadruped", 39)])
def test_presets_have_their_numbers(name, size):
    assert PRESETS[name].size == size and PRESETS[name].name == name
    assert PRESETS[name].slices[-1].stop == size


def test_a_schema_knows_how_far_it_looks_and_which_bones_it_needs():
    schema = Schema([Channel("trajectory_position", times=(-0.2, 0.5)), Channel("bone_velocity", "hips"),
                     Channel("bone_position", "head"), Channel("bone_position", "hips", (0.0, 0.7)),
                     Channel("property", "mood"), Channel("tag", "run")])
    assert schema.reach == (0.2, 0.7)
    assert schema.roles == ("hips", "head") and schema.properties == ("mood",)
    assert Schema([Channel("trajectory_height")]).roles == ("hips",)
    assert Schema([Channel("tag", "run", (0.5,))]).reach == (0.0, 0.5)


def test_slices_follow_one_another():
    schema = Schema([Channel("trajectory_position", times=(0.1, 0.2)), Channel("tag", "run"),
                     Channel("bone_direction", "head")])
    assert schema.slices == [slice(0, 4), slice(4, 5), slice(5, 8)]


def test_sliders_scale_the_cost_of_trajectory_and_pose():
    schema = Schema([Channel("trajectory_position", weight=3.0), Channel("bone_position", "head", weight=0.5)],
                    responsiveness=4.0, quality=9.0)
    # A cost is a squared distance: (weight · √slider)² = slider · weight².
    assert schema.weights() == [6.0, 1.5]


@pytest.mark.parametrize("name", PRESETS)
def test_a_schema_survives_its_file(name, tmp_path):
    path = tmp_path / "füße 1.json"
    path.write_text(json.dumps(PRESETS[name].to_json()), encoding="utf-8")
    assert load(str(path)) == PRESETS[name] == load(name)


def test_a_schema_file_without_a_name_has_the_name_of_its_file(tmp_path):
    path = tmp_path / "dance.json"
    path.write_text('{"channels": [{"kind": "tag", "of": "run"}]}')
    assert load(path) == Schema([Channel("tag", "run")], "dance")


@pytest.mark.parametrize("channel, words", [
    ({"kind": "bone_colour"}, 'no feature "bone_colour"'),
    ({"kind": "bone_position"}, "needs a role"),
    ({"kind": "bone_position", "of": 5}, "needs a role"),
    ({"kind": "tag"}, "needs a tag"),
    ({"kind": "property", "of": ""}, "needs a property"),
    ({"kind": "trajectory_direction", "of": [1, -1]}, r"\"of\" \[1, -1\], which is no name"),
    ({"kind": "trajectory_position", "times": []}, "at least one time"),
    ({"kind": "trajectory_position", "times": [float("nan")]}, "looks nan s ahead"),
    ({"kind": "trajectory_position", "times": [1e9]}, "use -30 to 30 s"),
    ({"kind": "trajectory_position", "times": [float("-inf")]}, "use -30 to 30 s"),
    ({"kind": "trajectory_position", "weight": -1.0}, "weight -1: use 0 to 1,000,000"),
    ({"kind": "trajectory_position", "weight": float("nan")}, "use 0 to 1,000,000"),
    ({"kind": "trajectory_position", "weight": float("inf")}, "use 0 to 1,000,000"),
    ({"kind": "trajectory_position", "weight": "much"}, "use 0 to 1,000,000"),
    ({"kind": "trajectory_position", "weight": 1e20}, r"the weight 1e\+20: use 0 to 1,000,000"),
    ({"kind": "trajectory_position", "weight": 10 ** 400}, "use 0 to 1,000,000"),
    ({"kind": "trajectory_position", "times": [10 ** 400]}, "use a list of seconds"),
    ({"kind": "trajectory_position", "times": [float("nan")]}, "looks nan s ahead"),
    ({"kind": "trajectory_position", "times": [0.01] * 3000}, "looks at 3,000 times: use at most 60"),
])
def test_a_wrong_channel_is_one_sentence(channel, words):
    with pytest.raises(MotionError, match=words):
        Channel(**channel)


@pytest.mark.parametrize("settings, words", [
    ({"past_end": "guess"}, 'extrapolated or excluded, not "guess"'), ({"responsiveness": -1}, "responsiveness is -1"),
    ({"quality": float("nan")}, "quality is nan"), ({"name": 5}, "a name in words"),
    ({"responsiveness": 1e308}, r"responsiveness is 1e\+308: use 0 to 1,000,000"),
    ({"quality": 10 ** 400}, "quality is 1"),
    ({"channels": [Channel("trajectory_position", times=[index / 60]) for index in range(600)]},
     "1,200 numbers in all: use at most 1,000"),
])
def test_a_wrong_setting_is_one_sentence(settings, words):
    with pytest.raises(MotionError, match=words):
        Schema(**{"channels": [Channel("trajectory_position")], **settings})


def test_a_schema_without_features_is_refused():
    with pytest.raises(MotionError, match="at least one feature"):
        Schema([])


@pytest.mark.parametrize("text, words", [
    ("", "is not JSON: line 1, column 1 makes no sense"),
    ("{\n5", "line 2, column 1 makes no sense"), ("[]", "should be in braces"), ("5", "in braces"),
    ("null", "in braces"), ('"locomotion"', "in braces"), ("{}", 'needs "channels"'),
    ('{"channels": 5}', "should be a list"), ('{"channels": [5]}', "A feature should be in braces"),
    ('{"channels": []}', "at least one feature"), ('{"channels": [{"times": [0]}]}', 'A feature needs "kind"'),
    ('{"channels": [{"kind": ["tag"], "of": "x"}]}', "There is no feature"),
    ('{"channels": [{"kind": "trajectory_position", "times": 0.5}]}', "has times 0.5: use a list of seconds"),
    ('{"channels": [{"kind": "trajectory_position", "times": ["soon"]}]}', "use a list of seconds"),
    ('{"channels": [{"kind": "trajectory_position", "colour": 1}]}', 'A feature has no "colour". It has: kind, of'),
    ('{"channels": [{"kind": "trajectory_position"}], "colour": 1}', 'A list of features has no "colour"'),
    ('{"channels": [{"kind": "bone_position", "of": "tail"}]}', 'no role "tail"'), ("[" * 100_000, "too many brackets"),
])
def test_a_damaged_schema_file_is_named_in_one_sentence(tmp_path, text, words):
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(MotionError, match=r'^[^\n]*broken.json"[^\n]*\.$') as caught:
        load(path)
    assert words in str(caught.value) and "Error" not in str(caught.value)


def test_a_schema_file_that_is_not_text_is_named(tmp_path):
    path = tmp_path / "broken.json"
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(MotionError, match="broken"):
        load(path)


def test_what_is_neither_preset_nor_file_is_named():
    with pytest.raises(MotionError, match=r'"locomotoin" is neither a preset .*locomotion.* nor a file'):
        load("locomotoin")


def test_every_kind_says_what_it_is():
    assert all(kind.numbers in (1, 2, 3) and kind.tooltip for kind in KINDS.values())
