# SPDX-License-Identifier: GPL-3.0-or-later
"""How much sooner does the Decompressor learn than by the plain scheme: the paper's sizes, 32 pairs a batch, RAdam, and
a learning rate that falls by a hundredth every 1000 iterations?

Both learn the demo motion with the same losses. Times are of one thread's own work, whatever else the machine does.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # read when torch is imported

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

# Seconds that ours takes; the plain scheme may take so many times as long, and is looked at so often.
SECONDS, TIMES, LOOKS = 20.0, 5, 20


def main():
    try:
        import torch
    except ModuleNotFoundError:
        print("  left out: torch is not installed (python3 dev.py test --torch makes an environment that has it)")
        return
    import databases

    from mm_blender.training.decompressor import DecompressorStage
    from mm_blender.training.examples import Examples

    class Plain(DecompressorStage):
        def __init__(self, examples):
            super().__init__(examples, 0, compressor=(512, 512, 512), pairs=32)
            self.optimisers = [torch.optim.RAdam(self.parameters, lr=1e-3)]

        def rate(self, share):
            return 0.99 ** (self.iterations // 1000)

    torch.set_num_threads(1)
    examples = Examples(databases.demo_motion())
    ours = DecompressorStage(examples, 0)
    train(ours, SECONDS)
    mine = error(ours)
    print(f"  ours: {mine:.3f} cm after {SECONDS:.0f} s, {ours.iterations} iterations")
    plain, needed = Plain(examples), None
    for look in range(1, LOOKS + 1):
        seconds = SECONDS * TIMES / LOOKS
        train(plain, seconds, forever=True)
        least = error(plain)
        if least <= mine:
            needed = look * seconds
            break
    if needed is None:
        say(f"the plain scheme: {least:.3f} cm after {TIMES} times as long, {plain.iterations} iterations", True)
    else:
        say(f"the plain scheme: as good after {needed / SECONDS:.1f} times as long", False)


def train(stage, seconds, forever=False):
    """For so many seconds of work; forever: the schedule does not end with them."""
    begin = time.process_time()
    while (spent := time.process_time() - begin) < seconds:
        stage.step(0.0 if forever else spent / seconds)


def error(stage):
    from mm_blender.training import figures

    return figures.of_new_motion(stage.examples, stage.kinematics, stage.weights(),
                                 stage.all_latents().numpy())["new_motion_cm"]


def say(sentence, reached):
    print(f"  {sentence}  {'ok' if reached else 'short'}")


if __name__ == "__main__":
    main()
