# SPDX-License-Identifier: GPL-3.0-or-later
"""Speeds are measured from the motion: by tags where there are some, by how fast it is where there are none."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.control import speeds


def test_with_tags_each_gait_has_the_speed_of_its_frames(demo_database):
    measured = speeds.measure(demo_database)
    assert 1.0 < measured.walk[0] < 2.0 < 2.5 < measured.run[0] < 6.0
    assert 0.3 < measured.crouch[0] < measured.walk[0]
    assert all(0.3 < speed < measured.walk[0] for speed in measured.walk[1:])


def test_a_tag_says_what_a_gait_is_however_fast(demo_database):
    tagged = np.zeros(len(demo_database), dtype=bool)
    for part in demo_database.ranges:
        tagged[part.start:part.stop] = part.source == "run fast"
    measured = speeds.measure(replace(demo_database, tags={"walk": tagged}))
    assert measured.walk[0] > 3.5


def test_where_all_motion_has_one_speed_full_stick_leaves_some_of_it_for_catching_up(demo_database):
    velocities = speeds.root_velocities(demo_database)[:, :2]
    alike = demo_database.tags["run"] & (np.abs(np.hypot(*velocities.T) - 3.2) < 0.01) & (velocities[:, 1] > 3)
    measured = speeds.measure(replace(demo_database, tags={"run": alike}))
    assert np.count_nonzero(alike) > 500 and 3.0 < measured.run[0] < 3.15


def test_without_tags_walking_and_running_part_by_speed(demo_database):
    measured = speeds.measure(replace(demo_database, tags={}))
    assert 0.8 < measured.walk[0] < 2.1 < measured.run[0]
    assert measured.crouch == measured.walk


def short(database, seconds, loop):
    """A database of the beginning of a walk alone."""
    part = next(part for part in database.ranges if part.source == "walk")
    count = round(seconds * database.rate)
    frames = slice(part.start, part.start + count)
    arrays = {name: getattr(database, name)[frames] for name in ("positions", "rotations", "contacts", "features")}
    return replace(database, **arrays, tags={}, ranges=[replace(part, start=0, stop=count, loop=loop)])


def test_a_loop_says_how_fast_it_is_however_short(demo_database):
    assert speeds.measure(short(demo_database, 0.7, False)).walk[0] == 0
    assert 1.0 < speeds.measure(short(demo_database, 0.7, True)).walk[0] < 1.6
    assert 1.0 < speeds.measure(short(demo_database, 1.5, False)).walk[0] < 1.6


@pytest.mark.parametrize("size", [1 / 600, 1 / 9, 25])
def test_a_small_or_large_character_walks_as_it_is_large(demo_database, size):
    body = demo_database.character.skeleton
    character = replace(demo_database.character, skeleton=replace(body, positions=body.positions * size))
    other = replace(demo_database, character=character, positions=demo_database.positions * size,
                    fixed=demo_database.fixed * size)
    walk = speeds.measure(demo_database).walk
    assert speeds.measure(other).walk == pytest.approx([size * speed for speed in walk], abs=0.01 * size)


def test_motion_that_does_not_exist_is_not_asked_for(demo_database):
    standing = demo_database.positions.copy()
    standing[:, demo_database.moving == 0] = 0
    assert speeds.measure(replace(demo_database, positions=standing)).walk == (0.0, 0.0, 0.0)


def test_the_roots_velocity_leads_from_each_frame_to_the_next(demo_database):
    velocities = speeds.root_velocities(demo_database)
    part = next(part for part in demo_database.ranges if part.source == "run arc 5 left")
    clip = demo_database.clip(demo_database.ranges.index(part))
    speed = np.linalg.norm(np.diff(clip.positions[:, 0], axis=0), axis=-1) * clip.rate
    np.testing.assert_allclose(np.hypot(*velocities[part.start:part.stop - 1, :2].T), speed, atol=1e-3)
    assert np.median(velocities[part.start:part.stop, 2]) == pytest.approx(np.median(speed) / 5, rel=0.1)
