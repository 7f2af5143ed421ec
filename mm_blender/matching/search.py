# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact nearest-frame search: cells of similar frames, of which a query looks only into those that can still win.

Frames are gathered into cells by k-means. With c the centre of a cell, x one of its frames and q the query, the
triangle inequality |q - x| ≥ |q - c| - |x - c| says how near x can be at best, knowing only how far it is from its
centre. Once any frame at a distance r is known, only frames with |x - c| ≥ |q - c| - r can be nearer: cells whose
farthest frame is not so far out are never opened, and of the others, whose frames are stored farthest first, only the
beginning is compared. Nothing is approximated.

A squared distance is one product, (-2x, |x|², 1) · (q, 1, |q|²): the first kind is stored, the second is the `probe` of
a query. Among frames |q|² makes no difference; without it the product is the `score` of a frame. Rounding in float32 is
bounded, and bounds are loosened by it, so that it rules out no winner.
"""

import math
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..steps import mapped, run
from .database import REASONS

# So many cells for the square root of the number of frames; in its rounds k-means sees so many frames for each cell.
CELLS_PER_ROOT, MOST_CELLS = 10.5, 12288
ROUNDS = 4, 8, 16, 24
# No cell has more than so many times the mean of the cells' frames; they are compared block by block.
LARGEST, BLOCK = 2, 8
# Where more than this share of all frames can still win, comparing all of them is quicker than gathering those.
PLAIN = 1 / 4
# So few rows are all compared at once: that is sooner done than to rule most of them out.
FEW_ROWS = 2048
# As many queries of a crowd are answered together.
TOGETHER = 32
# Where no larger share of the frames than this is new, they come to cells that are there.
MORE = 1 / 4


class Match(NamedTuple):
    """A frame of the database and its cost, the squared distance to the query (equation 1)."""

    frame: int
    cost: float


class Search:
    """Finds the frame whose weighted features are nearest to a query.

    features  (N, D) normalised, as a Database has them
    weights   (D,) what each number is multiplied with; set_weights() changes them
    allowed   (N,) the frames that may be answered; set_allowed() changes them
    cells     (N,) what gather() has made of them, or None to do it now

    Queries are normalised like the features, and not weighted. Only one thread at a time may ask.
    """

    def __init__(self, features, weights, allowed=None, cells=None):
        self._features = np.ascontiguousarray(features, dtype=np.float32)
        self.allowed = np.ones(len(features), dtype=bool) if allowed is None else allowed
        # What rounding can change in a squared distance, as a share of the squares that it is made of.
        self._rounding = (self._features.shape[1] + 8) * float(np.finfo(np.float32).eps)
        self._cell = run(gather(self._features, weights)) if cells is None else cells
        self.set_weights(weights)

    def set_weights(self, weights):
        """Other weights: the cells stay, their centres, sizes and order are computed anew."""
        self.weights = np.array(weights, dtype=np.float32)
        weighted = self._features * self.weights
        centres = _means(weighted, self._cell)
        self._store(weighted, _lengths(weighted - centres[self._cell]) * (1 + self._rounding))
        self._lay_out()
        self._largest = float(self._rows[:, -1].max())
        # Rounding is added here, once for all: these squares are never too small, and never below zero.
        self._all_centres = np.stack([*_products(centres).T, np.ones(len(centres), dtype=np.float32)])
        self._all_centres[-2:] += self._rounding * np.array([[self._largest], [1]], dtype=np.float32)
        self.set_allowed(self.allowed)

    def set_allowed(self, allowed):
        """Other frames that may be answered."""
        self.allowed = np.array(allowed, dtype=bool)
        of_rows = self.allowed[self._frames] & (self._frames >= 0)
        firsts = self._starts[:-1] * BLOCK
        # What is infinitely far never wins: rows have a penalty, cells of which no row is allowed an infinite square.
        self._penalty = np.where(of_rows, np.float32(0), np.float32(np.inf))
        self._radius = np.maximum.reduceat(np.where(of_rows, self._away, 0), firsts)
        self._centres = self._all_centres.copy()
        self._centres[-2, ~np.logical_or.reduceat(of_rows, firsts)] = np.inf

    def allowing(self, allowed):
        """Another Search over the same frames that may answer others: made at once, because most of it is shared.

        What is changed in one does not touch the other. Still only one thread at a time may ask either of them.
        """
        other = copy(self)
        other.set_allowed(allowed)
        return other

    def nearest(self, query, besides=None, at_most=np.inf) -> Match | None:
        """The best Match for a query (D,), or None if no allowed frame costs at most so much.

        besides  (first, last) frames that may not be answered either: those around the one that is playing; or several
                 such pairs, one after the other
        """
        return self._leaving_out(besides, self._nearest, query, at_most)

    def nearest_many(self, queries, besides=None, at_most=np.inf):
        """nearest() for K queries (K, D), with besides of each and at_most (K,) or one number: a list of K."""
        besides = [None] * len(queries) if besides is None else besides
        at_most = np.broadcast_to(at_most, len(queries)).tolist()
        found = []
        for at in range(0, len(queries), TOGETHER):
            part = slice(at, at + TOGETHER)
            found += self._nearest_few(queries[part], besides[part], at_most[part])
        return found

    def best(self, query, count, besides=None):
        """The count best Matches for a query (D,), best first; fewer if fewer are allowed."""
        probe = self._probe(query)
        scores = self._leaving_out(besides, self._rows.dot, probe[:-1])
        scores += self._penalty
        rows = np.flatnonzero(scores < np.inf)
        if count < len(rows):
            last = np.partition(scores[rows], count - 1)[count - 1]
            rows = rows[scores[rows] <= last + self._doubt(probe[-1], last)]
        exact, frames = _exact(self._rows[rows], probe), self._frames[rows]
        order = np.lexsort((frames, exact))[:count]
        return [Match(int(frames[at]), float(exact[at])) for at in order]

    def cost(self, query, frame):
        """What a frame costs for a query (D,): the cost of staying."""
        query, features = self._weighted(query, frame)
        return math.dist(query.tolist(), features.tolist()) ** 2

    def shares(self, query, frame, slices):
        """What each feature adds to the cost of a frame; slices as Schema.slices."""
        query, features = self._weighted(query, frame)
        squares = np.subtract(query, features, dtype=np.float64) ** 2
        return np.array([squares[part].sum() for part in slices])

    def _weighted(self, query, frame):
        return np.asarray(query, dtype=np.float32) * self.weights, self._features[frame] * self.weights

    def _store(self, weighted, away):
        """Rows cell by cell, in each the frame that is farthest from the centre first, filled up to whole blocks."""
        order = np.lexsort((-away, self._cell))
        sizes = np.bincount(self._cell)
        blocks = -(-sizes // BLOCK)
        self._starts = np.concatenate([[0], np.cumsum(blocks)])
        count = self._starts[-1] * BLOCK
        row = np.arange(len(order)) + np.repeat(self._starts[:-1] * BLOCK - np.cumsum(sizes) + sizes, sizes)
        self._frames = np.full(count, -1, dtype=np.int32)
        self._frames[row] = order
        self._away = np.zeros(count, dtype=np.float32)
        self._away[row] = away[order]
        self._rows = np.zeros((count, weighted.shape[1] + 1), dtype=np.float32)
        self._rows[row] = _products(weighted[order])
        # Where in all numbers of the rows each frame's square is.
        self._squares = np.empty_like(order)
        self._squares[order] = row * self._rows.shape[1] + self._rows.shape[1] - 1

    def _lay_out(self):
        """Tables of the blocks of each cell, and memory for queries."""
        counts = np.diff(self._starts)
        self._blocks = self._rows.reshape(self._starts[-1], -1)
        self._bounds = (self._starts * BLOCK).tolist()
        self._every_block = np.arange(len(self._blocks))
        self._block_table = self._starts[:-1, None] + np.arange(counts.max())
        # (C, most blocks of a cell) how far out each block begins; beyond the last one what is never enough.
        self._edges = np.full(self._block_table.shape, np.nan, dtype=np.float32)
        self._edges[np.arange(counts.max()) < counts[:, None]] = self._away[::BLOCK]
        # Where a query gathers its rows: memory that is new for each query costs more than the work in it.
        self._gathering = np.empty((int(PLAIN * len(self._blocks)) + 1, self._blocks.shape[1]), dtype=np.float32)
        self._crowd = np.empty((2, TOGETHER, len(counts)), dtype=np.float32)

    def _leaving_out(self, besides, answer, *question):
        """An answer during which some frames, as nearest() has them, are infinitely far."""
        if besides is None:
            return answer(*question)
        parts = [self._squares[max(first, 0):last + 1] for first, last in zip(besides[::2], besides[1::2])]
        numbers, at = self._rows.ravel(), parts[0] if len(parts) == 1 else np.concatenate(parts)
        squares = numbers.take(at)
        numbers[at] = np.inf
        try:
            return answer(*question)
        finally:
            numbers[at] = squares

    def _nearest(self, query, at_most):
        probe = self._probe(query)
        row = self._best_row(probe, self._candidates(probe, at_most), at_most)
        if row is None:
            return None
        cost = math.dist((self._rows[row, :-1] / -2).tolist(), probe[:-2].tolist()) ** 2
        return Match(self._frames.item(row), cost) if cost <= at_most else None

    def _candidates(self, probe, at_most):
        """The blocks in which the winner must be, if it costs at most so much."""
        if len(self._rows) <= FEW_ROWS:
            return self._every_block
        squares = probe.dot(self._centres)
        reach = self._reach(probe, squares, int(squares.argmin()), at_most)
        return self._blocks_that_can_win(squares, reach)

    def _probe(self, query):
        probe = np.empty(len(self.weights) + 2, dtype=np.float32)
        weighted = np.multiply(query, self.weights, out=probe[:-2])
        probe[-2] = 1
        probe[-1] = weighted.dot(weighted)
        return probe

    def _reach(self, probe, squares, nearest, at_most):
        """How far the winner can be at most, because a frame of the nearest cell is no farther."""
        known = self._least(nearest, probe)
        if known == math.inf and at_most == math.inf:  # the whole cell is left out
            known = min(self._least(int(cell), probe) for cell in squares.argsort()[:10])
        square = probe.item(-1)
        # √((r + |x - c|)² + e) ≤ √(r² + e) + |x - c|: with the rounding e added to r², distances may be off by it.
        return math.sqrt(max(min(known + square, at_most), 0) + 3 * self._rounding * (square + self._largest))

    def _least(self, cell, probe):
        """The least score in a cell."""
        first, end = self._bounds[cell], self._bounds[cell + 1]
        scores = self._rows[first:end].dot(probe[:-1])
        best = int(scores.argmin())
        if not self._penalty.item(first + best):
            return scores.item(best)
        scores += self._penalty[first:end]
        return scores.item(scores.argmin())

    def _blocks_that_can_win(self, squares, reach):
        """Those that begin at least |q - c| - r from their cell's centre."""
        if reach == math.inf:
            return self._every_block
        limits = self._radius + np.float32(reach)
        limits *= limits
        cells = (squares <= limits).nonzero()[0]
        least = np.sqrt(squares.take(cells)) - np.float32(reach)
        blocks = self._block_table.take(cells, axis=0)[self._edges.take(cells, axis=0) >= least[:, None]]
        return blocks if len(blocks) <= PLAIN * len(self._blocks) else self._every_block

    def _gathered(self, blocks):
        """The rows of some blocks, until the next call; all rows without copying them."""
        if blocks is self._every_block:
            return self._rows
        out = self._gathering[:len(blocks)] if len(blocks) <= len(self._gathering) else None
        return self._blocks.take(blocks, axis=0, out=out, mode="clip").reshape(-1, self._rows.shape[1])

    def _best_row(self, probe, blocks, at_most):
        """The row of the best frame in some blocks; None if there is none that may be answered and costs at most so
        much, beyond doubt."""
        if not len(blocks):
            return None
        scores, square = self._gathered(blocks).dot(probe[:-1]), probe.item(-1)
        best = int(scores.argmin())
        row, score = _row(blocks, best), scores.item(best)
        doubt = self._doubt(square, score)
        if score + square > at_most + doubt:
            return None
        scores[best] = np.inf
        # Most often one frame is nearer than all others, beyond doubt, and may be answered.
        if scores.item(scores.argmin()) > score + doubt and not self._penalty.item(row):
            return row
        scores[best] = score
        return self._close_winner(probe, blocks, scores)

    def _close_winner(self, probe, blocks, scores):
        """The row of the best frame that may be answered, whatever the scores of others; None if there is none."""
        scores += self._of_blocks(self._penalty, blocks)
        least = scores.item(scores.argmin())
        if least == math.inf:
            return None
        near = (scores <= least + self._doubt(probe.item(-1), least)).nonzero()[0]
        if len(near) == 1:
            return _row(blocks, near.item())
        # Where somebody stands still there can be hundreds.
        rows = blocks.take(near // BLOCK) * BLOCK + near % BLOCK
        exact = _exact(self._rows.take(rows, axis=0), probe)
        # Of equals the first frame, however they lie in cells.
        rows = rows[exact == exact.min()]
        return rows.item(self._frames.take(rows).argmin())

    def _of_blocks(self, values, blocks):
        """Of values of all rows those of some blocks."""
        return values if blocks is self._every_block else values.reshape(-1, BLOCK).take(blocks, axis=0).ravel()

    def _doubt(self, square, score):
        """What rounding can make of the difference of two scores of that size: |x|² ≤ (|q| + |q - x|)²."""
        return 2 * self._rounding * (3 * square + 2 * abs(score + square))

    def _nearest_few(self, queries, besides, at_most):
        """nearest() for some queries: all steps but the products with rows are taken for all of them at once."""
        probes = _probes(np.asarray(queries, dtype=np.float32) * self.weights)
        squares, limits = self._crowd[:, :len(probes)]
        with np.errstate(invalid="ignore"):  # some BLAS fills up with zeros: zero times infinity, which nobody sees
            np.dot(probes, self._centres, out=squares)
        nearest = squares.argmin(axis=1).tolist()
        reach = np.array([self._leaving_out(left_out, self._reach, *each) for left_out, *each in zip(
            besides, probes, squares, nearest, at_most)], dtype=np.float32)
        if np.isinf(reach).any():
            return [self.nearest(*each) for each in zip(queries, besides, at_most)]
        np.square(np.add(self._radius, reach[:, None], out=limits), out=limits)
        pairs = (squares <= limits).ravel().nonzero()[0]
        query, cells = np.divmod(pairs, len(self._radius))
        least = np.sqrt(squares.ravel().take(pairs)) - reach.take(query)
        far = self._edges.take(cells, axis=0) >= least[:, None]
        chosen = far.ravel().nonzero()[0]
        if len(chosen) > PLAIN * len(self._blocks) * len(probes):
            return [self.nearest(*each) for each in zip(queries, besides, at_most)]
        blocks = self._block_table.take(cells, axis=0).ravel().take(chosen)
        ends = np.searchsorted(query, np.arange(len(probes) + 1)) * far.shape[1]
        parts = [blocks[start:end] for start, end in pairwise(np.searchsorted(chosen, ends).tolist())]
        rows = [self._leaving_out(left_out, self._best_row, *each)
                for left_out, *each in zip(besides, probes, parts, at_most)]
        costs = _exact(self._rows.take([row or 0 for row in rows], axis=0), probes).tolist()
        return [Match(self._frames.item(row), cost) if row is not None and cost <= most else None
                for row, cost, most in zip(rows, costs, at_most)]


def enterable(database, tags="", end=1 / 3):
    """The frames (N,) that a search may answer, and a sentence if they are not those that the tag query asks for.

    A query that leaves nothing is let go, so that the character goes on. end: as in Database.barred()
    """
    free = database.barred(end) == 0
    if (asked := free & database.select(tags)).any():
        return asked, ""
    if free.any():
        return free, f'No frame that may be entered is selected by the tag query "{tags}": it is not heeded.'
    return np.ones(len(database), dtype=bool), "No frame of the database may be entered: all of them are used."


def why_not(database, frame, tags="", besides=None, end=1 / 3):
    """Why a search does not answer a frame; empty if it may."""
    if reason := REASONS[database.barred(end)[frame]]:
        return reason
    if not database.select(tags)[frame]:
        return f'not selected by the tag query "{tags}"'
    if besides is not None and any(first <= frame <= last for first, last in zip(besides[::2], besides[1::2])):
        return "too near the frame that is playing"
    return ""


def gather(features, weights, seed=0, threads=1):
    """Gather frames (N, D) into cells: k-means on samples, then every frame to its nearest centre. A generator that
    yields shares of the work and returns the number of each frame's cell, (N,)."""
    rows = np.asarray(features, dtype=np.float32) * np.asarray(weights, dtype=np.float32)
    count = max(1, min(int(CELLS_PER_ROOT * len(rows) ** 0.5), len(rows) // 4, MOST_CELLS))
    mixed = rows[np.random.default_rng(seed).permutation(len(rows))[:max(ROUNDS) * count]]
    centres, done = mixed[:count], 0
    whole = sum(min(size * count, len(rows)) for size in ROUNDS) + len(rows)
    for sample in [*(mixed[:size * count] for size in ROUNDS), rows]:
        begun, part = done / whole, len(sample) / whole
        steps = _nearest_centre(sample, centres, threads)
        nearest = yield from mapped(steps, lambda share: begun + share * part)  # noqa: B023
        done += len(sample)
        if sample is not rows:
            centres = _means(sample, _numbered(nearest))
    places = _side_by_side(centres, np.arange(len(centres))).argsort()
    return _cut(places[nearest]).astype(np.int32)


def gather_more(features, weights, cell, threads=1):
    """gather() where most frames have cells already, (N,) with -1 for the others: these come to the nearest of them.
    What a search answers does not depend on its cells, only how soon."""
    new = cell < 0
    if new.sum() > MORE * len(cell) or len(cell) <= FEW_ROWS:
        return (yield from gather(features, weights, threads=threads))
    rows = np.asarray(features, dtype=np.float32) * np.asarray(weights, dtype=np.float32)
    cell = cell.astype(np.int64)
    cell[~new] = _numbered(cell[~new])
    if new.any():
        cell[new] = yield from _nearest_centre(rows[new], _means(rows[~new], cell[~new]), threads)
    return _cut(cell).astype(np.int32)


def _row(blocks, at):
    """Which row of all is one of some blocks."""
    return blocks.item(at // BLOCK) * BLOCK + at % BLOCK


def _products(rows):
    """(N, D + 1) so that the product with (q, 1) is the squared distance but for |q|²: -2 x and |x|²."""
    return np.concatenate([-2 * rows, np.einsum("nd,nd->n", rows, rows)[:, None]], axis=1)


def _probes(queries):
    squares = np.einsum("kd,kd->k", queries, queries)[:, None]
    return np.concatenate([queries, np.ones_like(squares), squares], axis=1)


def _exact(rows, probes):
    """(n,) squared distances of stored rows (n, D + 1) from one probe or as many, in float64."""
    apart = rows[:, :-1].astype(np.float64)
    apart *= -0.5
    apart -= probes[..., :-2]
    apart *= apart
    return np.add.reduce(apart, axis=-1)


def _lengths(vectors):
    return np.sqrt(np.einsum("nd,nd->n", vectors, vectors))


def _means(rows, cell):
    """(C, D) the mean of the rows of each cell."""
    sums = np.stack([np.bincount(cell, column) for column in rows.T], axis=-1)
    return (sums / np.bincount(cell)[:, None]).astype(np.float32)


def _nearest_centre(rows, centres, threads=1, block=256):
    """(N,) in blocks whose table of distances stays in the processor's cache; yields shares."""
    turned = np.ascontiguousarray(_products(centres).T)
    rows = np.concatenate([rows, np.ones_like(rows[:, :1])], axis=1)
    nearest = np.empty(len(rows), dtype=np.int64)

    def fill(at):
        (rows[at:at + block] @ turned).argmin(axis=1, out=nearest[at:at + block])
        return min((at + block) / len(rows), 1.0)

    blocks = range(0, len(rows), block)
    if threads == 1:
        yield from map(fill, blocks)
    else:
        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(fill, blocks)
    return nearest


def _side_by_side(centres, which):
    """Some centres, as indices (n,) in an order in which most are beside others that are like them: a query then finds
    the cells that it opens in few places of the memory. Halves of halves, each cut where it is longest."""
    if len(which) <= 2:
        return which
    here = centres[which]
    order = which[here[:, here.var(axis=0).argmax()].argsort()]
    middle = len(order) // 2
    return np.concatenate([_side_by_side(centres, half) for half in (order[:middle], order[middle:])])


def _cut(cell):
    """The same cells, those with too many frames cut in time."""
    order, sizes = np.argsort(cell, kind="stable"), np.bincount(cell)
    rank = np.empty(len(cell), dtype=np.int64)
    rank[order] = np.arange(len(cell)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    most = int(LARGEST * len(cell) / len(sizes)) + BLOCK
    return _numbered(cell * len(cell) + rank // most)


def _numbered(cell):
    """The same cells, numbered without gaps."""
    return np.unique(cell, return_inverse=True)[1].reshape(-1)
