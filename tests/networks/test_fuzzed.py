# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks that make no sense: they are refused, or what they play is at least made of numbers."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.evaluate.random_hands import anything
from mm_blender.networks import file
from mm_blender.networks.library import library_for
from mm_blender.playback.library import BakedLibrary
from tests.steering import group_of

SECONDS = 2.0
KINDS = ("nothing", "noise", "large", "huge", "largest", "far", "of experts", "huge ones of experts")


@pytest.fixture(scope="module")
def library(demo_database):
    return BakedLibrary(demo_database)


def senseless(networks, networks_of_experts, kind, seed):
    """Networks with other weights."""
    rng = np.random.default_rng(seed)
    size = {"nothing": 0, "large": 100, "huge": 6e3, "huge ones of experts": 6e3, "largest": 65504}.get(kind, 1)
    networks = networks_of_experts if "experts" in kind else networks
    span = 1e36 if kind == "far" else 1

    def other(weights):
        layers = tuple(tuple(_noise(rng, part, size) for part in layer) for layer in weights.layers)
        experts = weights.experts and replace(weights.experts, layers=tuple(
            tuple(_noise(rng, part, size) for part in layer) for layer in weights.experts.layers))
        return replace(weights, layers=layers, experts=experts, span=np.float32(span) * weights.span)

    return replace(networks, **{name: other(getattr(networks, name)) for name in file.NAMES})


def _noise(rng, like, size):
    return np.clip(size * rng.normal(size=like.shape), -65504, 65504).astype(np.float32)


@pytest.mark.parametrize("seed, kind", [*enumerate(KINDS)])
@pytest.mark.parametrize("method", ["dmm", "lmm"])
def test_no_network_shows_what_is_no_number(library, networks, networks_of_experts, tmp_path, method, kind, seed):
    made, path = senseless(networks, networks_of_experts, kind, seed), tmp_path / "senseless.mmnet"
    try:
        made.save(path, np.random.default_rng(seed).normal(size=(len(library.database), made.latents)))
        group = group_of(library_for(method, path, library))
    except MotionError as error:
        assert str(path) in str(error) and "train it anew" in str(error)
        return
    recording, player = anything(SECONDS, seed), group.player
    for frame in range(round(60 * SECONDS)):
        group.guides[0].steer(recording.at(frame / 60))
        group.step()
        assert all(np.isfinite(part).all() for part in (player.roots, player.heights, player.moving)), frame
        assert np.abs(np.linalg.norm(player.rotations, axis=-1) - 1).max() < 0.01, frame
