# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests share: Blender with an empty file, the registered extension, and the mocap archives.

The engine has one name in tests, `mm_blender`, also where the extension uses it: the extension's
`motion_matching.mm_blender.motion.clip` is the very module `mm_blender.motion.clip`. So a test may write
`from mm_blender.scene import settings` and meet the classes that the extension registered. Operators and panels
are `motion_matching.operators` and `motion_matching.panels`.

A test in tests/scene, tests/operators or tests/panels, or one marked `blender`, starts with an empty file. It asks for
the fixture `extension` when it needs `object.mm` or `bpy.ops.mm`.
"""

import importlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BLENDER_FOLDERS = ("scene", "operators", "panels")
FEW_CLIPS = ("idle", "walk", "walk start left", "walk stop left", "walk turn 90 right", "start 90 right")
HAS_BLENDER = importlib.util.find_spec("bpy") is not None

SESSION = pytest.StashKey()

collect_ignore = [] if HAS_BLENDER else list(BLENDER_FOLDERS)


def pytest_report_header():
    if not HAS_BLENDER:
        return f"Blender: bpy is not installed, so the tests of {', '.join(BLENDER_FOLDERS)} are left out"
    return f"Blender: bpy {importlib.metadata.version('bpy')}"


def pytest_collection_modifyitems(items):
    for item in items:
        folder = item.path.relative_to(ROOT / "tests").parts[0]
        if folder in BLENDER_FOLDERS:
            item.add_marker("blender")
        if not HAS_BLENDER and "blender" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="Blender's module bpy is not installed"))


def pytest_sessionstart(session):
    session.config.stash[SESSION] = session


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    """Ends at once: Blender 4.5 as a module never does when classes are still registered, say those of Rigify."""
    if "bpy" in sys.modules and SESSION in config.stash:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash[SESSION].exitstatus)


@pytest.fixture(autouse=True)
def empty_file(request):
    """Each test of Blender starts with an empty file."""
    if "blender" in request.keywords:
        import bpy

        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


@pytest.fixture(scope="session")
def extension():
    """The extension, loaded from the root folder as the package `motion_matching` and registered."""
    package = load_extension()
    package.register()
    yield package
    package.unregister()


@pytest.fixture(scope="session")
def demo_database():
    """The demo motion, baked."""
    from tests.databases import demo_motion

    return demo_motion()


@pytest.fixture(scope="session")
def many_gaits(demo_database):
    """The same motion, of one who also sneaks and sprints, and who does not crouch."""
    from tests.databases import with_more_gaits

    return with_more_gaits(demo_database)


@pytest.fixture
def small_demo(extension, monkeypatch, tmp_path):
    """The demo character without a mesh and with few of its clips, ready to bake."""
    import bpy

    from mm_blender.scene.demo import character

    clips = _few_clips()
    monkeypatch.setattr(character.demo, "clips", lambda rate: clips)
    bpy.ops.mm.create_demo(with_mesh=False)
    bpy.context.object.mm.bake.path = str(tmp_path / "demo.mmdb")
    return bpy.context.object


@pytest.fixture(scope="session")
def lafan1():
    """The folder with the LAFAN1 clips."""
    return _unpacked("lafan1")


@pytest.fixture(scope="session")
def cmu():
    """The folder with the CMU clips."""
    return _unpacked("cmu")


@pytest.fixture
def small_disk(tmp_path):
    """A disk of a megabyte that takes a hundred files."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m,nr_inodes=100", "tmpfs", folder],
                                       capture_output=True).returncode:
        pytest.skip("only root may make a small disk")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@cache
def _few_clips():
    from tests.databases import demo_clips

    return [clip for clip in demo_clips() if clip.name in FEW_CLIPS]


def load_extension():
    """The root folder as the package `motion_matching`, not yet registered."""
    if "motion_matching" not in sys.modules:
        sys.meta_path.insert(0, _OneEngine())
        spec = importlib.util.spec_from_file_location(
            "motion_matching", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
        )
        package = importlib.util.module_from_spec(spec)
        sys.modules["motion_matching"] = package
        try:
            spec.loader.exec_module(package)
        except BaseException:
            del sys.modules["motion_matching"]
            raise
    return sys.modules["motion_matching"]


class _OneEngine(MetaPathFinder, Loader):
    """Finds `motion_matching.mm_blender…` as `mm_blender…`, so that there are no two classes of the same name."""

    def find_spec(self, name, path, target=None):
        if name == "motion_matching.mm_blender" or name.startswith("motion_matching.mm_blender."):
            return importlib.util.spec_from_loader(name, self)
        return None

    def create_module(self, spec):
        module = importlib.import_module(spec.name.removeprefix("motion_matching."))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = module.__spec__.loader_state


def _unpacked(name):
    """The folder with the clips of a mocap archive."""
    from tests.databases import unpacked

    folder = unpacked(name)
    if folder is None:
        pytest.skip(f"needs the mocap archive {name}.tar.xz, which is not beside the checkout")
    return folder
