# SPDX-License-Identifier: GPL-3.0-or-later
"""Walls: nobody gets through, everybody keeps their distance, and what is left of a step goes on along them."""

import numpy as np
import pytest

from mm_blender.control.obstacles import GAP, Obstacles

RADIUS = 0.25
STEP = 0.05  # metres, 3 m/s at 60 frames per second


def moved(walls, place, goal):
    """Obstacles.moved() for a point."""
    return point(walls.moved(complex(*place), complex(*goal)))


def path(walls, goals):
    """Obstacles.path() from the origin through points (T, 2)."""
    return np.array([point(place) for place in walls.path([complex(*goal) for goal in goals], 0j)])


def point(place):
    return np.array([place.real, place.imag])


def test_without_walls_all_go_where_they_want():
    new, nothing = np.random.default_rng(0).normal(size=(4, 2)), Obstacles(np.zeros((0, 2, 2)), RADIUS)
    np.testing.assert_array_equal(moved(nothing, (0, 0), new[0]), new[0])
    np.testing.assert_array_equal(path(nothing, new), new)


@pytest.mark.parametrize("goal", [(1.0, 0.1), (0.2, 3.0)])
def test_far_from_walls_all_go_where_they_want(goal):
    np.testing.assert_array_equal(moved(Obstacles([[[0, 5], [5, 5]]], RADIUS), (0, 0), goal), goal)


@pytest.mark.parametrize("length", [0.1, 0.45, 0.6])
def test_a_wall_anywhere_around_stops_long_steps_and_short_ones(length):
    rng = np.random.default_rng(2)
    for place in rng.uniform(-3, 3, (40, 2)):
        way = np.array([np.cos(angle := rng.uniform(0, 7)), np.sin(angle)])
        across = place + (RADIUS + length / 2) * way  # half of the step is free
        wall = Obstacles([[across + 0.3 * way[::-1] * (1, -1), across - 0.3 * way[::-1] * (1, -1)]], RADIUS)
        moved(wall, place + 9, place + 9)  # what is known of other places does not count here
        np.testing.assert_allclose(moved(wall, place, place + length * way), place + length / 2 * way, atol=1e-5)


@pytest.mark.parametrize("angle", np.linspace(0, 2 * np.pi, 8))
def test_a_straight_wall_is_never_crossed_and_the_way_along_it_is_kept(angle, subtests):
    turn = turned(angle)
    for slant in np.linspace(0.02, np.pi - 0.02, 6):
        with subtests.test(slant=slant):
            walls = Obstacles(np.array([[[-50, 0], [50, 0]]]) @ turn, RADIUS)
            place = np.array([0.3, -0.28])
            for _ in range(60):
                wish = STEP * np.array([np.cos(slant), np.sin(slant)])
                now = moved(walls, place @ turn, (place + wish) @ turn) @ turn.T
                assert now[1] <= -RADIUS + 1e-9
                assert now[0] - place[0] == pytest.approx(wish[0], abs=1e-9)
                place = now
            assert place[1] == pytest.approx(-RADIUS, abs=2 * GAP)


def test_one_that_walks_away_from_a_wall_is_not_held():
    walls = Obstacles([[[-5, 0], [5, 0]]], RADIUS)
    at_wall = moved(walls, [0, -1], [0, 1])
    np.testing.assert_allclose(moved(walls, at_wall, at_wall + [0.03, -0.04]), at_wall + [0.03, -0.04], atol=1e-12)


@pytest.mark.parametrize("degrees", [20, 60, 90, 135, 170])
def test_in_an_inner_corner_it_comes_to_rest(degrees):
    ends = 9 * np.array([[np.cos(a), np.sin(a)] for a in np.radians([-degrees / 2, degrees / 2])])
    walls = Obstacles([[[0, 0], end] for end in ends], RADIUS)
    place, places = np.array([3.0, 0.1]), []
    for _ in range(300):
        place = moved(walls, place, place + [-STEP, 0])
        places.append(place)
    assert distances(places, walls).min() >= RADIUS - 1e-9
    np.testing.assert_allclose(places[-1], [RADIUS / np.sin(np.radians(degrees / 2)), 0], atol=1e-3)
    assert np.ptp(places[-100:], axis=0).max() < 1e-4


def test_it_gets_round_an_outer_corner():
    walls = Obstacles([[[-3, 0], [0, 0]], [[0, 0], [0, 3]]], RADIUS)
    place, places = np.array([-1.0, -0.3]), []
    for _ in range(100):
        place = moved(walls, place, place + [STEP, STEP / 2])
        places.append(place)
    assert distances(places, walls).min() >= RADIUS - 1e-9
    assert place[0] > 2 and place[1] > 1


def test_a_wall_of_many_pieces_is_as_smooth_as_one():
    ends = np.linspace([-3, 0], [3, 0], 601)
    pieces = Obstacles(np.stack([ends[:-1], ends[1:]], axis=1), RADIUS)
    np.testing.assert_allclose(moved(pieces, [-2, -0.3], [2, 0.5]), [2, -RADIUS], atol=1e-4)


