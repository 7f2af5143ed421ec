# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.motion import quat
from mm_blender.motion.clip import Clip, Tag
from mm_blender.prepare.clean import clean, excluded_seconds
from mm_blender.prepare.recipe import Recipe
from mm_blender.prepare.resample import closed
from mm_blender.prepare.root import add_root


def test_a_clean_clip_has_the_rate_a_root_and_contacts(biped, roles, dance):
    raw = dance(biped(), frames=91, rate=30.0)
    piece, = clean(raw, roles(raw.skeleton), Recipe(rate=60.0))
    assert piece.clip.rate == 60 and len(piece.clip) == 181 and piece.source_start == 0
    assert piece.clip.skeleton.names[0] == "root" and np.abs(piece.clip.positions[:, 0, 2]).max() == 0
    assert piece.clip.contacts.shape == (181, 2) and piece.clip.contacts.dtype == bool


@pytest.mark.parametrize("root", ["made", "adaptive", "bone"])
def test_every_kind_of_root_can_be_had(biped, roles, dance, root):
    raw = dance(biped())
    piece, = clean(raw, roles(raw.skeleton), Recipe(root=root))
    assert np.array_equal(piece.clip.positions, add_root(raw, roles(raw.skeleton), Recipe(root=root)).positions)


def test_speed_plays_faster(biped, roles, dance):
    raw = dance(biped(), frames=121, tags=(Tag("run", 0.5, 1.0),))
    piece, = clean(raw, roles(raw.skeleton), Recipe(), speed=2.0)
    assert len(piece.clip) == 61
    assert piece.clip.tag_mask("run").nonzero()[0].tolist() == list(range(15, 31))
    assert np.allclose(piece.clip.rotations[:, 1:], raw.rotations[::2, 1:], atol=1e-5)


# Exclude

def test_excluded_frames_cut_a_clip_apart(biped, roles, dance):
    raw = dance(biped(), frames=121, tags=(Tag("exclude", 0.5, 0.75), Tag("exclude", 1.5, 9.0), Tag("run", 0.25, 1.0)))
    first, second = clean(raw, roles(raw.skeleton), Recipe())
    assert (len(first.clip), len(second.clip)) == (30, 44)
    assert first.source_start == 0 and np.isclose(second.source_start, 46 / 60)
    assert np.allclose(second.clip.rotations[:, 1:], raw.rotations[46:90, 1:], atol=1e-6)
    assert first.clip.tag_mask("run").nonzero()[0].tolist() == list(range(15, 30))
    assert second.clip.tag_mask("run").nonzero()[0].tolist() == list(range(15))
    assert np.isclose(excluded_seconds(raw), (16 + 31) / 60)


def test_where_a_piece_begins_is_told_in_seconds_of_the_raw_clip(biped, roles, dance):
    raw = dance(biped(), frames=100, rate=24.0, tags=(Tag("exclude", 0.0, 1.0),))
    piece, = clean(raw, roles(raw.skeleton), Recipe(), speed=2.0)
    assert np.isclose(piece.source_start, 25 / 24)


def test_excluded_frames_do_not_reach_into_their_neighbours(biped, roles, dance):
    raw = dance(biped(), tags=(Tag("exclude", 0.8, 1.2),))
    positions = raw.positions.copy()
    positions[48:73, 1] += 50.0  # the capture lost the actor
    broken = raw.with_changes(positions=positions)
    for root in ("made", "adaptive", "bone"):
        for one, other in zip(clean(raw, roles(raw.skeleton), Recipe(rate=50.0, root=root)),
                              clean(broken, roles(raw.skeleton), Recipe(rate=50.0, root=root))):
            assert np.array_equal(one.clip.positions, other.clip.positions)
            assert np.array_equal(one.clip.contacts, other.clip.contacts)


def test_a_single_frame_between_two_cuts_is_no_clip(biped, roles, dance):
    raw = dance(biped(), tags=(Tag("exclude", 0.0, 49 / 60), Tag("exclude", 51 / 60, 1.0)))
    piece, = clean(raw, roles(raw.skeleton), Recipe())
    assert np.isclose(piece.source_start, 61 / 60)


def test_a_clip_excluded_from_beginning_to_end_is_named(biped, roles, dance):
    raw = dance(biped(), tags=(Tag("exclude", -1.0, 9.0),))
    with pytest.raises(MotionError, match='Clip "dance" is tagged "exclude" from beginning to end'):
        clean(raw, roles(raw.skeleton), Recipe())


def test_a_clip_of_one_frame_is_named(biped, roles, dance):
    raw = dance(biped(), frames=1)
    with pytest.raises(MotionError, match='Clip "dance" has no two frames'):
        clean(raw, roles(raw.skeleton), Recipe())


# The rest pose

def test_a_rest_pose_at_the_beginning_is_left_out_and_told(biped, roles, dance):
    raw = _with_rest_pose(dance(biped()), 3)
    piece, = clean(raw, roles(raw.skeleton), Recipe())
    assert piece.skipped == 3 and len(piece.clip) == 117 and np.isclose(piece.source_start, 0.05)
    kept, = clean(raw, roles(raw.skeleton), Recipe(skip_rest=False))
    assert kept.skipped == 0 and len(kept.clip) == 120


# Loops

def test_a_loop_keeps_closing_at_any_rate_and_speed(biped, roles):
    raw = _loop(biped(), frames=25, rate=24.0)
    for rate, speed in ((60.0, 1.0), (29.97, 1.0), (60.0, 1.3), (30.0, 0.7)):
        piece, = clean(raw.with_changes(loop=True), roles(raw.skeleton), Recipe(rate=rate), speed)
        assert piece.clip.loop
        assert np.abs(piece.clip.rotations[0, 1:] - piece.clip.rotations[-1, 1:]).max() < 1e-5
        assert abs(piece.clip.duration - 1 / speed) <= 0.51 / rate


