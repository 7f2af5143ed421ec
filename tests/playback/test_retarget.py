# SPDX-License-Identifier: GPL-3.0-or-later
"""Driving another character than the database's own."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.evaluate import driving
from mm_blender.evaluate.courses import random_walk
from mm_blender.evaluate.feet import speeds
from mm_blender.motion.retarget import Retarget
from mm_blender.motion.stance import soles
from mm_blender.networks.library import library_for
from mm_blender.playback.drive import drive
from mm_blender.playback.library import BakedLibrary
from mm_blender.playback.retarget import RetargetedLibrary, retargeted
from tests.rigs import renamed_and_rolled, with_lengths, without
from tests.steering import group_of

NETWORKS = Path(__file__).resolve().parents[2] / "trained" / "demo.mmnet"
SIZE = 1.3


@pytest.fixture(scope="module")
def library(demo_database):
    return BakedLibrary(demo_database)


@pytest.fixture(scope="module")
def target(demo_database):
    return renamed_and_rolled(with_lengths(demo_database.character, SIZE, shin=1.1, forearm=0.9))


@pytest.fixture(scope="module")
def other(library, target):
    return retargeted(library, target)


@pytest.fixture(scope="module")
def learned():
    return library_for("lmm", NETWORKS)


def test_the_take_is_the_target_s_and_walks_as_far_as_its_legs_are_longer(library, target, other):
    course = random_walk(8)
    (mine, _), (theirs, their_trace) = drive(library, course), drive(other, course)
    scale = other.retarget.scale
    assert 1.3 < scale < 1.5
    assert theirs.skeleton is target.skeleton and len(theirs) == len(mine)
    way, longer = (np.linalg.norm(np.diff(clip.positions[:, 0, :2], axis=0), axis=-1).sum() for clip in (mine, theirs))
    assert longer == pytest.approx(scale * way, rel=0.15)
    assert np.asarray(other.speeds.run) == pytest.approx(scale * np.asarray(library.speeds.run))
    figures = driving.report(other.whole(), theirs, their_trace)
    assert figures["slide_low"] < 2 and figures["toe_penetration_mm"] < 5
    assert figures["root_distance"]["p95"] <= 0.16
    assert figures["contact_not_held"] < 0.1


def test_a_target_without_toes_is_held_by_its_soles(library, demo_database):
    character = demo_database.character
    bare = without(character, "left_toe", "right_toe")
    feet = [character.joint(f"{side}_foot") for side in ("left", "right")]
    ends = {character.skeleton.names[foot]: tuple(character.skeleton.positions[foot + 1].tolist()) for foot in feet}
    for target in (bare, replace(bare, skeleton=replace(bare.skeleton, ends=ends))):
        other = retargeted(library, target)
        clip, trace = drive(other, random_walk(8))
        shown, heights = soles(other.retarget.target, *clip.globals()), other.retarget.standing[:, 0]
        held = trace.planted[1:] & trace.planted[:-1] & trace.contacts[1:] & trace.contacts[:-1]
        assert held.mean() > 0.3 and 100 * speeds(shown, clip.rate)[held].mean() < 0.5
        assert (shown[..., 2] - heights).min() > -0.01 and np.abs(shown[..., 2] - heights)[1:][held].max() < 0.05
        assert all(other.motion.database.character.limbs[side].end[1] for side in (0, 1))


def test_who_has_the_same_size_plays_the_very_same(library, demo_database):
    twin = retargeted(library, renamed_and_rolled(demo_database.character))
    course = random_walk(5)
    (mine, trace), (theirs, their_trace) = drive(library, course), drive(twin, course)
    assert (trace.frames == their_trace.frames).mean() > 0.95
    same = trace.frames == their_trace.frames
    # What is kept of feet that stand is the difference.
    assert np.abs(mine.globals()[0] - theirs.globals()[0])[same].max() < 0.03


def test_a_path_asks_for_what_the_source_would_be_asked_by_a_smaller_one(library, other):
    schema, scale = library.database.schema, other.retarget.scale
    asked = library.database.normalisation.undo(library.database.features[500])
    longer = asked.copy()
    for channel, part in zip(schema.channels, schema.slices):
        if channel.kind in ("trajectory_position", "bone_position", "bone_velocity"):
            longer[part] *= scale
    assert other.database.normalisation.apply(longer) == pytest.approx(library.database.features[500], abs=1e-4)


def test_what_was_learned_plays_on_the_target_too(learned, target):
    other = retargeted(learned, target)
    clip, trace = drive(other, random_walk(5))
    figures = driving.report(other.whole(), clip, trace)
    assert clip.skeleton is target.skeleton and figures["toe_penetration_mm"] < 5
    assert figures["slide_low"] < 2 and figures["root_distance"]["p95"] <= 0.16
    heights = clip.globals()[0][:, target.joint("hips"), 2]
    assert 0.6 < heights.min() / (other.retarget.scale * 0.9) < heights.max() / (other.retarget.scale * 0.9) < 1.3


def test_its_poses_move_as_they_say(learned, target):
    matcher = retargeted(learned, target).motion.matcher(learned.choice().search, 2)
    for _ in range(7):
        matcher.advance()
        pose, dt = matcher.pose(), 1 / learned.database.rate
        places, turns, travel = matcher.coming(np.array([0, 1]))
        assert places[:, 0] == pytest.approx(pose.positions, abs=1e-6)
        assert travel[:, 0] == pytest.approx(pose.travel, abs=1e-6)
        if places.shape[1] > 1:
            assert places[:, 1] == pytest.approx(pose.positions + pose.velocities * dt, abs=1e-5)
            assert np.abs((turns[:, 0] * pose.rotations).sum(-1)) == pytest.approx(1, abs=1e-4)


def test_the_method_changes_while_it_drives(library, learned, other, target):
    group, course = group_of(other), random_walk(6)
    both = other, retargeted(learned, target)
    for frame in range(300):
        if frame % 60 == 30:
            group.play([both[(frame // 60 + 1) % 2]])
        group.guides[0].steer(course.at(frame / 60))
        group.step()
    clip = group.record.clip()
    assert {-1} < set(np.sign(group.record.trace().frames).tolist()), "both have played"
    steps = np.linalg.norm(np.diff(clip.globals()[0], axis=0), axis=-1)
    assert steps.max() < 0.25 * other.retarget.scale, "nothing jumps"


def test_hands_are_led_while_it_plays(library, target):
    other = retargeted(library, target, hands=0.5)
    frames = np.array([300, 2000])
    before = other.motion.at(frames).rotations
    other.retarget.hands = 1.0
    after = other.motion.at(frames).rotations
    arms = [target.joint(f"{side}_{part}") for side in ("left", "right") for part in ("upper_arm", "forearm", "hand")]
    changed = np.abs(before - after).max(axis=(0, 2)) > 1e-3
    assert set(np.flatnonzero(changed).tolist()) <= set(arms) and changed.any()


def test_a_clip_s_frames_move_as_they_say(library, other):
    motion, dt = other.motion, 1 / other.database.rate
    part = library.database.ranges[2]
    frames = np.array([part.start + 5, part.stop - 1])
    pose, (places, turns, travel) = motion.at(frames), motion.coming(frames)
    assert places[0, 1] == pytest.approx(pose.positions[0] + pose.velocities[0] * dt, abs=1e-5)
    assert travel[:, 0] == pytest.approx(other.retarget.travel(library.motion.travel[frames]), abs=1e-6)
    assert np.isfinite(pose.spins).all() and turns.shape[1] == places.shape[1]


def test_the_last_frame_of_a_clip_goes_on_as_it_came(library, other):
    motion, part = other.motion, next(part for part in library.database.ranges
                                      if part.source == "run start left")
    before, last = (motion.at(np.array([frame])) for frame in (part.stop - 2, part.stop - 1))
    assert np.abs(last.spins).max() > 0.5
    assert last.spins == pytest.approx(before.spins) and last.velocities == pytest.approx(before.velocities)


def test_a_database_of_another_skeleton_is_refused(library, target, demo_database):
    with pytest.raises(MotionError, match="another skeleton"):
        RetargetedLibrary(library, Retarget(target, demo_database.character))
