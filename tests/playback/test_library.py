# SPDX-License-Identifier: GPL-3.0-or-later
"""A database made ready for driving."""

from dataclasses import replace

import numpy as np
import pytest

from mm_blender.control.stick import Stick
from mm_blender.matching.features import Normalisation
from mm_blender.matching.schema import Channel, Schema
from mm_blender.playback.library import READY, BakedLibrary
from tests.steering import group_of


@pytest.fixture(scope="module")
def library(demo_database, search):
    return BakedLibrary(demo_database, search.allowing(search.allowed))


def test_a_query_is_searched_for_once(library):
    assert library.choice("run") is library.choice("run")


def test_only_so_many_queries_are_kept(library):
    first, queries = library.choice("run"), ["walk" + " | run" * more for more in range(READY)]
    made = {query: library.choice(query) for query in queries}
    kept = queries[1 - READY:]  # and the one without a query
    assert all(library.choice(query) is made[query] for query in kept)
    assert library.choice("walk") is not made["walk"] and library.choice("run") is not first


def test_a_query_that_selects_nothing_is_said_and_let_go(library):
    choice = library.choice("walk & ~walk")
    assert "walk & ~walk" in choice.trouble
    assert choice.wanted.all()


def test_weights_change_every_search(library, demo_database):
    query = demo_database.features[100] + 0.5
    before = library.choice("run").search.cost(query, 7)
    assert library.weigh(replace(demo_database.schema, responsiveness=9.0))
    assert library.choice("run").search.cost(query, 7) > before
    assert not library.weigh(replace(demo_database.schema, responsiveness=9.0))
    assert library.weigh(demo_database.schema)
    assert library.choice("run").search.cost(query, 7) == pytest.approx(before)


def test_crouching_begins_and_ends_with_the_button(library, demo_database):
    group = group_of(library)
    played = {}
    for crouch in (0.0, 1.0, 0.0):
        for _ in range(90):
            group.guides[0].steer(Stick(move_y=0.5, crouch=crouch))
            group.step()
        played[crouch] = [demo_database.tags["crouch"][row] for row in group.record.trace().frames[-30:]]
        assert np.all(played[crouch]) if crouch else not np.any(played[crouch])


def test_it_begins_standing(library, demo_database):
    frame = library.standing
    assert np.abs(library.motion.travel[frame]).max() < 0.15
    assert not demo_database.tags["crouch"][frame]


def test_features_that_are_tags_of_gaits_ask_for_the_gait(demo_database):
    channels = (*demo_database.schema.channels, Channel("tag", "run", (0.0,)), Channel("tag", "turn", (0.0,)))
    tags = np.stack([demo_database.tags[name] for name in ("run", "turn")], axis=-1).astype(np.float32)
    database = replace(demo_database, schema=Schema(channels), cells=None,
                       features=np.concatenate([demo_database.features, tags], axis=1),
                       normalisation=Normalisation(*(np.concatenate([part, [0, 0] if index == 0 else [1, 1]]).astype(
                           np.float32) for index, part in enumerate((demo_database.normalisation.mean,
                                                                     demo_database.normalisation.scale)))))
    group = group_of(BakedLibrary(database))
    for run in (0.0, 1.0):
        group.guides[0].steer(Stick(move_y=1, run=run))
        group.step()
        query = group.player.query([0])[0]
        assert query[-2] == run, "the gait is asked for"
        assert query[-1] == database.features[group.player.matcher.frames[0], -1], "others are of what is playing"


def test_a_hand_that_stays_as_it_is_wants_the_same_and_at_rest_what_the_character_faces(library):
    group, forward, aside = group_of(library), Stick(move_y=1.0), Stick(move_x=1.0)
    wanted = []
    for frame in range(60):
        group.guides[0].steer(forward if frame < 20 else aside if frame < 30 else Stick())
        facing = group.guides[0].root[1]
        wanted.append((group.guides[0].intent.velocity, group.guides[0].intent.yaw, facing))
        group.step()
    velocities, yaws, facings = map(np.array, zip(*wanted))
    assert (velocities[:20].imag > 0.5).all() and (velocities[20:30].real > 0.5).all() and not velocities[30:].any()
    assert np.ptp(facings[30:]) > 0.1  # it is still turning
    np.testing.assert_array_equal(yaws[30:], facings[30:])
    group.place(np.zeros((1, 2)), np.full(1, 2.0))
    group.guides[0].steer(Stick())
    assert group.guides[0].intent.yaw == 2.0
