# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits are far above what is real, and the sentence names them."""

import math

import pytest

from mm_blender import limits
from mm_blender.errors import MotionError

LAFAN1 = 496_672 / 30  # seconds in all; 22 joints and a root


def test_all_of_a_large_archive_passes_mirrored_at_240_frames_per_second():
    limits.check_all(LAFAN1 * 2 * 240, 23)
    limits.check_clip("The longest clip", 270 * 240, 23)


@pytest.mark.parametrize("frames, joints, words", [
    (2_000_001, 10, "would have 2,000,001 frames, and a clip has at most 2,000,000"),
    (100_000, 700, "would have 100,000 frames, and a clip of 700 joints has at most 42,857"),
    (math.inf, 1, "far too many frames"), (math.nan, 1, "far too many frames"), (1e300, 10**6, "at most 30"),
])
def test_a_clip_that_nobody_can_play_is_refused(frames, joints, words):
    with pytest.raises(MotionError, match=f'^Clip "a" .*{words}.*frame rate'):
        limits.check_clip('Clip "a"', frames, joints)


def test_all_clips_together_have_a_limit_too():
    with pytest.raises(MotionError, match="20,000,000 frames, and a database of 100 joints has at most 3,000,000"):
        limits.check_all(20_000_000, 100)


@pytest.mark.parametrize("rate", [0.999, 0, -30, math.nan])
def test_motion_has_a_frame_a_second(rate):
    limits.check_rate("The scene", 1.0)
    with pytest.raises(MotionError, match=r"^The scene has .* frames per second, and motion has at least 1"):
        limits.check_rate("The scene", rate)
