# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet stay where they stand, legs reach them, knees do not flip and toes do not sink."""

import numpy as np
import pytest

from mm_blender.motion import demo, quat
from mm_blender.motion.roles import find_character
from mm_blender.motion.skeleton import forward
from mm_blender.playback.feet import Foot, Lock, Under, _pitch
from mm_blender.playback.legs import Legs, swung, turned, turners, turns_of

DT = 1 / 60
GROUND, LOCK = 0.02, Lock()
PLANE = Under(GROUND, GROUND, 0.05, GROUND)


@pytest.fixture(scope="module")
def legs(motion):
    return Legs(motion.database.character, motion.database.fixed, motion.moving)


def some_legs(count=2000, seed=0):
    """Hips, knees, ankles and toes (count, 4, 3) of bent legs."""
    rng = np.random.default_rng(seed)
    hip = np.tile([0.1, 0.0, 0.9], (count, 1))
    knee, ankle = hip + [0, 0.18, -0.37], hip + [0, 0.0, -0.74]
    turn = quat.from_scaled_angle_axis(rng.normal(0, 0.3, (count, 3)))
    knee, ankle = (hip + quat.rotate(turn, point - hip) for point in (knee, ankle))
    return np.stack([hip, knee, ankle, ankle + [0, 0.15, -0.07]], axis=1), rng


def reached(joints, goals, extension=0.985, has_toes=True):
    """Hips, knees, ankles and toes of legs that reach for their goals (count, 3)."""
    swings = np.array([swung(as_played(leg), goal, extension, has_toes) for leg, goal in zip(joints, goals.tolist())])
    bones = quat.rotate(swings, np.diff(joints, axis=1))
    return np.concatenate([joints[:, :1], joints[:, :1] + np.cumsum(bones, axis=1)], axis=1)


def as_played(joints):
    """A leg whose knee bends forward, as Legs.seen_from_root() has it, of its hip, knee, ankle and toe (4, 3)."""
    return [joints[0].tolist(), *np.diff(joints, axis=0).tolist(), (0.0, 1.0, 0.0), joints[3].tolist()]


def lengths(joints):
    return np.linalg.norm(np.diff(joints, axis=1), axis=-1)


def test_the_leg_reaches_exactly_and_keeps_its_lengths_and_its_bend():
    joints, rng = some_legs()
    goals = joints[:, 3] + rng.normal(0, 0.03, (len(joints), 3))
    new = reached(joints, goals)
    within = np.linalg.norm(goals - joints[:, 0], axis=-1) < 0.85
    assert within.mean() > 0.7 and np.abs(new[:, 3] - goals)[within].max() < 1e-6
    np.testing.assert_allclose(lengths(new), lengths(joints), atol=1e-6)
    old_bend, new_bend = (np.cross(each[:, 1] - each[:, 0], each[:, 2] - each[:, 1]) for each in (joints, new))
    assert ((old_bend * new_bend).sum(-1) > 0).all()


def test_the_foot_keeps_its_direction_where_the_leg_is_long_enough():
    joints, _ = some_legs()
    new = reached(joints, joints[:, 3] + [0.01, 0.01, 0.1])
    np.testing.assert_allclose(new[:, 3] - new[:, 2], joints[:, 3] - joints[:, 2], atol=1e-9)


def test_a_leg_that_is_where_it_should_be_is_left_alone():
    joints, _ = some_legs()
    np.testing.assert_allclose(reached(joints, joints[:, 3]), joints, atol=1e-4)


@pytest.mark.parametrize("has_toes", [True, False])
def test_a_leg_is_not_stretched_towards_what_it_cannot_reach(has_toes):
    joints, _ = some_legs(10)
    new = reached(joints, joints[:, 3] - [0, 0, 1.0], has_toes=has_toes)
    np.testing.assert_allclose(lengths(new), lengths(joints), atol=1e-6)
    straight = np.linalg.norm(new[:, 2] - new[:, 0], axis=-1) / lengths(joints)[:, :2].sum(-1)
    assert (straight < 0.9851).all()


def test_the_heel_rises_where_the_leg_is_too_short():
    joints = np.array([[[0, 0.3, 0.92], [0, 0.35, 0.49], [0, 0.1, 0.13], [0, 0.25, 0.06]]])
    goal = np.array([[0, 0.15, 0.02]])
    new = reached(joints, goal)
    flat = goal - joints[:, 3] + joints[:, 2]
    assert new[0, 2, 2] > flat[0, 2] + 0.005
    np.testing.assert_allclose(new[:, 3], goal, atol=1e-6)
    np.testing.assert_allclose(lengths(new), lengths(joints), atol=1e-6)


