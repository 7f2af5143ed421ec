# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks of both models that were trained on one database, side by side: a table in Markdown and two plots.

    python3 dev.py compare DB.mmdb LMM.mmnet MOE.mmnet…
"""

# ruff: noqa: E402
import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[name] = "1"  # read when NumPy and torch are imported

import argparse
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mm_blender.evaluate.cost_table import sizes
from mm_blender.matching import database as databases
from mm_blender.networks.file import NAMES, load, load_latents
from mm_blender.training import figures
from mm_blender.training.examples import Examples
from mm_blender.training.kinematics import Kinematics
from mm_blender.training.watching.folder import folder_of
from mm_blender.training.watching.run import ProgressLines

COLUMNS = {"minutes": "minutes", "joint_error_cm": "poses cm", "joint_error_p95_cm": "95 %",
           "root_velocity_error_cm_s": "root cm/s", "acceleration_ratio": "acceleration", "drift_1s_learned_cm":
           "after 1 s", "noisy_cm": "noisy, 120 frames", "projector_ratio": "jumps", "megabytes": "MB",
           "alone": "µs alone", "each": "µs of 300"}
CROWD = 300
COLOURS = ("#4c9fff", "#ff9933", "#59cc66", "#cc66cc")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("networks", nargs="+")
    parser.add_argument("-o", "--output", default=".", help="folder of the plots")
    options = parser.parse_args()
    examples = Examples(databases.load(options.database))
    kinematics = Kinematics(examples.database.skeleton, examples.layout, examples.moving, examples.database.fixed)
    print(f"| networks | {' | '.join(COLUMNS.values())} |\n|{'---|' * (len(COLUMNS) + 1)}", flush=True)
    drifts = {}
    for path in options.networks:
        networks, latents = load(path), load_latents(path, examples.database)
        known = examples, kinematics, networks.decompressor
        going_on = figures.GoingOn(*known, networks.stepper, networks.stride, latents)
        drifts[path] = [going_on.from_noise(noise) for noise in (0.0, figures.NOISE)]
        parts = [getattr(networks, part) for part in NAMES]
        found = {**networks.figures, **sizes(parts, networks.stride, CROWD), "noisy_cm": drifts[path][1][-1],
                 **figures.of_decompressor(*known, latents)}
        cells = [f"{found[column]:.3g}" for column in COLUMNS]
        print(f"| {Path(path).stem} | {' | '.join(cells)} |", flush=True)
    _plot_drifts(drifts, examples.database.rate, Path(options.output) / "models_drift.png")
    _plot_training(options.networks, Path(options.output) / "models_training.png")


def _plot_drifts(drifts, rate, path):
    axes = _axes("seconds of going on freely", "cm that joints are off")
    for colour, (name, (clean, noisy)) in zip(COLOURS, drifts.items()):
        seconds = np.arange(len(clean)) / rate
        axes.plot(seconds, clean, color=colour, label=f"{Path(name).stem}, from frames")
        axes.plot(seconds, noisy, color=colour, linestyle="--", label=f"{Path(name).stem}, from noisy starts")
    _save(axes, path)


def _plot_training(paths, path):
    """Errors of poses over the minutes of the trainings, from the folders that these have left."""
    axes = _axes("minutes of training", "cm that joints are off, held back")
    for colour, name in zip(COLOURS, paths):
        progress = ProgressLines(folder_of(name))
        progress.read()
        points = [(line["seconds"] / 60, line["figures"]["joint_error_cm"]) for line in progress.lines
                  if "joint_error_cm" in line.get("figures", ()) and "seconds" in line]
        if points:
            axes.plot(*zip(*points), color=colour, label=Path(name).stem)
    if not axes.lines:
        print(f"left {path.name} as it is: the folders of the trainings are not beside the networks")
        return
    axes.set_ylim(bottom=0)
    _save(axes, path)


def _axes(horizontal, vertical):
    axes = Figure(figsize=(6.4, 3.6), dpi=120, layout="constrained").subplots()
    axes.set_xlabel(horizontal)
    axes.set_ylabel(vertical)
    axes.grid(alpha=0.3)
    return axes


def _save(axes, path):
    axes.set_xlim(left=0)
    axes.legend(frameon=False)
    axes.figure.savefig(path)
    print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
