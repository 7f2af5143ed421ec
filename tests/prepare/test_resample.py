# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.motion import bvh, quat
from mm_blender.motion.clip import Clip, Tag
from mm_blender.motion.skeleton import Skeleton
from mm_blender.prepare.resample import resample

POINT = Skeleton(["root", "arm"], [-1, 0], np.zeros((2, 3)), quat.identity((2,)))


def test_the_same_rate_and_speed_is_the_same_clip(biped, dance):
    clip = dance(biped())
    assert resample(clip, 60) is clip


def test_frames_that_fall_on_old_frames_keep_their_values(biped, dance):
    clip = dance(biped(3), rate=30.0)
    finer = resample(clip, 120)
    assert (len(finer), finer.rate, finer.duration) == (4 * 119 + 1, 120, clip.duration)
    _same(clip, finer.positions[::4], finer.rotations[::4])
    coarser = resample(finer, 30)
    _same(clip, coarser.positions, coarser.rotations)


def test_twice_the_speed_is_half_as_long_and_tags_go_with_it(biped, dance):
    clip = dance(biped(), frames=121, tags=(Tag("run", 0.5, 1.5),), curves={"grip": np.arange(121)})
    fast = resample(clip, 60, speed=2)
    assert len(fast) == 61 and fast.tags == (Tag("run", 0.25, 0.75),)
    assert np.abs(fast.positions - clip.positions[::2]).max() < 1e-5
    assert np.allclose(fast.curves["grip"], np.arange(0, 121, 2))


@pytest.mark.parametrize("scene_rate", [24, 25, 29.97])
def test_odd_rates_keep_time(biped, dance, scene_rate):
    clip = resample(dance(biped(), rate=scene_rate), 60)
    assert 0 <= 119 / scene_rate - clip.duration < 1 / 60


def test_a_hold_stays_held_and_is_not_passed():
    height = np.array([0, 0, 0, 0, 0.02, 0.3, 1, 1, 1, 1], dtype=np.float32)
    path = np.stack([np.arange(10), np.zeros(10), height], axis=-1)  # travelling all the while
    fine = resample(_clip(path, np.append(height[5:], height[:5])), 300)
    rise = fine.positions[:, 0, 2]
    assert np.all(rise[:31] == 0) and np.all(rise[60:] == 1) and np.all(np.diff(rise) >= -1e-7)
    angle = _angle(fine.rotations[:, 1])
    assert np.ptp(angle[10:41]) < 1e-6 and angle.max() < 1 + 1e-6 and np.ptp(angle[50:81]) < 1e-6


def test_velocities_do_not_jump_at_old_frames():
    times = np.arange(31) / 30
    path = np.stack([np.sin(4 * times), np.cos(3 * times), times], axis=-1)
    fine = resample(_clip(path, np.sin(5 * times), rate=30), 3000)
    speed = np.diff(fine.positions[:, 0], axis=0) * 3000
    spin = quat.angular_velocity(fine.rotations[:, 1].astype(np.float64), 1 / 3000)
    assert np.abs(np.diff(speed, axis=0)).max() < 0.05 and np.abs(np.diff(spin, axis=0)).max() < 0.05
    assert np.abs(spin[:, 0] - 5 * np.cos(5 * (np.arange(3000) + 0.5) / 3000))[100:-100].max() < 0.1


def test_contacts_take_the_nearest_frame(biped, dance):
    contacts = np.zeros((120, 2), dtype=bool)
    contacts[40:80, 0] = True
    halved = resample(dance(biped(), contacts=contacts), 30)
    assert halved.contacts.shape == (60, 2) and np.array_equal(halved.contacts, contacts[::2])


def test_a_loop_that_leads_on_to_its_first_frame_still_does():
    turn = 2 * np.pi * np.arange(24) / 24  # one turn; frame 24 would be frame 0 again
    clip = _clip(np.stack([turn, np.sin(turn), 0 * turn], axis=-1), np.sin(turn), rate=24, loop=True)
    fine = resample(clip, 60)
    assert fine.loop and len(fine) == 60
    around = 2 * np.pi * np.arange(60) / 60
    assert np.abs(_angle(fine.rotations[:, 1]) - np.sin(around)).max() < 0.005
    assert np.abs(fine.positions[:, 0, 0] - around).max() < 0.01  # travels on, does not run back


def test_a_loop_that_repeats_its_first_frame_still_does():
    turn = 2 * np.pi * np.arange(25) / 24
    fine = resample(_clip(np.zeros((25, 3)), np.sin(turn), rate=24, loop=True), 29)
    assert len(fine) == 30 and abs(_angle(fine.rotations[:, 1])[-1]) < 1e-5


def test_a_single_frame_stays_one():
    assert len(resample(_clip(np.zeros((1, 3)), np.zeros(1)), 60)) == 1


def test_a_rate_of_zero_is_refused(biped, dance):
    with pytest.raises(MotionError, match='Clip "dance" cannot be resampled'):
        resample(dance(biped()), 60, speed=0)


def test_it_comes_closer_to_real_motion_than_slerp(lafan1):
    clip = bvh.read(sorted(lafan1.glob("run*.bvh"))[0], 0.01).slice(0, 601)
    half = clip.with_changes(rate=30.0, positions=clip.positions[::2], rotations=clip.rotations[::2])
    cubic = resample(half, 60).rotations
    straight = clip.rotations.copy()
    straight[1::2] = quat.slerp(clip.rotations[:-1:2], clip.rotations[2::2], np.float32(0.5))
    spin = quat.angular_velocity(clip.rotations, 1 / 60)

    def error(rotations):
        return np.sqrt(((quat.angular_velocity(rotations, 1 / 60) - spin) ** 2).mean())

    assert error(cubic) < 0.4 * error(straight)


def _clip(path, angle, rate=30, **fields):
    """Joint 0 goes along path (F, 3); joint 1 turns about X by angle (F,)."""
    rotations = quat.identity((len(path), 2))
    rotations[:, 1] = quat.from_euler(np.stack([angle, 0 * angle, 0 * angle], axis=-1), "XYZ")
    positions = np.zeros((len(path), 2, 3))
    positions[:, 0] = path
    return Clip("point", POINT, rate, positions, rotations, **fields)


def _angle(rotations):
    return 2 * np.arctan2(rotations[:, 1], rotations[:, 0])


def _same(clip, positions, rotations):
    assert np.abs(clip.positions - positions).max() < 1e-5
    assert np.abs(np.abs((clip.rotations * rotations).sum(-1)) - 1).max() < 1e-5


def test_a_rate_at_which_there_would_be_too_many_frames_is_named(biped, dance):
    clip = dance(biped())
    with pytest.raises(MotionError, match=r'At 2.4e\+09 frames per second clip ".*" would have .* at most 2,000,000'):
        resample(clip, 2.4e9)
