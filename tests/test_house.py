# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of the house: who may import what, and what every file has and has not."""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLENDER = {"bpy", "bpy_extras", "gpu", "gpu_extras", "mathutils", "blf", "addon_utils", "imbuf", "idprop", "bl_math"}
VAGUE = {"manager", "handler", "util", "utils", "helper", "helpers", "data", "process", "common", "misc"}
LAYERS = ["mm_blender", "mm_blender.scene", "operators", "panels", ""]  # each may import those before it


def test_every_file_begins_with_its_licence():
    assert not [path for path in ours() if not text(path).startswith("# SPDX-License-Identifier: GPL-3.0-or-later\n")]


def test_every_file_that_ships_says_what_it_is_for():
    assert not [path for path in shipped() if not ast.get_docstring(ast.parse(text(path)))]


def test_files_are_named_after_what_an_animator_knows():
    assert not [path for path in shipped() if VAGUE & set(path.stem.split("_"))]


def test_the_engine_runs_on_numpy_alone_and_torch_only_trains():
    wrong = []
    for path in shipped():
        allowed = set(sys.stdlib_module_names) | {"numpy"}
        if path.as_posix().startswith(("__init__.py", "operators/", "panels/", "mm_blender/scene/")):
            allowed |= BLENDER
        if path.as_posix().startswith("mm_blender/training/"):
            allowed |= {"torch"}
        if path.as_posix() == "mm_blender/control/gamepad.py":
            allowed |= {"sdl2"}
        wrong += [(path, name) for name in absolute_imports(path) if name.partition(".")[0] not in allowed]
    assert not wrong


def test_nothing_in_the_engine_heeds_the_clock_on_the_wall():
    """That may be set, also backwards: budgets, checkpoints and what lasts go by time.monotonic()."""
    wall = re.compile(r"\btime\.time\(|\bdatetime\b|\bst_[acm]time\b(?!_ns)|getmtime")
    engine = [path for path in shipped() if path.parts[0] == "mm_blender" and path.parts[1] != "scene"]
    assert not [path for path in engine if wall.search(text(path))]


def test_the_engine_knows_nothing_of_the_scene_and_the_scene_nothing_of_buttons():
    wrong = []
    for path in shipped():
        mine = layer(".".join(path.parent.parts))
        wrong += [(path, name) for name in relative_imports(path) if layer(name) > mine]
    assert not wrong


def test_whoever_drives_knows_protocols_and_does_not_ask_what_it_has():
    rooms = [path for path in shipped() if path.as_posix().startswith(
        ("mm_blender/playback/", "mm_blender/networks/", "mm_blender/evaluate/"))]
    assert not [path for path in rooms if re.search(r"\bhasattr\(|\b__getattr__\b", text(path))]


def test_dev_needs_nothing_but_python():
    assert {name.partition(".")[0] for name in absolute_imports(Path("dev.py"))} <= set(sys.stdlib_module_names)


def test_no_file_knows_one_machine():
    machine = re.compile(r"/(?:work|root|home|Users|tmp)/\w|\b[A-Z]:\\\\?Users")
    texts = [*ours(), Path(".ci/run"), *sorted(found("*.md")), *sorted(found("*.toml"))]
    assert not [(path, place) for path in texts for place in machine.findall(text(path))]


def test_the_versions_agree():
    manifest, project = (tomllib.loads(text(Path(name))) for name in ("blender_manifest.toml", "pyproject.toml"))
    assert manifest["version"] == project["project"]["version"]


def shipped():
    """The Python files that the artist gets, relative to the root folder."""
    return [path for path in ours() if path.parts[0] in ("__init__.py", "operators", "panels", "mm_blender")]


def ours():
    """All Python files of the project, relative to the root folder."""
    return sorted(found("*.py"))


def found(pattern):
    """The project's own files; folders that are made (.venv, demo, dist …) are passed over."""
    for top in ROOT.iterdir():
        if top.name.startswith(".") or top.name in ("demo", "dist"):
            continue
        for path in top.rglob(pattern) if top.is_dir() else [top]:
            if path.match(pattern):
                yield path.relative_to(ROOT)


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def absolute_imports(path):
    names = set()
    for node in ast.walk(ast.parse(text(path))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module)
    return names


def relative_imports(path):
    """What a file imports of our own, as dotted names from the root folder."""
    names = set()
    folder = path.parent.parts
    for node in ast.walk(ast.parse(text(path))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = [*folder[: len(folder) - node.level + 1], *filter(None, [node.module])]
            names |= {".".join([*base, alias.name]) for alias in node.names}
    return names


def layer(name):
    """The number of the innermost layer that a dotted name lies in; the root folder is above all."""
    inside = [one for one in LAYERS if one and f"{name}.".startswith(f"{one}.")]
    return LAYERS.index(max(inside, key=len, default=""))
