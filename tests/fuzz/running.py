# SPDX-License-Identifier: GPL-3.0-or-later
"""Trying inputs one after the other in a process that may die, hang or take memory, and counting what came of it."""

import json
import os
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from mm_blender.errors import MotionError, MotionWarning
from tests.fuzz import trials

# How often each format has its turn.
TURNS = {"mmdb": 4, "mmnet": 4, "bvh": 3, "csv": 1, "path": 1, "schema": 1, "tags": 1, "options": 1, "progress": 1}
HANG = 5.0  # seconds of the processor after which an input counts as one that never ends
DEAD = 120.0  # seconds of the clock without a word after which the process is killed
START = 1200.0  # seconds of the clock that healthy inputs may take, which come first, on a machine that has other work
MEMORY = 300e6  # bytes that an input may take beyond what healthy ones have taken
ROOM = 2e9  # bytes beyond which the process gets none
KEPT = 3  # so many inputs of each failure are kept


class Hang(BaseException):
    """An input took too long."""


@dataclass
class Results:
    seed: int
    keep: object
    tried: Counter = field(default_factory=Counter)
    driven: Counter = field(default_factory=Counter)
    slowest: dict = field(default_factory=dict)
    largest: dict = field(default_factory=dict)
    failures: dict = field(default_factory=dict)  # what and where → [(number, format)]
    seconds: float = 0.0

    def take(self, form, outcome):
        self.tried[form] += 1
        self.driven[form] += outcome["driven"]
        self.slowest[form] = max(self.slowest.get(form, 0), outcome["seconds"])
        self.largest[form] = max(self.largest.get(form, 0), outcome["bytes"])

    def fail(self, form, number, what, content):
        """Keep an input that failed; the first few of each kind."""
        cases = self.failures.setdefault(f"{form}: {what}", [])
        cases.append((number, form))
        if len(cases) <= KEPT:
            self.keep.mkdir(parents=True, exist_ok=True)
            (self.keep / f"{self.seed}-{number}.{form}").write_bytes(content)
            (self.keep / f"{self.seed}-{number}.txt").write_text(what + "\n")

    def table(self):
        rows = ["", f"{'format':10}{'tried':>9}{'driven':>9}{'failed':>9}{'slowest':>10}{'memory':>10}"]
        failed = Counter(form for cases in self.failures.values() for _, form in cases)
        for form in [name for name in TURNS if self.tried[name] or failed[name]]:
            rows.append(f"{form:10}{self.tried[form]:9,}{self.driven[form]:9,}{failed[form]:9,}"
                        f"{self.slowest.get(form, 0):8.1f} s{self.largest.get(form, 0) / 1e6:7.0f} MB")
        rows.append(f"{'all':10}{self.tried.total():9,}{self.driven.total():9,}{failed.total():9,}"
                    f"  in {self.seconds / 60:.1f} minutes, seed {self.seed}")
        for what, cases in sorted(self.failures.items(), key=lambda item: -len(item[1])):
            number, form = cases[0]
            rows += ["", f"{len(cases):,} × {what}", f"    python3 dev.py fuzz --seed {self.seed} --format {form} "
                     f"--first {number} --count 1   (kept in {self.keep})"]
        return "\n".join(rows)


def run(seeds, folder, keep, seed=0, formats=None, seconds=None, first=0, count=None):
    """Try inputs from the first number on, until they were so many or the time is up; the Results."""
    turns = [form for form in TURNS for _ in range(TURNS[form])]
    if formats:
        turns = list(formats)
    results, begin, number = Results(seed, keep), time.monotonic(), first
    end = first + count if count is not None else sys.maxsize

    def over():
        return number >= end or (count is None and time.monotonic() - begin > seconds)

    with suppress(KeyboardInterrupt):  # what was found by then is told
        while not over():
            process = _Process(seeds, folder, seed, turns, number, end)
            try:
                while not over():
                    form, outcome = turns[number % len(turns)], process.outcome()
                    if outcome is None:
                        outcome = {"what": process.end(), "driven": False, "seconds": 0.0, "bytes": 0, "fresh": True}
                    results.take(form, outcome)
                    if outcome["what"]:
                        results.fail(form, number, outcome["what"], _input(form, seeds, seed, number))
                    number += 1
                    if outcome["fresh"]:
                        break
            finally:
                process.end()
    results.seconds = time.monotonic() - begin
    return results


