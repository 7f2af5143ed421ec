# SPDX-License-Identifier: GPL-3.0-or-later
"""Skeletons: forward kinematics says what chains of matrices say, and velocities what finite differences say."""

import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.motion import quat
from mm_blender.motion.skeleton import Skeleton, backward, forward, forward_velocities

PARENTS = (-1, 0, 1, 2, 1, 4, 0, 6)
rng = np.random.default_rng(2)


def tree(parents=PARENTS, **changes):
    count = len(parents)
    parts = {"names": [f"joint {index}" for index in range(count)], "parents": parents,
                 "positions": rng.normal(size=(count, 3)), "rotations": quat.normalize(rng.normal(size=(count, 4)))}
    return Skeleton(**{**parts, **changes})


def some_motion(skeleton, frames, dtype=np.float64):
    shape = (frames, len(skeleton))
    return rng.normal(size=(*shape, 3)).astype(dtype), quat.normalize(rng.normal(size=(*shape, 4))).astype(dtype)


def chained(skeleton, positions, rotations):
    """Joint by joint with 4×4 matrices: independent of forward()."""
    local = np.zeros((*positions.shape[:2], 4, 4))
    local[..., :3, :3], local[..., :3, 3], local[..., 3, 3] = quat.to_matrix(rotations), positions, 1
    world = local.copy()
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            world[:, joint] = world[:, parent] @ local[:, joint]
    return world


@pytest.mark.parametrize("frames", [1, 2, 30])
def test_forward_is_a_chain_of_matrices(frames):
    skeleton = tree()
    positions, rotations = some_motion(skeleton, frames)
    world = chained(skeleton, positions, rotations)
    global_positions, global_rotations = forward(skeleton, positions, rotations)
    np.testing.assert_allclose(global_positions, world[..., :3, 3], atol=1e-12)
    np.testing.assert_allclose(quat.to_matrix(global_rotations), world[..., :3, :3], atol=1e-12)


@pytest.mark.parametrize("frames", [1, 30])
def test_kinematics_leaves_its_input_alone(frames):
    skeleton = tree()
    arrays = (*some_motion(skeleton, frames), *(rng.normal(size=(frames, len(skeleton), 3)) for _ in range(2)))
    before = [array.copy() for array in arrays]
    forward(skeleton, *arrays[:2])
    backward(skeleton, *arrays[:2])
    forward_velocities(skeleton, *arrays)
    for array, copy in zip(arrays, before):
        np.testing.assert_array_equal(array, copy)


def test_backward_undoes_forward():
    skeleton = tree()
    positions, rotations = some_motion(skeleton, 30)
    again = backward(skeleton, *forward(skeleton, positions, rotations))
    np.testing.assert_allclose(again[0], positions, atol=1e-12)
    np.testing.assert_allclose(again[1], rotations, atol=1e-12)


def test_velocities_are_finite_differences():
    skeleton = tree()
    positions, rotations = some_motion(skeleton, 5)
    velocities, spins = rng.normal(size=positions.shape), rng.normal(size=positions.shape)
    dt = 1e-5

    def at(time):
        return forward(skeleton, positions + time * velocities,
                       quat.mul(quat.from_scaled_angle_axis(time * spins), rotations))

    (p0, q0), (p1, q1) = at(-dt), at(dt)
    result = forward_velocities(skeleton, positions, rotations, velocities, spins)
    np.testing.assert_allclose(result[0], at(0)[0], atol=1e-12)
    np.testing.assert_allclose(result[1], at(0)[1], atol=1e-12)
    np.testing.assert_allclose(result[2], (p1 - p0) / (2 * dt), atol=1e-6)
    turned = quat.to_scaled_angle_axis(quat.absolute(quat.mul(q1, quat.inv(q0))))
    np.testing.assert_allclose(result[3], turned / (2 * dt), atol=1e-6)


def test_float32_stays_float32_and_lies_frame_by_frame():
    skeleton = tree()
    motion = some_motion(skeleton, 30, np.float32)
    moving = (*motion, motion[0], motion[0])
    for array in (*forward(skeleton, *motion), *backward(skeleton, *motion), *forward_velocities(skeleton, *moving)):
        assert array.dtype == np.float32
        assert array.flags.c_contiguous


def test_a_root_alone_is_a_skeleton():
    skeleton = tree(parents=(-1,))
    motion = some_motion(skeleton, 4)
    np.testing.assert_array_equal(forward(skeleton, *motion)[0], motion[0])
    np.testing.assert_array_equal(backward(skeleton, *motion)[1], motion[1])
    assert skeleton.levels == []


def test_a_part_of_a_skeleton_moves_as_the_whole_does():
    skeleton = tree()
    positions, rotations = some_motion(skeleton, 4)
    joints, part = skeleton.carrying([3, 6])
    assert joints.tolist() == [0, 1, 2, 3, 6] and part.parents.tolist() == [-1, 0, 1, 2, 0]
    np.testing.assert_allclose(forward(part, positions[:, joints], rotations[:, joints])[0],
                               forward(skeleton, positions, rotations)[0][:, joints])


def test_levels_hold_every_joint_after_its_parent():
    skeleton = tree()
    seen = {0}
    for level in skeleton.levels:
        assert {int(parent) for parent in skeleton.parents[level]} <= seen
        seen |= set(level.tolist())
    assert seen == set(range(len(PARENTS)))
    assert len(skeleton.levels) == 3


def test_rest_is_the_rest_pose_in_character_space():
    skeleton = tree()
    world = chained(skeleton, skeleton.positions[None].astype(float), skeleton.rotations[None].astype(float))[0]
    np.testing.assert_allclose(skeleton.rest[0], world[:, :3, 3], atol=1e-5)
    assert skeleton.rest[1].shape == (len(PARENTS), 4)


def test_children_index_and_same_joints():
    skeleton = tree()
    assert skeleton.children(1).tolist() == [2, 4]
    assert skeleton.index("joint 3") == 3
    assert skeleton.same_joints(tree())
    assert not skeleton.same_joints(tree(parents=(-1, 0, 1, 2, 1, 4, 0, 0)))


@pytest.mark.parametrize("changes, words", [
    ({"names": (), "parents": (), "positions": np.zeros((0, 3)), "rotations": np.zeros((0, 4))}, "no joints"),
    ({"names": ["hip", "leg", "hip"]}, 'two joints named "hip"'),
    ({"positions": np.zeros((2, 3))}, "do not fit"),
    ({"parents": (-1, -1, 0)}, "one root"),
    ({"parents": (0, 0, 0)}, "one root"),
    ({"parents": (-1, 2, 0)}, "before its children"),
    ({"parents": (-1, 0, 2)}, "before its children"),
])
def test_what_is_no_tree_is_refused(changes, words):
    abc = {"names": "abc", "parents": (-1, 0, 0), "positions": np.zeros((3, 3)), "rotations": quat.identity((3,))}
    with pytest.raises(MotionError, match=words):
        Skeleton(**{**abc, **changes})


def test_a_skeleton_of_more_joints_than_any_rig_has_is_refused():
    count = 2001
    with pytest.raises(MotionError, match="The skeleton has 2,001 joints, and a skeleton has at most 2,000"):
        Skeleton(list(map(str, range(count))), np.arange(count) - 1, np.zeros((count, 3)), quat.identity((count,)))