def test_a_loop_that_leads_on_to_its_first_frame_is_closed(biped, roles):
    raw = _loop(biped(), frames=25, rate=24.0)
    whole = Tag("walk", 0.0, 23 / 24)
    cut = raw.slice(0, 24).with_changes(loop=True, tags=(whole, Tag("early", 0.0, 0.5)))
    for rate in (24.0, 60.0):
        piece, = clean(cut, roles(raw.skeleton), Recipe(rate=rate))
        same, = clean(raw.with_changes(loop=True), roles(raw.skeleton), Recipe(rate=rate))
        assert piece.clip.loop and len(piece.clip) == len(same.clip)
        assert np.allclose(piece.clip.rotations[0, 1:], piece.clip.rotations[-1, 1:], atol=1e-6)
        assert np.abs(piece.clip.positions - same.clip.positions)[:, 0].max() < 0.01  # the root travels on
        assert piece.clip.tag_mask("walk").all() and not piece.clip.tag_mask("early")[-1]


def test_closing_leaves_other_clips_alone(biped, dance):
    raw = dance(biped())
    assert closed(raw) is raw
    closes = _loop(biped(), frames=25, rate=24.0).with_changes(loop=True)
    assert closed(closes) is closes


def test_a_clip_tagged_loop_is_a_loop_and_a_part_of_it_is_not(biped, roles):
    raw = _loop(biped(), frames=61, rate=60.0)
    tagged = raw.with_changes(tags=(Tag("loop", 0.2, 0.3),))
    assert clean(tagged, roles(raw.skeleton), Recipe())[0].clip.loop
    cut = tagged.with_changes(tags=(*tagged.tags, Tag("exclude", 0.0, 0.1)))
    assert not clean(cut, roles(raw.skeleton), Recipe())[0].clip.loop
    assert not clean(raw, roles(raw.skeleton), Recipe())[0].clip.loop


# Properties

@pytest.mark.parametrize("value, words", [(np.nan, "that is not a number"), (-1e12, "beyond 1,000,000,000")])
def test_a_property_that_no_database_can_hold_is_named(biped, roles, dance, value, words):
    raw = dance(biped(), curves={"mood": np.where(np.arange(120) == 7, value, 1.0)})
    with pytest.raises(MotionError, match=f'Clip "dance" has a value {words} in its property "mood"'):
        clean(raw, roles(raw.skeleton), Recipe())


def test_properties_are_resampled_and_cut(biped, roles, dance):
    raw = dance(biped(), frames=61, rate=30.0, curves={"mood": np.arange(61.0)}, tags=(Tag("exclude", 0.0, 0.5),))
    piece, = clean(raw, roles(raw.skeleton), Recipe(rate=60.0))
    assert np.allclose(piece.clip.curves["mood"], 16 + np.arange(89) / 2, atol=1e-4)


def _with_rest_pose(clip, frames):
    rotations = clip.rotations.copy()
    rotations[:frames, 1:] = clip.skeleton.rotations[1:]
    rotations[frames:, 1:] = quat.mul(rotations[frames:, 1:], quat.from_scaled_angle_axis(np.float32([0.5, 0.3, 0.2])))
    return clip.with_changes(rotations=rotations)


def _loop(skeleton, frames, rate):
    """One stride of legs that swing, walking on a slight curve."""
    phase = np.arange(frames) / (frames - 1)
    positions = np.repeat(skeleton.positions[None], frames, axis=0)
    positions[:, 0, 1] += 1.5 * phase
    rotations = np.repeat(skeleton.rotations[None], frames, axis=0)
    rotations[:, 0] = quat.from_yaw(0.2 * phase)
    for name, sign in (("thigh.L", 1), ("thigh.R", -1)):
        rotations[:, skeleton.index(name)] = quat.from_angle_axis(sign * 0.6 * np.sin(2 * np.pi * phase), [1.0, 0, 0])
    return Clip("stride", skeleton, rate, positions, rotations)


# As much as it may ask for

@pytest.mark.parametrize("change, speed, words", [
    ({"rate": 0.00024}, 1.0, 'Clip "dance" has 0.00024 frames per second, and motion has at least 1'),
    ({"rate": 2.0}, 1e-4,
     "which plays for 300,000 s, would have 18,000,000 frames, and a clip of 19 joints has at most 1,578,947"),
    ({}, 0.0, "cannot be resampled to 60.0 frames per second at speed 0.0"), ({}, float("nan"), "at speed nan"),
])
def test_a_clip_of_more_frames_than_anybody_plays_is_refused_before_any_work(biped, roles, dance, change, speed, words):
    raw = dance(biped(), frames=61).with_changes(**change)
    with pytest.raises(MotionError, match=words):
        clean(raw, roles(raw.skeleton), Recipe(), speed)


@pytest.mark.parametrize("name, value", [
    ("root_position", float("nan")), ("root_facing", 61.0), ("contact_speed", -1.0), ("contact_height", float("inf")),
    ("contact_filter", 1e30), ("contact_filter", "long"), ("root_position", 1j),
])
def test_a_setting_that_no_clip_can_be_prepared_with_is_named(name, value):
    with pytest.raises(MotionError, match=f'The setting "{name.replace("_", " ")}" of the bake is .*: use 0 to '):
        Recipe(**{name: value})
