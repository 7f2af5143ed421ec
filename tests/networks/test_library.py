# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks stand in for a database where characters are driven."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.control.intent import tag_query
from mm_blender.errors import MotionError
from mm_blender.matching.features import Normalisation
from mm_blender.networks.library import DecompressedLibrary, LearnedLibrary, library_for
from mm_blender.playback.library import BakedLibrary
from mm_blender.playback.limbs import Limbs
from tests.networks.conftest import untrained


@pytest.fixture(scope="module")
def library(networks):
    return LearnedLibrary(networks)


def test_a_tag_query_leaves_combinations_of_tags(library, networks):
    choice = library.choice("crouch")
    assert np.array_equal(choice.search, networks.allowed("crouch")[0]) and not choice.trouble
    assert library.choice("crouch") is choice
    assert library.choice("crouch & run").trouble


@pytest.mark.parametrize(("gait", "sneaks"), [("sneak", True), ("walk", False), ("sprint", False)])
def test_gaits_of_other_tags_leave_their_combinations(many_gaits, gait, sneaks):
    library = LearnedLibrary(untrained(many_gaits))
    choice = library.choice(tag_query(gait, library.speeds))
    left = library.database.combinations[choice.search][:, library.database.tags.index("sneak")]
    assert not choice.trouble and len(left) and (left == sneaks).all()


def test_a_matcher_begins_where_the_networks_say_and_keeps_to_the_tags(library, networks):
    matcher = library.motion.matcher(library.choice("crouch").search, 2)
    assert np.array_equal(matcher.states(), np.tile(networks.start, (2, 1)))
    assert np.array_equal(matcher.allowed[1] > 0, library.choice("crouch").search)


def test_legs_learn_where_knees_bend_to(library, networks):
    limbs = Limbs(networks.character, networks.fixed, networks.moving)
    assert np.array_equal(library.motion.stance(limbs), networks.heights)
    assert np.array_equal(limbs.fronts, networks.fronts)


def test_at_another_rate_the_stepper_is_asked_for_longer_steps(networks):
    usual, slow = LearnedLibrary(networks), LearnedLibrary(networks, rate=networks.rate / 2)
    assert slow.database.rate == networks.rate / 2 and usual.database.rate == networks.rate
    matcher, expected = slow.motion.matcher(slow.choice().search, 1), usual.motion.matcher(usual.choice().search, 1)
    pose = matcher.pose()
    matcher.advance()
    expected.change_step(2.0)
    expected.advance()
    assert np.array_equal(matcher.states(), expected.states())
    assert pose.positions + pose.velocities / slow.database.rate == pytest.approx(matcher.pose().positions, abs=1e-5)


@pytest.mark.parametrize("method", ["dmm", "lmm"])
def test_latents_that_do_not_fit_are_told_before_the_drive(networks, demo_database, tmp_path, method):
    networks.save(tmp_path / "demo.mmnet", np.zeros((len(demo_database), networks.latents + 1)))
    with pytest.raises(MotionError, match="latents do not fit"):
        library_for(method, tmp_path / "demo.mmnet", BakedLibrary(demo_database))


@pytest.mark.parametrize("method", ["dmm", "lmm"])
def test_networks_of_other_features_are_told_before_the_drive(networks, demo_database, tmp_path, method):
    networks.save(tmp_path / "demo.mmnet", np.zeros((len(demo_database), networks.latents)))
    fewer = replace(demo_database.schema, channels=demo_database.schema.channels[:-1])
    normal = demo_database.normalisation
    other = replace(demo_database, schema=fewer, features=demo_database.features[:, :fewer.size], cells=None,
                    normalisation=Normalisation(normal.mean[:fewer.size], normal.scale[:fewer.size]))
    with pytest.raises(MotionError, match="trained on other features"):
        library_for(method, tmp_path / "demo.mmnet", BakedLibrary(other))


def test_features_that_were_never_learned_are_decompressed_as_the_nearest_that_were(networks_of_experts, demo_database):
    wild = replace(demo_database, features=demo_database.features * 1e5, cells=None)
    latents = np.full((len(wild), networks_of_experts.latents), 65504, dtype=np.float32)
    library = DecompressedLibrary(BakedLibrary(wild), networks_of_experts, latents)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        pose = library.motion.matcher(library.choice().search, 2, np.array([100, 900])).pose()
    assert np.abs(pose.positions).max() < 1e6 and np.linalg.norm(pose.rotations, axis=-1) == pytest.approx(1, abs=1e-4)
