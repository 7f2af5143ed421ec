# SPDX-License-Identifier: GPL-3.0-or-later
"""Does all of LAFAN1 with its mirror image bake from a shell in one go, with how much memory, into how large a file?"""

import json
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARCHIVE = ROOT.parent / "shared" / "data" / "lafan1.tar.xz"
FRAMES, GIGABYTES, KILOBYTES = 175_430, 2.0, 0.45
POSES = ("rotations", "positions", "fixed", "moving")


def main():
    if not ARCHIVE.exists():
        print(f"  left out: the mocap archive {ARCHIVE.name} is not beside the checkout")
        return
    if sys.platform == "win32":
        print("  left out: this system does not tell how much memory a command took")
        return
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(ARCHIVE) as content:
            content.extractall(folder, filter="data")
        measure(Path(folder))


def measure(folder):
    out = folder / "lafan1.mmdb"
    begin = time.perf_counter()
    outcome = subprocess.run([sys.executable, "-m", "mm_blender", "bake", folder / "lafan1", "--mirror", "--json",
                              "-o", out], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    seconds, report = time.perf_counter() - begin, json.loads(outcome.stdout)
    frames, memory = report["frames"], peak()
    pose = poses(out) / frames / 1000
    print(f"  {report['clips']} files, mirrored: {seconds:.1f} s, {seconds / frames * 1e6:.0f} µs a frame; "
          f"a file of {out.stat().st_size / 1e6:.0f} MB")
    row("LAFAN1 mirrored, frames baked from a shell", f"{frames:,}", f"{FRAMES:,}", frames == FRAMES)
    row("LAFAN1 mirrored, GB of memory at most", f"{memory:.2f}", f"below {GIGABYTES:g}", memory < GIGABYTES)
    row("LAFAN1 mirrored, KB of poses a frame", f"{pose:.3f}", f"at most {KILOBYTES:g}", pose <= KILOBYTES)


def peak():
    """Gigabytes that the largest command so far held in memory."""
    import resource

    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return largest * (1 if sys.platform == "darwin" else 1024) / 1e9


def poses(path):
    """Bytes that poses take in the file."""
    with zipfile.ZipFile(path) as archive:
        return sum(archive.getinfo(f"{name}.npy").compress_size for name in POSES)


def row(name, figure, target, good):
    print(f"  {name}: {figure}  (target {target})  {'ok' if good else 'short'}")


if __name__ == "__main__":
    main()
