# SPDX-License-Identifier: GPL-3.0-or-later
"""The fuzzer finds what is wrong: faults are planted, each of another kind, and it has to tell all of them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fuzzer is for Linux")
ROOT = Path(__file__).resolve().parents[2]

# In a process of its own: it makes copies of itself, and Blender may have been loaded into this one.
PLANTING = """
import json, os, sys, time
from pathlib import Path
from types import SimpleNamespace
import numpy as np
from mm_blender.errors import MotionError
from tests.fuzz import running, trials

folder, healthy = Path(sys.argv[1]), trials.database.load
running.HANG = 3.0

def crash(path):
    return 1 // 0
def hang(path):
    while True:
        pass
def wait(path):
    time.sleep(60)
def start_slowly(path):
    return healthy(path)
def die(path):
    os.abort()
def eat(path):
    np.ones(50_000_000)
    return healthy(path)
def warn(path):
    np.ones(1) / np.zeros(1)
    return healthy(path)
def play_nothing(path):
    trials.drive = lambda *_: (SimpleNamespace(positions=np.array([np.nan]), rotations=np.zeros(1)), None)
    return healthy(path)
def nothing_wrong(path):
    raise MotionError("It is damaged.")

def planted(fault):
    loaded = []
    def load(path):
        if "damaged" not in str(path):
            return healthy(path)
        loaded.append(path)
        if fault is start_slowly and len(loaded) <= 3:
            time.sleep(1)
        return healthy(path) if len(loaded) <= 3 else fault(path)  # at first each method gets a healthy one
    return load

seeds, found = trials.make_seeds(folder), {}
trials.mutations.archive = lambda rng, content: content  # what loads is driven
for fault in (crash, hang, wait, start_slowly, die, eat, warn, play_nothing, nothing_wrong):
    trials.database.load, running.DEAD = planted(fault), 2.0 if fault in (wait, start_slowly) else 60.0
    results = running.run(seeds, folder, folder / fault.__name__, formats=["mmdb"], count=2)
    found[fault.__name__] = [results.tried.total(), list(results.failures), results.table(),
                             sorted(os.listdir(folder / fault.__name__)) if results.failures else []]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    outcome = subprocess.run([sys.executable, "-c", PLANTING, tmp_path_factory.mktemp("fuzz")], cwd=ROOT,
                             capture_output=True, text=True, timeout=300)
    assert outcome.returncode == 0, outcome.stderr
    return json.loads(outcome.stdout)


@pytest.mark.parametrize("fault, words", [
    ("crash", "ZeroDivisionError"), ("hang", "Hang"), ("wait", "without a word"), ("die", "died"),
    ("eat", "more memory"), ("warn", "RuntimeWarning divide by zero"), ("play_nothing", "not all numbers")])
def test_a_planted_fault_is_found_and_its_input_is_kept(found, fault, words):
    tried, failures, table, kept = found[fault]
    assert tried == 2 and len(failures) == 1 and words in failures[0], failures
    assert "0-0.mmdb" in kept and "0-0.txt" in kept
    assert "--seed 0 --format mmdb --first 0 --count 1" in table


def test_a_machine_that_is_slow_at_healthy_inputs_is_no_fault(found):
    assert found["start_slowly"][:2] == [2, []]


def test_a_sentence_is_no_fault(found):
    assert found["nothing_wrong"][:2] == [2, []]
