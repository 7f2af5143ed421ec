# SPDX-License-Identifier: GPL-3.0-or-later
"""What do the networks of Learned Motion Matching cost each frame, and how much memory, next to a database?

All times are of one thread, the quickest of many turns. What the weights are does not matter to them: none is trained.
"""

# ruff: noqa: E402
import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[name] = "1"  # read when NumPy is imported

import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from mm_blender.networks.network import Network, Weights

# Table 1 of the paper, for 27 features, 32 latents, 23 joints, no tags: numbers of each layer.
STATE, POSE = 27 + 32, 6 * 22 + 3 + 3 + 2
SIZES = {"decompressor": (STATE, 512, POSE), "stepper": (STATE + 1, 512, 512, STATE),
         "projector": (27 + 1, 512, 512, 512, 512, STATE)}
# The Projector is asked every 0.1 s, the others every frame.
EVERY = {"decompressor": 1, "stepper": 1, "projector": 6}
# Microseconds for one character alone, and for each of a hundred; times that a database of LAFAN1 is larger.
ALONE, CROWDED, CROWD, SMALLER = 80, 40, 100, 15
LAFAN1_BYTES = 87_715 * (23 * 16 + 2 * 12 + 27 * 4 + 2)
TURNS = 400


def main():
    weights = {name: untrained(*sizes) for name, sizes in SIZES.items()}
    for count, most in ((1, ALONE), (CROWD, CROWDED)):
        each = {name: 1e6 * quickest(one, count) / count for name, one in weights.items()}
        frame = sum(micros / EVERY[name] for name, micros in each.items())
        parts = ", ".join(f"{name} {micros:.1f}" for name, micros in each.items())
        say(f"{count} at once: {frame:.1f} µs a frame for each ({parts})", frame <= most)
    ratio = LAFAN1_BYTES / (2 * sum(one.numbers for one in weights.values()))
    say(f"a database of LAFAN1 is {ratio:.1f} times as large as the networks", ratio >= SMALLER)


def untrained(*sizes):
    rng = np.random.default_rng(0)
    layers = tuple((rng.normal(0, before ** -0.5, (before, after)).astype(np.float32), np.zeros(after, np.float32))
                   for before, after in pairwise(sizes))
    nothing = [np.zeros(sizes[0]), np.ones(sizes[0]), np.zeros(sizes[-1]), np.ones(sizes[-1])]
    return Weights(layers, *(part.astype(np.float32) for part in nothing))


def quickest(weights, count):
    network, best = Network(weights, count), np.inf
    rows = np.random.default_rng(1).normal(size=(count, weights.inputs)).astype(np.float32)
    for _ in range(TURNS):
        begin = time.perf_counter()
        network(rows)
        best = min(best, time.perf_counter() - begin)
    return best


def say(sentence, reached):
    print(f"  {sentence}  {'ok' if reached else 'short'}")


if __name__ == "__main__":
    main()
