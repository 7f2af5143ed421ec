# SPDX-License-Identifier: GPL-3.0-or-later
"""Another plausible take of the same: a Search that likes some frames a little more than others, by a seed."""

import math

import numpy as np

from .search import Match

# What a frame costs is up to this share more, by chance; all frames of a piece of motion, so many long, alike.
NOISE, PIECE = 0.35, 30
# So many of the best frames are looked at, none of them within so many seconds of another one; costs are compared to so
# many digits.
AMONG, APART, DIGITS = 4, 1 / 3, 5


def seeded(search, seed, rate):
    """A Search with the noise of a seed, or as it is if there is none (None); rate: frames per second."""
    return search if seed is None else SeededSearch(search, seed, round(APART * rate))


class SeededSearch:
    """A Search with small bounded noise on its costs. The same seed always likes the same frames, and of frames that
    cost the same the first one is taken: so the same seed gives the same frames.

    around  so many frames beside one that was found are too much like it to be looked at, too
    """

    def __init__(self, search, seed, around):
        self._search, self._around = search, around
        frames = len(search.allowed)
        # Only these raw numbers are the same on every version of NumPy.
        raw = np.random.PCG64(seed).random_raw(frames // PIECE + 1)
        self._likes = (1 + NOISE * (raw >> np.uint64(11)).astype(np.float64) / 2.0 ** 53).repeat(PIECE)[:frames]

    def cost(self, query, frame):
        return self._search.cost(query, frame) * float(self._likes[frame])

    def nearest(self, query, besides=None, at_most=math.inf):
        left_out, best = tuple(besides or ()), None
        for _ in range(AMONG):
            # What costs more without noise than the best so far with it can be no better.
            found = self._search.nearest(query, left_out or None, at_most if best is None else best.cost)
            if found is None:
                break
            cost = found.cost * float(self._likes[found.frame])
            if cost <= at_most and (best is None or _before(cost, found.frame, best)):
                best = Match(found.frame, cost)
            left_out = (*left_out, found.frame - self._around, found.frame + self._around)
        return best

    def nearest_many(self, queries, besides=None, at_most=math.inf):
        besides = [None] * len(queries) if besides is None else besides
        return [self.nearest(*each) for each in zip(queries, besides, np.broadcast_to(at_most, len(queries)).tolist())]


def _before(cost, frame, other):
    return (_rounded(cost), frame) < (_rounded(other.cost), other.frame)


def _rounded(cost):
    return float(f"{cost:.{DIGITS}g}")
