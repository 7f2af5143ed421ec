# SPDX-License-Identifier: GPL-3.0-or-later
"""DMM and LMM have what a MotionMatcher has, and keep to what they may play."""

import numpy as np
import pytest

from mm_blender.motion import quat
from mm_blender.networks.matchers import DecompressedMatcher, LearnedMatcher, Poses
from mm_blender.networks.network import Network
from mm_blender.playback.library import search_of
from mm_blender.playback.matcher import BakedMotion, MotionMatcher


@pytest.fixture(scope="module")
def learned(networks):
    def make(count=3):
        state = np.random.default_rng(0).normal(size=(count, networks.limits.shape[1])) / 2
        return LearnedMatcher(networks, count, state)

    return make


def some_queries(networks, count, seed=1):
    return np.random.default_rng(seed).normal(size=(count, networks.schema.size)).astype(np.float32)


def test_dmm_plays_the_same_frames_as_mm_with_poses_of_the_decompressor(networks, demo_database):
    motion, search = BakedMotion(demo_database), search_of(demo_database)
    latents = np.random.default_rng(0).normal(size=(len(demo_database), networks.latents)).astype(np.float32)
    states = np.concatenate([demo_database.features, latents], axis=1)
    matchers = MotionMatcher(motion, search, 2, 50), DecompressedMatcher(motion, search, 2, networks, states, 50)
    for step in range(20):
        for matcher in matchers:
            matcher.advance()
            if step % 6 == 0:
                matcher.match([0, 1], some_queries(networks, 2, step))
        assert np.array_equal(matchers[0].frames, matchers[1].frames)
    mine, usual = matchers[1].pose(), matchers[0].pose()
    assert all(getattr(mine, name).shape == value.shape for name, value in vars(usual).items())
    frame = matchers[1].frames[0]
    row = Network(networks.decompressor)(np.concatenate([demo_database.features[frame], latents[frame]])[None])
    assert mine.rotations[0] == pytest.approx(networks.layout.rotations(row)[0], abs=1e-5)


def test_velocities_lead_to_the_next_pose(networks, learned):
    matcher = learned()
    before = matcher.pose()
    matcher.advance()
    after, dt = matcher.pose(), 1 / networks.rate
    assert before.positions + before.velocities * dt == pytest.approx(after.positions, abs=1e-5)
    turned = quat.mul(quat.from_scaled_angle_axis(before.spins * dt), before.rotations)
    assert quat.absolute(turned) == pytest.approx(quat.absolute(after.rotations), abs=1e-4)


def test_lmm_steps_as_the_stepper_says_and_stays_within_the_data(networks, learned):
    matcher = learned()
    now = matcher.states()
    change = Network(networks.stepper)(np.concatenate([now, np.ones((3, 1))], axis=1).astype(np.float32))
    matcher.advance()
    assert matcher.states() == pytest.approx(np.clip(now + change, *networks.limits), abs=1e-5)
    for _ in range(500):
        assert not matcher.advance().any()
    assert (np.abs(matcher.states()) <= 3).all()


def test_a_step_of_another_length_is_asked_for_and_scaled(networks, learned):
    matcher = learned()
    now = matcher.states()
    change = 2.5 * Network(networks.stepper)(np.concatenate([now, np.full((3, 1), 2.5)], axis=1).astype(np.float32))
    matcher.change_step(2.5)
    matcher.advance()
    assert matcher.states() == pytest.approx(np.clip(now + change, *networks.limits), abs=1e-5)


def test_lmm_jumps_only_where_it_is_better(networks, learned):
    matcher = learned()
    stays = matcher.states()
    assert matcher.match([0, 1, 2], matcher.features()) == []  # nothing is better than what fits exactly
    assert np.array_equal(matcher.states(), stays) and matcher.costs == pytest.approx(0)
    queries = some_queries(networks, 3)
    going_on = ((queries - matcher.features()) ** 2).sum(axis=1)
    jumped = matcher.match([0, 1, 2], queries)
    now = ((queries - matcher.features()) ** 2).sum(axis=1)
    assert (now[jumped] < going_on[jumped]).all()
    others = [index for index in range(3) if index not in jumped]
    assert np.array_equal(matcher.states()[others], stays[others])
    assert matcher.costs == pytest.approx(now, rel=1e-4)


