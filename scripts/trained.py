# SPDX-License-Identifier: GPL-3.0-or-later
"""The networks that ship: creates and bakes the demo character as an artist would, and trains on it.

Runs in the Python that has Blender; the other one, which trains, is named by the first argument.
"""

import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import bpy

from demo import extension

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "trained" / "demo.mmnet"
CARD = """# demo.mmnet

The networks of the demo character, so that Learned Motion Matching works before anything was trained.

- **Data**: the project's own demo motion (`mm_blender/motion/demo`), {frames} frames at 60 a second, made by
  *Create Demo Character* and *Bake* with the features *locomotion*. No motion capture.
- **Made by**: `python3 dev.py trained --minutes {wanted:g} --model {model}`, in {minutes:.1f} minutes
  on {processors} processor(s).
- **Iterations**: {iterations}
- **Size**: {size:.2f} MB with the latents of all frames; {smaller} times smaller than the database without them.

| measured on frames that were held back (5 % of each clip) | |
|---|---|
| poses as stored: joints, mean and 95th percentile | {joint_error_cm:.2f} cm, {joint_error_p95_cm:.2f} cm |
| poses of new motion: the same | {new_motion_cm:.2f} cm, {new_motion_p95_cm:.2f} cm |
| acceleration of the joints ÷ that of the data | {acceleration_ratio:.2f} |
| root velocity | {root_velocity_error_cm_s:.2f} cm/s |
| contacts that are right | {contacts:.1f} % |
| going on freely, after 0.25, 0.5 and 1 s | {drift[0]:.2f}, {drift[1]:.2f}, {drift[2]:.2f} cm |
| jumps: distance ÷ that of the best frame, on queries from driving | {projector_ratio:.3f} |

*As stored* are poses as the file has them: the latents of each frame were made better for this very pose, also in the
frames that were held back. *New motion* has latents as the Compressor makes them of a pose that it has not seen.
Of all {frames} frames as stored the worst joint is {worst_joint}, by {worst_cm:.1f} cm, in {worst_clip}
at {worst_time:.2f} s.

Verdict: **{verdict}**. {reason}
"""


def main(python, minutes, model):
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "demo.mmdb"
        _bake(database)
        command = [python, "-m", "mm_blender", "train", database, "-o", Path(folder) / "demo.mmnet", "--minutes",
                   str(minutes), "--model", model, "--json"]
        said = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
        figures = json.loads(said)
        OUTPUT.parent.mkdir(exist_ok=True)
        OUTPUT.write_bytes((Path(folder) / "demo.mmnet").read_bytes())
    OUTPUT.with_suffix(".md").write_text(_card(figures, minutes, model), encoding="utf-8")
    print(f"{OUTPUT.relative_to(ROOT)}: {figures['verdict']}. {figures['reason']}")


def _bake(database):
    extension().register()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.mm.create_demo()
    bpy.context.object.mm.bake.path = str(database)
    bpy.ops.mm.bake()


def _card(figures, minutes, model):
    return CARD.format(
        **{name: value for name, value in figures.items() if name != "iterations"}, wanted=minutes, model=model,
        iterations=", ".join(f"{name} {count:,}" for name, count in figures["iterations"].items()),
        size=OUTPUT.stat().st_size / 1e6, smaller=figures["database_to_networks"],
        contacts=100 * figures["contacts_right"], processors=_processors(),
        drift=[figures[f"drift_{time}s_cm"] for time in ("0.25", "0.5", "1")])


def _processors():
    """How many may be used, where the system says so."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


if __name__ == "__main__":
    try:
        main(sys.argv[1], float(sys.argv[2]), sys.argv[3])
        code = 0
    except Exception:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # Blender's module may hang while it tidies up
