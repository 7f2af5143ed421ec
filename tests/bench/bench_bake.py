# SPDX-License-Identifier: GPL-3.0-or-later
"""How does LAFAN1 with its mirror image bake from a shell: in how much memory, on two cores, and a second time?"""

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
JOBS, AGAIN = 1.6, 0.15  # how many times as fast with two jobs; the share of time that one changed clip takes
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
    out, other = folder / "lafan1.mmdb", folder / "other.mmdb"
    seconds, work, report = bake(folder, out)
    frames, memory = report["frames"], peak()
    pose = poses(out) / frames / 1000
    print(f"  {report['clips']} files, mirrored: {seconds:.1f} s, {seconds / frames * 1e6:.0f} µs a frame; "
          f"a file of {out.stat().st_size / 1e6:.0f} MB")
    row("LAFAN1 mirrored, frames baked from a shell", f"{frames:,}", f"{FRAMES:,}", frames == FRAMES)
    row("LAFAN1 mirrored, GB of memory at most", f"{memory:.2f}", f"below {GIGABYTES:g}", memory < GIGABYTES)
    row("LAFAN1 mirrored, KB of poses a frame", f"{pose:.3f}", f"at most {KILOBYTES:g}", pose <= KILOBYTES)
    # Beside other programs the faster of two is nearer to what the work takes.
    seconds = min(seconds, bake(folder, other)[0])
    other.unlink()
    two, _, _ = bake(folder, other, "--jobs", "2")
    same = other.read_bytes() == out.read_bytes()
    other.unlink()
    two = min(two, bake(folder, other, "--jobs", "2")[0])
    row("LAFAN1 mirrored, two jobs, times as fast", f"{seconds / two:.2f}{'' if same else ', not the same'}",
        f"at least {JOBS:g}, the same file", same and seconds / two >= JOBS)
    clip = sorted((folder / "lafan1").glob("*.bvh"))[0]
    clip.write_text(clip.read_text().rpartition("\n")[0].rpartition("\n")[0])
    again, more, report = bake(folder, out)
    print(f"  processor time: {work:.2f} s, with one clip changed {more:.2f} s; taken over: {report['reused']} clips")
    row("LAFAN1 mirrored, one clip changed, share of the time", f"{again / seconds:.3f}", f"at most {AGAIN:g}",
        again <= AGAIN * seconds)


def bake(folder, out, *options):
    """Seconds, seconds of the processor, and the report."""
    begin, before = time.perf_counter(), spent()
    outcome = subprocess.run([sys.executable, "-m", "mm_blender", "bake", folder / "lafan1", "--mirror", "--json",
                              "-o", out, *options], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return time.perf_counter() - begin, spent() - before, json.loads(outcome.stdout)


def spent():
    """Seconds that commands have had of all processors so far."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
