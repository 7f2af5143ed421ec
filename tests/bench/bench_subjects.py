# SPDX-License-Identifier: GPL-3.0-or-later
"""Does one database of three people drive as well as that of one? CMU's subjects 16, 69 and 36, each with bone lengths
of their own, baked onto the demo character; all courses, two minutes each."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.bench_driving import measure
from tests.databases import cmu_on_demo, unpacked

ALONE, TOGETHER = ("16",), ("16", "69", "36")
# A figure of the three may be larger by this share of what is allowed: courses come out a little differently each time.
NOISE = 0.1


def main():
    if unpacked("cmu") is None:
        print("  left out: the mocap archive cmu.tar.xz is not beside the checkout")
        return
    one, three = (measure(f"CMU {' '.join(subjects)}", cmu_on_demo(subjects)) for subjects in (ALONE, TOGETHER))
    for what, (figure, most) in three.items():
        alone = one[what][0]
        verdict = "ok" if figure <= max(alone + NOISE * most, most) else "worse"
        print(f"  {what}: {alone:.3g} with one subject, {figure:.3g} with three  {verdict}")


if __name__ == "__main__":
    main()
