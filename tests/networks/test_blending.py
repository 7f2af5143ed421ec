# SPDX-License-Identifier: GPL-3.0-or-later
"""Jumps that go over by a blend of latents (section 6.3): what is shown lies between the old motion and the new."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.control.stick import Stick
from mm_blender.motion import quat
from mm_blender.networks.library import LearnedLibrary
from mm_blender.networks.matchers import DecompressedMatcher, LearnedMatcher, Poses
from mm_blender.playback.inertialise import Blend
from mm_blender.playback.library import search_of
from mm_blender.playback.matcher import Motion
from tests.steering import cast_of

SECONDS = 0.3


def jumping(networks, fade, count=2):
    """A matcher of which the first character has just jumped, and one that has gone on."""
    state = np.random.default_rng(0).normal(size=(count, networks.limits.shape[1])) / 2
    jumped, stayed = LearnedMatcher(networks, count, state), LearnedMatcher(networks, count, state)
    query = np.random.default_rng(1).normal(size=(1, networks.schema.size)).astype(np.float32)
    for matcher in (jumped, stayed):
        matcher.fade = fade
        for _ in range(4):
            matcher.advance()
    assert jumped.match([0], query, must=np.array([True])) == [0]
    return jumped, stayed


def test_the_jump_itself_is_not_seen(networks_of_experts):
    jumped, stayed = jumping(networks_of_experts, SECONDS)
    assert jumped.faded == [0]
    assert not np.allclose(jumped.states()[0], stayed.states()[0], atol=0.1)
    assert np.array_equal(jumped.pose().rotations, stayed.pose().rotations)


def test_in_between_it_is_between_and_then_it_is_the_new_motion(networks_of_experts):
    networks = replace(networks_of_experts, stride=1)  # from wherever it is asked, what would have come is the same
    jumped, stayed = jumping(networks, SECONDS)
    poses, frames = Poses(networks), round(SECONDS * networks.rate)
    for frame in range(1, frames + 3):
        jumped.advance(), stayed.advance()
        share = min(frame / frames, 1.0)
        weight = share * share * (3 - 2 * share)
        mixed = (1 - weight) * stayed.states() + weight * jumped.states()
        expected = poses.of(mixed.astype(np.float32)).rotations
        assert quat.absolute(jumped.pose().rotations[0]) == pytest.approx(quat.absolute(expected[0]), abs=1e-4), frame


def test_a_jump_during_a_blend_is_not_seen_either(networks_of_experts):
    jumped, _ = jumping(networks_of_experts, SECONDS)
    for _ in range(5):
        jumped.advance()
    before = jumped.pose().rotations
    query = np.random.default_rng(2).normal(size=(1, networks_of_experts.schema.size)).astype(np.float32)
    assert jumped.match([0], query, must=np.array([True])) == [0]
    assert jumped.pose().rotations == pytest.approx(before, abs=1e-5)


def test_latents_of_the_first_model_are_not_blended(networks):
    jumped, stayed = jumping(networks, SECONDS)
    assert not jumped.faded and not np.allclose(jumped.pose().rotations[0], stayed.pose().rotations[0], atol=1e-2)


def test_frames_of_a_database_are_blended_too(networks_of_experts, demo_database):
    networks, motion = networks_of_experts, Motion(demo_database)
    latents = np.random.default_rng(0).normal(size=(len(demo_database), networks.latents)).astype(np.float32)
    matcher = DecompressedMatcher(motion, search_of(demo_database), 1, networks,
                                  np.concatenate([demo_database.features, latents], axis=1), 50)
    matcher.fade = SECONDS
    before = matcher.pose().rotations
    assert matcher.match([0], demo_database.features[[900]], must=[True]) == [0] == list(matcher.faded)[0:1]
    assert np.array_equal(matcher.pose().rotations, before) and matcher.frames[0] != 50


def test_a_player_that_blends_latents_lays_no_offset_over_them(networks_of_experts):
    cast = cast_of(LearnedLibrary(networks_of_experts))
    cast.player.settings.blend = Blend("latent", fade=SECONDS)
    # What was never trained answers anything: it is taken for better, and for allowed.
    cast.player.settings.stay = -1e9
    cast.player.matcher._fits = lambda shown, who: np.ones(len(who), dtype=bool)
    upper, jumps = cast.player.legs.carried, 0  # feet that are let go have offsets of their own
    for step in range(60):
        cast.guides[0].steer(Stick(0, 1) if step % 20 < 10 else Stick(1, 0))
        cast.step()
        jumps += int(cast.player.jumped[0])
        played = cast.player.played
        assert quat.absolute(played.rotations[0, upper]) == pytest.approx(
            quat.absolute(cast.player.matcher.pose().rotations[0, upper]), abs=1e-4)
    assert jumps > 2
