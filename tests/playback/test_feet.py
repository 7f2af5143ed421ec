# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet stay where they stand, let go in time, and neither toe nor heel goes through the ground."""

import numpy as np
import pytest

from mm_blender.playback.clearance import pitch
from mm_blender.playback.contact import CLEAR, COMES_DOWN, FREE, HELD, LEFT_BEHIND, OFF, TOO_SHORT, Lock
from mm_blender.playback.feet import Foot
from mm_blender.playback.ground import Under
from mm_blender.playback.limbs import Posed

DT = 1 / 60
GROUND, LOCK = 0.02, Lock()
PLANE = Under(GROUND, GROUND, 0.05, GROUND)
WORLD = 0j, 1 + 0j, 0.0  # a root at the world's own place


def hold(foot, hip, way, toe, contact, longest=0.95, lock=LOCK, pace=9.0):
    """One frame of a foot whose leg has its hip and its toe there, and the way from ankle to toe; where the toe is
    shown. pace: how fast the toe goes over the ground in the motion alone, by which it stands or not without a flag"""
    leg = np.subtract(np.subtract(toe, way), hip)
    limb = Posed(hip, tuple(leg / 2), tuple(leg / 2), way, (0.0, 1.0, 0.0), toe)
    shown = foot.hold(limb, WORLD, contact, (toe, (pace, 0.0, 0.0)), PLANE, longest, lock, DT)
    return shown.place.real, shown.place.imag, shown.height


def walk_on(feet, seconds, speed=0.0, contact=True, toe=0.02, start=0.0, lock=LOCK):
    """Both toes of one character carried along at a speed, as the pose has them; where they are shown, each frame."""
    shown = []
    for frame in range(round(seconds / DT)):
        y = start + speed * frame * DT
        for foot in feet:
            foot.release(lock)
        joints = [((x, y, toe + 0.8), (0.0, 0.1, -0.07), (x, y, toe)) for x in (-0.1, 0.1)]
        shown.append([hold(foot, *leg, contact, lock=lock) for foot, leg in zip(feet, joints)])
    return np.array(shown)


def two_feet():
    return Foot(), Foot()


def test_a_foot_in_contact_stays_while_the_body_goes_on():
    shown = walk_on(two_feet(), 0.3, speed=0.5)
    assert np.ptp(shown[1:], axis=0).max() < 1e-9


def test_a_foot_left_behind_too_far_is_let_go_lifted_and_held_again():
    feet = two_feet()
    walk_on(feet, 0.5, speed=0.76)  # 0.38 m
    assert all(foot.contact.locked for foot in feet)
    states, heights = [], []
    for frame in range(25):
        shown = walk_on(feet, DT, start=0.38 + 0.76 * frame * DT)
        states.append(feet[0].contact.state(LOCK))
        heights.append(shown[0, 0, 2])
    assert [*dict.fromkeys(states)] == [HELD, LEFT_BEHIND] and states[-1] == HELD
    assert shown[0, 0, 1] > 0.38 and GROUND + 0.02 < max(heights) < GROUND + 0.06, "it steps as people do"
    lowest = walk_on(two_feet(), 0.5, speed=2.5)[-10:, :, 2]  # dragged too fast to be held: lifted off the ground
    assert lowest.min() > GROUND + 0.02


def test_a_foot_peels_off_upwards_before_forwards():
    foot, times = Foot(), np.arange(30) * DT
    heights = GROUND + np.maximum(times - 0.2, 0) ** 2 * 8  # it lifts, and goes forward meanwhile
    way = np.column_stack([0 * times, np.maximum(times - 0.2, 0) ** 2 * 10, heights])
    move(foot, way[:10], contact=True)
    shown = move(foot, way[10:])
    stays = np.abs(shown[:, 1] - shown[0, 1]) < 1e-9
    went = stays.argmin()
    assert went > 5 and shown[went, 2] > GROUND + CLEAR, "it goes nowhere until it is clear of the ground"
    assert shown[went - 1, 2] == pytest.approx(heights[10 + went - 1], abs=0.005), "and rises with the motion"
    assert not foot.contact.locked and foot.contact.state(LOCK) == FREE


def test_a_foot_that_lies_still_on_the_ground_stands_whatever_its_flag_says():
    foot = Foot()
    for pace, held in ((1.0, False), (0.1, True)):
        hold(foot, (0, 0, 0.85), (0, 0.1, -0.07), (0, 0, GROUND + 0.002), False, pace=pace)
        assert foot.contact.locked is held, pace
    high = Foot()
    hold(high, (0, 0, 0.85), (0, 0.1, -0.07), (0, 0, GROUND + 0.01), False, pace=0.1)
    assert not high.contact.locked


