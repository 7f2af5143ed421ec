# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension as a whole: what it registers, what it leaves behind, and what its zip holds."""

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import dev

pytestmark = pytest.mark.blender
ROOT = Path(__file__).resolve().parent.parent

REGISTER_TWICE = """
import os
import traceback

from tests.conftest import load_extension
from tests.window.traces import left, traces, watching

try:
    package = load_extension()
    before = traces()
    with watching():
        for _ in range(2):
            package.register()
            print("registered", len(left(before, traces())["classes"]) > 0)
            package.unregister()
            print("left", left(before, traces()), flush=True)
except Exception:
    traceback.print_exc()
os._exit(0)  # as a module, Blender 4.2 crashes at its end after any property with a callback, and 4.5 may never end
"""


def test_unregistering_leaves_nothing_behind():
    command = [sys.executable, "-c", REGISTER_TWICE]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    ours = [line for line in outcome.stdout.splitlines() if line.startswith(("registered", "left"))]  # 5.2 logs too
    assert ours == ["registered True", "left {}"] * 2, outcome.stderr


ANOTHER_ADD_ON = """
import os
import traceback

import bpy

from tests.conftest import load_extension

try:
    bpy.types.{kind}.mm = {value}
    package = load_extension()
    for _ in range(2):
        package.register()
    print("said", package.conflict.settings.conflict(), hasattr(bpy.types, "MM_PT_conflict"))
    print("left alone", not hasattr(bpy.types, "MM_PT_drive"))
    for _ in range(2):
        package.unregister()
    print("still there", hasattr(bpy.types.{kind}, "mm"), flush=True)
    del bpy.types.{kind}.mm
    for _ in range(2):
        package.register()
    print("registered", hasattr(bpy.types, "MM_PT_drive"))
    bpy.types.{kind}.mm = {value}
    for _ in range(2):
        package.unregister()
    print("still there", hasattr(bpy.types.{kind}, "mm"), flush=True)
except Exception:
    traceback.print_exc()
os._exit(0)
"""


@pytest.mark.parametrize("kind, value", [("Object", "bpy.props.FloatProperty()"), ("Action", "'a name'")])
def test_what_another_add_on_has_under_our_name_is_left_alone_and_said(kind, value):
    command = [sys.executable, "-c", ANOTHER_ADD_ON.format(kind=kind, value=value)]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    found = [line for line in outcome.stdout.splitlines() if line.startswith(("said", "left", "still", "registered"))]
    assert found[0].startswith(f'said Another add-on has taken the name "{kind}.mm"') and found[0].endswith("True")
    assert found[1:] == ["left alone True", "still there True", "registered True", "still there True"], outcome.stderr


def test_everything_the_artist_sees_has_a_tooltip(extension):
    import bpy

    operators = [getattr(bpy.ops.mm, name).get_rna_type() for name in dir(bpy.ops.mm)]
    settings = [kind for kind in bpy.types.PropertyGroup.__subclasses__() if kind.__module__.startswith("mm_blender.")]
    assert operators and settings
    bare = [kind.identifier for kind in operators if kind.description in ("", "(undocumented operator)")]
    for kind in [*operators, *(group.bl_rna for group in settings)]:
        shown = [
            prop for prop in kind.properties if prop.is_runtime and not prop.is_hidden and not holds_settings(prop)
        ]
        bare += [f"{kind.identifier}.{prop.identifier}" for prop in shown if not prop.description]
    assert not bare


def holds_settings(prop):
    """A list or a group of settings; no button shows it as a whole."""
    return prop.type == "COLLECTION" or (prop.type == "POINTER" and prop.fixed_type.identifier.startswith("MM_"))


def test_the_zip_holds_what_the_artist_needs_and_nothing_else(tmp_path):
    with zipfile.ZipFile(dev.build(sys.executable, tmp_path)) as archive:
        names = archive.namelist()
    top = {name.partition("/")[0] for name in names}
    needed = {"blender_manifest.toml", "__init__.py", "LICENSE", "README.md", "mm_blender", "operators", "panels",
              "trained"}
    assert top - {"wheels"} == needed
    assert all(name.endswith((".py", ".json", ".toml", ".md", ".mmnet", ".whl", "LICENSE", "/")) for name in names)


@pytest.fixture(scope="module")
def platform_zips(tmp_path_factory):
    return dev.build_for_platform(sys.executable, tmp_path_factory.mktemp("platform"))


def test_the_platform_gets_a_zip_for_each_system_which_downloads_nothing(platform_zips):
    assert [path.stem.rpartition("-")[2] for path in platform_zips] == sorted(
        name.replace("-", "_") for name in dev.PLATFORMS)
    ours = tomllib.loads((ROOT / "blender_manifest.toml").read_text())
    for path in platform_zips:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
        wheels = manifest["build"]["generated"].get("wheels", [])
        assert sorted(wheels) == sorted(f"./{name}" for name in names if name.endswith(".whl"))
        assert len(wheels) <= 2 and not set(dev.DOWNLOADS) & set(names)
        assert manifest["id"] == ours["id"] and list(manifest["permissions"]) == ["files"]
        assert manifest["website"] and manifest["copyright"]
        assert ("SPDX:LGPL-2.1-or-later" in manifest["license"]) == ("wheels" in manifest)


WITHOUT_DOWNLOADS = """
import os
import traceback

import bpy
import motion_matching as package

try:
    package.register()
    print("registered", hasattr(bpy.types, "MM_PT_train"), hasattr(bpy.types, "MM_OT_train_environment"))
    package.pythons.wait()
    print("says", package.pythons.sentence())
    package.unregister()
    print("left", hasattr(bpy.types, "MM_PT_train"), flush=True)
except Exception:
    traceback.print_exc()
os._exit(0)
"""


def test_without_downloads_it_registers_and_says_what_to_do(platform_zips, tmp_path):
    with zipfile.ZipFile(platform_zips[0]) as archive:
        archive.extractall(tmp_path / "motion_matching")
    surroundings = {name: value for name, value in os.environ.items() if name != "MM_TORCH_PYTHON"}
    outcome = subprocess.run([sys.executable, "-c", WITHOUT_DOWNLOADS], cwd=tmp_path, capture_output=True, text=True,
                             env={**surroundings, "PYTHONPATH": str(tmp_path), "PATH": str(tmp_path),
                                  "BLENDER_USER_RESOURCES": str(tmp_path)})
    found = [line for line in outcome.stdout.splitlines() if line.startswith(("registered", "says", "left"))]
    assert found == [
        "registered True False",
        "says No Python with torch was found: install it in one, as the manual says, and choose one in the "
        "preferences.", "left False"], outcome.stderr
