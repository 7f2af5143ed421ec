# SPDX-License-Identifier: GPL-3.0-or-later
"""What do the networks of both models cost each frame, and how much memory, next to each other and to a database?

All times are of one thread, the quickest of many turns. What the weights are does not matter to them: none is trained.
"""

# ruff: noqa: E402
import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[name] = "1"  # read when NumPy is imported

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from mm_blender.evaluate.cost_table import in_a_frame, quickest, sizes
from mm_blender.networks.experts import Experts
from mm_blender.networks.network import Weights

# Table 1 of the paper, for 27 features, 32 latents, 23 joints, no tags: numbers of each layer.
STATE, POSE = 27 + 32, 6 * 22 + 3 + 3 + 2
SIZES = {"decompressor": (STATE, 512, POSE), "stepper": (STATE + 1, 512, 512, STATE),
         "projector": (27 + 1, 512, 512, 512, 512, STATE)}
# The Stepper of the first model goes on by one frame at a time, that of the second by two.
STRIDES = 1, 2
# The second model's for as many frames as LAFAN1 has: how many experts, their layers, and layers behind them. Hidden is
# (gated units, numbers that stay as they are), or how many units that switch themselves.
OF_EXPERTS = {"decompressor": (16, (STATE, 64), (64, (64, 48), POSE)), "stepper": (32, (STATE + 1, 128, STATE), ()),
              "projector": (16, (27 + 1, (48, 32), (48, 32), STATE), ())}
# At most so much of the first model's: time for one character alone, for each of a crowd, and memory.
SHARE_ALONE, SHARE_CROWDED, LARGE_CROWD, SHARE_MEMORY = 1 / 1.5, 1 / 4, 300, 0.8
# Microseconds for one character alone, and for each of a hundred; times that a database of LAFAN1 is larger.
ALONE, CROWDED, CROWD, SMALLER = 80, 40, 100, 15
LAFAN1_BYTES = 87_715 * (23 * 16 + 2 * 12 + 27 * 4 + 2)


def main():
    weights = {name: untrained(*widths) for name, widths in SIZES.items()}
    for count, most in ((1, ALONE), (CROWD, CROWDED)):
        each = {name: quickest(one, count) for name, one in weights.items()}
        frame = in_a_frame(each.values(), STRIDES[0])
        parts = ", ".join(f"{name} {micros:.1f}" for name, micros in each.items())
        say(f"{count} at once: {frame:.1f} µs a frame for each ({parts})", frame <= most)
    ratio = LAFAN1_BYTES / (2 * sum(one.numbers for one in weights.values()))
    say(f"a database of LAFAN1 is {ratio:.1f} times as large as the networks", ratio >= SMALLER)
    compare(weights.values(), [of_experts(*widths) for widths in OF_EXPERTS.values()])


def compare(first, second):
    """The second model next to the first."""
    first, second = (sizes(one, stride, LARGE_CROWD) for one, stride in zip((first, second), STRIDES))
    for kind, who, most in (("alone", "one character", SHARE_ALONE), ("each", f"each of {LARGE_CROWD}", SHARE_CROWDED)):
        say(f"experts, {who}: {second[kind]:.2f} µs a frame, 1/{first[kind] / second[kind]:.2f} of the first model's "
            f"{first[kind]:.2f}", second[kind] <= most * first[kind])
    memory = second["megabytes"] / first["megabytes"]
    say(f"experts: {memory:.2f} of the first model's memory", memory <= SHARE_MEMORY)


def untrained(*sizes):
    return _weights(_layers(sizes), sizes[0], sizes[-1])


def of_experts(count, sizes, behind):
    gate, layers = _layers((sizes[0], count))[0], _layers(sizes, (count,))
    return _weights(_layers(behind), sizes[0], (behind or sizes)[-1], Experts(gate, layers))


def _layers(sizes, many=()):
    rng = np.random.default_rng(0)
    widths = [(size, size) if isinstance(size, int) else (size[0] + size[1], 2 * size[0] + size[1]) for size in sizes]
    return tuple((rng.normal(0, seen ** -0.5, (*many, seen, made)).astype(np.float32),
                  np.zeros((*many, made), np.float32)) for (seen, _), (_, made) in pairwise(widths))


def _weights(layers, inputs, outputs, experts=None):
    nothing = [np.zeros(inputs), np.ones(inputs), np.zeros(outputs), np.ones(outputs)]
    return Weights(layers, *(part.astype(np.float32) for part in nothing), experts)


def say(sentence, reached):
    print(f"  {sentence}  {'ok' if reached else 'short'}")


if __name__ == "__main__":
    main()
