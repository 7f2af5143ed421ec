# SPDX-License-Identifier: GPL-3.0-or-later
"""Inertialisation: nothing jumps, and nothing is left of the old motion after a while."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.motion import quat
from mm_blender.playback.inertialise import KINDS, Blend, Inertia, quintic, spring_speed_limit
from mm_blender.playback.pose import Pose

DT = 1 / 60


class Playing:
    """One frame after the other."""

    def __init__(self, pose, blend=None, slower=None):
        self.inertia, self.last, self.earlier = Inertia(pose, blend, slower), pose, pose

    def transition(self, who, new, dt):
        who = np.arange(len(new.travel))[who]
        before = (np.stack([getattr(pose, name)[who] for pose in (self.earlier, self.last)], axis=1)
                  for name in ("rotations", "positions", "travel"))
        self.inertia.transition(who, *before, new.of(who), dt)

    def resume(self, who, joints, shown, shown_before, new, dt):
        self.last.rotations[who, joints], self.earlier.rotations[who, joints] = shown, shown_before
        self.inertia.resume(who, joints, np.stack([shown_before, shown]), new, dt)

    def apply(self, pose, dt):
        who = range(len(pose.travel))
        rows = self.inertia.over(who, *(part[:, None] for part in (pose.positions, pose.rotations, pose.travel)), dt)
        self.inertia.go_on(who, [1] * len(who), dt)
        positions, rotations, travel = (part[:, 0] for part in rows)
        self.earlier, self.last = self.last, replace(pose, positions=positions, rotations=rotations, travel=travel)
        return self.last


def moving(place, velocity, angle, spin):
    """Two characters that move steadily: a pose for each time."""
    def at(time):
        axis = np.array([0.6, 0, 0.8])
        turn = np.broadcast_to((angle + spin * time) * axis, (2, 4, 3)).astype(np.float32)
        return Pose(np.full((2, 1, 3), place + velocity * time, np.float32), quat.from_scaled_angle_axis(turn),
                    np.full((2, 1, 3), velocity, np.float32),
                    np.broadcast_to(spin * axis, (2, 4, 3)).astype(np.float32),
                    np.full((2, 3), velocity, np.float32), np.zeros((2, 2), bool))
    return at


OLD, NEW, THIRD = moving(0.0, 1.0, 0.2, 2.0), moving(0.5, -0.8, 1.2, -1.0), moving(-0.4, 0.3, -0.6, 0.5)


def played(blend, jumps, frames=60, changes=()):
    """What is shown when motions begin, and Blends change, at the given frames."""
    inertia, source, poses = Playing(OLD(0), blend), OLD, []
    for frame in range(frames):
        if frame in changes:
            inertia.inertia.change(changes[frame])
        if frame in jumps:
            source = jumps[frame]
            inertia.transition(np.array([True, False]), source(frame * DT), DT)
        poses.append(inertia.apply(_first_only(source(frame * DT), OLD(frame * DT)), DT))
    return poses


def _first_only(new, old):
    for name in ("positions", "rotations", "velocities", "spins", "travel"):
        getattr(new, name)[1] = getattr(old, name)[1]
    return new


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("jumps", [{20: NEW}, {20: NEW, 24: THIRD}, {20: NEW, 21: OLD, 22: THIRD}])
def test_nothing_jumps_also_where_transitions_overlap(kind, jumps):
    assert_smooth(played(Blend(kind), jumps))


@pytest.mark.parametrize("signs", [(1, -1), (-1, 1), (-1, -1)])
def test_a_rotation_and_its_negative_are_the_same_before_a_jump(signs):
    shown = []
    for each in ((1, 1), signs):
        inertia, new = Inertia(OLD(0)), NEW(2 * DT)
        before = [np.stack([getattr(OLD(time), name) for time in (0, DT)], axis=1)
                  for name in ("rotations", "positions", "travel")]
        before[0] *= np.array(each, dtype=np.float32).reshape(2, 1, 1)
        inertia.transition([0, 1], *before, new, DT)
        coming = (part[:, None] for part in (new.positions, new.rotations, new.travel))
        shown.append(quat.absolute(inertia.over([0, 1], *coming, DT)[1]))
    np.testing.assert_allclose(*shown, atol=1e-6)


@pytest.mark.parametrize("before, after", [
    (Blend("spring"), Blend("quintic")), (Blend("quintic"), Blend("spring")), (Blend(), Blend(halflife=0.3)),
    (Blend("quintic", duration=0.6), Blend("quintic", duration=0.3)),
    (Blend("quintic", duration=0.4), Blend("quintic", duration=0.6))])
@pytest.mark.parametrize("frame", [22, 30])
def test_nothing_jumps_where_the_artist_chooses_another_transition(before, after, frame):
    assert_smooth(played(before, {20: NEW}, changes={frame: after}))


def assert_smooth(poses):
    places = np.array([pose.positions[0, 0, 0] for pose in poses])
    turns = np.array([pose.rotations[0, 0] for pose in poses])
    # Without inertialisation the velocity would change by 0.5 m / DT = 30 m/s, and 60 rad/s.
    assert np.abs(np.diff(places, 2)).max() / DT < 3.5
    spins = quat.angular_velocity(turns, DT)
    assert np.linalg.norm(np.diff(spins, axis=0), axis=-1).max() < 8
    travel = np.array([pose.travel[0, 0] for pose in poses])
    assert np.abs(np.diff(travel)).max() < 0.4


def turning(axis, start, spin):
    """A character of one joint that turns about an axis after a start."""
    def at(time):
        axes = np.broadcast_to(np.array(axis) * spin, (1, 1, 3)).astype(np.float32)
        rotations = quat.mul(quat.from_scaled_angle_axis(axes * np.float32(time)),
                             quat.from_scaled_angle_axis(np.array([[start]], np.float32)))
        return Pose(np.zeros((1, 0, 3), np.float32), rotations, np.zeros((1, 0, 3), np.float32), axes,
                    np.zeros((1, 3), np.float32), np.zeros((1, 2), bool))
    return at


SWING, REACH = turning((1.0, 0, 0), (0, 0, 0), 6.0), turning((0, 1.0, 0), (0, 0, 2.0), -7.0)


def sharpest(rotations):
    """The largest change of angular velocity (rad/s) from one frame to the next."""
    spins = quat.angular_velocity(np.array(rotations)[:, 0, 0], DT)
    return np.linalg.norm(np.diff(spins, axis=0), axis=-1).max()


def test_motions_that_turn_about_other_axes_meet_without_a_jerk():
    inertia = Playing(SWING(0))
    shown = [inertia.apply(SWING(frame * DT), DT).rotations for frame in range(10)]
    inertia.transition(np.array([0]), REACH(10 * DT), DT)
    shown += [inertia.apply(REACH(frame * DT), DT).rotations for frame in range(10, 60)]
    # In the first frame the spring has pulled for half as long as in the second. Were the spins of both subtracted, it
    # would be 8.9 rad/s.
    assert sharpest(shown[:11]) < 6 and sharpest(shown) < 9


def test_joints_that_were_shown_otherwise_go_on_from_there_also_where_a_jump_follows_at_once():
    inertia = Playing(SWING(0))
    for frame in range(10):
        inertia.apply(SWING(frame * DT), DT)
    held = quat.identity((1,))
    inertia.resume(0, np.array([0]), held, held, SWING(10 * DT), DT)
    shown = [held[None]] * 2 + [inertia.apply(SWING(10 * DT), DT).rotations]
    inertia.transition(np.array([0]), SWING(0), DT)
    shown += [inertia.apply(SWING(frame * DT), DT).rotations for frame in range(30)]
    assert sharpest(shown) < 3


def test_some_joints_may_take_longer():
    old, new = turning((1.0, 0, 0), (0.5, 0, 0), 0.0)(0), turning((1.0, 0, 0), (0, 0, 0), 0.0)(0)
    angles = {}
    for slower in (1.0, 2.0):
        inertia = Playing(old, slower=np.array([slower]))
        inertia.transition(np.array([0]), new, DT)
        angles[slower] = [float(inertia.apply(new, DT).rotations[0, 0, 1]) for _ in range(24)]
    np.testing.assert_allclose(angles[2.0][1::2], angles[1.0][:12], atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_frame_goes_on_as_the_old_motion_did(kind):
    poses = played(Blend(kind), {20: NEW})
    assert poses[20].positions[0, 0, 0] == pytest.approx(OLD(20 * DT).positions[0, 0, 0], abs=0.012)
    turn = quat.mul(poses[20].rotations[0, 0], quat.inv(OLD(20 * DT).rotations[0, 0]))
    assert np.linalg.norm(quat.to_scaled_angle_axis(quat.absolute(turn))) < 0.025  # it would be 0.05 without its spin


@pytest.mark.parametrize("kind", KINDS)
def test_several_frames_ahead_are_those_that_come_one_by_one(kind):
    inertia, start, frames = Playing(OLD(0), Blend(kind)), NEW(0), range(1, 9)
    inertia.transition(np.array([0, 1]), start, DT)
    sources = [NEW(frame * DT) for frame in frames]
    ahead = inertia.inertia.over([0, 1], *(np.stack([getattr(pose, name) for pose in sources], axis=1)
                                           for name in ("positions", "rotations", "travel")), DT)
    for frame, source in enumerate(sources):
        pose = inertia.apply(source, DT)
        for rows, now in zip(ahead, (pose.positions, pose.rotations, pose.travel)):
            np.testing.assert_allclose(rows[:, frame], now, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_of_the_old_motion_later(kind):
    pose, new = played(Blend(kind), {20: NEW})[-1], NEW(59 * DT)
    np.testing.assert_allclose(pose.positions[0], new.positions[0], atol=5e-3 if kind == "spring" else 1e-6)
    turn = quat.mul(pose.rotations[0], quat.inv(new.rotations[0]))
    assert np.linalg.norm(quat.to_scaled_angle_axis(quat.absolute(turn)), axis=-1).max() < 0.02


def test_who_does_not_jump_is_left_alone():
    pose = played(Blend(), {20: NEW})[30]
    np.testing.assert_allclose(pose.positions[1], OLD(30 * DT).positions[1], atol=1e-6)


def test_a_quintic_begins_and_ends_as_it_should():
    x0, v0 = np.array([0.3, 0.3, -0.2, 0.0]), np.array([0.5, -1.5, 0.4, 1.0])
    times = np.linspace(0, 0.4, 401)
    offsets, speeds = np.array([quintic(x0, v0, time, 0.4) for time in times]).swapaxes(0, 1)
    np.testing.assert_allclose(offsets[0], x0)
    np.testing.assert_allclose(speeds[0], v0)
    np.testing.assert_allclose(offsets[-1], 0, atol=1e-12)
    np.testing.assert_allclose(np.gradient(offsets, times, axis=0)[1:-1], speeds[1:-1], atol=0.02)


def test_without_overshoot_no_offset_passes_zero():
    rng = np.random.default_rng(1)
    x0, v0 = rng.normal(0, 0.3, 500), rng.normal(0, 4, 500)
    lowest = {}
    for overshoot in (False, True):
        sides = [quintic(x0, v0, time, 0.4, overshoot)[0] * np.sign(x0) for time in np.linspace(0, 0.4, 200)]
        lowest[overshoot] = np.min(sides)
    assert lowest[False] > -1e-9 and lowest[True] < -0.05


@pytest.mark.parametrize("overshoot", [False, True])
def test_a_spring_without_overshoot_is_no_faster_than_it_can_stop(overshoot):
    fast = moving(0.1, -8.0, 0.0, 0.0)  # what was played is 0.1 m behind and comes 9 m/s faster
    inertia = Playing(OLD(0), Blend("spring", overshoot=overshoot))
    for frame in (-1, 0):
        inertia.apply(OLD(frame * DT), DT)
    inertia.transition(np.array([0]), fast(DT), DT)
    offsets = [inertia.apply(fast(0), DT).positions[0, 0, 0] - 0.1 for _ in range(40)]
    assert (max(offsets) > 0.02) == overshoot and (max(offsets) <= 1e-6) != overshoot


def test_the_speed_limit_is_only_towards_zero():
    speed = spring_speed_limit(np.array([0.1, -0.1, 0.1]), np.array([-50.0, 50.0, 50.0]), 0.1)
    assert abs(speed[0]) < 1.5 and abs(speed[1]) < 1.5 and speed[2] == 50