def _input(form, seeds, seed, number):
    return trials.damaged(form, seeds, np.random.default_rng([seed, number, list(TURNS).index(form)]))


class _Process:
    """A copy of this process that tries one input after the other."""

    def __init__(self, *task):
        reading, writing = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if not self.pid:
            os.close(reading)
            try:
                _try_all(os.fdopen(writing, "w", buffering=1), *task)
                os._exit(0)
            except BaseException:  # a fault of the fuzzer's own, or of a healthy input
                traceback.print_exc()
                os._exit(1)
        os.close(writing)
        self._lines, self._ended = os.fdopen(reading), None
        if select.select([self._lines], [], [], START)[0]:
            self._lines.readline()  # now it begins

    def outcome(self):
        """Of the next input; None if the process has died or says nothing."""
        ready, _, _ = select.select([self._lines], [], [], DEAD)
        line = self._lines.readline() if ready else ""
        return json.loads(line) if line.endswith("\n") else None

    def end(self):
        """Ends it, if it has not by itself; how it ended."""
        if self._ended is None:
            time.sleep(0.05)  # one that is dying says why
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if not pid:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            self._lines.close()
            self._ended = "died" if pid and status else "hang without a word" if not pid else "ended"
        return self._ended


def _try_all(say, seeds, folder, seed, turns, number, end):
    _guard()
    for form in dict.fromkeys(turns):  # healthy ones first: what they take, others may
        for content in seeds[form]:
            for turn in range(3):
                with suppress(MotionError):
                    trials.attempt(form, content, folder, turn)
    usual = _memory()
    resource.setrlimit(resource.RLIMIT_AS, (int(_reserved() + ROOM),) * 2)
    say.write("ready\n")
    for at in range(number, end):
        form = turns[at % len(turns)]
        outcome = _try(form, _input(form, seeds, seed, at), folder, at // 7)
        outcome["bytes"] = max(0, _memory() - usual)
        if not outcome["what"] and outcome["bytes"] > MEMORY:
            outcome["what"] = "more memory than 300 MB"
        outcome["fresh"] = outcome["bytes"] > MEMORY / 3 or outcome["fresh"]
        say.write(json.dumps(outcome) + "\n")
        if outcome["fresh"]:
            return


def _guard():
    """Whatever an input does, one word of it comes out, and it is the last that is heard."""
    signal.signal(signal.SIGPROF, _hang)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _hang(_number, frame):
    raise Hang(_place(frame.f_code.co_filename, frame.f_lineno))


def _try(form, content, folder, turn):
    """What became of an input: "" if all was well."""
    warned, begin = [], time.perf_counter()
    what, driven = "", False
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", MotionWarning)
        warnings.showwarning = lambda message, kind, file, line, *_: warned.append(
            f"{kind.__name__} {message} ({_place(file, line)})")
        signal.setitimer(signal.ITIMER_PROF, HANG)
        try:
            driven = trials.attempt(form, content, folder, turn)
        except MotionError as error:
            if _is_of(error, MemoryError):
                what = "MemoryError, told in a sentence"
        except BaseException as error:
            what = _in_words(error)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    fresh = what.startswith(("Hang", "MemoryError"))
    return {"what": what or (warned[0] if warned else ""), "driven": driven, "fresh": fresh,
            "seconds": time.perf_counter() - begin}


def _in_words(error):
    """The kind of an exception, what it says, and the last places of ours that it comes from."""
    places = [f"{_place(frame.filename, frame.lineno)} {frame.name}" for frame in traceback.extract_tb(
        error.__traceback__) if "mm_blender" in frame.filename]
    return f"{type(error).__name__} {str(error)[:100]} ({' < '.join(reversed(places[-3:]))})"


def _place(file, line):
    return f"{file.rpartition('mm_blender/' if 'mm_blender/' in file else '/')[2]}:{line}"


def _is_of(error, kind):
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__
    return error is not None


def _memory():
    """The most bytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _reserved():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
