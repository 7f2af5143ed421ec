# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures say what happened: good driving is within its limits, and each kind of harm shows in its figure."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.control.stick import NAMES, Recording
from mm_blender.evaluate import courses, driving
from mm_blender.playback.drive import drive, drive_all
from mm_blender.playback.player import Drive
from mm_blender.playback.root import Sync


@pytest.fixture(scope="module")
def takes(demo_database):
    made = courses.all_courses(12)
    return dict(zip(made, drive_all(demo_database, list(made.values()))))


@pytest.fixture(scope="module")
def own(demo_database):
    return driving.own_acceleration(demo_database)


@pytest.fixture
def walk(takes):
    return takes["slalom"]


def with_root(clip, roots):
    positions = clip.positions.copy()
    positions[:, 0, :2] = roots
    return clip.with_changes(positions=positions)


def test_on_every_course_feet_stay_toes_do_not_sink_nothing_pops_and_it_follows(demo_database, takes, own):
    for name, (clip, trace) in takes.items():
        report = driving.report(demo_database, clip, trace, own)
        assert report["slide_low"] <= 0.6 * report["slide_low_source"], name
        assert report["skating"] <= report["skating_source"] + 0.01, name
        assert report["contact_not_held"] <= 0.15, name
        assert sum(report["contact_not_held_because"].values()) == pytest.approx(report["contact_not_held"], abs=1e-3)
        assert report["toe_penetration_mm"] <= 5, name
        assert report["root_distance"]["mean"] <= 0.12, name
        assert report["transition_acceleration_ratio"]["p95"] <= 1.5, name
        assert report["acceleration_ratio"] <= 1.3, name
        assert report["longest_against_the_stick"] <= 1.5, name


def test_a_turn_back_is_quick(demo_database, takes, own):
    times = driving.report(demo_database, *takes["reversals"], own)["seconds_to_new_velocity"]
    assert times["count"] >= 3 and times["mean"] <= 0.6


def test_without_any_sync_it_still_follows(demo_database, own):
    free = Drive(sync=Sync(position="none", facing="none"))
    report = driving.report(demo_database, *drive(demo_database, courses.slalom(24), free), own)
    assert report["root_distance"]["mean"] <= 0.5


def test_what_the_same_frames_have_without_a_transition_is_told(demo_database, walk, own):
    clip, trace = walk
    report = driving.report(demo_database, clip, trace, own)
    shown, source = report["transition_acceleration_ratio"], report["transition_acceleration_ratio_of_the_source"]
    assert shown["count"] == source["count"] > 10
    idle = demo_database.ranges[0]
    standing = replace(trace, frames=np.arange(len(trace.frames)) % len(idle) + idle.start)
    calm = driving.report(demo_database, clip, standing, own)["transition_acceleration_ratio_of_the_source"]
    assert idle.source == "idle" and calm["max"] < source["mean"] / 10


def test_every_frame_belongs_to_a_clip_and_tags_are_counted(demo_database, walk, own):
    report = driving.report(demo_database, *walk, own)
    assert sum(report["frames_per_clip"].values()) == pytest.approx(1, abs=0.02)
    assert report["frames_per_tag"]["walk"] > 0.3
    assert report["transitions_per_second"] == pytest.approx(walk[1].jumped.sum() / report["seconds"], rel=0.01)


def test_sliding_shows(demo_database, walk, own):
    clip, trace = walk
    drift = clip.positions[:, 0, :2] + [0.1, 0] * (np.arange(len(clip)) / clip.rate)[:, None]
    before, report = (driving.report(demo_database, one, trace, own) for one in (clip, with_root(clip, drift)))
    assert before["slide_low"] < 2 and report["slide_low"] > 8  # cm/s
    assert report["slide_low_source"] == before["slide_low_source"], "the source is what was played, whatever is shown"


def test_skating_shows(demo_database, walk, own):
    clip, trace = walk
    drift = clip.positions[:, 0, :2] + [0.5, 0] * (np.arange(len(clip)) / clip.rate)[:, None]
    assert driving.report(demo_database, with_root(clip, drift), trace, own)["skating"] > 0.8


