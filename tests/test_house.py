# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of the house: who may import what, and what every file has and has not."""

import ast
import re
import sys
import tomllib
from pathlib import Path

from mm_blender import __version__

ROOT = Path(__file__).resolve().parent.parent
BLENDER = {"bpy", "bpy_extras", "gpu", "gpu_extras", "mathutils", "blf", "addon_utils", "imbuf", "idprop", "bl_math"}
VAGUE = {"manager", "handler", "util", "utils", "helper", "helpers", "data", "process", "common", "misc"}
# The rooms from the ground up: each may import those below it, and those on one floor know nothing of each other.
FLOORS = [
    ("mm_blender",),
    ("mm_blender.motion",),
    ("mm_blender.control", "mm_blender.prepare"),
    ("mm_blender.matching",),
    ("mm_blender.playback",),
    ("mm_blender.networks",),
    ("mm_blender.evaluate",),
    ("mm_blender.training.watching",),
    ("mm_blender.training",),
    ("mm_blender.commands",),
    ("mm_blender.__main__",),
    ("mm_blender.scene",),
    ("mm_blender.scene.rig",),
    ("mm_blender.scene.reading",),
    ("mm_blender.scene.jobs", "mm_blender.scene.demo"),
    ("mm_blender.scene.driving",),
    ("mm_blender.scene.directing",),
    ("mm_blender.scene.showing",),
    ("operators",),
    ("panels",),
    ("",),
]
TRAINS = ("mm_blender.training", "mm_blender.commands")  # who may import what needs torch


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


def test_each_room_knows_only_those_below_it():
    wrong = []
    for path in shipped():
        mine = room(dotted(path))
        wrong += [(path, name) for name in relative_imports(path)
                  if room(name) != mine and floor(room(name)) >= floor(mine)]
    assert not wrong


def test_every_room_has_its_floor():
    folders = {path.parent for path in shipped() if path.parent.parent.as_posix() in ("mm_blender", "mm_blender/scene")}
    names = {".".join(folder.parts) for folder in folders}
    assert len(names) > 12 and not [name for name in names if room(name) != name]


def test_who_watches_a_training_needs_no_torch_and_nobody_else_imports_what_does():
    watching = [path for path in shipped() if room(dotted(path)) == "mm_blender.training.watching"]
    assert watching and not [path for path in watching if "torch" in absolute_imports(path, at_once=True)]
    others = [path for path in shipped() if room(dotted(path)) not in (*TRAINS, "mm_blender.training.watching")]
    assert not [(path, name) for path in others for name in relative_imports(path)
                if room(name) == "mm_blender.training"]


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
    assert manifest["version"] == project["project"]["version"] == __version__


def shipped():
    """The Python files that the artist gets, relative to the root folder."""
    return [path for path in ours() if path.parts[0] in ("__init__.py", "operators", "panels", "mm_blender")]


def ours():
    """All Python files of the project, relative to the root folder."""
    return sorted(found("*.py"))


def found(pattern):
    """The project's own files; folders that are made (.venv, demo, dist …) are passed over."""
    for top in ROOT.iterdir():
        if top.name.startswith(".") or top.name in ("build", "demo", "dist"):
            continue
        for path in top.rglob(pattern) if top.is_dir() else [top]:
            if path.match(pattern):
                yield path.relative_to(ROOT)


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def absolute_imports(path, at_once=False):
    """The modules that a file imports; at_once: those alone that are imported with it, not by its functions later."""
    names, tree = set(), ast.parse(text(path))
    later = [node for node in ast.walk(tree) if at_once and isinstance(node, ast.FunctionDef)]
    for node in {*ast.walk(tree)} - {part for function in later for part in ast.walk(function)}:
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


def dotted(path):
    """A file as a dotted name from the root folder."""
    return ".".join(path.with_suffix("").parts)


def room(name):
    """The innermost room that a dotted name lies in; the root folder has all."""
    return max((one for rooms in FLOORS for one in rooms if not one or f"{name}.".startswith(f"{one}.")), key=len)


def floor(of):
    return next(number for number, rooms in enumerate(FLOORS) if of in rooms)
