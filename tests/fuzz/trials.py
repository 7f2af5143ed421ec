# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done with each damaged input: it is read as the program reads it, and driven for two seconds if it loads."""

import contextlib
import io
import json
from functools import cache, partial
from pathlib import Path

import numpy as np

from mm_blender import commands
from mm_blender.control import path_file
from mm_blender.control.path_guide import PathGuide
from mm_blender.control.stick import Recording, load
from mm_blender.errors import MotionError
from mm_blender.matching import bake, database, schema
from mm_blender.motion import bvh, demo
from mm_blender.motion.roles import find_character
from mm_blender.networks.library import METHODS, library_for
from mm_blender.playback.direct import schedule_of
from mm_blender.playback.drive import drive
from mm_blender.playback.group import Group
from mm_blender.playback.library import BakedLibrary
from mm_blender.prepare.recipe import Recipe
from mm_blender.steps import run
from mm_blender.training.watching import run as trainings
from tests.fuzz import mutations
from tests.networks.conftest import networks_of_experts_like, untrained

CLIPS, RATE, SECONDS = ("walk", "start 90 right", "crouch walk"), 30, 2.0
# Forward, a turn (its gait named), back while strafing, crouched: every kind of wish within the two seconds.
STICK = Recording([0.0, 0.5, 1.0, 1.4], [
    [0, 1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 1, 0, 0], [0, -1, 1, 0, 0, 1, 0], [0, 0.5, 0, 0, 0, 0, 1]],
    ["", "walk", "", ""])
PATH = b"""x,y,z,speed,gait,wait,face_x,face_y,time,exact,query
0,0,0,,walk,,,,,,
0.5,1,,1.2,,,,,,,
1,2,,,crouch,,,,,1,
1.5,2,,,walk,0.2,0,1,4,,~crouch
3,2,,,,,0,0,6,1,
"""
TAGS = {"walk*": ["walk", {"name": "exclude", "start": 0, "end": 0.25}], "turn": [{"name": "turn", "start": 0.5}]}
OPTIONS = (("--fps", "30"), ("--mirror",), ("--schema", "locomotion"), ("--past-end", "exclude"), ("--units", "cm"),
           ("--root", "made"), ("--role", "hips=Hips"), ("--query", "walk & ~crouch"), ("--method", "lmm"),
           ("--hands", "0.5"), ("--json",), ("--strict",), ("--quiet",))
PROGRESS = (
    {"plan": "Some frames."}, {"stage": "decompressor", "share": 0.1, "seconds": 5.5, "seconds_left": 60.0,
                               "iteration": 12, "losses": {"pose": 0.5}, "figures": {"joint_error_cm": 1.5}},
    {"stage": "stepper", "share": 0.5, "seconds": 30.0, "seconds_left": 30.0, "figures": {}}, {"failed": "It stopped."},
    {"done": True, "seconds": 60.0, "verdict": "good", "figures": {"joint_error_cm": 0.5}})


class Played(Exception):
    """What was played was no motion."""


def make_seeds(folder):
    """Format → healthy inputs, as bytes; and what they are tried with, as files in a folder."""
    clips = [clip for clip in demo.clips(RATE) if clip.name in CLIPS]
    sources = [bake.Source(clip.name, partial(_ready, clip), clip.name) for clip in clips]
    made = run(bake.bake(sources, find_character(demo.skeleton()), schema.load("locomotion"), Recipe(rate=RATE)))
    made.save(folder / "healthy.mmdb")
    latents = np.random.default_rng(0).normal(size=(len(made), 4)).astype(np.float32)
    untrained(made).save(folder / "healthy.mmnet", latents)
    networks_of_experts_like(untrained(made)).save(folder / "experts.mmnet", latents)
    bvh.write(folder / "walk.bvh", made.clip(0).slice(0, 45))
    STICK.save(folder / "stick.csv")
    features = [schema.PRESETS["locomotion"].to_json(), schema.PRESETS["locomotion_past"].to_json()]
    return {
        "mmdb": [(folder / "healthy.mmdb").read_bytes()],
        "mmnet": [(folder / name).read_bytes() for name in ("healthy.mmnet", "experts.mmnet")],
        "bvh": [(folder / "walk.bvh").read_bytes()],
        "csv": [(folder / "stick.csv").read_bytes()],
        "path": [PATH],
        "schema": [json.dumps(one, indent=1).encode() for one in features],
        "tags": [json.dumps(TAGS).encode()],
        "options": [json.dumps(OPTIONS).encode()],
        "progress": [b"".join(json.dumps(line).encode() + b"\n" for line in PROGRESS)],
    }


def damaged(form, seeds, rng):
    """An input of a format, from one of its seeds."""
    content = mutations.some(rng, seeds[form])
    if form in ("mmdb", "mmnet"):
        return mutations.archive(rng, content)
    if form in ("schema", "tags", "options") and rng.random() < 0.7:
        made = json.loads(content)
        for _ in mutations.few(rng):
            made = mutations.record(rng, made)
        return json.dumps(made).encode()
    return mutations.bvh(rng, content) if form == "bvh" else mutations.text(rng, content)