def test_feet_beside_a_source_that_is_shown_as_it_is_are_the_same(demo_database, walk, own):
    part = next(part for part in demo_database.ranges if part.name.startswith("walk turn"))
    frames = np.arange(part.start, part.stop)
    trace = replace(walk[1], frames=frames, feet=np.zeros((len(frames), 2)), contacts=demo_database.contacts[frames],
                    **{name: getattr(walk[1], name)[:len(frames)] for name in ("jumped", "wanted", "simulated")})
    clip = walk[0].with_changes(positions=demo_database.local_positions(frames),
                                rotations=demo_database.rotations[frames], contacts=trace.planted)
    report = driving.report(demo_database, clip, trace, own)
    assert report["slide_low"] == pytest.approx(report["slide_low_source"], abs=0.01) and report["slide_low"] > 0.5
    assert report["skating"] == pytest.approx(report["skating_source"], abs=1e-3)


def test_who_stands_stands_still(demo_database, own):
    hand = np.zeros((3, len(NAMES)))
    hand[0, NAMES.index("move_y")] = 1  # it walks, and then nobody steers
    clip, trace = drive(demo_database, Recording(np.array([0.0, 1.5, 15.0]), hand))
    toes = demo_database.character.contact_places(*clip.globals())[6 * 60:]
    assert np.ptp(toes, axis=0).max() < 1e-3 and trace.planted[6 * 60:].all()


def test_sinking_shows(demo_database, walk, own):
    clip, trace = walk
    positions = clip.positions.copy()
    positions[100, 0, 2] -= 0.03
    report = driving.report(demo_database, clip.with_changes(positions=positions), trace, own)
    assert 15 < report["toe_penetration_mm"] < 31


def test_a_pop_shows(demo_database, walk, own):
    clip, trace = walk
    jump = np.flatnonzero(trace.jumped)[3]
    rotations = clip.rotations.copy()
    rotations[jump:, 3] = demo_database.rotations[0, 4]
    ratio = driving.report(demo_database, clip.with_changes(rotations=rotations), trace, own)
    assert ratio["transition_acceleration_ratio"]["max"] > 2 and ratio["pops"] >= 1


def test_distance_and_facing_show(demo_database, walk, own):
    clip, trace = walk
    elsewhere = np.column_stack([clip.positions[:, 0, :2] + [0.3, 0.4], trace.simulated[:, 2] + 0.5])
    away = replace(trace, simulated=elsewhere)
    report = driving.report(demo_database, clip, away, own)
    assert report["root_distance"] == {"mean": pytest.approx(0.5, abs=1e-3), "p95": pytest.approx(0.5, abs=1e-3)}
    assert 20 < report["facing_error_degrees"]["mean"] < 37


def test_the_time_of_a_reversal_is_when_the_root_has_turned(walk):
    trace, rate = walk[1], 60.0
    wanted = np.zeros((240, 3))
    wanted[:120, 1], wanted[120:, 1] = 1.2, -1.2
    speed = np.interp(np.arange(240), [0, 120, 180, 240], [1.2, 1.2, -1.2, -1.2])
    roots = np.column_stack([np.zeros(240), np.cumsum(speed) / rate])
    times = driving.reversal_times(roots, replace(trace, wanted=wanted), rate)
    assert times == pytest.approx([0.95], abs=0.04)
    never = np.column_stack([np.zeros(240), np.arange(240) * 0.02])
    assert driving.reversal_times(never, replace(trace, wanted=wanted), rate) == pytest.approx([2.0])
    assert driving.longest_against(never, replace(trace, wanted=wanted), rate) == pytest.approx(2.0)


def test_who_goes_on_against_the_stick_is_told_for_how_long(demo_database, walk, own):
    clip, trace = walk
    count = len(clip)
    positions, wanted = clip.positions.copy(), np.zeros((count, 3))
    positions[:, 0, :2] = np.column_stack([np.zeros(count), np.arange(count) * 0.02])
    wanted[:, 1] = np.where(np.arange(count) < 120, 1.2, -1.2)
    wanted[240:, 1] = 1.2
    report = driving.report(demo_database, clip.with_changes(positions=positions), replace(trace, wanted=wanted), own)
    assert report["longest_against_the_stick"] == pytest.approx(2.0, abs=0.05)
