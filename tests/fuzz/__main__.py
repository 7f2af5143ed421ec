# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged inputs of every format, by the hundred thousand: python3 dev.py fuzz --minutes 2 [--seed S] [--format F].

Each input that is refused must be refused with a sentence (MotionError); each one that loads is driven. They are tried
in a process of their own, which may die, hang or take memory; its parent counts, and keeps what failed. The same seed
makes the same inputs, whatever became of those before.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

from tests.fuzz import running, trials


def main():
    parser = argparse.ArgumentParser(prog="python3 dev.py fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=2.0, help="how long it goes on (2)")
    parser.add_argument("--count", type=int, help="how many inputs instead")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input (0)")
    parser.add_argument("--seed", type=int, default=0, help="of all chance (0)")
    parser.add_argument("--format", action="append", choices=list(running.TURNS), help="only these (all)")
    parser.add_argument("--keep", type=Path, default=Path("dist/fuzz"),
                        help="where failing inputs are kept (dist/fuzz)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        seeds = trials.make_seeds(Path(folder))
        results = running.run(seeds, Path(folder), options.keep, options.seed, options.format, options.minutes * 60,
                              options.first, options.count)
    print(results.table())
    return 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
