# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide that follows a path: by time, waiting for who falls behind, leading back who is beside it."""

import cmath
from types import SimpleNamespace

import numpy as np
import pytest

from mm_blender.control.path import Mark, Path
from mm_blender.control.path_guide import SLOWEST, PathGuide
from mm_blender.control.schedule import Schedule
from mm_blender.control.speeds import Speeds

LINE = Path(np.linspace(0, 12j, 13))


def guide_of(path=LINE, rate=60):
    return PathGuide(Schedule(path, Speeds()), rate)


def go(guide, seconds, place=None):
    """Guide somebody who stays at a place, or is where it leads."""
    for _ in range(round(60 * seconds)):
        guide.step(SimpleNamespace(root=(guide.root[0] if place is None else place, 0.0)))


def test_it_goes_on_by_time_with_who_follows():
    guide = guide_of()
    go(guide, 4)
    assert guide.time == pytest.approx(4, abs=0.02) and guide.waited == pytest.approx(0)
    assert guide.root[0] == pytest.approx(complex(guide.schedule.at([guide.time])[0][0]))
    assert guide.intent.velocity == pytest.approx(1.4j, abs=0.01) and guide.intent.gait == "walk"
    (before, _), (ahead, yaw) = guide.path([-1.0, 1.0])
    assert ahead - guide.root[0] == pytest.approx(1.4j, abs=0.02) and yaw == pytest.approx(0)
    assert before - guide.root[0] == pytest.approx(-1.4j, abs=0.02)


def test_it_waits_for_who_falls_behind_but_never_stands_and_makes_up_for_it_where_there_is_a_time_to_keep():
    guide = guide_of()
    go(guide, 4)
    go(guide, 3, guide.root[0])
    assert 0.5 < guide.time - 4 < 2.2
    before = guide.time
    go(guide, 4, guide.root[0] - 6j)
    assert guide.time - before == pytest.approx(4 * SLOWEST, rel=0.3)
    keeps = guide_of(Path(np.linspace(0, 12j, 13), {12: Mark(0, "end", time=15.0)}))
    go(keeps, 4)
    go(keeps, 2, keeps.root[0])
    behind = keeps.waited
    go(keeps, 5)
    assert 0 < keeps.waited < behind / 2 and behind > 0.4


def test_who_is_beside_the_path_is_led_back_to_it_and_turned_towards_it():
    guide = guide_of()
    go(guide, 4)
    go(guide, 0.02, guide.root[0] + 0.3)
    (place, yaw), (later, straight) = guide.path([0.2, 1.0])
    assert 0.05 < place.real < 0.3 and yaw > 0.2, "to the left, from the right of it"
    assert abs(later.real) < 0.06 and abs(straight) < yaw
    aside = guide_of(Path(np.linspace(0, 12j, 13), {0: Mark(0, "start", face=1 + 0j)}))
    go(aside, 4)
    go(aside, 0.02, aside.root[0] + 0.3)
    assert aside.path([0.2])[0][1] == pytest.approx(-np.pi / 2, abs=0.02), "who steps aside faces where it faced"


def test_a_hairpin_whose_far_side_is_near_is_walked_to_its_end(demo_database):
    from mm_blender.playback.direct import direct
    from mm_blender.playback.library import BakedLibrary

    turn = 3j + 0.15 * (1 - np.exp(-1j * np.linspace(0, np.pi, 12)))
    path = Path([*np.linspace(0, 3j, 40), *turn[1:-1], *np.linspace(0.3 + 3j, 0.3, 40)])
    directed = direct(BakedLibrary(demo_database), path)
    places = directed.clip.positions[:, 0, 0] + 1j * directed.clip.positions[:, 0, 1]
    assert places.imag.max() > 2.9 and abs(places[-1] - 0.3) < 0.03
    half = directed.times < directed.schedule.duration / 2
    apart = [abs(place - goal) for place, goal in zip(places[half], directed.schedule.at(directed.times[half])[0])]
    assert max(apart) < 0.3
    assert cmath.phase(np.exp(1j * directed.trace.simulated[-1, 2])) == pytest.approx(np.pi, abs=0.2) or (
        cmath.phase(np.exp(1j * directed.trace.simulated[-1, 2])) == pytest.approx(-np.pi, abs=0.2))