def test_a_jump_to_a_frame_without_the_flag_lets_no_foot_go_that_is_on_the_ground():
    feet = two_feet()
    shown = walk_on(feet, 0.2)
    after = walk_on(feet, 0.2, contact=False, start=0.05)  # the motion has it elsewhere, and as low
    assert all(foot.contact.locked for foot in feet) and np.abs(after[:, :, 1] - shown[-1, :, 1]).max() < 1e-9


def test_it_is_known_why_a_foot_is_not_held():
    falls = Foot()
    hold(falls, (0, 0, 0.9), (0, 0.1, -0.07), (0, 0, 0.1), True)
    hold(falls, (0, 0, 0.9), (0, 0.1, -0.07), (0, 0.1, 0.08), True)
    assert falls.contact.state(LOCK) == HELD  # the first frame had no speed
    fast = Foot()
    move(fast, np.array([[0, 0, 0.1], [0, 0.1, 0.09]]))
    move(fast, np.array([[0, 0.2, 0.08]]), contact=True)
    assert fast.contact.state(LOCK) == COMES_DOWN and fast.contact.state(Lock(on=False)) == OFF
    short, hips = Foot(), np.column_stack([np.zeros(12), 3.0 * np.arange(12) * DT, np.full(12, 0.85)])
    move(short, np.array([[0, 0, GROUND]]), hip=hips, contact=True)
    assert short.contact.state(LOCK) == TOO_SHORT


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
        foot.release(LOCK)
        shown.append(hold(foot, tuple(above), (0.0, 0.1, -0.07), tuple(toe), contact))
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
    pitches = [pitch((0, 0.15 * np.cos(angle), -0.15 * np.sin(angle)), -0.1495, 0.0) for angle in angles]
    # To raise the ankle that far, the foot would have to turn by 25 degrees.
    assert np.degrees(max(pitches)) < 16 and np.degrees(pitches[-3]) < 1


def test_a_heel_that_comes_down_fast_brakes_too():
    foot, heels = Foot(), []
    for frame in range(30):
        heel = 0.3 - 1.5 * frame * DT
        hold(foot, (0, 0, 0.85), (0, 0.12, 0.05), (0, 0, heel + 0.05), False)
        # Turned by its pitch, the ankle is nearer to the height of the toe.
        heels.append(foot.toe.height - 0.05 * np.cos(foot.pitch) + 0.12 * np.sin(foot.pitch))
    assert min(heels) > PLANE.ankle - 1e-6 and heels[-1] < PLANE.ankle + 0.01
    assert np.abs(np.diff(heels, 2)).max() / DT < 0.8  # it would be 1.5 m/s within a frame


def test_a_free_foot_is_raised_for_its_heel_and_not_turned():
    # A runner's foot that points down levels off as it comes down: the heel falls faster than it can brake.
    foot, shown, pitches = Foot(), [], []
    for frame in range(12):
        toe, heel = max(0.5 - 4.5 * frame * DT, GROUND), 0.65 - 4.5 * frame * DT
        way = (0.0, 0.1, toe - max(heel, 0.09))
        shown.append(hold(foot, (0, 0, 0.85), way, (0, 0, toe), False)[2])
        pitches.append(foot.pitch)
    assert np.abs(np.degrees(pitches)).max() < 0.01 and max(shown[-6:]) > GROUND + 0.005


def test_a_straight_leg_is_left_alone_while_its_toe_comes_down_by_itself():
    toes, heels = (0.102, 0.081, 0.055, 0.031, 0.014, 0.004), (0.048, 0.041, 0.033, 0.026, 0.019, 0.015)
    foot, raised = Foot(), []
    for toe, heel in zip(toes, heels):
        toe, heel = GROUND + toe, PLANE.ankle + heel
        shown = hold(foot, (0, 0, heel + 0.82), (0, 0.1, toe - heel), (0, 0.1, toe), False, 0.91)
        raised.append(shown[2] - toe)
    # By a centimetre within a frame, its knee would be thrown.
    assert max(np.diff(raised)) < 0.006


def test_a_foot_is_let_go_before_the_leg_is_stretched():
    hips = np.column_stack([np.zeros(20), 3.0 * np.arange(20) * DT, np.full(20, 0.85)])
    foot, far = Foot(), []
    for hip in hips:
        move(foot, np.array([[0, 0, GROUND]]), hip[None], contact=True)
        far.append(np.linalg.norm(hip - [0, 0, GROUND]) * foot.contact.locked)
    assert 0.88 < max(far) <= 0.95 and not foot.contact.locked
