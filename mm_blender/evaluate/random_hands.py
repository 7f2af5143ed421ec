# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands that are all over the place: whatever a stick may say, to learn from and to test with."""

import numpy as np

from ..control.stick import NAMES, Recording
from .courses import SECONDS, moments, random_walk, recording


def anything(seconds=SECONDS, seed=0):
    """A random walk that also strafes and crouches now and then."""
    walk, rng = random_walk(seconds, seed), np.random.default_rng(seed)
    table, count = walk.values.copy(), len(walk.values)
    facing = rng.uniform(-np.pi, np.pi, count)
    columns = {"strafe": rng.random(count) < 0.25, "crouch": rng.random(count) < 0.15, "face_x": np.sin(facing),
               "face_y": np.cos(facing)}
    for name, column in columns.items():
        table[:, NAMES.index(name)] = column
    return Recording(walk.times, table)


def with_gaits(one, names, seed=0):
    """The same, in one of these gaits now and then."""
    rng = np.random.default_rng(seed)
    named = rng.choice([*names, ""], len(one.times), p=[*[0.3 / len(names)] * len(names), 0.7])
    return Recording(one.times, one.values, named.tolist())


def to_and_fro(seconds=SECONDS, seed=0):
    """Turns right round, or nearly, again and again, after a moment or a while; some hands strafe all the time."""
    rng = np.random.default_rng(seed)
    times = moments(rng, seconds, 2 * int(seconds) + 1)
    count = len(times)
    angle = rng.uniform(-np.pi, np.pi) + np.cumsum(np.pi * (rng.random(count) < 0.7) + rng.normal(0, 0.3, count))
    facing, size = rng.uniform(-np.pi, np.pi), rng.choice([0.6, 1.0, 1.0], count)
    return recording(times, move_x=size * np.sin(angle), move_y=size * np.cos(angle), run=rng.random(count) < 0.2,
                      strafe=rng.random() < 0.35, face_x=np.sin(facing), face_y=np.cos(facing))


def sideways(seconds=SECONDS, seed=0):
    """Faces one way and goes any other, for a moment or a while."""
    rng = np.random.default_rng(seed)
    times = moments(rng, seconds, 2 * int(seconds) + 1)
    count = len(times)
    angle, size = rng.uniform(-np.pi, np.pi, count), rng.choice([0.0, 0.6, 1.0, 1.0, 1.0], count)
    facing = rng.uniform(-np.pi, np.pi)
    return recording(times, move_x=size * np.sin(angle), move_y=size * np.cos(angle), strafe=np.ones(count),
                      face_x=np.full(count, np.sin(facing)), face_y=np.full(count, np.cos(facing)))
