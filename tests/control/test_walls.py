# SPDX-License-Identifier: GPL-3.0-or-later
"""Walls from triangles: what is in the way of a body is one, what it steps over or walks on is none."""

import numpy as np
import pytest

from mm_blender.control.walls import DETAIL, plainer, walls_of

LOW, HIGH = 0.25, 1.8
CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
SQUARE = [[[0, 0], [1, 0]], [[1, 0], [1, 1]], [[1, 1], [0, 1]], [[0, 1], [0, 0]]]


@pytest.mark.parametrize("bottom, top", [(0, 3), (0, 0.26), (1.79, 5), (0.75, 0.79), (0.3, 0.9)])
def test_a_box_in_the_way_is_four_walls(bottom, top):
    assert same_walls(walls_of(box([0, 0, bottom], [1, 1, top]), LOW, HIGH), SQUARE)


@pytest.mark.parametrize("bottom, top", [(0, 0.25), (-1, 0), (1.81, 4)])
def test_a_box_that_is_stepped_over_or_overhead_is_no_wall(bottom, top):
    assert len(walls_of(box([0, 0, bottom], [1, 1, top]), LOW, HIGH)) == 0


@pytest.mark.parametrize("degrees, blocks", [(0, False), (20, False), (40, False), (50, True), (80, True)])
def test_a_ramp_is_a_wall_only_when_it_is_steep(degrees, blocks):
    rise = np.tan(np.radians(degrees))
    ramp = np.array([[[0, 0, 0], [3, 0, 3 * rise], [3, 2, 3 * rise]], [[0, 0, 0], [3, 2, 3 * rise], [0, 2, 0]]])
    assert bool(len(walls_of(ramp, LOW, HIGH))) == blocks


def test_a_thin_rail_is_a_wall():
    rail = box([0, 0, 0.95], [4, 0.03, 0.98]) @ turned(0.3)
    segments = walls_of(rail, LOW, HIGH)
    lengths = np.linalg.norm(segments[:, 1] - segments[:, 0], axis=-1)
    assert np.sort(lengths)[-2:] == pytest.approx(4, abs=0.03)


@pytest.mark.parametrize("angle", [0, 0.7, np.pi / 2, 2.9])
def test_a_wall_of_many_triangles_is_one_segment_however_it_is_turned(angle):
    x, z = np.meshgrid(np.linspace(-3, 3, 61), np.linspace(0, 3, 31), indexing="ij")
    grid = np.stack([x, np.full_like(x, 40.0), z], axis=-1)
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    triangles = np.concatenate([np.stack(three, axis=-2).reshape(-1, 3, 3) for three in ((a, b, c), (a, c, d))])
    segments = walls_of(triangles @ turned(angle), LOW, HIGH)
    assert same_walls(segments, [[[-3, 40], [3, 40]]] @ turned(angle)[:2, :2])


def test_walls_on_one_line_keep_the_door_between_them_and_overlap_once():
    low, high = box([0, 0, 0], [2, 0.2, 1]), box([0, 0, 1], [2, 0.2, 3])
    segments = walls_of(np.concatenate([low, high, box([3, 0, 0], [5, 0.2, 3])]), LOW, HIGH)
    assert len(segments) == 8
    fronts = segments[(segments[..., 1] == 0).all(axis=1)]
    assert same_walls(fronts, [[[0, 0], [2, 0]], [[3, 0], [5, 0]]])


def test_a_finely_modelled_pillar_needs_few_walls_and_keeps_its_size():
    angles = np.linspace(0, 2 * np.pi, 2001)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    segments = plainer(np.stack([circle[:-1], circle[1:]], axis=1))
    assert len(segments) < 60
    sizes = np.linalg.norm(np.concatenate([segments, segments.mean(axis=1, keepdims=True)], axis=1), axis=-1)
    assert sizes.min() > 0.97 and sizes.max() < 1.001
    assert (np.unique(np.round(segments.reshape(-1, 2), 6), axis=0, return_counts=True)[1] == 2).all()  # it is closed


def test_triangles_without_an_area_are_no_walls():
    line = np.array([[[0, 0, 0], [0, 0, 1], [0, 0, 2]], [[1, 1, 1], [1, 1, 1], [1, 1, 1]]], dtype=float)
    assert len(walls_of(line, LOW, HIGH)) == 0
    assert walls_of(np.zeros((0, 3, 3)), LOW, HIGH).shape == (0, 2, 2)


def box(low, high):
    quads = np.array(low) + CUBE[SIDES] * np.subtract(high, low)
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def turned(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])


def same_walls(found, wanted):
    """Whether both have the same segments, in any order and direction, within a centimetre."""
    wanted = np.asarray(wanted, dtype=float)
    both = [np.abs(found[:, None] - way).max(axis=(-1, -2)) for way in (wanted, wanted[:, ::-1])]
    match = np.minimum(*both) < DETAIL
    return len(found) == len(wanted) and match.any(axis=0).all() and match.any(axis=1).all()
