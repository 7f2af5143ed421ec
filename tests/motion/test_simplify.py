# SPDX-License-Identifier: GPL-3.0-or-later
"""Few keys with curves between them show the same motion within the tolerance, and feet that stand do not slide."""

import numpy as np
import pytest

from mm_blender.control.stick import Recording
from mm_blender.evaluate import courses
from mm_blender.matching import bake, schema
from mm_blender.motion import bvh, quat, simplify
from mm_blender.motion.clip import Clip
from mm_blender.motion.roles import find_character
from mm_blender.motion.simplify import Curves
from mm_blender.motion.skeleton import Skeleton, forward
from mm_blender.playback.drive import drive
from mm_blender.prepare.recipe import Recipe
from mm_blender.prepare.resample import resample
from mm_blender.steps import run

TOLERANCE = 0.005


@pytest.fixture(scope="module")
def demo_take(demo_database):
    return _take(demo_database)


@pytest.fixture(scope="module")
def lafan_take(lafan1):
    def read(path):
        yield 0.0
        return bvh.read(path, 0.01)

    paths = [lafan1 / "walk1_subject1_walk2_filtered.bvh"]
    sources = [bake.Source(path.stem, lambda path=path: read(path), path.stem) for path in paths]
    skeleton = bvh.read(paths[0], 0.01).skeleton
    return _take(run(bake.bake(sources, find_character(skeleton), schema.load("locomotion"), Recipe())))


@pytest.mark.parametrize("name, most", [("demo_take", 0.2), ("lafan_take", 0.35)])
def test_a_driven_take_stays_within_the_tolerance_with_few_keys(request, name, most):
    clip, planted, toes = request.getfixturevalue(name)
    fine, finest = (resample(clip, clip.rate * finer) for finer in (2, 4))
    curves = _curves(fine)
    kept = simplify.simplify(fine, curves, TOLERANCE, every=2)
    assert kept[0][:, ::2].mean() < most and not kept[0][:, 1::2].any()
    shown = _shown(fine, curves, kept, np.arange(len(finest)) / 2)
    assert np.linalg.norm(shown - finest.globals()[0], axis=-1).max() <= TOLERANCE
    held = planted[1:] & planted[:-1]
    slide = np.linalg.norm(np.diff(shown[::4, toes, :2], axis=0), axis=-1)[held] * clip.rate
    assert held.mean() > 0.2 and slide.mean() < 0.01


def test_a_larger_tolerance_needs_fewer_keys(demo_take):
    clip = demo_take[0].slice(0, 240)
    counts = [simplify.simplify(clip, _curves(clip), tolerance)[0].sum() for tolerance in (0.001, 0.005, 0.02)]
    assert counts[0] > 1.3 * counts[1] > 1.3 * 1.3 * counts[2]


def test_errors_along_a_chain_do_not_add_up():
    clip = _chain()
    curves = _curves(clip)
    kept = simplify.simplify(clip, curves, TOLERANCE)
    apart = np.linalg.norm(_shown(clip, curves, kept, np.arange(len(clip))) - clip.globals()[0], axis=-1)
    assert TOLERANCE / 3 < apart.max() <= TOLERANCE


def test_what_does_not_move_keeps_its_ends_only():
    clip = _chain()
    rotations = clip.rotations.copy()
    rotations[:, 3] = rotations[0, 3]
    kept = simplify.simplify(clip.with_changes(rotations=rotations), _curves(clip.with_changes(rotations=rotations)),
                             TOLERANCE)
    assert np.flatnonzero(kept[0][3]).tolist() == [0, len(clip) - 1]


def test_keys_lie_on_whole_frames_also_where_the_motion_is_known_between_them():
    clip = _chain()
    kept, *_ = simplify.simplify(clip, _curves(clip), TOLERANCE, every=4)
    assert set(np.flatnonzero(kept.any(0)) % 4) == {0}
    assert kept[:, [0, -1]].all() and 4 < kept.sum(1).min() < len(clip) / 4


