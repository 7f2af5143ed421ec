# SPDX-License-Identifier: GPL-3.0-or-later
"""The second model beside the first, and without each of its parts: one row for each, all trained for the same time.

    python -m mm_blender.training.ablation DB.mmdb… [--minutes 15] [--rows lmm,moe,…]  (a Python with torch and NumPy)

Times are of one thread's own work, whatever else the machine does: as the training process shares them out, the
Decompressor has its part, Stepper and Projector each the rest. Prints a table in Markdown.
"""

# ruff: noqa: E402
import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[name] = "1"  # read when NumPy and torch are imported

import argparse
import time
from pathlib import Path

import torch

from ..evaluate.cost_table import sizes
from ..matching import database as databases
from ..playback.library import BakedLibrary
from . import figures, queries
from .examples import Examples
from .experts.sizes import experts_for
from .refine import refined
from .train import FIRST, MODELS

# Name → model, and what its Decompressor, its Stepper and its Projector are without. Two experts are both asked each
# time: a plain network.
ROWS = {
    "lmm": ("lmm", {}, {}, {}),
    "moe": ("moe", {}, {}, {}),
    "without Lipschitz": ("moe", {"lipschitz": False}, {}, {}),
    "without experts": ("moe", {"experts": 2}, {"experts": 2}, {"experts": 2}),
    "without noise": ("moe", {}, {"noise": 0.0}, {}),
    "without voting": ("moe", {"voting": False}, {}, {}),
}
COLUMNS = {"joint_error_cm": "poses cm", "joint_error_p95_cm": "95 %", "drift_1s_learned_cm": "after 1 s", "noisy_cm":
           "noisy, 120 frames", "projector_ratio": "jumps", "between": "half-way ok", "megabytes": "MB",
           "alone": "µs alone", "each": "µs of 300"}
CROWD = 300


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("databases", nargs="+")
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--rows", default=",".join(ROWS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"| data | model | {' | '.join(COLUMNS.values())} |\n|{'---|' * (len(COLUMNS) + 2)}", flush=True)
    for path in options.databases:
        motion = databases.load(path)
        given = Examples(motion), queries_of(motion)
        for name in options.rows.split(","):
            found = measure(*given, 60 * options.minutes, *ROWS[name])
            cells = [f"{found[column]:.3g}" for column in COLUMNS]
            print(f"| {Path(path).stem} | {name} | {' | '.join(cells)} |", flush=True)


def queries_of(motion):
    library = BakedLibrary(motion)
    return queries.of_chance(library), queries.of_courses(library)


def measure(examples, asked, seconds, model, *without):
    """Name → figure of one row."""
    (driven, (courses, tags, playing)), kinds = asked, MODELS[model]
    usual = {"experts": experts_for(len(examples))} if model == "moe" else {}
    options = [usual | each for each in without]
    decompressor = trained(kinds[0](examples, 0, **options[0]), FIRST * seconds)
    latents = refined(decompressor, decompressor.all_latents())
    stepper = trained(kinds[1](examples, latents, 0, **options[1]), (1 - FIRST) * seconds)
    projector = trained(kinds[2](examples, latents, driven, 0, **options[2]), (1 - FIRST) * seconds)
    limits = projector.limits.numbers(tags)
    nearest = projector.nearest(courses, limits)
    weights = [stage.weights() for stage in (decompressor, stepper, projector)]
    known = examples, decompressor.kinematics, weights[0]
    going_on = figures.GoingOn(*known, weights[1], stepper.stride, latents.numpy())
    return {
        **figures.of_decompressor(*known, latents.numpy()),
        **going_on.drift(),
        **figures.of_projector(projector, courses, limits, nearest),
        "noisy_cm": going_on.from_noise()[-1],
        "between": figures.of_blends(*known, latents.numpy(), playing, nearest),
        **sizes(weights, stepper.stride, CROWD),
    }


def trained(stage, seconds):
    begin = time.process_time()
    while stage.step((time.process_time() - begin) / seconds) is not None:
        pass
    return stage


if __name__ == "__main__":
    main()
