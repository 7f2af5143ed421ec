# SPDX-License-Identifier: GPL-3.0-or-later
import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.motion import bvh, quat
from mm_blender.motion.clip import Tag
from mm_blender.prepare.trim import rest_frames, trim


@pytest.mark.parametrize("count", [0, 1, 5])
def test_rest_frames_that_jump_into_motion_are_counted(biped, dance, count):
    clip = dance(biped(3))
    rotations = clip.rotations.copy()
    rotations[:count, 1:] = clip.skeleton.rotations[1:]
    assert rest_frames(clip.with_changes(rotations=rotations)) == count


def test_a_few_joints_may_be_set_otherwise_in_a_rest_pose(biped, dance):
    clip = dance(biped())
    rotations = clip.rotations.copy()
    rotations[:1, 3:] = clip.skeleton.rotations[3:]
    assert rest_frames(clip.with_changes(rotations=rotations)) == 1


def test_a_clip_that_moves_on_smoothly_from_rest_is_not_cut(biped, dance):
    clip = dance(biped(3))
    part = np.clip((np.arange(120) - 10) / 60, 0, 1)[:, None]
    rotations = quat.slerp(clip.skeleton.rotations, clip.rotations, part)
    assert rest_frames(clip.with_changes(rotations=rotations)) == 0


def test_only_bones_that_move_tell_a_rest_pose(biped, dance):
    clip = dance(biped())
    rotations = np.repeat(clip.skeleton.rotations[None], 120, axis=0)
    rotations[:, 2:4] = clip.rotations[:, 2:4]
    rotations[40:, 2:4] = quat.mul(rotations[40:, 2:4], quat.from_yaw(np.float32(1.0)))
    assert rest_frames(clip.with_changes(rotations=rotations)) == 0
    rotations[0] = clip.skeleton.rotations
    assert rest_frames(clip.with_changes(rotations=rotations)) == 1


def test_a_clip_at_rest_all_the_time_or_of_one_frame_is_not_cut(biped, dance):
    clip = dance(biped())
    still = clip.with_changes(rotations=np.repeat(clip.skeleton.rotations[None], 120, axis=0))
    assert rest_frames(still) == rest_frames(still.slice(0, 1)) == 0


def test_every_cmu_file_begins_with_a_rest_pose(cmu):
    counts = {path.stem: rest_frames(bvh.read(path, 0.056444)) for path in sorted(cmu.glob("16_*.bvh"))
              if path.stat().st_size}
    assert counts and set(counts.values()) == {1}


def test_a_file_whose_arms_stay_in_the_t_pose_for_longer_is_cut_there(cmu):
    assert rest_frames(bvh.read(cmu / "03_02.bvh", 0.056444)) == 51


def test_no_lafan1_file_begins_with_one(lafan1):
    assert {rest_frames(bvh.read(path, 0.01)) for path in sorted(lafan1.glob("*.bvh"))[::5]} == {0}


def test_trimming_keeps_both_frames_and_moves_tags(biped, dance):
    clip = dance(biped(), tags=(Tag("turn", 0.4, 1.2),))
    part = trim(clip, 0.5, 1.0)
    assert np.array_equal(part.positions, clip.positions[30:61])
    assert np.allclose([part.tags[0].start, part.tags[0].end], [0, 0.5])
    assert len(trim(clip, -1, 100)) == len(trim(clip)) == 120 and len(trim(clip, end=0)) == 1


def test_trimming_everything_away_gives_a_sentence(biped, dance):
    with pytest.raises(MotionError, match=r'Clip "dance" lasts 1\.98 s: nothing is left'):
        trim(dance(biped()), 3, 4)