def test_a_straight_leg_bends_forward():
    joints = np.array([[[0, 0, 0.9], [0, 0, 0.5], [0, 0, 0.1], [0, 0.15, 0.03]]])
    new = reached(joints, joints[:, 3] + [0, 0, 0.1])
    assert new[0, 1, 1] > 0.1


def test_a_leg_that_is_bent_back_a_little_reaches_with_its_knee_in_front():
    joints = np.array([[[0, 0, 0.9], [0.004, y, 0.5], [0, 0, 0.1], [0, 0.15, 0.03]] for y in (-0.03, 0.0, 0.01)])
    knees = reached(joints, joints[:, 3] + [0, 0, 0.05])[:, 1]
    assert knees[:, 1].min() > 0.1 and np.ptp(knees, axis=0).max() < 0.06  # no flip, and none to the side


def test_legs_learn_where_knees_bend_to(motion, legs):
    rotations = legs.rotations(motion.database.rotations[:1])
    rotations[:, :, 0] = quat.identity()
    assert (motion.stance(legs) > 0).all()
    standing = legs.forward(np.zeros((1, 3)), motion.positions[:1], rotations)
    fronts = (standing[0, :, -4, :3, :3] @ legs.fronts[..., None])[..., 0]
    assert fronts[:, 1].min() > 0.9


def test_arms_and_spine_are_carried_hips_and_legs_are_not(motion, legs):
    names = np.array(motion.database.skeleton.names)
    assert {"hand.L", "chest", "head"} <= set(names[legs.carried])
    assert {"root", "hips", "thigh.R", "shin.L", "toe.L"} <= set(names[~legs.carried])


def some_frames(motion, legs, count=400):
    frames = np.linspace(0, len(motion.database) - 1, count).astype(int)
    rotations = motion.database.rotations[frames].copy()
    rotations[:, 0] = quat.from_yaw(np.linspace(-3, 3, count))
    return frames, np.linspace([5, -8, 0.5], [-3, 2, 1], count), rotations


def reaching(legs, chains, frames, goals):
    """The rotations of the chains with legs that reach for goals (K, 2, 3)."""
    turns = [[turns_of(*swung(as_played(leg), goal, 0.985, legs.has_toes)) for leg, goal in zip(*pair)]
             for pair in zip(frames[:, :, -4:, :3, 3], goals.tolist())]
    chains = chains.copy()
    turns_there = np.moveaxis(quat.from_matrix(frames[..., :3, :3]), -1, 0)
    above, own = turns_there[:, :, :, -5:-1], turns_there[:, :, :, -4:]
    chains[:, :, -4:] = turned(turners(above, own), np.array(turns).reshape(-1, 2, 4, 1, 4))[..., 0, :]
    return chains


def test_toes_come_to_their_goals_within_a_tenth_of_a_millimetre(motion, legs):
    frames, roots, rotations = some_frames(motion, legs)
    chains = legs.rotations(rotations)
    before = legs.forward(roots, motion.positions[frames], chains)
    goals = before[:, :, -1, :3, 3] + np.random.default_rng(0).normal(0, 0.03, (len(frames), 2, 3)) * [1, 1, 0.3]
    after = legs.forward(roots, motion.positions[frames], reaching(legs, chains, before, goals))
    reachable = np.linalg.norm(goals - before[:, :, -4, :3, 3], axis=-1) < np.array(legs.lengths) * 0.95
    error = np.linalg.norm(after[:, :, -1, :3, 3] - goals, axis=-1)
    assert reachable.mean() > 0.8 and error[reachable].max() < 1e-4
    np.testing.assert_allclose(after[:, :, -1, :3, :3], before[:, :, -1, :3, :3], atol=1e-5)  # toes keep their turn


def test_full_kinematics_agrees_with_that_of_the_legs(motion, legs):
    frames, roots, rotations = some_frames(motion, legs, 50)
    local = motion.database.local_positions(frames)
    local[:, 0] = roots
    frames = legs.forward(roots, motion.positions[frames], legs.rotations(rotations))
    np.testing.assert_allclose(forward(motion.database.skeleton, local, rotations)[0][:, legs.chain],
                               frames[..., :3, 3], atol=1e-5)


