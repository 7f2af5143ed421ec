# SPDX-License-Identifier: GPL-3.0-or-later
"""Loops are recognised by their ends, and nothing else is."""

from mm_blender.motion import bvh
from mm_blender.motion.roles import find_character
from mm_blender.prepare.loops import is_loop
from tests.databases import demo_clips


def test_the_loops_of_the_demo_are_found_and_no_others():
    clips = [clip for clip in demo_clips() if not clip.name.startswith("idle ")]  # those end as they began, by chance
    character = find_character(clips[0].skeleton)
    assert {clip.name for clip in clips if is_loop(clip, character)} == {clip.name for clip in clips if clip.loop}


def test_the_last_frame_may_lead_on_to_the_first_but_a_part_of_a_cycle_is_none():
    clips = [clip for clip in demo_clips() if clip.loop and "idle" not in clip.name]
    character = find_character(clips[0].skeleton)
    assert all(is_loop(clip.slice(0, len(clip) - 1), character) for clip in clips)
    assert not any(is_loop(clip.slice(0, len(clip) - 6), character) for clip in clips)


def test_mocap_has_none(lafan1):
    for path in sorted(lafan1.glob("*.bvh"))[::12]:
        clip = bvh.read(path, 0.01)
        assert not is_loop(clip, find_character(clip.skeleton)), path.stem
