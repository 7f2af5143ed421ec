# SPDX-License-Identifier: GPL-3.0-or-later
"""Driving from a recording."""

import numpy as np
import pytest

from mm_blender.control.speeds import Speeds
from mm_blender.control.stick import Recording, Stick
from mm_blender.motion import quat
from mm_blender.playback.drive import drive, drive_all

WALK = Recording.of([0, 3], [Stick(move_y=1), Stick(move_y=1)])
LEFT = Recording.of([0, 3], [Stick(move_x=-1, run=1), Stick(move_x=-1, run=1)])


@pytest.fixture(scope="module")
def take(demo_database, search):
    return drive(demo_database, WALK, search=search)


def test_the_motion_has_the_databases_skeleton_with_its_root_first(take, demo_database):
    clip, trace = take
    assert clip.skeleton is demo_database.skeleton and clip.rate == demo_database.rate
    assert len(clip) == len(trace.frames) == 180
    assert clip.positions[-1, 0, 1] > 2.5 and not clip.positions[:, 0, 2].any()
    np.testing.assert_allclose(np.linalg.norm(clip.rotations, axis=-1), 1, atol=1e-3)


def test_bones_keep_their_lengths(take, demo_database):
    still = np.setdiff1d(np.arange(len(demo_database.skeleton)), demo_database.moving)
    np.testing.assert_array_equal(take[0].positions[:, still], np.broadcast_to(
        demo_database.fixed[still], take[0].positions[:, still].shape))


def test_the_same_recording_gives_the_same_motion(take, demo_database, search):
    again = drive(demo_database, WALK, search=search)[0]
    np.testing.assert_array_equal(again.rotations, take[0].rotations)


def test_several_recordings_at_once_are_as_each_alone(take, demo_database, search):
    both = drive_all(demo_database, [WALK, LEFT], search=search)
    np.testing.assert_allclose(both[0][0].positions, take[0].positions, atol=1e-4)
    running = both[1][0]
    assert running.positions[-1, 0, 0] < -5
    assert quat.rotate(running.rotations[-1, 0], [0, 1.0, 0])[0] < -0.9


def test_speeds_can_be_given(demo_database, search):
    slow = drive(demo_database, WALK, speeds=Speeds(walk=(0.7, 0.5, 0.5)), search=search)[0]
    assert 1.2 < slow.positions[-1, 0, 1] < 2.4
