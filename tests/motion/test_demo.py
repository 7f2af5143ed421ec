# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo motion: complete, planted, smooth, and the same every time."""

from itertools import pairwise

import numpy as np
import pytest

from mm_blender.motion import demo, quat
from mm_blender.motion.demo.body import HEEL, SOLE, TOES, upright
from mm_blender.motion.demo.catalogue import plans
from mm_blender.motion.demo.gait import plan
from mm_blender.motion.demo.pose import pose
from mm_blender.motion.skeleton import forward

SKELETON = demo.skeleton()
CLIPS = demo.clips()
NAMES = [clip.name for clip in CLIPS]


@pytest.fixture(scope="module")
def worlds():
    """World positions and rotations of every clip, by name, in double precision."""
    return {clip.name: tuple(array.astype(float) for array in clip.globals()) for clip in CLIPS}


def joint(name):
    return SKELETON.index(name)


def sole_points(positions, rotations, letter):
    """Heel, ball and tip of the toes (F, 3, 3) on the sole of one foot."""
    foot, toe = joint(f"foot.{letter}"), joint(f"toe.{letter}")
    rest = upright()[1]
    heel = quat.rotate(quat.mul(rotations[:, foot], quat.inv(rest[foot])), np.array([0, -HEEL, -SOLE]))
    flat = quat.mul(rotations[:, toe], quat.inv(rest[toe]))
    ball, tip = (quat.rotate(flat, np.array([0, y, -SOLE])) for y in (0, TOES))
    return positions[:, toe, None] + np.stack([heel, ball, tip], axis=1)


def accelerations(positions, rate):
    return np.linalg.norm(np.diff(positions, 2, axis=0), axis=-1) * rate**2


def test_it_is_the_same_every_time():
    for clip, again in zip(CLIPS, demo.clips()):
        assert clip.name == again.name
        # Within rounding: on a busy machine a product is shared among threads in another way each time.
        np.testing.assert_allclose(again.positions, clip.positions, rtol=0, atol=1e-12)
        np.testing.assert_allclose(again.rotations, clip.rotations, rtol=0, atol=1e-12)


def test_it_is_about_eight_minutes_long():
    assert 7 * 60 < sum(len(clip) / clip.rate for clip in CLIPS) < 10 * 60