def test_straight_keys_are_needed_where_something_changes():
    values = np.array([[0, 0], [1, 0], [1, 0], [1, 0], [1, 0], [1, 2], [2, 2], [2, 2]])
    assert np.flatnonzero(simplify.changing(values)).tolist() == [0, 1, 4, 5, 6, 7]
    assert simplify.changing(np.ones((5, 3))).tolist() == [True, False, False, False, True]
    assert simplify.changing(np.ones((1, 3))).tolist() == [True]


@pytest.mark.parametrize("value", np.linspace(0.5, 0.50001, 7))
def test_rounding_does_not_count_as_change_and_slow_drift_does(value):
    rng = np.random.default_rng(0)
    rests = value + 2e-7 * rng.standard_normal((100, 1))
    assert np.flatnonzero(simplify.changing(rests)).tolist() == [0, 99]
    drifts = value + 1e-6 * np.arange(1000)[:, None]
    keys = np.flatnonzero(simplify.changing(drifts))
    assert len(keys) > 100 and np.diff(keys).max() <= 10


def _take(database):
    """Ten seconds of going anywhere: the clip, whether each foot is held, and the toes' joints."""
    course = courses.random_walk(10.0)
    clip, trace = drive(database, Recording([*course.times, 10.0], [*course.values, course.values[-1]]))
    character = database.character
    return clip, trace.planted, [character.joint(role) for role in character.contact_roles()]


def _chain(joints=8, frames=121):
    """Each of many joints in a line swings a little at a pace of its own."""
    rng = np.random.default_rng(1)
    skeleton = Skeleton([f"b{index}" for index in range(joints)], np.arange(joints) - 1,
                        np.tile([0.0, 0.0, 0.2], (joints, 1)), quat.identity((joints,)))
    t = np.linspace(0, 2, frames)[:, None, None]
    turns = 0.3 * np.sin(2 * np.pi * t * rng.uniform(0.5, 1.5, (joints, 3)) + rng.uniform(0, 6, (joints, 3)))
    return Clip("Chain", skeleton, 60.0, np.tile(skeleton.positions, (frames, 1, 1)),
                quat.from_scaled_angle_axis(turns))


def _curves(clip):
    """What a rig with quaternions keys whose bones lie as the joints do at rest."""
    skeleton = clip.skeleton
    turns = quat.inv_mul(skeleton.rotations, quat.unroll(clip.rotations))
    places = quat.inv_rotate(skeleton.rotations, clip.positions - skeleton.positions)
    moving = np.flatnonzero(np.abs(places).max((0, 2)) > 1e-5)
    curves = [Curves(np.arange(len(skeleton)), turns.transpose(1, 0, 2), _unit)]
    return curves + ([Curves(moving, places[:, moving].transpose(1, 0, 2))] if len(moving) else [])


def _unit(numbers):
    return numbers / np.linalg.norm(numbers, axis=0)


def _shown(clip, curves, kept, frames):
    """Where the joints are (N, J, 3) at frames (N,), whole or not, by Hermite curves through the keys alone."""
    skeleton = clip.skeleton
    positions = np.tile(skeleton.positions, (len(frames), 1, 1))
    rotations = np.empty((len(frames), len(skeleton), 4), dtype=np.float32)
    for each, keys in zip(curves, kept):
        for joint, values, own in zip(each.joints, each.values, keys):
            numbers = _hermite(np.flatnonzero(own), values, simplify.slopes(values), frames)
            if each.read is None:
                positions[:, joint] += quat.rotate(skeleton.rotations[joint], numbers)
            else:
                rotations[:, joint] = quat.mul(skeleton.rotations[joint], quat.normalize(numbers))
    return forward(skeleton, positions, rotations)[0]


def _hermite(keys, values, slopes, frames):
    at = np.clip(np.searchsorted(keys, frames, side="right") - 1, 0, len(keys) - 2)
    start, end = keys[at], keys[at + 1]
    span = (end - start)[:, None]
    t = (frames - start)[:, None] / span
    return ((1 + 2 * t) * (1 - t) ** 2 * values[start] + t * (1 - t) ** 2 * span * slopes[start]
            + t * t * (3 - 2 * t) * values[end] + t * t * (t - 1) * span * slopes[end])