def walk_on(feet, seconds, speed=0.0, contact=True, toe=0.02, start=0.0, lock=LOCK):
    """Both toes of one character carried along at a speed, as the pose has them; where they are shown, each frame."""
    shown = []
    for frame in range(round(seconds / DT)):
        y = start + speed * frame * DT
        for foot in feet:
            foot.release(contact, lock, DT)
        joints = [((x, y, toe + 0.8), (0.0, 0.1, -0.07), (x, y, toe)) for x in (-0.1, 0.1)]
        shown.append([foot.hold(*leg, contact, PLANE, 0.95, lock, DT) for foot, leg in zip(feet, joints)])
    return np.array(shown)


def two_feet():
    return Foot(), Foot()


def test_a_foot_in_contact_stays_while_the_body_goes_on():
    shown = walk_on(two_feet(), 0.3, speed=0.5)
    assert np.ptp(shown[1:], axis=0).max() < 1e-9


def test_a_foot_left_behind_too_far_is_let_go_lifted_and_held_again():
    feet = two_feet()
    walk_on(feet, 0.5, speed=0.36)  # 0.18 m
    assert all(foot.locked for foot in feet)
    held = []
    for frame in range(40):
        shown = walk_on(feet, DT, start=0.18 + 0.36 * frame * DT)
        held.append(all(foot.locked for foot in feet))
    assert not all(held) and held[-1]
    assert shown[0, 0, 1] > 0.18
    lowest = walk_on(two_feet(), 0.5, speed=1.5)[-10:, :, 2]  # dragged too fast to be held: lifted off the ground
    assert lowest.min() > GROUND + 0.02


def test_a_foot_that_is_not_in_contact_is_free():
    shown = walk_on(two_feet(), 0.3, speed=0.5, contact=False)
    np.testing.assert_allclose(np.diff(shown[:, 0, 1]) / DT, 0.5, atol=1e-9)


def test_with_the_lock_off_feet_go_along():
    shown = walk_on(two_feet(), 0.3, speed=0.5, lock=Lock(on=False))
    np.testing.assert_allclose(np.diff(shown[:, 0, 1]) / DT, 0.5, atol=1e-9)


def test_toes_do_not_enter_the_ground():
    assert walk_on(two_feet(), 0.2, contact=False, toe=-0.05)[..., 2].min() >= GROUND


def test_a_foot_that_lands_sinks_to_the_ground_smoothly():
    feet = two_feet()
    heights = walk_on(feet, 0.8, toe=0.08)[:, 0, 2]
    assert heights[0] > 0.07 and heights[-1] < 0.0205 and np.abs(np.diff(heights)).max() < 0.012


def move(foot, toes, hip=(0, 0, 0.85), contact=False):
    """One foot along a way of the toe (F, 3) or with a hip that moves (F, 3); where the toe is shown."""
    shown = []
    for toe, above in zip(*np.broadcast_arrays(toes, hip)):
        foot.release(contact, LOCK, DT)
        shown.append(foot.hold(tuple(above), (0.0, 0.1, -0.07), tuple(toe), contact, PLANE, 0.95, LOCK, DT))
    return np.array(shown)


def test_a_foot_that_dips_into_the_ground_brakes_before_and_leaves_it_softly():
    times = (np.arange(40) - 15) * DT
    heights = np.column_stack([np.zeros((40, 2)), 30 * times ** 2 - 0.1])
    shown = move(Foot(), heights, hip=(0, 0, 0.72))[:, 2]
    assert GROUND <= shown.min() < GROUND + 0.01 and shown[-1] == pytest.approx(heights[-1, 2], abs=0.02)
    # The motion changes by 1 m/s within a frame; stopped at the ground it would be 3.8 m/s, twice.
    assert np.abs(np.diff(shown, 2)).max() / DT < 2


def test_a_straight_leg_brakes_sooner_and_softer_than_a_bent_one():
    heights = np.column_stack([np.zeros((40, 2)), np.maximum(0.2 - 1.2 * np.arange(40) * DT, -0.02)])
    stops = {}
    for name, hip in (("bent", 0.6), ("straight", 0.9)):
        shown = move(Foot(), heights, hip=(0, 0, hip))[:, 2]
        assert GROUND <= shown.min() < GROUND + 0.005
        stops[name] = np.diff(shown, 2).max() / DT ** 2
    # A knee goes several times as far as the foot of a straight leg that is pushed back.
    assert stops["straight"] < 0.6 * stops["bent"]


def test_a_foot_on_its_tip_is_not_turned_all_at_once():
    angles = np.radians(np.arange(60, 90, 2))
    pitches = [_pitch((0, 0.15 * np.cos(angle), -0.15 * np.sin(angle)), -0.1495, 0.0) for angle in angles]
    # To raise the ankle that far, the foot would have to turn by 25 degrees.
    assert np.degrees(max(pitches)) < 16 and np.degrees(pitches[-3]) < 1


