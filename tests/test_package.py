# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine as pip installs it, and the page of the manual that shows it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mm_blender import __version__
from mm_blender.control.stick import Recording
from mm_blender.motion import bvh, demo

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder in which the package lies as pip would install it."""
    pytest.importorskip("setuptools", reason="this Python has no setuptools, which pip fetches to install the package")
    source, there = (tmp_path_factory.mktemp(name) for name in ("source", "there"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "mm_blender", source / "mm_blender", ignore=shutil.ignore_patterns("__pycache__"))
    build = ["-c", "from setuptools import setup; setup()", "build", "--build-lib", there, "egg_info", "-e", there]
    outcome = subprocess.run([sys.executable, *build], cwd=source, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr
    return there


def test_what_pip_installs_has_the_engine_and_nothing_of_blender(installed):
    ours = {path.relative_to(ROOT).as_posix() for path in (ROOT / "mm_blender").rglob("*")
            if path.suffix in (".py", ".json") and "scene" not in path.parts}
    there = {path.relative_to(installed).as_posix() for path in (installed / "mm_blender").rglob("*") if path.is_file()}
    assert there == ours and "mm_blender/motion/families/mixamo.json" in there
    about, = installed.glob("*.egg-info")
    assert "motion-matching = mm_blender.__main__:start" in (about / "entry_points.txt").read_text()
    assert f"\nVersion: {__version__}\n" in (about / "PKG-INFO").read_text(encoding="utf-8")


def test_the_command_works_from_anywhere(installed, tmp_path):
    bvh.write(tmp_path / "walk.bvh", next(clip for clip in demo.clips(30) if clip.name == "walk"))
    start = "import sys; sys.argv[0] = 'motion-matching'; from mm_blender.__main__ import start; start()"
    for arguments, words in ((["--help"], "usage: motion-matching"), (["--version"], __version__),
                             (["bake", "walk.bvh", "-o", "walk.mmdb"], "walk.mmdb")):
        outcome = subprocess.run([sys.executable, "-c", start, *arguments], cwd=tmp_path, capture_output=True,
                                 text=True, env={**os.environ, "PYTHONPATH": str(installed)})
        assert outcome.returncode == 0 and words in outcome.stdout, outcome.stderr
    assert (tmp_path / "walk.mmdb").exists()


def test_the_page_does_what_it_says(tmp_path, monkeypatch, capsys):
    block, = re.findall(r"```python\n(.+?)```", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.S)
    lines = [line for line in block.splitlines() if line and not line.startswith("from ")]
    assert len(lines) <= 10
    monkeypatch.chdir(tmp_path)
    clips = {clip.name: clip for clip in demo.clips(30)}
    for name in ("idle", "walk", "run"):
        bvh.write(f"{name}.bvh", clips[name])
    Recording([0.0, 1.0], [[0, 1, 0, 0, 0, 0, 0]] * 2, ["", ""]).save(tmp_path / "stick.csv")
    exec(compile(block, "python.md", "exec"), {})
    assert len(bvh.read("driven.bvh")) > 30 and "Most like frame 40 is" in capsys.readouterr().out