@pytest.mark.parametrize("metres", [10 / 60, 10 / 24, 10, 1000])
def test_a_thin_wall_stops_the_fastest(metres):
    walls = Obstacles([[[-1, 0], [1, 0]]], RADIUS)
    for start in np.linspace(-0.9, 0.9, 7):
        assert moved(walls, [start, -0.3], [start, -0.3 + metres])[1] == pytest.approx(-RADIUS, abs=2 * GAP)


def test_a_pen_is_never_left():
    rng = np.random.default_rng(5)
    corners = np.array([[0, 0], [3, 0], [3, 1.5], [1.2, 1.5], [1.2, 3], [0, 3]])
    pen = Obstacles(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1), RADIUS)
    places, seen = np.full((4, 2), 0.6), []
    for size in rng.choice([0.05, 0.5, 5.0], 2500):
        places = np.array([moved(pen, *each) for each in zip(places, places + size * rng.normal(size=(4, 2)))])
        seen.append(places)
    assert distances(seen, pen).min() > RADIUS - 1e-4
    x, y = np.moveaxis(np.array(seen), -1, 0)
    assert ((x > 0) & (y > 0) & (x < 3) & (y < 3) & ((x < 1.2) | (y < 1.5))).all()


@pytest.mark.parametrize("width, passable", [(2 * RADIUS + 0.02, True), (2 * RADIUS - 0.02, False)])
def test_a_doorway_wider_than_the_character_is_passable(width, passable):
    walls = Obstacles([[[-3, 0], [-width / 2, 0]], [[width / 2, 0], [3, 0]]], RADIUS)
    for start in (-0.1, 0, 0.15):
        place = np.array([start, -1.0])
        for _ in range(100):
            place = moved(walls, place, place + [0, STEP])
        assert (place[1] > 0) == passable


def test_one_that_stands_in_a_wall_is_pushed_out_gently():
    walls = Obstacles([[[-5, 0], [5, 0]]], RADIUS)
    place = np.array([0.0, -0.02])
    for _ in range(120):
        now = moved(walls, place, place)
        assert 0 <= place[1] - now[1] < 0.03 and now[0] == 0
        place = now
    assert place[1] == pytest.approx(-RADIUS, abs=1e-4)


def test_one_between_walls_that_are_too_near_stands_still_and_can_walk_out():
    walls = Obstacles([[[-1, 0.2], [1, 0.2]], [[-1, -0.2], [1, -0.2]]], RADIUS)
    place = np.array([0.0, 0.05])
    for _ in range(60):
        place = moved(walls, place, place)
    np.testing.assert_allclose(moved(walls, place, place), place, atol=1e-3)
    for _ in range(60):
        place = moved(walls, place, place + [STEP, 0])
    assert place[0] > 2


def test_a_path_slides_along_walls_and_goes_on_behind_them():
    walls = Obstacles([[[-5, 1], [1.2, 1]]], RADIUS)
    times = np.linspace(0, 2, 21)[1:, None]
    wanted, away = times * [1.0, 1.0], times * [0.0, -1.0]
    found = path(walls, wanted)
    assert distances(found, walls).min() >= RADIUS - 1e-9
    np.testing.assert_allclose(path(walls, away), away)
    np.testing.assert_allclose(found[:4], wanted[:4])
    assert found[10, 1] == pytest.approx(1 - RADIUS, abs=1e-4)
    np.testing.assert_allclose(np.diff(found[-5:], axis=0), 0.1, atol=1e-9)


def test_a_path_is_where_the_steps_lead():
    rng = np.random.default_rng(1)
    ends = rng.uniform(-4, 4, (60, 2, 2))
    walls = Obstacles(ends[distances([np.zeros((1, 2))], Obstacles(ends, RADIUS), every=True) > 1], RADIUS)
    for wanted in np.cumsum(rng.normal(scale=0.4, size=(3, 8, 2)), axis=1):
        found, place = path(walls, wanted), np.zeros(2)
        for there, wish in zip(found, np.diff(wanted, axis=0, prepend=[[0, 0]])):
            place = moved(walls, place, place + wish)
            np.testing.assert_allclose(there, place, atol=1e-12)
        assert np.abs(found - wanted).max() > 0.1


def turned(angle):
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def distances(points, walls, every=False):
    """The distances of points (…, 2) from the nearest wall; with every, of all walls from the nearest point."""
    points = np.reshape(points, (-1, 1, 2))
    start, end = walls.segments[:, 0], walls.segments[:, 1]
    along = ((points - start) * (end - start)).sum(-1) / ((end - start) ** 2).sum(-1)
    gaps = np.linalg.norm(points - start - np.clip(along, 0, 1)[..., None] * (end - start), axis=-1)
    return gaps.min(axis=0 if every else 1)
