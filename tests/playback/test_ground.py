# SPDX-License-Identifier: GPL-3.0-or-later
"""Slopes and steps: feet stand on them and not in them, legs reach, and nothing pops that does not on the plane."""

import numpy as np
import pytest

from tests.playback.shown import joints_of
from tests.steering import player_of, step_on

RATE = 60
GROUNDS = {
    "plane": lambda points: np.zeros(points.shape[:-1]),
    "uphill": lambda points: np.tan(np.radians(20)) * points[..., 1],
    "downhill": lambda points: -np.tan(np.radians(20)) * points[..., 1],
    "across": lambda points: np.tan(np.radians(15)) * points[..., 0],
    "kerb": lambda points: 0.2 * ((points[..., 1] > 2) & (points[..., 1] < 4)),
}


class Walk:
    """Five seconds of walking and one of standing on some ground."""

    def __init__(self, motion, search, ground, speed=1.3):
        player = player_of(motion, search)
        player.ground = ground
        player.place([[0.0, 0.0]], [0.0])
        rows = []
        for frame in range(6 * RATE):
            step_on(player, [(1j * speed * (frame < 5 * RATE), 0.0)])
            root = [*player.positions[0], player.heights[0]]
            rows.append((joints_of(player)[0, player.limbs.joints], player.feet.locked[0], player.contacts[0], root[2],
                         root))
        self.joints, self.held, self.contacts, self.heights, self.roots = (np.array(column) for column in zip(*rows))
        self.standing, self.ground = player.feet.standing, ground or GROUNDS["plane"]

    def above(self, part):
        """(F, 2) how high a joint is over where it would be if the foot stood there."""
        places = self.joints[:, :, part]
        return places[..., 2] - self.ground(places) - self.standing[:, 3 - part]

    def acceleration(self):
        return np.percentile(np.linalg.norm(np.diff(self.joints, 2, axis=0), axis=-1) * RATE ** 2, 99.9)


@pytest.fixture(scope="module")
def walks(motion, search):
    return {name: Walk(motion, search, ground) for name, ground in GROUNDS.items()}


everywhere = pytest.mark.parametrize("name", GROUNDS)


def test_a_ground_that_is_the_plane_changes_nothing(walks, motion, search):
    np.testing.assert_array_equal(walks["plane"].joints, Walk(motion, search, None).joints)


@everywhere
def test_held_feet_do_not_slide_and_stand_on_the_ground(walks, name):
    walk = walks[name]
    held = walk.held[1:] & walk.held[:-1]
    slide = np.linalg.norm(np.diff(walk.joints[:, :, 3, :2], axis=0), axis=-1) * RATE
    assert slide[held].mean() < 0.005 and held.mean() > 0.5
    stands = walk.held & walk.contacts  # and does not peel off already
    standing = stands[12:] & stands[:-12]  # for a fifth of a second
    assert walk.above(3)[12:][standing].max() < 0.02


@everywhere
def test_toes_do_not_enter_the_ground(walks, name):
    assert walks[name].above(3).min() > -0.005


@pytest.mark.parametrize("name", ["plane", "uphill", "downhill", "across"])
def test_heels_do_not_enter_the_ground(walks, name):
    assert walks[name].above(2).min() > -0.005


@pytest.mark.parametrize("name", ["uphill", "downhill"])
def test_feet_lie_on_slopes(walks, name):
    walk = walks[name]
    feet = (walk.joints[:, :, 3] - walk.joints[:, :, 2])[-20:]
    flat = (walks["plane"].joints[:, :, 3] - walks["plane"].joints[:, :, 2])[-20:]
    turned, usual = (np.degrees(np.arctan2(each[..., 2], each[..., 1])).mean() for each in (feet, flat))
    assert turned - usual == pytest.approx(20 if name == "uphill" else -20, abs=7)


@everywhere
def test_knees_do_not_flip(walks, name):
    hip, knee, ankle, _ = np.moveaxis(walks[name].joints, 2, 0)
    assert (np.cross(knee - hip, ankle - knee)[..., 0] < 0).all()


@everywhere
def test_nothing_pops(walks, name):
    most = 2.5 if name == "kerb" else 1.6
    assert walks[name].acceleration() < most * walks["plane"].acceleration()


def test_the_root_follows_the_ground_and_goes_down_for_the_lower_foot(walks):
    assert walks["kerb"].heights.max() == pytest.approx(0.2, abs=0.01)
    assert walks["kerb"].heights[-1] == pytest.approx(0, abs=0.01)
    for name in ("uphill", "downhill"):
        walk = walks[name]
        over = (walk.heights - walk.ground(walk.roots))[60:]
        assert over.min() > -0.25 and over.mean() < -0.02 and over.max() < 0.05
    assert np.abs(np.diff(walks["kerb"].heights, 2)).max() * RATE ** 2 < 30


@pytest.mark.parametrize("speed", [1.3, 3.5], ids=["walk", "run"])
@pytest.mark.parametrize("degrees, lowest", [(10, -0.02), (15, -0.03), (25, -0.05), (-10, -0.04), (-15, -0.065)])
def test_nobody_crouches_on_slopes(motion, search, degrees, lowest, speed):
    walk = Walk(motion, search, lambda points: np.tan(np.radians(degrees)) * points[..., 1], speed)
    over = (walk.heights - walk.ground(walk.roots))[60:5 * RATE]
    assert lowest < over.mean() < 0.01
    hip, knee, ankle, _ = np.moveaxis(walk.joints[60:5 * RATE], 2, 0)
    bones = np.linalg.norm(knee - hip, axis=-1) + np.linalg.norm(ankle - knee, axis=-1)
    straight = np.linalg.norm(ankle - hip, axis=-1) / bones
    held = walk.held[60:5 * RATE]
    assert straight[held].max() < 0.998 and straight[held].mean() > 0.78
    assert walk.above(3)[60:5 * RATE][held].mean() < 0.01


def test_without_ground_it_returns_to_the_plane(motion, search):
    player = player_of(motion, search)
    player.ground = lambda points: np.full(points.shape[:-1], 0.3)
    player.place([[0.0, 0.0]], [0.0])
    assert player.heights[0] == pytest.approx(0.3)
    player.ground = None
    for _ in range(90):
        step_on(player, [(0j, 0.0)])
    assert abs(player.heights[0]) < 0.001 and player.toes[..., 2].max() < 0.1
