# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs of a whole character: where they are, how they stand, and that they come to where they should."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.motion import demo, quat
from mm_blender.motion.character import Character
from mm_blender.motion.roles import find_character
from mm_blender.motion.skeleton import Skeleton, forward
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
    down = turns[:, :, 0, 0]
    for part in range(4):
        down = quat.mul(down, shown[:, :, part])
    np.testing.assert_allclose(quat.absolute(down), quat.absolute(turns[:, :, 1, 3]), atol=1e-5)


def test_limbs_learn_where_knees_bend_to(motion, limbs):
    assert (motion.stance(limbs) > 0).all()
    _, turns = limbs.seen_from_root(motion.positions[:1], motion.database.rotations[:1])
    assert quat.rotate(turns[0, :, 1, 0], limbs.fronts)[:, 1].min() > 0.9


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


def in_between(motion, extra):
    """The demo's skeleton with further joints in the middle of the bones above these, each turned and one of them
    bent; and the poses of all its joints."""
    skeleton, names, parents, places, turns = motion.database.skeleton, [], [], [], []
    _, rotations, *_ = some_frames(motion, 20)
    positions = np.repeat(motion.database.fixed[None], len(rotations), axis=0)
    positions[:, motion.database.moving[1:]] = some_frames(motion, 20)[0][:, -len(motion.database.moving[1:]):]
    tilt, poses = quat.normalize(np.array([1.0, 0.3, -0.2, 0.1])), []
    for joint, name in enumerate(skeleton.names):
        parent = -1 if joint == 0 else names.index(skeleton.names[skeleton.parents[joint]])
        place, turn = positions[:, joint], rotations[:, joint]
        if name in extra:
            names.append(f"twist of {name}")
            parents.append(parent)
            poses.append((place / 2, np.broadcast_to(tilt, turn.shape)))
            parent, place, turn = len(names) - 1, quat.inv_rotate(tilt, place / 2), quat.mul(quat.inv(tilt), turn)
        names.append(name)
        parents.append(parent)
        poses.append((place, turn))
    places, turns = (np.stack(part, axis=1).astype(np.float32) for part in zip(*poses))
    return Skeleton(names, parents, places[0], turns[0]), places, turns


def test_what_lies_between_the_joints_of_a_leg_keeps_its_angles(motion, limbs):
    roles = motion.database.character.roles
    extra = {roles["left_thigh"], roles["left_shin"], roles["right_foot"], roles["right_toe"]}
    skeleton, places, turns = in_between(motion, extra)
    character = Character(skeleton, roles)
    found = Limbs(character, places[0], np.arange(len(skeleton)))
    assert [limb.name for limb in character.limbs] == ["left leg", "right leg"]
    seen, before = found.seen_from_root(places, turns)
    plain, _ = limbs.seen_from_root(*some_frames(motion, 20)[:2])
    np.testing.assert_allclose(seen[:, :, [0, 1, 2, 3, 5]], plain[:, :, [0, 1, 2, 3, 5]], atol=1e-5)
    found.fronts = limbs.fronts
    by = np.array([0.02, 0.03, 0.01])
    swings = [[(NO_TURN, *reach(Posed(*limb), tuple(np.add(limb[5], by)), 0.985), NO_TURN) for limb in each]
              for each in found.seen_from_root(places, turns)[0].tolist()]
    after = turns.copy()
    after[:, found.joints.ravel()] = turned(np.array(swings), before).reshape(len(after), -1, 4)
    moved, _ = forward(skeleton, np.concatenate([np.zeros_like(places[:, :1]), places[:, 1:]], axis=1),
                       np.concatenate([np.broadcast_to(quat.identity(), after[:, :1].shape), after[:, 1:]], axis=1))
    np.testing.assert_allclose(moved[:, found.joints[:, 3]], seen[:, :, 5] + by, atol=2e-4)
    between = [skeleton.index(f"twist of {name}") for name in extra]
    np.testing.assert_array_equal(after[:, between], turns[:, between])


def test_a_foot_that_hangs_from_elsewhere_is_not_held(motion):
    skeleton, roles = motion.database.skeleton, motion.database.character.roles
    parents = skeleton.parents.copy()
    parents[skeleton.index(roles["left_foot"])] = 0
    loose = Character(replace(skeleton, parents=parents), roles)
    assert [limb.bends for limb in loose.limbs] == [False, True]
    assert (Limbs(loose, motion.database.fixed, motion.moving).joints[0] == -1).all()
    nothing = Character(skeleton, {"hips": roles["hips"]})
    seen, turns = Limbs(nothing, motion.database.fixed, motion.moving).seen_from_root(*some_frames(motion, 5)[:2])
    assert seen.shape == (5, 0, 6, 3) and turned(np.zeros((5, 0, 5, 4)), turns).shape == (5, 0, 4, 4)
