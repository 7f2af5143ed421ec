# SPDX-License-Identifier: GPL-3.0-or-later
"""A guide is one class: here is one that follows another character two metres behind, and nothing else knows of it."""

import cmath

import numpy as np
import pytest

from mm_blender.control.guide import Guide
from mm_blender.control.intent import Intent
from mm_blender.control.stick import Recording, Stick
from mm_blender.playback.group import Group
from mm_blender.playback.library import BakedLibrary

BEHIND = 2.0  # metres


class Follow(Guide):
    """Walks where somebody (a Body) has walked, two metres behind."""

    def __init__(self, leader, rate):
        self._leader, self._rate = leader, rate
        place, yaw = leader.root
        self.place(place - BEHIND * cmath.rect(1, yaw) * 1j, yaw)

    def place(self, place, yaw, velocity=0j, turning=0.0):
        self.root, self.intent = (place, yaw), Intent(0j, yaw)
        there, _ = self._leader.root
        self._trail, self._way = [place, there], [0.0, abs(there - place)]  # where to go, and how far that is

    def step(self, body):
        place, _ = self._leader.root
        self._way.append(self._way[-1] + abs(place - self._trail[-1]))
        self._trail.append(place)
        before = self._way[1:][-round(self._rate / 4):]  # over a quarter of a second no single step counts
        self._speed = (before[-1] - before[0]) / len(before) * self._rate
        self.root, (ahead, yaw) = self.path([0.0, 0.1])
        self.intent = Intent((ahead - self.root[0]) / 0.1, yaw)

    def path(self, times):
        ways = self._way[-1] - BEHIND + self._speed * np.array(times)
        places, further = (np.interp(ways + more, self._way, self._trail) for more in (0.0, 0.3))
        return [(complex(place), cmath.phase((there - place) / 1j) if abs(there - place) > 0.1 else self.root[1])
                for place, there in zip(places, further)]


@pytest.fixture(scope="module")
def walk(demo_database):
    """Both of them while the leader stands, walks, turns, walks on and stops: (F, 2) places and speeds, and the frames
    that the second one played."""
    library = BakedLibrary(demo_database)
    rate = demo_database.rate
    stick = Recording.of([0, 1, 5, 9, 13], [Stick(), Stick(move_y=1.0), Stick(move_x=1.0), Stick(), Stick()])
    leader = Group(library, [stick.guide(rate, library.speeds)])
    follower = Group(library, [Follow(leader.player.bodies[0], rate)])
    places = []
    for _ in range(round(stick.duration * rate)):
        leader.step()
        follower.step()
        places.append([group.player.roots[0][0] for group in (leader, follower)])
    half = round(rate / 2)
    places = np.array(places)
    speeds = np.abs(places[half:] - places[:-half]) / 0.5
    return places, np.pad(speeds, ((half, 0), (0, 0))), follower.record.trace().frames


def seconds(start, end):
    return slice(round(60 * start), round(60 * end))


def test_it_stays_two_metres_behind(walk):
    places, *_ = walk
    apart = np.abs(places[:, 0] - places[:, 1])
    assert apart[seconds(2, 5)] == pytest.approx(BEHIND, abs=0.25)
    assert apart[seconds(8, 13)] == pytest.approx(BEHIND, abs=0.25)
    assert apart[seconds(5, 8)].max() < BEHIND + 0.25, "in a curve it is as far behind on the way, and no farther away"


def test_it_walks_where_the_leader_walked(walk):
    places, *_ = walk
    off = [np.abs(places[:, 0] - place).min() for place in places[seconds(3, 12), 1]]
    assert max(off) < 0.15


def test_it_walks_when_the_leader_walks_and_stands_when_it_stands(walk, demo_database):
    _, speeds, frames = walk
    assert speeds[seconds(0, 1), 1].max() < 0.1
    assert speeds[seconds(3, 5), 1] == pytest.approx(speeds[seconds(3, 5), 0].mean(), abs=0.25)
    assert demo_database.tags["walk"][frames[seconds(3, 5)]].mean() > 0.9
    assert speeds[seconds(11.5, 13), 1].max() < 0.1
    standing = demo_database.tags["idle"] | demo_database.tags["stop"]
    assert standing[frames[seconds(11.5, 13)]].all()


def test_of_every_guide_it_is_told_when_its_wish_jumps():
    class Still(Guide):
        intent = Intent(0j, 0.0)

    guide = Still()
    guide.searched()
    assert not guide.jumped
    guide.intent = Intent(1.4j, 0.0)
    assert guide.jumped
