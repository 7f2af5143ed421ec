# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips: what is cut, scaled or tagged stays consistent, and what does not fit is refused."""

import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.motion import quat
from mm_blender.motion.clip import Clip, Tag
from mm_blender.motion.skeleton import Skeleton

BONES = Skeleton(["hips", "leg"], [-1, 0], [(0, 0, 1), (0, 0, -0.5)], quat.identity((2,)))


def clip(frames=31, rate=30.0, **changes):
    positions = np.tile(BONES.positions, (frames, 1, 1))
    positions[:, 0, 1] = np.arange(frames) / 30
    return Clip(**{**{"name": "walk", "skeleton": BONES, "rate": rate, "positions": positions,
                          "rotations": quat.identity((frames, 2))}, **changes})


def test_duration_is_from_the_first_frame_to_the_last():
    assert clip(31, 30.0).duration == 1.0
    assert clip(1).duration == 0.0


def test_arrays_become_float32_and_global():
    walk = clip()
    assert walk.positions.dtype == walk.rotations.dtype == np.float32
    positions, _ = walk.globals()
    np.testing.assert_allclose(positions[-1], [(0, 1, 1), (0, 1, 0.5)], atol=1e-6)


@pytest.mark.parametrize("rate", [24.0, 30.0, 30000 / 1001, 60.0, 120.0])
def test_tag_from_frame_to_frame_holds_both(rate):
    for first, last in ((0, 0), (3, 7), (7, 30), (30, 30)):
        mask = clip(rate=rate, tags=[Tag("run", first / rate, last / rate)]).tag_mask("run")
        np.testing.assert_array_equal(np.flatnonzero(mask), np.arange(first, last + 1))


def test_tag_mask_joins_ranges_of_one_name():
    walk = clip(tags=[Tag("run", 0.0, 0.1), Tag("run", 0.9, 5.0), Tag("idle", 0.0, 1.0)])
    assert np.flatnonzero(walk.tag_mask("run")).tolist() == [0, 1, 2, 3, 27, 28, 29, 30]
    assert not walk.tag_mask("jump").any()


@pytest.mark.parametrize("rate", [24.0, 30000 / 1001, 60.0])
def test_tags_of_a_slice_mark_the_frames_that_they_marked_before(rate):
    rng = np.random.default_rng(3)
    for _ in range(50):
        first, last = np.sort(rng.integers(0, 31, 2))
        start, stop = np.sort(rng.choice(32, 2, replace=False))
        walk = clip(rate=rate, tags=[Tag("run", first / rate, last / rate)])
        part = walk.slice(start, stop)
        np.testing.assert_array_equal(part.tag_mask("run"), walk.tag_mask("run")[start:stop])
        for tag in part.tags:
            assert 0 <= tag.start <= tag.end <= part.duration + 1e-9


def test_slice_cuts_everything_alike():
    walk = clip(contacts=np.arange(62).reshape(31, 2) % 3 == 0, curves={"speed": np.arange(31.0)}, loop=True,
                tags=[Tag("run", 0.2, 0.8), Tag("idle", 0.0, 0.1), Tag("stop", 0.9, 1.0)])
    part = walk.slice(10, 20)
    assert len(part) == 10
    np.testing.assert_array_equal(part.positions, walk.positions[10:20])
    np.testing.assert_array_equal(part.contacts, walk.contacts[10:20])
    np.testing.assert_array_equal(part.curves["speed"], np.arange(10.0, 20.0))
    assert [tag.name for tag in part.tags] == ["run"]
    assert not part.loop
    assert walk.slice(0, 31).loop


@pytest.mark.parametrize("start, stop", [(5, 5), (6, 5), (-1, 5), (0, 32)])
def test_slice_outside_is_refused(start, stop):
    with pytest.raises(MotionError, match=r"walk.*31 frames"):
        clip().slice(start, stop)


def test_scaled_is_the_same_motion_of_a_larger_character():
    walk = clip(tags=[Tag("run", 0.0, 0.1)])
    large = walk.scaled(2)
    np.testing.assert_allclose(large.globals()[0], 2 * walk.globals()[0], rtol=1e-6)
    np.testing.assert_allclose(large.skeleton.rest[0], 2 * walk.skeleton.rest[0], rtol=1e-6)
    assert large.positions.dtype == np.float32
    assert large.tags == walk.tags


@pytest.mark.parametrize("changes, words", [
    ({"positions": np.zeros((0, 2, 3)), "rotations": np.zeros((0, 2, 4))}, "no frames"),
    ({"positions": np.zeros((31, 3, 3))}, "does not fit its skeleton of 2 joints"),
    ({"rotations": quat.identity((30, 2))}, "does not fit"),
    ({"rate": 0}, "rate of 0"),
    ({"rate": float("nan")}, "rate of nan"),
    ({"rate": float("inf")}, "rate of inf"),
    ({"contacts": np.zeros((30, 2), bool)}, "contacts for 30"),
    ({"curves": {"speed": np.zeros(7)}}, '"speed" has 7'),
    ({"positions": np.where(np.arange(186).reshape(31, 2, 3) == 27, np.nan, 0)}, 'frame 4, joint "leg"'),
])
def test_what_does_not_fit_is_refused_by_name(changes, words):
    with pytest.raises(MotionError, match=words) as caught:
        clip(**changes)
    assert "walk" in str(caught.value)


def test_a_joint_further_away_than_any_scene_reaches_is_named():
    positions = np.tile(BONES.positions, (31, 1, 1))
    positions[7, 1, 2] = -2e7
    with pytest.raises(MotionError, match='Clip "walk" has the joint "leg" more than 10,000,000 m away at frame 7'):
        clip(positions=positions)


def test_a_clip_has_no_more_tags_than_anybody_sets():
    with pytest.raises(MotionError, match='Clip "walk" has 10,001 tags: use at most 10,000'):
        clip(tags=[Tag("run", 0, 1)] * 10_001)
