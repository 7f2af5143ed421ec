# SPDX-License-Identifier: GPL-3.0-or-later
"""The search gives what comparing every frame gives, whatever the frames, weights, limits and queries are."""

from types import SimpleNamespace

import numpy as np
import pytest

from mm_blender.matching import search as module
from mm_blender.matching.database import REASONS
from mm_blender.matching.search import Search, enterable, gather, gather_more, why_not
from mm_blender.steps import run

SIZE = 11


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def scattered(rng, frames=3000):
    return rng.standard_normal((frames, SIZE)).astype(np.float32)


def clustered(rng, frames=3000):
    """Like motion: few places, each visited often, and steps that are small against the distances of the places."""
    places = rng.standard_normal((30, SIZE)) * 3
    walk = np.cumsum(rng.standard_normal((frames, SIZE)) * 0.02, axis=0)
    return (places[np.arange(frames) // 100 % 30] + walk).astype(np.float32)


def brute(features, weights, query, allowed=None, besides=None):
    """The cost of every frame, infinite where it may not be answered."""
    weights = np.asarray(weights, dtype=np.float32)
    apart = (features * weights).astype(np.float64) - query.astype(np.float32) * weights
    costs = (apart ** 2).sum(axis=-1)
    if allowed is not None:
        costs[~allowed] = np.inf
    if besides is not None:
        costs[max(besides[0], 0):besides[1] + 1] = np.inf
    return costs


def check(match, costs, at_most=np.inf):
    """The match is the best frame, or one of the same cost."""
    if costs.min() > at_most or costs.min() == np.inf:
        assert match is None
    else:
        assert match.cost == pytest.approx(costs.min(), rel=1e-12, abs=1e-12)
        assert costs[match.frame] == pytest.approx(costs.min(), rel=1e-12, abs=1e-12)


def check_alike(matches, others):
    assert [match and match.frame for match in matches] == [other and other.frame for other in others]
    for match, other in zip(matches, others):
        assert match is None or match.cost == pytest.approx(other.cost, rel=1e-12, abs=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("count", [2, 3, 14, 15])
def test_cells_without_a_frame_that_is_allowed_are_no_cause_for_a_warning(rng, count):
    features = clustered(rng)
    search = Search(features, np.ones(SIZE), np.arange(len(features)) < 1500)
    queries = queries_near(features, rng, count)
    check_alike(search.nearest_many(queries), [search.nearest(query) for query in queries])


def queries_near(features, rng, count=60, noise=0.3):
    return features[rng.integers(0, len(features), count)] + noise * rng.standard_normal((count, SIZE)).astype("f4")


@pytest.mark.parametrize("make", [scattered, clustered])
@pytest.mark.parametrize("frames", [module.FEW_ROWS // 8, module.FEW_ROWS * 2])
@pytest.mark.parametrize("noise", [0.0, 0.01, 0.5, 5.0, 1000.0])
def test_nearest_is_the_nearest_of_all(make, frames, noise, rng):
    features, weights = make(rng, frames), rng.uniform(0.2, 3, SIZE)
    search = Search(features, weights)
    for query in queries_near(features, rng, noise=noise):
        check(search.nearest(query), brute(features, weights, query))


def test_only_what_can_win_is_compared(rng, monkeypatch):
    features = clustered(rng)
    search = Search(features, np.ones(SIZE))
    seen, gathered = [], Search._gathered
    monkeypatch.setattr(Search, "_gathered", lambda self, blocks: seen.append(len(blocks)) or gathered(self, blocks))
    for query in queries_near(features, rng, noise=0.05):
        search.nearest(query)
    assert np.mean(seen) * module.BLOCK < len(features) / 10


@pytest.mark.parametrize("make", [scattered, clustered])
@pytest.mark.parametrize("share", [0.9, 0.3, 0.002, 0.0])
def test_frames_that_are_not_allowed_are_never_answered(make, share, rng):
    features, weights = make(rng), np.ones(SIZE)
    allowed = rng.random(len(features)) < share
    search = Search(features, weights, allowed)
    for query in queries_near(features, rng):
        check(search.nearest(query), brute(features, weights, query, allowed))


def test_allowed_frames_and_weights_change_independently(rng):
    features = clustered(rng)
    search = Search(features, np.ones(SIZE))
    for _ in range(4):
        weights, allowed = rng.uniform(0, 4, SIZE), rng.random(len(features)) < 0.5
        search.set_weights(weights)
        search.set_allowed(allowed)
        search.set_weights(weights := weights[::-1])
        for query in queries_near(features, rng, 20):
            check(search.nearest(query), brute(features, weights, query, allowed))


def test_a_search_that_allows_other_frames_answers_those_and_leaves_the_first_as_it_was(rng):
    features, weights = clustered(rng), rng.uniform(0.2, 3, SIZE)
    allowed, others = rng.random((2, len(features))) < [[0.5], [0.02]]
    search = Search(features, weights, allowed)
    second = search.allowing(others)
    for query in queries_near(features, rng):
        check(search.nearest(query), brute(features, weights, query, allowed))
        check(second.nearest(query), brute(features, weights, query, others))
        check(second.best(query, 1)[0], brute(features, weights, query, others))
    queries = queries_near(features, rng)
    check_alike(second.nearest_many(queries), [second.nearest(query) for query in queries])


def test_changes_of_one_of_two_searches_over_the_same_frames_do_not_touch_the_other(rng):
    features = clustered(rng)
    allowed, others, more = rng.random((3, len(features))) < 0.3
    first_weights, second_weights = rng.uniform(0.2, 3, (2, SIZE))
    first = Search(features, first_weights, allowed)
    second = first.allowing(others)
    second.set_weights(second_weights)
    first.set_allowed(more)
    for query in queries_near(features, rng, 30):
        check(first.nearest(query), brute(features, first_weights, query, more))
        check(second.nearest(query), brute(features, second_weights, query, others))
    first.set_weights(second_weights[::-1])
    for query in queries_near(features, rng, 30):
        check(second.nearest(query), brute(features, second_weights, query, others))
        assert second.cost(query, 5) == pytest.approx(brute(features, second_weights, query)[5], rel=1e-12)


def test_searches_over_the_same_frames_share_their_rows(rng):
    search = Search(clustered(rng), np.ones(SIZE))
    second = search.allowing(np.arange(3000) < 50)
    assert second._rows is search._rows and second._features is search._features


def test_of_near_frames_one_that_is_not_allowed_or_too_near_what_is_playing_does_not_hide_the_next(rng):
    features = scattered(rng)
    features[1500:1600] = features[1500] + np.linspace(0, 1e-3, 100, dtype=np.float32)[:, None]
    allowed = np.arange(len(features)) % 3 > 0
    search = Search(features, np.ones(SIZE), allowed)
    assert search.nearest(features[1500]).frame == 1501
    assert search.nearest(features[1500], (1490, 1510)).frame == 1511
    assert search.nearest_many(features[1500:1502], [(1490, 1510), (1500, 1501)])[0].frame == 1511


def test_frames_that_were_left_out_are_answered_again(rng):
    features = clustered(rng)
    search = Search(features, np.ones(SIZE))
    for besides in ((-20, 10), (len(features) - 5, len(features) + 20), (40, 80)):
        search.nearest(features[50], besides), search.best(features[50], 3, besides)
        search.nearest_many(features[:40], [besides] * 40)
    assert [search.nearest(query).frame for query in features] == list(range(len(features)))


@pytest.mark.parametrize("make", [scattered, clustered])
def test_the_neighbourhood_of_the_frame_that_is_playing_is_left_out(make, rng):
    features, weights = make(rng), np.ones(SIZE)
    search = Search(features, weights)
    for frame in rng.integers(0, len(features), 60):
        besides = int(frame) - 20, int(frame) + 20
        match = search.nearest(features[frame], besides)
        check(match, brute(features, weights, features[frame], besides=besides))
        assert not besides[0] <= match.frame <= besides[1]


def test_a_neighbourhood_that_leaves_nothing_gives_nothing(rng):
    features = clustered(rng, 300)
    search = Search(features, np.ones(SIZE))
    assert search.nearest(features[5], (0, 299)) is None
    assert search.nearest(features[5], (1, 299)).frame == 0
    assert search.nearest_many(features[:3], [(0, 299), (1, 299), (0, 298)])[0] is None


def test_nothing_above_at_most_is_answered(rng):
    features, weights = clustered(rng), np.ones(SIZE)
    search = Search(features, weights)
    for query in queries_near(features, rng):
        costs = brute(features, weights, query)
        for factor in (0.0, 0.5, 0.999, 1.001, 3.0):
            check(search.nearest(query, at_most=costs.min() * factor), costs, costs.min() * factor)


def test_the_cost_of_staying_is_a_bound_that_holds(rng):
    features, weights = clustered(rng), rng.uniform(0.2, 3, SIZE)
    search = Search(features, weights)
    for query in queries_near(features, rng):
        best = search.nearest(query)
        assert search.cost(query, best.frame) == pytest.approx(best.cost, rel=1e-12)
        assert search.nearest(query, at_most=search.cost(query, best.frame) * (1 + 1e-9)) == best


def test_of_frames_that_are_the_same_one_is_answered(rng):
    features = np.repeat(scattered(rng, 40), 50, axis=0)
    search = Search(features, np.ones(SIZE))
    for frame in (0, 70, 1999):
        match = search.nearest(features[frame])
        assert match.cost == 0 and (features[match.frame] == features[frame]).all()
    allowed = np.zeros(len(features), dtype=bool)
    allowed[77] = True
    search.set_allowed(allowed)
    assert search.nearest(features[70]) == (77, 0.0)


def test_a_difference_too_small_for_float32_products_decides(rng):
    features = np.tile(np.float32(100) * scattered(rng, 1), (500, 1))
    features[:, 0] += np.linspace(0, 1e-2, 500, dtype=np.float32)
    search = Search(features, np.ones(SIZE))
    for frame in (3, 250, 499):
        check(search.nearest(features[frame]), brute(features, np.ones(SIZE), features[frame]))


def test_all_frames_alike(rng):
    features = np.ones((1000, SIZE), dtype=np.float32)
    search = Search(features, np.ones(SIZE))
    assert search.nearest(features[0]).cost == 0
    assert search.nearest(features[0] * 3).cost == pytest.approx(4 * SIZE)


def test_weights_of_zero_make_a_feature_not_count(rng):
    features, weights = clustered(rng), np.r_[np.zeros(5), np.ones(SIZE - 5)]
    search = Search(features, weights)
    query = features[100].copy()
    query[:5] += 1000
    assert search.nearest(query).cost == 0
    search.set_weights(np.zeros(SIZE))
    assert search.nearest(query).cost == 0


@pytest.mark.parametrize("frames", [1, 2, 3, 5, 9, 40])
def test_few_frames(frames, rng):
    features, weights = scattered(rng, frames), np.ones(SIZE)
    search = Search(features, weights)
    for query in queries_near(features, rng, 10):
        check(search.nearest(query), brute(features, weights, query))
        assert len(search.best(query, 5)) == min(5, frames)


def test_a_query_far_from_everything_compares_all_frames_without_gathering_them(rng, monkeypatch):
    features = scattered(rng)
    features[:, -1] = 0
    search = Search(features, np.ones(SIZE))
    seen, gathered = [], Search._gathered
    monkeypatch.setattr(Search, "_gathered", lambda self, blocks: seen.append(blocks) or gathered(self, blocks))
    query = np.r_[features[0, :-1], 300].astype(np.float32)  # about as far from one frame as from any other
    check(search.nearest(query), brute(features, np.ones(SIZE), query))
    assert seen[0] is search._every_block


@pytest.mark.parametrize("make", [scattered, clustered])
@pytest.mark.parametrize("count", [0, 1, 7, 32, 75])
def test_many_queries_are_answered_like_one_after_the_other(make, count, rng):
    features = make(rng)
    search = Search(features, rng.uniform(0.2, 3, SIZE), rng.random(len(features)) < 0.6)
    queries = queries_near(features, rng, count)
    at_most = rng.choice([0.01, 1, np.inf], count)
    besides = np.stack([np.arange(count) * 3, np.arange(count) * 3 + 40], axis=-1)
    check_alike(search.nearest_many(queries), [search.nearest(query) for query in queries])
    check_alike(search.nearest_many(queries, besides, at_most),
                [search.nearest(*each) for each in zip(queries, besides, at_most)])


def test_many_queries_of_which_some_are_far_away(rng):
    features = clustered(rng)
    search = Search(features, np.ones(SIZE))
    queries = queries_near(features, rng, 20)
    queries[::2] *= 1000
    check_alike(search.nearest_many(queries), [search.nearest(query) for query in queries])


def test_the_best_come_in_order_with_their_costs(rng):
    features, weights = clustered(rng), rng.uniform(0.2, 3, SIZE)
    allowed = rng.random(len(features)) < 0.5
    search = Search(features, weights, allowed)
    for query in queries_near(features, rng, 20):
        costs = brute(features, weights, query, allowed, (100, 200))
        best = search.best(query, 10, (100, 200))
        assert [match.frame for match in best] == np.lexsort((np.arange(len(costs)), costs))[:10].tolist()
        np.testing.assert_allclose([match.cost for match in best], np.sort(costs)[:10], rtol=1e-12)


def test_the_shares_of_the_features_add_up_to_the_cost(rng):
    features, weights = scattered(rng), rng.uniform(0.2, 3, SIZE)
    search = Search(features, weights)
    query = features[0].copy()
    query[3:6] += 2
    shares = search.shares(query, 0, [slice(0, 3), slice(3, 6), slice(6, SIZE)])
    assert shares[0] == shares[2] == 0
    assert shares[1] == pytest.approx(4 * (weights[3:6] ** 2).sum(), rel=1e-5)
    assert search.shares(query, 9, [slice(0, 3), slice(3, SIZE)]).sum() == pytest.approx(search.cost(query, 9))


def test_the_same_frames_give_the_same_search(rng):
    features = clustered(rng)
    first, second = (run(gather(features, np.ones(SIZE))) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def fake(barred, **tags):
    """A database as far as limits are concerned."""
    barred = np.array(barred)
    tags = {name: np.array(mask, dtype=bool) for name, mask in tags.items()}
    return type("Fake", (SimpleNamespace,), {"__len__": lambda self: len(barred)})(
        barred=lambda end: barred, select=lambda query: tags[query] if query else np.ones(len(barred), dtype=bool))


def test_enterable_frames_are_selected_and_not_barred():
    database = fake([0, 0, 2, 0], run=[1, 0, 1, 0], jump=[0, 0, 1, 0])
    mask, sentence = enterable(database, "run")
    assert mask.tolist() == [True, False, False, False] and not sentence
    mask, sentence = enterable(database)
    assert mask.tolist() == [True, True, False, True] and not sentence


def test_a_tag_query_that_leaves_nothing_is_let_go_and_that_is_said():
    database = fake([0, 0, 2, 0], jump=[0, 0, 1, 0])
    mask, sentence = enterable(database, "jump")
    assert mask.tolist() == [True, True, False, True] and '"jump"' in sentence
    mask, sentence = enterable(fake([1, 2]))
    assert mask.all() and sentence


def test_a_reason_is_given_for_a_frame_that_is_not_answered():
    database = fake([0, 1, 2, 0], run=[1, 1, 1, 0])
    assert why_not(database, 0, "run") == ""
    assert why_not(database, 1, "run") == REASONS[1]
    assert why_not(database, 2) == REASONS[2]
    assert '"run"' in why_not(database, 3, "run")
    assert "playing" in why_not(database, 0, "run", besides=(0, 2))
    assert "playing" in why_not(database, 0, "run", besides=(3, 4, 0, 1))


def test_cells_that_are_alike_lie_beside_each_other(rng):
    features = clustered(rng)
    cell = run(gather(features, np.ones(SIZE)))
    centres = np.array([features[cell == number].mean(axis=0) for number in range(cell.max() + 1)])
    apart = np.linalg.norm(np.diff(centres, axis=0), axis=1).mean()
    any_two = np.linalg.norm(np.diff(rng.permutation(centres), axis=0), axis=1).mean()
    assert apart < 0.6 * any_two


def test_frames_that_come_to_cells_that_are_there_change_no_answer(rng):
    features = clustered(rng)
    cell = run(gather(features, np.ones(SIZE)))
    new = np.arange(len(features)) >= len(features) * 0.9
    more = run(gather_more(features, np.ones(SIZE), np.where(new, -1, cell)))
    assert not np.array_equal(more, cell)
    assert np.array_equal(run(gather_more(features, np.ones(SIZE), cell)), cell), "nothing is new"
    one, other = (Search(features, np.ones(SIZE), cells=cells) for cells in (cell, more))
    for query in [features[0], *rng.normal(size=(200, SIZE)).astype(np.float32)]:
        assert one.nearest(query) == other.nearest(query)


def test_of_equals_the_first_frame_is_answered_however_they_lie_in_cells(rng):
    features = clustered(rng)
    features[500:520] = features[7]
    for _ in range(5):
        cells = np.unique(rng.integers(0, 60, len(features)), return_inverse=True)[1].astype(np.int32)
        search = Search(features, np.ones(SIZE), cells=cells)
        assert search.nearest(features[7]).frame == 7 == search.nearest_many(features[[7, 7]])[1].frame


def test_threads_gather_the_same_cells(rng):
    features = clustered(rng)
    assert np.array_equal(run(gather(features, np.ones(SIZE))), run(gather(features, np.ones(SIZE), threads=3)))
