# SPDX-License-Identifier: GPL-3.0-or-later
"""Jumps that go over by a blend of latents (section 6.3): what is shown lies between the old motion and the new."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.control.stick import Stick
from mm_blender.motion import quat
from mm_blender.motion.retarget import Retarget
from mm_blender.networks.library import LearnedLibrary
from mm_blender.networks.matchers import DecompressedMatcher, LearnedMatcher, Poses
from mm_blender.playback.inertialise import Blend
from mm_blender.playback.library import BakedLibrary, search_of
from mm_blender.playback.matcher import BakedMotion
from mm_blender.playback.player import Drive
from mm_blender.playback.retarget import RetargetedLibrary, character_of
from tests.rigs import renamed_and_rolled, with_lengths
from tests.steering import group_of

SECONDS = 0.3


def jumping(networks, fade, count=2):
    """A matcher of which the first character has just jumped, to go over in `fade` seconds; and one that has gone on.
    """
    state = np.random.default_rng(0).normal(size=(count, networks.limits.shape[1])) / 2
    jumped, stayed = LearnedMatcher(networks, count, state), LearnedMatcher(networks, count, state)
    query = np.random.default_rng(1).normal(size=(1, networks.schema.size)).astype(np.float32)
    for matcher in (jumped, stayed):
        for _ in range(4):
            matcher.advance()
    assert jumped.match([0], query, must=np.array([True]), fade=fade) == [0]
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
    assert jumped.match([0], query, must=np.array([True]), fade=SECONDS) == [0]
    assert jumped.pose().rotations == pytest.approx(before, abs=1e-5)


def test_latents_of_the_first_model_are_not_blended(networks):
    jumped, stayed = jumping(networks, SECONDS)
    assert not jumped.faded and not np.allclose(jumped.pose().rotations[0], stayed.pose().rotations[0], atol=1e-2)


def test_frames_of_a_database_are_blended_too(networks_of_experts, demo_database):
    networks, motion = networks_of_experts, BakedMotion(demo_database)
    latents = np.random.default_rng(0).normal(size=(len(demo_database), networks.latents)).astype(np.float32)
    matcher = DecompressedMatcher(motion, search_of(demo_database), 1, networks,
                                  np.concatenate([demo_database.features, latents], axis=1), 50)
    before = matcher.pose().rotations
    assert matcher.match([0], demo_database.features[[900]], must=[True], fade=SECONDS) == [0] == list(matcher.faded)
    assert np.array_equal(matcher.pose().rotations, before) and matcher.frames[0] != 50


@pytest.fixture(scope="module")
def library(networks_of_experts):
    # What was never trained answers anything: it is taken for allowed, and with Drive.stay for better.
    return LearnedLibrary(replace(networks_of_experts, combinations=networks_of_experts.combinations[:1]))


@pytest.fixture(scope="module")
def on_another_character(library, demo_database):
    target = renamed_and_rolled(with_lengths(demo_database.character, 1.3))
    return RetargetedLibrary(library, Retarget(character_of(library.database), target))


@pytest.mark.parametrize("played", ["library", "on_another_character"])
def test_a_player_that_blends_latents_lays_no_offset_over_them(played, request):
    group = group_of(request.getfixturevalue(played), settings=Drive(blend=Blend("latent", fade=SECONDS), stay=-1e9))
    player, jumps = group.player, 0
    upper = player.limbs.carried  # feet that are let go have offsets of their own
    for step in range(60):
        group.guides[0].steer(Stick(0, 1) if step % 20 < 10 else Stick(1, 0))
        group.step()
        jumps += player.jumped[0]
        assert quat.absolute(player.played.rotations[0, upper]) == pytest.approx(
            quat.absolute(player.matcher.pose().rotations[0, upper]), abs=1e-4)
    assert jumps > 2


def test_who_comes_over_from_another_matcher_has_an_offset_even_if_it_jumps_at_once(library, demo_database):
    group = group_of(BakedLibrary(demo_database), settings=Drive(blend=Blend("latent", fade=SECONDS), stay=-1e9))
    group.play([library])
    group.step()
    player = group.player
    assert list(player.matcher.faded) == [0]
    assert quat.absolute(player.played.rotations[0]) != pytest.approx(
        quat.absolute(player.matcher.pose().rotations[0]), abs=0.1)
