# SPDX-License-Identifier: GPL-3.0-or-later
"""How much faster than Blender's own importer are BVH files read? Both read all of LAFAN1 in this run."""

import contextlib
import io
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
ARCHIVE = ROOT.parent / "shared" / "data" / "lafan1.tar.xz"
TARGET = 5.0


def main():
    if not ARCHIVE.exists():
        print(f"  left out: the mocap archive {ARCHIVE.name} is not beside the checkout")
        return
    import addon_utils  # found only once bpy is there

    addon_utils.enable("io_anim_bvh")
    with tempfile.TemporaryDirectory() as folder:
        compare(unpacked(Path(folder)))


def unpacked(folder):
    with tarfile.open(ARCHIVE) as content:
        content.extractall(folder, filter="data")
    return sorted(folder.rglob("*.bvh"))


def compare(paths):
    from mm_blender.motion import bvh

    frames = ours = blenders = 0
    bvh.read(paths[0])
    import_with_blender(paths[0])
    for path in paths:
        begin = time.perf_counter()
        clip = bvh.read(path, units=0.01)
        ours += time.perf_counter() - begin
        blenders += import_with_blender(path)
        frames += len(clip)
    ratio = blenders / ours
    print(f"  {len(paths)} files, {frames} frames: {ours / frames * 1e6:.0f} µs a frame, "
          f"Blender's importer {blenders / frames * 1e6:.0f} µs")
    print(f"  BVH, times faster per frame than Blender's importer: {ratio:.1f}  (target {TARGET:g})  "
          f"{'ok' if ratio >= TARGET else 'short'}")


def import_with_blender(path):
    """Seconds that the importer takes, from an empty file."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with contextlib.redirect_stdout(io.StringIO()):  # it prints a line for each joint
        begin = time.perf_counter()
        bpy.ops.import_anim.bvh(filepath=str(path), global_scale=0.01)
        return time.perf_counter() - begin


if __name__ == "__main__":
    main()
