# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact nearest-frame search: cells of similar frames, of which a query looks only into those that can still win.

Frames are gathered into cells by k-means. With c the centre of a cell, x one of its frames and q the query, the
triangle inequality |q - x| ≥ |q - c| - |x - c| says how near x can be at best, knowing only how far it is from its
centre. Once any frame at a distance r is known, only frames with |x - c| ≥ |q - c| - r can be nearer: cells whose
farthest frame is not so far out are never opened, and of the others, whose frames are stored farthest first, only the
beginning is compared. Nothing is approximated.

A squared distance is one product, (-2x, |x|², 1) · (q, 1, |q|²): rows of the first kind are stored, the second is the
`probe` of a query. Its rounding in float32 is bounded, and bounds are loosened by it, so that it rules out no winner.
"""

import math
from copy import copy
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .database import REASONS

# So many cells for the square root of the number of frames; k-means is trained on so many frames for each cell.
CELLS_PER_ROOT, MOST_CELLS = 9.5, 8192
SAMPLE_PER_CELL, ROUNDS = 8, 5
# No cell has more than so many times the mean of the cells' frames; they are compared block by block.
LARGEST, BLOCK = 2, 8
# Where more than this share of all frames can still win, comparing all of them is quicker than gathering those.
PLAIN = 1 / 4
# As many queries of a crowd are answered together.
TOGETHER = 32


class Match(NamedTuple):
    """A frame of the database and its cost, the squared distance to the query (equation 1)."""

    frame: int
    cost: float


class Search:
    """Finds the frame whose weighted features are nearest to a query.

    features  (N, D) normalised, as a Database has them
    weights   (D,) what each number is multiplied with; set_weights() changes them
    allowed   (N,) the frames that may be answered; set_allowed() changes them

    Queries are normalised like the features, and not weighted. Only one thread at a time may ask.
    """

    def __init__(self, features, weights, allowed=None, seed=0):
        self._features = np.ascontiguousarray(features, dtype=np.float32)
        self._allowed = np.ones(len(features), dtype=bool) if allowed is None else allowed
        # What rounding can change in a squared distance, as a share of the squares that it is made of.
        self._rounding = (self._features.shape[1] + 8) * float(np.finfo(np.float32).eps)
        self._cell = _cells(self._features * np.asarray(weights, dtype=np.float32), seed)
        self.set_weights(weights)

    def set_weights(self, weights):
        """Other weights: the cells stay, their centres, sizes and order are computed anew."""
        self.weights = np.array(weights, dtype=np.float32)
        weighted = self._features * self.weights
        centres = _means(weighted, self._cell)
        away = _lengths(weighted - centres[self._cell]) * (1 + self._rounding)
        self._store(weighted, away)
        self._lay_out()
        self._centres = np.ascontiguousarray(_products(centres).T)
        # Rounding is added here, once for all: these squares are never too small, and never below zero.
        self._largest = float(self._squares[self._frames >= 0].max())
        self._centres[-2:] += self._rounding * np.array([[self._largest], [1]], dtype=np.float32)
        self._centre_squares = self._centres[-2].copy()
        self.set_allowed(self._allowed)

    def set_allowed(self, allowed):
        """Other frames that may be answered."""
        self._allowed = np.array(allowed, dtype=bool)
        of_rows = self._allowed[self._frames] & (self._frames >= 0)
        firsts = self._starts[:-1] * BLOCK
        self._radius = np.maximum.reduceat(np.where(of_rows, self._away, 0), firsts)
        # An infinite square makes a distance infinite, so that no query has to look at what is allowed.
        self._rows[:, -2] = np.where(of_rows, self._squares, np.inf)
        self._centres[-2] = np.where(np.logical_or.reduceat(of_rows, firsts), self._centre_squares, np.inf)

    def allowing(self, allowed):
        """Another Search among the same frames with the same weights, that may answer these."""
        other = copy(self)
        other._rows, other._centres = self._rows.copy(), self._centres.copy()
        other._rows_of_cell = np.split(other._rows, self._starts[1:-1] * BLOCK)
        other._blocks = other._rows.reshape(self._blocks.shape)
        other.set_allowed(allowed)
        return other

    def nearest(self, query, besides=None, at_most=np.inf):
        """The best Match for a query (D,), or None if no allowed frame costs at most so much.

        besides  (first, last) frames that may not be answered either: those around the one that is playing
        """
        probe = self._probe(query)
        distances = probe.dot(self._centres)
        np.sqrt(distances, out=distances)
        reach = self._reach(probe, distances, besides, at_most)
        return self._winner(probe, self._blocks_that_can_win(distances, reach), besides, at_most)

    def nearest_many(self, queries, besides=None, at_most=np.inf):
        """nearest() for queries (K, D), with besides (K, 2) and at_most (K,) or one number: a list of K."""
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
        costs = self._rows @ probe
        if besides is not None:
            _bar(costs, self._frames, besides)
        rows = np.flatnonzero(costs < np.inf)
        if count < len(rows):
            last = np.partition(costs[rows], count - 1)[count - 1]
            rows = rows[costs[rows] <= last + self._doubt(probe[-1], last)]
        exact, frames = _exact(self._rows[rows], probe), self._frames[rows]
        order = np.lexsort((frames, exact))[:count]
        return [Match(int(frames[at]), float(exact[at])) for at in order]

    def cost(self, query, frame):
        """What a frame costs for a query: the cost of staying. Arrays (K, D) and (K,) do as well."""
        return (self._apart(query, frame) ** 2).sum(axis=-1)

    def shares(self, query, frame, slices):
        """What each feature adds to the cost of a frame; slices as Schema.slices."""
        squares = self._apart(query, frame) ** 2
        return np.array([squares[part].sum() for part in slices])

    def _apart(self, query, frame):
        query = np.asarray(query, dtype=np.float32) * self.weights
        return np.subtract(query, self._features[frame] * self.weights, dtype=np.float64)

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
        self._rows = np.zeros((count, weighted.shape[1] + 2), dtype=np.float32)
        self._rows[row] = _products(weighted[order])
        self._squares = self._rows[:, -2].copy()
        self._rows_of_cell = np.split(self._rows, self._starts[1:-1] * BLOCK)

    def _lay_out(self):
        """Tables of the blocks of each cell, and memory for queries."""
        counts = np.diff(self._starts)
        self._blocks = self._rows.reshape(self._starts[-1], -1)
        self._every_block = np.arange(len(self._blocks))
        self._block_table = self._starts[:-1, None] + np.arange(counts.max())
        # (C, most blocks of a cell) how far out each block begins; beyond the last one what is never enough.
        self._edges = np.full(self._block_table.shape, np.nan, dtype=np.float32)
        self._edges[np.arange(counts.max()) < counts[:, None]] = self._away[::BLOCK]
        # Where a query gathers its rows: memory that is new for each query costs more than the work in it.
        self._gathering = np.empty((int(PLAIN * len(self._blocks)) + 1, self._blocks.shape[1]), dtype=np.float32)
        self._crowd = np.empty((2, TOGETHER, len(counts)), dtype=np.float32)

    def _probe(self, query):
        probe = np.empty(len(self.weights) + 2, dtype=np.float32)
        weighted = np.multiply(query, self.weights, out=probe[:-2])
        probe[-2] = 1
        probe[-1] = weighted @ weighted
        return probe

    def _reach(self, probe, distances, besides, at_most):
        """How far the winner can be at most, because a frame of the nearest cell is no farther."""
        known = min(self._least(int(distances.argmin()), probe, besides), at_most)
        if known == math.inf and besides is not None:
            known = min(self._least(int(cell), probe, besides) for cell in distances.argsort()[:10])
        # √((r + |x - c|)² + e) ≤ √(r² + e) + |x - c|: with the rounding e added to r², distances may be off by it.
        return math.sqrt(max(known, 0) + 3 * self._rounding * (float(probe[-1]) + self._largest))

    def _least(self, cell, probe, besides):
        """The least cost in a cell."""
        costs = self._rows_of_cell[cell].dot(probe)
        if besides is not None:
            _bar(costs, self._frames[self._starts[cell] * BLOCK:self._starts[cell + 1] * BLOCK], besides)
        return float(costs[costs.argmin()])

    def _blocks_that_can_win(self, distances, reach):
        """Those that begin at least |q - c| - r from their cell's centre."""
        if reach == math.inf:
            return self._every_block
        cells = (distances - self._radius <= reach).nonzero()[0]
        far = self._edges.take(cells, axis=0) >= (distances.take(cells) - reach)[:, None]
        blocks = self._block_table.take(cells, axis=0)[far]
        return blocks if len(blocks) <= PLAIN * len(self._blocks) else self._every_block

    def _gathered(self, blocks):
        """The rows of some blocks, until the next call; all rows without copying them."""
        if blocks is self._every_block:
            return self._rows
        out = self._gathering[:len(blocks)] if len(blocks) <= len(self._gathering) else None
        return self._blocks.take(blocks, axis=0, out=out, mode="clip").reshape(-1, self._rows.shape[1])

    def _winner(self, probe, blocks, besides, at_most):
        """The best Match in some blocks."""
        if not len(blocks):
            return None
        rows = self._gathered(blocks)
        costs = rows.dot(probe)
        if besides is not None:
            _bar(costs, self._frames_of(blocks), besides)
        best = int(costs.argmin())
        low = float(costs[best])
        if low == math.inf:
            return None
        near = (costs <= low + self._doubt(float(probe[-1]), low)).nonzero()[0]
        if len(near) > 1:
            best = int(near[_exact(rows.take(near, axis=0), probe).argmin()])
        cost = float(_exact(rows[best], probe))
        if cost > at_most:
            return None
        return Match(self._frames.item(blocks.item(best // BLOCK) * BLOCK + best % BLOCK), cost)

    def _doubt(self, square, cost):
        """What rounding can make of the difference of two costs of that size: |x|² ≤ (|q| + |q - x|)²."""
        return 2 * self._rounding * (3 * square + 2 * abs(cost))

    def _frames_of(self, blocks):
        return self._frames.reshape(-1, BLOCK).take(blocks, axis=0).ravel()

    def _nearest_few(self, queries, besides, at_most):
        """nearest() for some queries: all steps but the products with rows are taken for all of them at once."""
        probes = _probes(np.asarray(queries, dtype=np.float32) * self.weights)
        distances, beyond = self._crowd[:, :len(probes)]
        np.sqrt(np.dot(probes, self._centres, out=distances), out=distances)
        reach = np.array([self._reach(*each) for each in zip(probes, distances, besides, at_most)], dtype=np.float32)
        if np.isinf(reach).any():
            return [self.nearest(*each) for each in zip(queries, besides, at_most)]
        pairs = (np.subtract(distances, self._radius, out=beyond) <= reach[:, None]).ravel().nonzero()[0]
        query, cells = np.divmod(pairs, len(self._radius))
        far = self._edges.take(cells, axis=0) >= (distances.ravel().take(pairs) - reach.take(query))[:, None]
        blocks = self._block_table.take(cells, axis=0)[far]
        if len(blocks) > PLAIN * len(self._blocks) * len(probes):
            return [self.nearest(*each) for each in zip(queries, besides, at_most)]
        bounds = np.searchsorted(query, np.arange(len(probes) + 1)).tolist()
        counts = [np.count_nonzero(far[start:end]) for start, end in pairwise(bounds)]
        costs = np.empty(len(blocks) * BLOCK, dtype=np.float32)
        end = 0
        for probe, count, without in zip(probes, counts, besides):
            start, end = end, end + count
            part = np.dot(self._gathered(blocks[start:end]), probe, out=costs[start * BLOCK:end * BLOCK])
            if without is not None:
                _bar(part, self._frames_of(blocks[start:end]), without)
        return self._winners(probes, blocks, np.array(counts), costs, at_most)

    def _winners(self, probes, blocks, counts, costs, at_most):
        """_winner() for many probes: blocks of the first, counts[0] of them, of the second, …; costs of their rows."""
        ends, least = counts.cumsum(), np.full(len(probes), np.inf, dtype=np.float32)
        if len(some := counts.nonzero()[0]):
            least[some] = np.minimum.reduceat(costs, (ends - counts)[some] * BLOCK)
        limit = np.where(least < np.inf, least + self._doubt(probes[:, -1], least), -np.inf).astype(np.float32)
        block, at = np.divmod((costs <= limit.repeat(counts * BLOCK)).nonzero()[0], BLOCK)
        owner, row = np.searchsorted(ends, block, side="right"), blocks[block] * BLOCK + at
        exact = _exact(self._rows.take(row, axis=0), probes[owner])
        order = np.lexsort((exact, owner))
        best = order[np.unique(owner, return_index=True)[1]]
        found = [None] * len(probes)
        for index, frame, cost in zip(owner[best].tolist(), self._frames[row[best]].tolist(), exact[best].tolist()):
            if cost <= at_most[index]:
                found[index] = Match(frame, cost)
        return found


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
    if besides is not None and besides[0] <= frame <= besides[1]:
        return "too near the frame that is playing"
    return ""


def _bar(costs, frames, besides):
    """Makes the costs of frames that may not be answered infinite."""
    costs[(frames >= besides[0]) & (frames <= besides[1])] = np.inf


def _products(rows):
    """(N, D + 2) so that the product with a probe (q, 1, |q|²) is the squared distance: -2 x, |x|² and 1."""
    return np.concatenate([-2 * rows, np.einsum("nd,nd->n", rows, rows)[:, None], np.ones_like(rows[:, :1])], axis=1)


def _probes(queries):
    squares = np.einsum("kd,kd->k", queries, queries)[:, None]
    return np.concatenate([queries, np.ones_like(squares), squares], axis=1)


def _exact(rows, probes):
    """(n,) squared distances of stored rows (n, D + 2) from one probe or as many, in float64."""
    apart = np.subtract(rows[..., :-2] * -0.5, probes[..., :-2], dtype=np.float64)
    return np.add.reduce(apart * apart, axis=-1)


def _lengths(vectors):
    return np.sqrt(np.einsum("nd,nd->n", vectors, vectors))


def _means(rows, cell):
    """(C, D) the mean of the rows of each cell."""
    sums = np.stack([np.bincount(cell, column) for column in rows.T], axis=-1)
    return (sums / np.bincount(cell)[:, None]).astype(np.float32)


def _cells(rows, seed):
    """(N,) which cell each row belongs to: k-means on a sample, then every row to its nearest centre."""
    rng = np.random.default_rng(seed)
    count = max(1, min(int(CELLS_PER_ROOT * len(rows) ** 0.5), len(rows) // 4, MOST_CELLS))
    sample = rows[rng.choice(len(rows), min(len(rows), SAMPLE_PER_CELL * count), replace=False)]
    centres = sample[:count]
    for _ in range(ROUNDS):
        centres = _means(sample, _numbered(_nearest_centre(sample, centres)))
    return _cut(_nearest_centre(rows, centres))


def _nearest_centre(rows, centres, block=256):
    """(N,) in blocks whose table of distances stays in the processor's cache."""
    turned, half = np.ascontiguousarray(centres.T), np.einsum("nd,nd->n", centres, centres) / 2
    return np.concatenate([(rows[at:at + block] @ turned - half).argmax(axis=1) for at in range(0, len(rows), block)])


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