def test_another_rate_gives_the_same_motion():
    for clip, slow in zip(CLIPS[:12], demo.clips(30)):
        assert slow.rate == 30 and abs(slow.duration - clip.duration) < 0.1
        frames = min(len(slow), (len(clip) + 1) // 2)
        assert np.allclose(slow.positions[:frames, 1], clip.positions[::2][:frames, 1], atol=0.03)


def test_clip_names_are_unique():
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("kind", [
    *(f"{gait}turn {angle}" for gait in ("", "walk ", "run ") for angle in (45, 90, 135, 180)), "strafe",
    "walk arc 1", "walk arc 4", "run arc 2.5", "run arc 9", "backward arc", "crouch arc", "walk start", "run stop"])
def test_what_has_a_side_is_there_both_ways(kind):
    assert {f"{kind} left", f"{kind} right"} <= set(NAMES)


@pytest.mark.parametrize("tag, seconds", [("idle", 30), ("walk", 120), ("run", 90), ("crouch", 30), ("strafe", 25),
                                          ("backward", 20), ("start", 15), ("stop", 15), ("turn", 40)])
def test_every_tag_covers_enough_time(tag, seconds):
    assert sum(clip.tag_mask(tag).sum() / clip.rate for clip in CLIPS) > seconds


def test_left_and_right_turns_turn_left_and_right():
    for clip in CLIPS:
        if "turn" in clip.name and "crouch" not in clip.name:
            *_, angle, way = clip.name.split()
            forward = quat.rotate(clip.rotations[[0, -1], 0], np.array([0, 1.0, 0]))
            turned = np.degrees(quat.yaw(forward[1]) - quat.yaw(forward[0]))
            wanted = float(angle) * (1 if way == "left" else -1)
            assert abs((turned - wanted + 180) % 360 - 180) < 0.5


def test_the_rest_pose_faces_minus_y_and_is_a_person_of_normal_height():
    positions, rotations = SKELETON.rest
    assert np.allclose(quat.rotate(rotations[0], np.array([0, 1.0, 0])), [0, -1, 0], atol=1e-6)
    assert np.allclose(quat.rotate(rotations[0], np.array([0, 0, 1.0])), [0, 0, 1], atol=1e-6)
    assert positions[joint("upper_arm.L"), 0] > 0.1 > -0.1 > positions[joint("upper_arm.R"), 0]
    assert positions[joint("toe.L"), 1] < positions[joint("foot.L"), 1]
    assert 1.7 < demo.tails()[joint("head"), 2] < 1.8


def test_bones_run_along_y_to_their_tails_and_to_their_children():
    positions, rotations = SKELETON.rest
    along = demo.tails() - positions
    along /= np.linalg.norm(along, axis=-1, keepdims=True)
    assert np.allclose(quat.rotate(rotations, np.array([0, 1.0, 0])), along, atol=1e-5)
    for upper, lower in (("thigh", "shin"), ("shin", "foot"), ("foot", "toe"), ("upper_arm", "forearm"),
                         ("forearm", "hand"), ("shoulder", "upper_arm")):
        for letter in "LR":
            tail, head = demo.tails()[joint(f"{upper}.{letter}")], positions[joint(f"{lower}.{letter}")]
            assert np.allclose(tail, head, atol=1e-6)


def test_the_rest_pose_is_symmetric_in_bones_and_rolls():
    positions, rotations = SKELETON.rest
    axes = quat.to_matrix(rotations)
    for name in SKELETON.names:
        other = joint(name.replace(".L", ".R") if ".L" in name else name.replace(".R", ".L"))
        assert np.allclose(positions[joint(name)] * [-1, 1, 1], positions[other], atol=1e-6)
        for axis in (1, 2):
            assert np.allclose(axes[joint(name)][:, axis] * [-1, 1, 1], axes[other][:, axis], atol=1e-5)


def test_the_root_lies_on_the_ground_and_only_yaws(subtests):
    for clip in CLIPS:
        with subtests.test(clip.name):
            assert (clip.positions[:, 0, 2] == 0).all()
            assert np.abs(clip.rotations[:, 0, 1:3]).max() == 0
            assert accelerations(clip.positions[:, 0].astype(float), clip.rate).max() < 14
            assert np.linalg.norm(clip.positions[:, 1, :2], axis=-1).max() < 0.2


def test_bones_keep_their_length(subtests):
    for clip in CLIPS:
        with subtests.test(clip.name):
            others = [j for j in range(len(SKELETON)) if SKELETON.names[j] not in ("root", "hips")]
            assert np.array_equal(clip.positions[:, others], np.broadcast_to(SKELETON.positions[others],
                                                                            (len(clip), len(others), 3)))
            assert np.allclose(np.linalg.norm(clip.rotations, axis=-1), 1, atol=1e-5)


def test_a_foot_in_contact_stands_still_on_the_ground(worlds, subtests):
    for clip in CLIPS:
        with subtests.test(clip.name):
            positions, _ = worlds[clip.name]
            for k, letter in enumerate("LR"):
                ball, contact = positions[:, joint(f"toe.{letter}")], clip.contacts[:, k]
                still = contact[1:] & contact[:-1]
                speed = np.linalg.norm(np.diff(ball, axis=0), axis=-1) * clip.rate
                assert speed[still].max() < 0.001
                assert np.abs(ball[contact, 2] - SOLE).max() < 1e-5


def test_no_part_of_a_foot_goes_into_the_ground(worlds, subtests):
    for clip in CLIPS:
        with subtests.test(clip.name):
            for letter in "LR":
                assert sole_points(*worlds[clip.name], letter)[..., 2].min() > -0.001


def test_a_swinging_foot_leaves_the_ground(worlds, subtests):
    for clip in CLIPS:
        with subtests.test(clip.name):
            positions, _ = worlds[clip.name]
            for k, letter in enumerate("LR"):
                height, contact = positions[:, joint(f"toe.{letter}"), 2], clip.contacts[:, k]
                edges = np.flatnonzero(np.diff(contact.astype(int)))
                for lift, touch in pairwise(edges):
                    if contact[lift] and touch - lift > 6:
                        assert height[lift:touch + 1].max() > SOLE + 0.03


def test_knees_and_elbows_bend_the_right_way_about_their_hinge(subtests):
    for clip in CLIPS:
        with subtests.test(clip.name):
            for letter in "LR":
                knee = quat.to_scaled_angle_axis(quat.absolute(clip.rotations[:, joint(f"shin.{letter}")]))
                assert knee[:, 0].max() < -0.05 and knee[:, 0].min() > -2.7
                assert np.abs(knee[:, 1:]).max() < 0.01
                lower = quat.rotate(clip.rotations[:, joint(f"forearm.{letter}")], np.array([0, 1.0, 0]))
                assert lower[:, 2].min() > 0


def test_there_is_a_flight_phase_in_a_run_and_none_in_a_walk(subtests):
    for clip in CLIPS:
        with subtests.test(clip.name):
            flight = ~clip.contacts.any(axis=-1)
            steady_run = clip.loop and clip.tag_mask("run").all()
            if steady_run:
                assert 0.15 < flight.mean() < 0.6
            if not clip.tag_mask("run").any():
                assert not flight.any()
            if clip.tag_mask("walk").all():
                assert clip.contacts.all(axis=-1).any() and not clip.contacts.all(axis=-1).all()


def test_loops_close(subtests):
    """The last frame shows the first pose again, and the steps around it are like their neighbours."""
    for clip in (clip for clip in CLIPS if clip.loop):
        with subtests.test(clip.name):
            pose = np.concatenate([clip.positions[:, 1:], clip.rotations[:, 1:]], axis=-1).reshape(len(clip), -1)
            assert np.abs(pose[-1] - pose[0]).max() < 1e-4
            steps = np.diff(np.concatenate([pose, pose[1:3]]), axis=0)
            change = np.abs(np.diff(steps, axis=0)).max(-1)
            assert change[-2:].max() <= 1.2 * change[:-2].max() + 1e-5
            assert np.array_equal(clip.contacts[0], clip.contacts[-1]) or clip.contacts[[0, -1]].any()


def test_nothing_jerks(worlds, subtests):
    """Peak accelerations in m/s², all joints but the fast ones of the leg, then those."""
    for clip in CLIPS:
        with subtests.test(clip.name):
            positions, _ = worlds[clip.name]
            peak = accelerations(positions, clip.rate).max(axis=0)
            leg = np.array([name.split(".")[0] in ("shin", "foot", "toe") for name in SKELETON.names])
            running = clip.tag_mask("run").any()
            assert peak[~leg].max() < (60 if running else 30)
            assert peak[leg].max() < (200 if running else 140)


def test_the_legs_reach_the_planned_feet_exactly():
    for name, path, *_ in plans(60.0):
        if name in ("run fast", "walk turn 180 left", "strafe fast right", "crouch arc left", "run stop left"):
            gait, feet = plan(path)
            positions, _ = forward(SKELETON, *pose(path, gait, feet))
            for foot, letter in zip(feet, "LR"):
                miss = positions[path.inside, joint(f"toe.{letter}")] - foot.ball[path.inside]
                assert np.abs(miss).max() < 1e-6


def between_bones(positions, first, second):
    """The least distance (F,) of points along one bone from the other; a bone is a pair of joint names."""
    a, b = (positions[:, joint(name)] for name in first)
    c, d = (positions[:, joint(name)] for name in second)
    points = a[:, None] + (b - a)[:, None] * np.linspace(0, 1, 9)[:, None]
    way = (d - c)[:, None]
    along = np.clip(((points - c[:, None]) * way).sum(-1) / (way**2).sum(-1), 0, 1)
    return np.linalg.norm(points - c[:, None] - along[..., None] * way, axis=-1).min(axis=-1)


def test_legs_do_not_pass_through_each_other(worlds, subtests):
    for clip in CLIPS:
        with subtests.test(clip.name):
            for upper, lower in (("shin", "foot"), ("foot", "toe")):
                left, right = ((f"{upper}.{letter}", f"{lower}.{letter}") for letter in "LR")
                assert between_bones(worlds[clip.name][0], left, right).min() > 0.05


def test_arms_swing_against_the_legs(worlds):
    for name in ("walk", "run"):
        positions, _ = worlds[name]
        ahead = {part: positions[:, joint(f"{part}.L"), 1] - positions[:, joint(f"{part}.R"), 1]
                 for part in ("hand", "foot")}
        assert np.corrcoef(ahead["hand"], ahead["foot"])[0, 1] < -0.7


def test_the_pelvis_is_high_over_the_standing_foot_in_a_walk_and_low_in_a_run(worlds):
    for name, sign in (("walk", 1), ("run", -1)):
        clip = CLIPS[NAMES.index(name)]
        positions, _ = worlds[name]
        under = np.abs(positions[:, joint("foot.L"), 1] - positions[:, 1, 1]) < 0.06
        over_foot = positions[under & clip.contacts[:, 0] & ~clip.contacts[:, 1], 1, 2].mean()
        assert sign * (over_foot - positions[:, 1, 2].mean()) > 0.01
        assert 0.03 < np.ptp(positions[:, 1, 2]) < 0.12


def test_standing_still_breathes_but_does_not_step():
    clip = CLIPS[NAMES.index("idle")]
    assert clip.contacts.all() and np.ptp(clip.rotations[:, joint("chest")], axis=0).max() > 0.003
