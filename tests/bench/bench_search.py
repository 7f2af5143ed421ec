# SPDX-License-Identifier: GPL-3.0-or-later
"""How quick is the exact search, on all of LAFAN1 with its mirror image and the queries of real driving, and how evenly
do many characters share the frames in which they search?

All times are of one thread. Those that are compared are measured in turns; of each query the quickest turn counts.
"""

# ruff: noqa: E402
import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[name] = "1"  # read when NumPy is imported

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
STREAM = ROOT / ".cache" / "bench" / "queries.npz"
sys.path.insert(0, str(ROOT))

from mm_blender.evaluate.courses import all_courses, random_walk
from mm_blender.matching.search import Search, enterable
from mm_blender.playback.drive import drive_all
from mm_blender.playback.group import Group
from mm_blender.playback.library import BakedLibrary, search_of
from tests.databases import lafan1_mirrored

SHARE, CROWD, TOGETHER, WEIGHTS, TAGS, GROWTH = 1 / 6, 32, 0.7, 0.3, 10, 4
TURNS, TIMED = 5, 40 * CROWD
CHARACTERS, SECONDS, SLOWEST = 100, 10, 1.4


def main():
    database = lafan1_mirrored()
    if database is None:
        return
    begin = time.perf_counter()
    search = search_of(replace(database, cells=None))  # as if they had not been gathered when it was baked
    print(f"  {len(database):,} frames, {database.schema.size} numbers each: built in {seconds_since(begin):.1f} s")
    queries, frames = stream(database, search)
    measure_queries(database, search, queries, frames)
    measure_changes(database, search)
    measure_growth(database, search.weights, queries)
    measure_crowd(BakedLibrary(database, search))


