# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks of the demo character that have learned nothing: all that can be said about them without training."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from mm_blender.control import speeds
from mm_blender.networks.experts import Experts
from mm_blender.networks.file import Networks
from mm_blender.networks.layout import Layout
from mm_blender.networks.network import Weights

LATENTS, HIDDEN, EXPERTS = 4, 16, 8


@pytest.fixture(scope="session")
def networks(demo_database):
    return untrained(demo_database)


@pytest.fixture(scope="session")
def make_weights():
    return random_weights


@pytest.fixture(scope="session")
def make_experts():
    return random_experts


@pytest.fixture(scope="session")
def networks_of_experts(networks):
    return networks_of_experts_like(networks)


def networks_of_experts_like(networks):
    """Untrained ones for the same poses."""
    rng = np.random.default_rng(0)
    state, size = networks.limits.shape[1], networks.schema.size
    return replace(networks, stride=2, stepper=random_experts(rng, state + 1, ((4, 2), state)),
                   decompressor=random_experts(rng, state, ((4, 2), 5), ((5, 3), networks.layout.size)),
                   projector=random_experts(rng, size + len(networks.combinations), ((6, 0), state)))


def untrained(database):
    rng = np.random.default_rng(0)
    tags = tuple(sorted(database.tags))
    moving = database.moving[database.moving != 0]
    combinations = np.unique(np.stack([database.tags[name] for name in tags], axis=1), axis=0)
    size, state = database.schema.size, database.schema.size + LATENTS
    layout = Layout(len(database.skeleton), len(moving), database.contacts.shape[1], len(tags))
    sizes = {"decompressor": (state, HIDDEN, layout.size), "stepper": (state + 1, HIDDEN, HIDDEN, state),
             "projector": (size + len(combinations), HIDDEN, HIDDEN, state)}
    return Networks(
        character=database.character, rate=database.rate, schema=database.schema,
        normalisation=database.normalisation, moving=moving, fixed=database.fixed,
        limits=np.stack([np.full(state, -3), np.full(state, 3)]).astype(np.float32),
        start=np.zeros(state, dtype=np.float32), heights=np.zeros((2, 2), dtype=np.float32),
        fronts=np.ones((2, 3), dtype=np.float32), tags=tags,
        combinations=combinations, speeds=speeds.measure(database), key=database.key, figures={"joint_error_cm": 1.5},
        **{name: random_weights(rng, *numbers) for name, numbers in sizes.items()})


def calm(database, frame=0):
    """Networks that have learned nothing either, but whose poses are all about that of one frame, standing."""
    networks = untrained(database)
    below = [database.moving.tolist().index(joint) for joint in networks.moving]
    row = networks.layout.rows(
        database.positions[frame:frame + 1, below], database.rotations[frame:frame + 1], np.zeros((1, 3)),
        database.contacts[frame:frame + 1], np.zeros((1, len(networks.tags)), dtype=bool))[0]
    return replace(networks, decompressor=replace(
        networks.decompressor, centre=row, span=np.full(len(row), 0.02, dtype=np.float32)))


def random_weights(rng, *sizes):
    layers = tuple((rng.normal(0, before ** -0.5, (before, after)).astype(np.float32),
                    rng.normal(0, 0.1, after).astype(np.float32)) for before, after in pairwise(sizes))
    normals = (rng.normal(size=sizes[0]), rng.uniform(0.5, 2, sizes[0]), rng.normal(size=sizes[-1]),
               rng.uniform(0.5, 2, sizes[-1]))
    return Weights(layers, *(part.astype(np.float32) for part in normals))


def random_experts(rng, inputs, sizes, tail=()):
    """sizes, tail: (gated units, numbers that stay as they are) of each hidden layer, or (0, units that switch
    themselves), and last how many come out."""
    def pairs(before, *numbers, many=()):
        *hidden, outputs = numbers
        widths = zip([before, *(units + linear for units, linear in hidden)],
                     [*(2 * units + linear for units, linear in hidden), outputs])
        return tuple((rng.normal(0, seen ** -0.5, (*many, seen, made)).astype(np.float32),
                      rng.normal(0, 0.1, (*many, made)).astype(np.float32)) for seen, made in widths)
    experts = Experts((3 * rng.normal(size=(inputs, EXPERTS)).astype(np.float32), np.zeros(EXPERTS, dtype=np.float32)),
                      pairs(inputs, *sizes, many=(EXPERTS,)))
    layers = pairs(sizes[-1], *tail) if tail else ()
    outputs = tail[-1] if tail else sizes[-1]
    normals = (rng.normal(size=inputs), rng.uniform(0.5, 2, inputs), rng.normal(size=outputs),
               rng.uniform(0.5, 2, outputs))
    return Weights(layers, *(part.astype(np.float32) for part in normals), experts)
