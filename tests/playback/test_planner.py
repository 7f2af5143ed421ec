# SPDX-License-Identifier: GPL-3.0-or-later
"""Planning a way along a path, playing the plan, arriving exactly, and other takes of the same."""

import numpy as np
import pytest

from mm_blender.control.path import Mark, Path
from mm_blender.evaluate import directing
from mm_blender.evaluate.paths import square
from mm_blender.matching.seeded import NOISE, SeededSearch
from mm_blender.playback.direct import direct, plan_of, schedule_of
from mm_blender.playback.library import BakedLibrary
from mm_blender.playback.plan import Setting, play_steps
from mm_blender.playback.planner import Beam, Planner
from mm_blender.playback.player import Drive
from mm_blender.playback.root import MODES, Sync, synchronise, synchronise_many
from mm_blender.steps import run

SHORT = Path([0, 1.5j, 1 + 2j], {0: Mark(0, "start", gait="walk")})
CURVE = Path([0, 2j, 1.5 + 3j, 3 + 1.5j], {0: Mark(0, "start", gait="walk")})
FREE = Drive(sync=Sync(position="none", facing="none"))
BEAM = Beam(states=8)


@pytest.fixture(scope="module")
def library(demo_database):
    return BakedLibrary(demo_database)


@pytest.fixture(scope="module")
def takes(library):
    """Two sharp corners without any pull: quick, and planned."""
    return [direct(library, Path(square(3.0)[:300]), FREE, exact=False, beam=beam) for beam in (None, BEAM)]


def places_of(directed):
    return directed.clip.positions[:, 0, 0] + 1j * directed.clip.positions[:, 0, 1].astype(float)


def test_what_is_planned_is_nearer_to_the_path_and_fits_better_than_what_is_quick(takes):
    quick, planned = (one.schedule.path.distances(places_of(one))[0].mean() for one in takes)
    assert planned < 0.8 * quick
    assert takes[1].costs.mean() < 0.9 * takes[0].costs.mean()


def test_a_plan_foresees_where_its_frames_lead(library):
    """Its places are those to which Motion Matching itself would come with these frames."""
    for settings in (FREE, Drive()):
        schedule = schedule_of(library, CURVE)
        plan = run(Planner(library, schedule, settings, BEAM).steps())
        # Frames follow each other, or are jumped to.
        following = library.motion.following[np.concatenate([[plan.begin], plan.frames[:-1]])]
        assert np.array_equal(plan.frames[~plan.jumps], following[~plan.jumps]) and plan.jumps.any()
        steps = np.abs(np.diff(plan.places)) * library.database.rate
        travel = np.hypot(*library.motion.travel[plan.frames[1:], :2].T)
        assert np.median(np.abs(steps - travel)) < 0.1 and plan.times[-1] >= schedule.duration


def test_a_plan_of_what_was_driven_is_played_as_it_was_driven(library):
    directed = direct(library, CURVE, exact=False)
    plan = plan_of(directed, library.standing)
    clip, trace, costs = run(play_steps(library, plan, directed.schedule, Setting()))
    assert np.array_equal(trace.frames, directed.trace.frames) and np.array_equal(trace.jumped, directed.trace.jumped)
    assert np.abs(clip.positions - directed.clip.positions).max() < 1e-3
    assert np.abs(clip.rotations - directed.clip.rotations).max() < 0.02
    assert costs == pytest.approx(directed.costs, abs=0.05)


def test_it_arrives_exactly_at_the_end_and_at_marks_and_feet_do_not_slide_for_it(library, subtests):
    path = Path([0, 2j, 1 + 4j, 4 + 4j, 6 + 3j, 8 + 3j],
                {2: Mark(0, "a", exact=True, wait=1.0), 4: Mark(0, "b", time=11.0)})
    for beam in (None, BEAM):
        with subtests.test(planned=beam is not None):
            directed = direct(library, path, beam=beam)
            found, places = directing.report(library.database, directed, own=1.0), places_of(directed)
            assert found["end_distance"] < 0.03 and found["end_facing_degrees"] < 3
            (_, stands), (timed, _) = directed.schedule.marks
            at = np.searchsorted(directed.times, stands + 0.5)
            assert abs(places[at] - path.place(directed.schedule.marks[0][0].at)) < 0.03
            assert abs(places[round(11.0 * 60)] - path.place(timed.at)) < 0.03
            assert found["slide_low"] < 0.5 * found["slide_low_source"]


def test_many_roots_are_held_as_one_is(subtests):
    rng = np.random.default_rng(1)
    places, goals = rng.normal(size=(2, 20)) + 1j * rng.normal(size=(2, 20))
    yaws, goal_yaws, velocities = rng.normal(size=20) * 3, rng.normal(size=20) * 3, rng.normal(size=(20, 3))
    for mode in MODES:
        with subtests.test(mode):
            sync = Sync(position=mode, facing=mode, angle=0.4)
            many = synchronise_many(places, yaws, velocities, goals, goal_yaws, sync, 1 / 60)
            each = [synchronise(*one, sync, 1 / 60) for one in zip(places, yaws, velocities, goals, goal_yaws)]
            assert many[0] == pytest.approx([place for place, _ in each])
            # "adjust" and "clamp" turn the shorter way round; which one half a turn is does not matter.
            assert np.exp(1j * many[1]) == pytest.approx(np.exp(1j * np.array([yaw for _, yaw in each])))


def test_a_seed_gives_another_take_and_the_same_seed_the_same(library, subtests):
    for beam in (None, Beam(states=6)):
        with subtests.test(planned=beam is not None):
            plain, one, again, other = (direct(library, SHORT, exact=False, beam=beam, seed=seed)
                                        for seed in (None, 1, 1, 2))
            assert np.array_equal(one.trace.frames, again.trace.frames)
            assert not np.array_equal(one.trace.frames, other.trace.frames)
            assert not np.array_equal(one.trace.frames, plain.trace.frames)
            assert SHORT.distances(places_of(one))[0].mean() < 0.05


def test_the_noise_of_a_seed_is_small_and_costs_that_are_alike_go_to_the_first_frame(library, demo_database):
    search = library.choice().search
    noisy = SeededSearch(search, 5, 20)
    queries = demo_database.features[[400, 9000]] + np.float32(0.3)
    for query, plain, found in zip(queries, search.nearest_many(queries), noisy.nearest_many(queries)):
        assert plain.cost <= found.cost <= plain.cost * (1 + NOISE)
        assert found.cost == pytest.approx(noisy.cost(query, found.frame), rel=1e-4)
        assert noisy.nearest(query, at_most=found.cost * 0.99) is None
    assert np.ptp(SeededSearch(search, 5, 20)._likes - noisy._likes) == 0