def stream(database, search):
    """The queries (n, D) of driving all courses, and the frames (n,) that were playing; kept for the next run."""
    if STREAM.exists():
        with np.load(STREAM) as kept:
            if kept["key"] == database.key:
                return kept["queries"], kept["frames"]
    asked = []

    class Recorder:
        """Answers like the search, and writes down what it was asked."""

        cost = staticmethod(search.cost)

        def nearest(self, query, besides=None, at_most=np.inf):
            asked.append((np.float32(query), 0 if besides is None else sum(besides[:2]) // 2))
            return search.nearest(query, besides, at_most)

        def nearest_many(self, queries, besides=None, at_most=np.inf):
            besides = [None] * len(queries) if besides is None else besides
            return [self.nearest(*each) for each in zip(queries, besides, np.broadcast_to(at_most, len(queries)))]

    drive_all(database, list(all_courses().values()), search=Recorder())
    queries, frames = (np.array(column) for column in zip(*asked))
    STREAM.parent.mkdir(parents=True, exist_ok=True)
    np.savez(STREAM, key=database.key, queries=queries, frames=frames)
    return queries, frames


def measure_queries(database, search, queries, frames):
    plain = Plain(database.features, search.weights, database.barred() == 0)
    wrong = sum(search.cost(query, search.nearest(query).frame) > search.cost(query, plain.nearest(query))
                for query in queries)
    chosen = np.random.default_rng(0).choice(len(queries), TIMED, replace=False)
    some, playing = queries[chosen], frames[chosen]
    limits = [((frame - 20, frame + 20), search.cost(query, frame)) for query, frame in zip(some, playing)]
    crowds = some.reshape(-1, CROWD, some.shape[1])
    far = some + 30 * np.random.default_rng(1).standard_normal(some.shape).astype(np.float32)
    brute, one, many, driven, lost = in_turns(
        (plain.nearest, [(query,) for query in some[::4]]), (search.nearest, [(query,) for query in some]),
        (search.nearest_many, [(crowd,) for crowd in crowds]),
        (search.nearest, [(query, *limit) for query, limit in zip(some, limits)]),
        (search.nearest, [(query,) for query in far[::8]]))
    print(f"  {len(queries):,} queries of driving: {brute * 1e6:.0f} µs by brute force, {one * 1e6:.0f} µs by search, "
          f"{driven * 1e6:.0f} µs with what is playing, {lost * 1e6:.0f} µs for queries far from all frames")
    row("search, share of the time of brute force", f"1/{brute / one:.1f}", f"at most 1/{1 / SHARE:.0f}",
        one <= SHARE * brute)
    row("search, queries with a worse frame than brute force", f"{wrong} of {len(queries):,}", "0", not wrong)
    row(f"search, {CROWD} queries at once to one by one", f"{many / one / CROWD:.2f}", f"at most {TOGETHER}",
        many <= TOGETHER * CROWD * one)


def measure_changes(database, search):
    words = ("walk", "run", "dance")
    tagged = replace(database, tags={word: np.repeat([word in part.source for part in database.ranges],
                                                     [len(part) for part in database.ranges]) for word in words})
    weights = search.weights.copy()
    sliders = [(np.where(np.arange(len(weights)) == index, 1.5, weights),) for index in range(6)]
    asked = [("walk",), ("run & ~dance",), ("",), ("walk | run",), ("~dance",), ("",)]
    slider, tags, own = in_turns((search.set_weights, sliders),
                                 (lambda query: search.set_allowed(enterable(tagged, query)[0]), asked),
                                 (lambda query: search.allowing(enterable(tagged, query)[0]), asked))
    search.set_weights(weights)
    row("search, seconds to change a weight", f"{slider:.2f}", f"at most {WEIGHTS}", slider <= WEIGHTS)
    row("search, milliseconds to change the tag query", f"{tags * 1e3:.1f}", f"at most {TAGS}", tags * 1e3 <= TAGS)
    row("search, milliseconds to make one for another tag query", f"{own * 1e3:.1f}", f"at most {TAGS}",
        own * 1e3 <= TAGS)


def measure_growth(database, weights, queries):
    """Copies of the frames, each a little off, as many as are wanted."""
    rng = np.random.default_rng(0)
    some = queries[rng.choice(len(queries), TIMED // 2, replace=False)]
    searches = {}
    for count in (10_000, 100_000, 1_000_000):
        copies = -(-count // len(database))
        features = np.concatenate([database.features] * copies)[rng.permutation(copies * len(database))[:count]]
        features += 0.1 * rng.standard_normal(features.shape, dtype=np.float32)
        searches[count] = Search(features, weights)
    calls = [(query,) for query in some]
    times = dict(zip(searches, in_turns(*((search.nearest, calls) for search in searches.values()))))
    for count, seconds in times.items():
        print(f"  {count:,} frames: {seconds * 1e6:.0f} µs")
    growth = times[1_000_000] / times[10_000]
    row("search, time for 100 times the frames", f"{growth:.1f} times", f"at most {GROWTH} times", growth <= GROWTH)


def measure_crowd(library):
    """How much longer than usual the slowest frames of many characters take, each by a course of its own."""
    rate = round(library.database.rate)
    quickest = np.full(SECONDS * rate, np.inf)
    for _ in range(TURNS):
        group = Group(library, [random_walk(SECONDS, seed).guide(rate, library.speeds) for seed in range(CHARACTERS)])
        for frame in range(len(quickest)):
            begin = time.thread_time()  # the system hands the core to others now and then: that is no slow frame
            group.step()
            quickest[frame] = min(quickest[frame], time.thread_time() - begin)
    frames = quickest[rate:]  # the first second fills caches
    slowest = float(np.percentile(frames, 99) / frames.mean())
    print(f"  {CHARACTERS} characters: {frames.mean() * 1e3:.1f} ms a frame")
    row(f"search, {CHARACTERS} characters, 99th percentile of frames to the mean", f"{slowest:.2f}",
        f"at most {SLOWEST}", slowest <= SLOWEST)


class Plain:
    """The best plain brute force: features stored transposed, |x|² - 2 q·x by one matrix–vector product."""

    def __init__(self, features, weights, allowed):
        self.weights = weights
        self.columns = np.ascontiguousarray((features * weights).T)
        self.squares = np.where(allowed, (self.columns ** 2).sum(axis=0), np.inf).astype(np.float32)
        self.costs = np.empty(len(features), dtype=np.float32)

    def nearest(self, query):
        np.dot(-2 * (query * self.weights), self.columns, out=self.costs)
        self.costs += self.squares
        return int(self.costs.argmin())


def in_turns(*contenders):
    """Mean seconds of a call of each contender, (function, list of arguments)."""
    quickest = [np.full(len(calls), np.inf) for _, calls in contenders]
    for _ in range(TURNS):
        for best, (function, calls) in zip(quickest, contenders):
            function(*calls[0])
            for index, arguments in enumerate(calls):
                begin = time.perf_counter()
                function(*arguments)
                best[index] = min(best[index], seconds_since(begin))
    return [float(best.mean()) for best in quickest]


def seconds_since(begin):
    return time.perf_counter() - begin


def row(name, figure, target, good):
    print(f"  {name}: {figure}  (target {target})  {'ok' if good else 'short'}", flush=True)


if __name__ == "__main__":
    main()
