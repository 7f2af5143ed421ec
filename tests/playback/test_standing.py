# SPDX-License-Identifier: GPL-3.0-or-later
"""Who stands still, what is played then, and that no toe moves."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from mm_blender.control.intent import Intent
from mm_blender.control.stick import Recording, Stick
from mm_blender.playback.group import Group
from mm_blender.playback.library import BakedLibrary
from mm_blender.playback.standing import (
    COMES_TO_REST,
    STANDS,
    WAITS,
    Standing,
    frames_of_standing,
    jumps_on_the_spot,
)

RATE, DT = 60, 1 / 60


def test_frames_of_standing_have_all_feet_on_the_ground_and_a_root_at_rest_for_a_while():
    contacts, travel = np.ones((200, 2), dtype=bool), np.zeros((200, 3))
    contacts[100, 1], travel[150:, 1] = False, 1.0
    motion = SimpleNamespace(contacts=contacts, travel=travel, bounds=[(0, 199, False)])
    plays, enters = frames_of_standing(motion, RATE)
    assert plays[:85].all() and not plays[95:101].any() and plays[101:135].all() and not plays[140:].any()
    assert enters[:65].all() and not enters[75:101].any() and enters[101:115].all() and not enters[120:].any()
    smaller = SimpleNamespace(contacts=contacts, travel=travel * 0.01, bounds=motion.bounds)
    assert np.array_equal(frames_of_standing(smaller, RATE, size=0.01), (plays, enters))
    motion.bounds = [(0, 99, True), (100, 199, False)]
    plays, enters = frames_of_standing(motion, RATE)
    assert plays[:100].all() and enters[:100].all(), "a clip of standing that goes round never ends"
    assert plays[101:135].all() and not enters[100:].any(), "beside which the pauses of a dance are not entered"


def test_a_jump_on_the_spot_is_known_with_what_leads_up_to_it_and_a_run_is_none():
    contacts, travel = np.ones((400, 2), dtype=bool), np.zeros((400, 3))
    for start, stop in ((90, 120), (220, 250), (310, 320), (350, 380)):
        contacts[start:stop] = False
    travel[200:300, 1] = 3.0  # a long leap of somebody who goes on; the steps after it are short
    motion = SimpleNamespace(contacts=contacts, travel=travel, bounds=[(0, 139, True), (140, 399, False)])
    jumps = jumps_on_the_spot(motion, RATE)
    assert jumps[:140].all() and not jumps[140:290].any() and jumps[290:380].all() and not jumps[380:].any()
    motion.bounds[0] = 0, 139, False
    assert not jumps_on_the_spot(motion, RATE)[120:290].any(), "what does not go round has landed"


def test_who_is_to_come_to_rest_begins_no_jump_and_who_asks_for_one_may(demo_database, monkeypatch):
    library = BakedLibrary(demo_database)
    assert library.choice("", COMES_TO_REST) is library.choice("")
    jumps = np.arange(len(demo_database)) % 600 < 200
    library = BakedLibrary(demo_database)
    monkeypatch.setattr("mm_blender.playback.library.jumps_on_the_spot", lambda *_: jumps)
    usual, rest = library.choice(""), library.choice("", COMES_TO_REST)
    assert (usual.search.allowed & jumps).any() and not (rest.search.allowed & jumps).any()
    assert (rest.wanted == ~(jumps & library.motion.contacts.any(axis=1))).all(), "who is in the air lands first"


@pytest.mark.parametrize("intent, away, command, held, stands", [
    (Intent(0j, 0.1), 0.05, {}, True, True), (Intent(0.1j, 0.0), 0.0, {}, True, False),
    (Intent(0j, 0.0), 0.12, {}, True, False), (Intent(0j, math.radians(15)), 0.0, {}, True, False),
    (Intent(0j, 0.0, query="dance"), 0.0, {}, True, False), (Intent(0j, 0.0), 0.0, {"dance tag": [1]}, True, False),
    (Intent(0j, 0.0), 0.0, {}, False, False)])
def test_who_stands_is_where_it_should_be_with_its_feet_on_the_ground_for_a_second(intent, away, command, held, stands):
    guide = SimpleNamespace(root=(2 + 0j, 0.0), intent=intent)
    body, standing, taken = SimpleNamespace(root=(2 + away + 0j, 0.0)), Standing(1), []
    for _ in range(round(2 * WAITS * RATE)):
        standing.look([guide], [body], [command], [(True, held)], DT)
        taken.append(standing.places[0] is not None)
    assert taken.index(True) == pytest.approx(WAITS * RATE, abs=1) if stands else not any(taken)


def test_of_who_is_small_it_is_near_that_is_near_for_it():
    guide = SimpleNamespace(root=(0j, 0.0), intent=Intent(0j, 0.0))
    for away, stands in ((0.0005, True), (0.0015, False)):
        standing = Standing(1, size=0.01)
        for _ in range(round(2 * WAITS * RATE)):
            standing.look([guide], [SimpleNamespace(root=(complex(away), 0.0))], [{}], [(True, True)], DT)
        assert (standing.places[0] is not None) == stands


def test_who_stands_stays_until_it_is_wanted_to_go_or_to_turn():
    guide, body = SimpleNamespace(root=(0j, 0.0), intent=Intent(0j, 0.0)), SimpleNamespace(root=(0j, 0.0))
    standing = Standing(1)
    for _ in range(round(2 * WAITS * RATE)):
        standing.look([guide], [body], [{}], [(True, True)], DT)
    begun = standing.places
    for guide.intent, body.root, stays in ((Intent(0j, 0.3), (0.05j, 0.1), True), (Intent(0j, 1.0), (0j, 0.0), False)):
        standing.look([guide], [body], [{}], [(True, False)], DT)
        assert standing.places == (begun if stays else [None])


def test_after_a_stop_no_toe_moves_and_nothing_but_standing_is_played(demo_database):
    library = BakedLibrary(demo_database)
    run = Recording.of([0, 2, 4], [Stick(move_x=1.0, run=1), Stick(move_y=-0.7), Stick()])
    group = Group(library, [run.guide(demo_database.rate, library.speeds)])
    toes = []
    for _ in range(14 * RATE):
        group.step()
        toes.append(group.player.toes[0])
    still = np.array(toes[7 * RATE:])
    assert np.ptp(still, axis=0).max() < 1e-4
    stands = frames_of_standing(library.motion, demo_database.rate)[0]
    assert stands[group.record.trace().frames[7 * RATE:]].mean() > 0.9


def test_where_nobody_stands_all_that_a_query_leaves_may_be_played(demo_database):
    library = BakedLibrary(demo_database)
    assert library.choice("run", STANDS) is library.choice("run")
    assert library.stands
    choice = library.choice("~run", STANDS)
    assert choice.wanted.sum() < library.choice("~run").wanted.sum() and choice.search.allowed.sum() > 1000