def attempt(form, content, folder, turn=0):
    """Try an input; whether it was driven. `turn` tells which method."""
    path = folder / f"damaged.{'json' if form in ('schema', 'tags', 'options') else form}"
    path.write_bytes(content)
    return globals()[f"_try_{form}"](path, folder, METHODS[turn % len(METHODS)])


def _try_mmdb(path, folder, method):
    library = BakedLibrary(database.load(path))
    if method != "mm":
        networks = "experts.mmnet" if method == "dmm" else "healthy.mmnet"
        library = library_for(method, folder / networks, library)
    return _drive(library)


def _try_mmnet(path, folder, method):
    return _drive(library_for("dmm" if method == "dmm" else "lmm", path, _healthy(folder) if method != "lmm" else None))


def _try_bvh(path, folder, _method):
    clip = bvh.read(path)
    clip = clip.scaled(bvh.guess_units(clip))
    character = find_character(clip.skeleton)
    source = bake.Source("damaged", partial(_ready, clip), "damaged")
    made = run(bake.bake([source], character, schema.load("locomotion"), Recipe(rate=RATE)))
    made.save(folder / "out.mmdb")
    return _drive(BakedLibrary(database.load(folder / "out.mmdb")))


def _try_csv(path, folder, _method):
    recording = load(path)
    count = int((recording.times <= SECONDS).sum())
    return _drive(_healthy(folder), Recording(recording.times[:count], recording.values[:count],
                                              recording.gaits[:count]))


def _try_path(path, folder, _method):
    """The guide goes along the path for as long as anything is driven here."""
    library = _healthy(folder)
    schedule = schedule_of(library, path_file.load(path))
    group = Group(library, [PathGuide(schedule, RATE)])
    for _ in range(round(SECONDS * RATE)):
        group.step()
    return _is_motion(group.record.clip(0))


def _try_schema(path, folder, _method):
    return _baked(folder, "--schema", str(path))


def _try_tags(path, folder, _method):
    return _baked(folder, "--tags", str(path))


def _try_options(path, folder, method):
    """The file holds groups of arguments: some are given to each command that we have."""
    try:
        groups = [group for group in json.loads(path.read_bytes()) if isinstance(group, list)]
    except (RecursionError, TypeError, ValueError):
        return False
    words = [str(word).replace("\0", "") for group in groups for word in group][:40]
    commands = {"mm": ["bake", folder / "walk.bvh", "-o", folder / "out.mmdb"],
                "dmm": ["drive", folder / "healthy.mmdb", "--networks", folder / "healthy.mmnet", "--input",
                        folder / "stick.csv", "-o", folder / "out.bvh"],
                "lmm": ["retarget", folder / "walk.bvh", "--onto", folder / "healthy.mmdb", "-o", folder / "out.bvh"]}
    return _said([*map(str, commands[method]), *words])


def _try_progress(path, folder, _method):
    """It stands in the folder of a training, and as what was ordered there."""
    kept = trainings.folder_of(folder / "some.mmnet")
    kept.mkdir(exist_ok=True)
    for name in (trainings.PROGRESS, trainings.ORDER):
        (kept / name).write_bytes(path.read_bytes())
    past = trainings.look(folder / "some.mmnet")
    trainings.ordered(folder / "some.mmnet")
    return bool(past.progress.text and past.word and past.progress.share >= 0)


def _baked(folder, *words):
    if not _said(["bake", str(folder / "walk.bvh"), "-o", str(folder / "out.mmdb"), "--fps", str(RATE), *words]):
        return False
    return _drive(BakedLibrary(database.load(folder / "out.mmdb")))


def _said(words):
    """Whether the command line did what these words ask for; what it prints is one JSON object, or sentences."""
    said, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
        try:
            code = commands.main(words)
        except SystemExit as end:  # argparse has said what is wrong
            return end.code == 0
    if "Warning" in told.getvalue() or "Traceback" in told.getvalue():
        raise Played(f"the terminal shows {told.getvalue()[:200]}")
    if code == 0 and "--json" in words:
        json.loads(said.getvalue(), parse_constant=_refuse)
    return code == 0


def _refuse(constant):
    raise Played(f"{constant} in what should be JSON")


def _drive(library, recording=STICK):
    """Whether it was driven, for as long as each one is, however long its recording."""
    recording = Recording([*recording.times, SECONDS], [*recording.values, [0] * 7], [*recording.gaits, ""])
    try:
        clip, _ = drive(library, recording)
    except MotionError as error:
        if "not a number" in str(error):  # a Clip says so, too
            raise Played(error) from error
        raise
    return _is_motion(clip)


def _is_motion(clip):
    if not (np.isfinite(clip.positions).all() and np.isfinite(clip.rotations).all()):
        raise Played("what was played is not all numbers")
    return True


@cache
def _healthy(folder):
    return BakedLibrary(database.load(Path(folder) / "healthy.mmdb"))


def _ready(clip):
    """The work of reading a clip that is already there."""
    yield 1.0
    return clip