def test_what_must_jump_jumps_and_shows_the_answer(networks, learned):
    matcher = learned()
    before = matcher.pose()
    assert matcher.match([1], matcher.features()[1:2], must=np.array([True])) == [1]
    after, fresh = matcher.pose(), Poses(networks).of(matcher.states())
    assert after.rotations == pytest.approx(fresh.rotations, abs=1e-5)
    assert np.array_equal(after.rotations[[0, 2]], before.rotations[[0, 2]])
    matcher.advance()
    assert after.positions + after.velocities / networks.rate == pytest.approx(matcher.pose().positions, abs=1e-5)


def test_what_is_jumped_to_is_the_frame_after_the_projectors_answer(networks, learned):
    matcher, queries = learned(), some_queries(networks, 3)
    everything = np.ones((3, len(networks.combinations)))
    asked = Network(networks.projector, 3)(np.concatenate([queries, everything], axis=1).astype(np.float32))
    answer = np.clip(asked, *networks.limits)
    change = Network(networks.stepper, 3)(np.concatenate([answer, np.ones((3, 1))], axis=1).astype(np.float32))
    assert matcher.match([0, 1, 2], queries, must=np.ones(3, dtype=bool)) == [0, 1, 2]
    assert np.abs(change).max() > 0.01
    assert matcher.states() == pytest.approx(np.clip(answer + change, *networks.limits), abs=1e-5)


def test_an_answer_whose_tags_are_forbidden_is_not_taken(networks, learned):
    matcher = learned(1)
    queries, must = some_queries(networks, 1), np.array([True])
    answer = matcher._project(queries, matcher.allowed)
    found = matcher._combinations(Poses(networks).of(answer))[0]
    before = matcher.states()
    # The Projector has learned nothing, so its answer hardly depends on what is allowed: forbid just that.
    matcher._project = lambda *_: answer
    allowed = np.ones(len(networks.combinations), dtype=bool)
    allowed[found] = False
    matcher.allow(0, allowed)
    assert matcher.match([0], queries, must=must) == []
    assert np.array_equal(matcher.states(), before)
    matcher.allow(0, ~allowed)
    assert matcher.match([0], queries, must=must) == [0]
    assert matcher.tags(0) == tuple(np.array(networks.tags)[networks.combinations[found]])


def test_what_is_not_wanted_is_left_though_it_fits_best(networks, learned):
    matcher = learned(1)
    playing = matcher._combinations(Poses(networks).of(matcher.states()))[0]
    wanted = np.ones(len(networks.combinations), dtype=bool)
    wanted[playing] = False
    states = np.random.default_rng(3).normal(size=(1000, 1, networks.limits.shape[1])).astype(np.float32)
    answer = next(state for state in states
                  if matcher._combinations(Poses(networks).of(state))[0] != playing)
    matcher._project = lambda *_: answer
    matcher.allow(0, wanted)
    assert matcher.match([0], matcher.features()) == []
    matcher.allow(0, wanted, wanted)
    assert matcher.match([0], matcher.features()) == [0]


def test_each_tag_has_a_probability(networks, learned):
    matcher = learned()
    likely = matcher.likely(1)
    row = Network(networks.decompressor)(matcher.states())[1]
    assert list(likely) == list(networks.tags) and all(0 <= share <= 1 for share in likely.values())
    above = row[networks.layout.parts["tags"]] > 0
    assert [share > 0.5 for share in likely.values()] == above.tolist()


def test_what_comes_is_known_for_two_seconds(networks, learned):
    matcher = learned()
    rows = matcher.predicted([0, 2], 2 * round(networks.rate))
    for row in rows[:25]:
        assert matcher.states()[[0, 2]] == pytest.approx(row, abs=1e-5)
        matcher.advance()
    assert len(rows) == 2 * round(networks.rate)
