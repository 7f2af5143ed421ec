# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths to measure with, made by rule: from a line to corners, hairpins and what chance draws."""

from itertools import pairwise

import numpy as np

from ..control.path import Mark, Path

SPLINES = 2  # that chance draws, beside the other ones


def all_paths(gait="walk", splines=SPLINES):
    """Name → Path, gone in a gait."""
    shapes = {"line": np.linspace(0, 12j, 60), "circle 2 m": circle(2.0, 2), "circle 4 m": circle(4.0),
              "circle 8 m": circle(8.0), "figure of eight": eight(), "square": square(), "spiral": spiral(),
              "hairpin": hairpin(), **{f"spline {seed}": spline(seed) for seed in range(1, splines + 1)}}
    return {name: Path(points, {0: Mark(0.0, "row 2", gait=gait)}, name=f'The path "{name}"')
            for name, points in shapes.items()}


def circle(across, rounds=1):
    """Rounds of a circle that is so many metres across."""
    return across / 2 * (np.exp(2j * np.pi * rounds * np.linspace(0, 1, 200 * rounds + 1)) - 1)


def eight(half=3.0):
    """A figure of eight that is twice as long as so many metres."""
    angle = np.linspace(0, 2 * np.pi, 401)
    return half * np.sin(angle) * 1j + half * 2 / 3 * np.sin(2 * angle)


def square(side=4.0):
    """A square with sharp corners."""
    corners = side * np.array([0, 1j, 1 + 1j, 1, 0])
    sides = [np.linspace(one, other, 100, endpoint=False) for one, other in pairwise(corners)]
    return np.concatenate([*sides, [0]])


def spiral(rounds=2):
    """Outwards from less than a metre."""
    angle = np.linspace(0, 2 * np.pi * rounds, 300 * rounds)
    return (0.8 + 0.25 * angle) * np.exp(1j * angle)


def hairpin(length=6.0, width=0.5):
    """There and back, so near that the way back is nearer than what lies ahead."""
    turn = width / 2 * (1 - np.exp(-1j * np.linspace(0, np.pi, 30)))[1:-1]
    way = np.linspace(0, length * 1j, 150)
    return np.concatenate([way, turn + length * 1j, way[::-1] + width])


def spline(seed, points=9):
    """A few points that chance draws, joined by a curve."""
    rng = np.random.default_rng(seed)
    headings = np.cumsum(rng.uniform(-1.3, 1.3, points - 1))
    return np.concatenate([[0], np.cumsum(rng.uniform(1.5, 4.0, points - 1) * 1j * np.exp(1j * headings))])
