# SPDX-License-Identifier: GPL-3.0-or-later
"""Does an hour of driving cost what a minute costs? The demo motion with each method, steered by a random walk: by how
much memory grows, whether any number is none, and how long frames take in the last sixth of it next to the first, as
single minutes differ by a tenth. Fewer minutes: `python3 tests/bench/bench_hour.py MINUTES`."""

import gc
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(ROOT := Path(__file__).resolve().parents[2]))

import numpy as np

from mm_blender.control.stick_guide import StickGuide
from mm_blender.evaluate.random_hands import anything
from mm_blender.networks.library import METHODS, library_for
from mm_blender.playback.group import Group
from mm_blender.playback.library import BakedLibrary
from tests.databases import demo_motion

MINUTES = 60
GROWTH, SLOWER = 60.0, 1.1  # MB, and last minutes to the first


def main(minutes):
    library, recording = BakedLibrary(demo_motion()), anything(60.0 * minutes)
    for method in METHODS:
        played = library if method == "mm" else library_for(method, ROOT / "trained" / "demo.mmnet", library)
        group = Group(played, [StickGuide(played.database.rate, played.speeds)])
        measure(method.upper(), group, recording, minutes)


def measure(label, group, recording, minutes):
    """Drive for so many minutes, and print the figures."""
    rate = round(group.library.database.rate)
    took, memory, finite = np.zeros((minutes, 60 * rate), dtype=np.float32), [resident()], True
    for minute in range(minutes):
        for frame in range(60 * rate):
            group.guides[0].steer(recording.at(60 * minute + frame / rate))
            begin = time.thread_time()  # of the processor: others may use it, too
            group.step()
            took[minute, frame] = time.thread_time() - begin
            finite = finite and np.isfinite(group.player.rotations).all() and np.isfinite(group.player.roots).all()
        memory.append(resident())
        if minute % 10 == 0 or minute == minutes - 1:
            frames = 1e6 * took[minute]
            print(f"    {label}, minute {minute + 1}: {memory[-1]:.0f} MB, {frames.mean():.0f} µs a frame, "
                  f"99 % {np.percentile(frames, 99):.0f}, longest {frames.max():.0f}", flush=True)
    begin = time.perf_counter()
    trace = group.record.trace()
    traced = time.perf_counter()
    clip = group.record.clip()
    print(f"    {label}: trace in {traced - begin:.2f} s, clip in {time.perf_counter() - traced:.2f} s, together "
          f"{resident() - memory[-1]:.0f} MB; {trace.jumped.sum()} jumps")
    finite = finite and np.isfinite(clip.positions).all()
    del trace, clip
    gc.collect()
    row(f"{label}, memory that {minutes} minutes take, MB", memory[-1] - memory[0], GROWTH)
    each, part = np.median(took, axis=1), max(1, minutes // 6)
    row(f"{label}, frames of the last {part} minutes to the first", np.median(each[-part:]) / np.median(each[:part]),
        SLOWER)
    row(f"{label}, frames with a number that is none", 0 if finite else 1, 0)


def resident():
    """MB of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def row(name, figure, target):
    print(f"  {name}: {figure:.2f}  (target at most {target:g})  {'ok' if figure <= target else 'short'}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else MINUTES)