def test_a_heel_that_comes_down_fast_brakes_too():
    foot, heels = Foot(), []
    for frame in range(30):
        heel = 0.3 - 1.5 * frame * DT
        foot.hold((0, 0, 0.85), (0, 0.12, 0.05), (0, 0, heel + 0.05), False, PLANE, 0.95, LOCK, DT)
        # Turned by its pitch, the ankle is nearer to the height of the toe.
        heels.append(foot._shown[1] - 0.05 * np.cos(foot.pitch) + 0.12 * np.sin(foot.pitch))
    assert min(heels) > PLANE.ankle - 1e-6 and heels[-1] < PLANE.ankle + 0.01
    assert np.abs(np.diff(heels, 2)).max() / DT < 0.8  # it would be 1.5 m/s within a frame


def test_a_free_foot_is_raised_for_its_heel_and_not_turned():
    # A runner's foot that points down levels off as it comes down: the heel falls faster than it can brake.
    foot, shown, pitches = Foot(), [], []
    for frame in range(12):
        toe, heel = max(0.5 - 4.5 * frame * DT, GROUND), 0.65 - 4.5 * frame * DT
        way = (0.0, 0.1, toe - max(heel, 0.09))
        shown.append(foot.hold((0, 0, 0.85), way, (0, 0, toe), False, PLANE, 0.95, LOCK, DT)[2])
        pitches.append(foot.pitch)
    assert np.abs(np.degrees(pitches)).max() < 0.01 and max(shown[-6:]) > GROUND + 0.005


def test_a_straight_leg_is_left_alone_while_its_toe_comes_down_by_itself():
    toes, heels = (0.102, 0.081, 0.055, 0.031, 0.014, 0.004), (0.048, 0.041, 0.033, 0.026, 0.019, 0.015)
    foot, raised = Foot(), []
    for toe, heel in zip(toes, heels):
        toe, heel = GROUND + toe, PLANE.ankle + heel
        shown = foot.hold((0, 0, heel + 0.82), (0, 0.1, toe - heel), (0, 0.1, toe), False, PLANE, 0.91, LOCK, DT)
        raised.append(shown[2] - toe)
    # By a centimetre within a frame, its knee would be thrown.
    assert max(np.diff(raised)) < 0.006


def test_a_foot_that_is_let_go_is_not_lifted_twice():
    foot = Foot()
    y = np.cumsum(np.append(np.full(15, 1.5), np.full(3, 0.2))) * DT
    way = np.column_stack([np.zeros(18), y, np.full(18, GROUND)])
    move(foot, way[:3])
    shown = move(foot, way[3:], contact=True)
    assert foot.locked and shown[-1, 2] > GROUND + 0.02
    after = move(foot, shown[-1:])  # from where it was shown
    np.testing.assert_allclose(after, shown[-1:], atol=1e-3)


def test_a_foot_is_let_go_before_the_leg_is_stretched():
    hips = np.column_stack([np.zeros(20), 3.0 * np.arange(20) * DT, np.full(20, 0.85)])
    foot, far = Foot(), []
    for hip in hips:
        move(foot, np.array([[0, 0, GROUND]]), hip[None], contact=True)
        far.append(np.linalg.norm(hip - [0, 0, GROUND]) * foot.locked)
    assert 0.88 < max(far) <= 0.95 and not foot.locked


def test_characters_without_toes_are_held_by_their_feet(motion):
    character = find_character(demo.skeleton())
    bare = type(character)(character.skeleton, {role: name for role, name in character.roles.items()
                                                if not role.endswith("toe")}, character.mirror)
    legs = Legs(bare, motion.database.fixed, motion.moving)
    assert not legs.has_toes and legs.turning.shape == (2, 3) and max(legs.lengths) < 0.9
    frames, roots, rotations = some_frames(motion, legs)
    chains = legs.rotations(rotations)
    before = legs.forward(roots, motion.positions[frames], chains)
    np.testing.assert_array_equal(before[:, :, -1], before[:, :, -2])
    goals = before[:, :, -1, :3, 3] + [0.01, 0.02, 0.03]
    after = legs.forward(roots, motion.positions[frames], reaching(legs, chains, before, goals))
    np.testing.assert_allclose(after[:, :, -1, :3, 3], goals, atol=1e-4)
    np.testing.assert_allclose(after[:, :, -2, :3, :3], before[:, :, -2, :3, :3], atol=1e-5)  # nor do feet turn
