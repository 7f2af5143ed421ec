# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs of a whole character: where they are, how they stand, and that they come to where they should."""

import numpy as np
import pytest

from mm_blender.motion import demo, quat
from mm_blender.motion.roles import find_character
from mm_blender.playback.limbs import Limbs, Posed, turned
from mm_blender.playback.two_bone import NO_TURN, reach
from tests.playback.shown import joints_at


@pytest.fixture(scope="module")
def limbs(motion):
    found = Limbs(motion.database.character, motion.database.fixed, motion.moving)
    motion.stance(found)
    return found


def some_frames(motion, count=400):
    """Positions of moving joints and rotations of some frames, with roots and yaws."""
    frames = np.linspace(0, len(motion.database) - 1, count).astype(int)
    roots = np.linspace([5, -8, 0.5], [-3, 2, 1], count)
    return motion.positions[frames], motion.database.rotations[frames], roots, np.linspace(-3, 3, count)


def joints_after(motion, limbs, goals, poses):
    """(K, J, 3) the joints of poses whose toes were asked to come so far (K, L, 3) from where they are, seen from the
    root."""
    positions, rotations, roots, yaws = poses
    seen, turns = limbs.seen_from_root(positions, rotations)
    swings = [[(NO_TURN, *reach(limb, np.add(limb.toe, by), 0.985, 0.0, foot), NO_TURN)
               for limb, by, foot in zip([Posed(*limb) for limb in each], by, limbs.turns_foot)]
              for each, by in zip(seen.tolist(), goals)]
    rotations = rotations.copy()
    used = limbs.joints >= 0
    rotations[:, limbs.joints[used]] = turned(np.array(swings), turns)[:, used]
    return joints_at(motion.database, motion.moving, roots, yaws, positions, rotations)


def test_limbs_are_where_the_whole_skeleton_has_them(motion, limbs):
    positions, rotations, roots, yaws = some_frames(motion, 50)
    posed = Posed(*np.moveaxis(limbs.seen_from_root(positions, rotations)[0], -2, 0))
    joints = joints_at(motion.database, motion.moving, roots, yaws, positions, rotations)
    joints = quat.inv_rotate(quat.from_yaw(yaws)[:, None], joints - roots[:, None])
    hip, knee, ankle, toe = np.moveaxis(joints[:, limbs.joints], 2, 0)
    for found, expected in ((posed.hip, hip), (posed.thigh, knee - hip), (posed.shin, ankle - knee),
                            (posed.foot, toe - ankle), (posed.toe, toe)):
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_toes_come_to_their_goals_within_a_tenth_of_a_millimetre_and_keep_their_direction(motion, limbs):
    poses = some_frames(motion)
    count = len(poses[0])
    ways = np.random.default_rng(0).normal(0, 0.03, (count, 2, 3)) * [1, 1, 0.3]
    before, after = (joints_after(motion, limbs, way, poses) for way in (np.zeros((count, 2, 3)), ways))
    goals = before[:, limbs.joints[:, 3]] + quat.rotate(quat.from_yaw(poses[3])[:, None], ways)
    far = np.linalg.norm(goals - before[:, limbs.joints[:, 0]], axis=-1)
    error = np.linalg.norm(after[:, limbs.joints[:, 3]] - goals, axis=-1)
    reachable = far < np.array(limbs.lengths) * 0.95
    assert reachable.mean() > 0.8 and error[reachable].max() < 1e-4


def test_toes_keep_their_direction(motion, limbs):
    positions, rotations, *_ = some_frames(motion, 50)
    _, turns = limbs.seen_from_root(positions, rotations)
    swings = quat.normalize(np.random.default_rng(0).normal(0, 1, (50, 2, 5, 4)))
    swings[:, :, [0, 4]] = NO_TURN
    shown = turned(swings, turns)
    down = turns[:, :, 0]
    for part in range(4):
        down = quat.mul(down, shown[:, :, part])
    np.testing.assert_allclose(quat.absolute(down), quat.absolute(turns[:, :, 4]), atol=1e-5)


def test_limbs_learn_where_knees_bend_to(motion, limbs):
    assert (motion.stance(limbs) > 0).all()
    _, turns = limbs.seen_from_root(motion.positions[:1], motion.database.rotations[:1])
    assert quat.rotate(turns[0, :, 1], limbs.fronts)[:, 1].min() > 0.9


def test_arms_and_spine_are_carried_hips_and_legs_are_not(motion, limbs):
    names = np.array(motion.database.skeleton.names)
    assert {"hand.L", "chest", "head"} <= set(names[limbs.carried])
    assert {"root", "hips", "thigh.R", "shin.L", "toe.L"} <= set(names[~limbs.carried])


def test_characters_without_toes_are_held_by_their_feet(motion):
    character = find_character(demo.skeleton())
    bare = type(character)(character.skeleton, {role: name for role, name in character.roles.items()
                                                if not role.endswith("toe")}, character.mirror)
    limbs = Limbs(bare, motion.database.fixed, motion.moving)
    assert not any(limbs.turns_foot) and (limbs.joints[:, 3] == -1).all() and max(limbs.lengths) < 0.9
    poses = some_frames(motion)
    count = len(poses[0])
    way = np.array([0.01, 0.02, 0.03])
    before, after = (joints_after(motion, limbs, np.tile(each, (count, 2, 1)), poses) for each in (0 * way, way))
    moved = after[:, limbs.joints[:, 2]] - before[:, limbs.joints[:, 2]]
    turned_way = quat.rotate(quat.from_yaw(poses[3]), way)[:, None]
    np.testing.assert_allclose(moved, np.broadcast_to(turned_way, moved.shape), atol=1e-4)
