# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: python -m mm_blender bake | retarget | train | drive | bench | info."""

import os
import signal

# What follows takes a moment to import: Ctrl-C ends that too without a traceback, unless a shell has switched it off.
if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))

import argparse
import hashlib
import json
import math
import statistics
import sys
import time
import warnings
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from . import records
from .control import stick
from .control.intent import tag_query
from .errors import Cancelled, MotionError, MotionWarning, readable
from .evaluate import cost_table, driving, retargeting
from .files import check_regular, only_us, replacing
from .limits import BVH
from .matching import database, schema
from .matching.bake import Source, bake
from .motion import bvh
from .motion.character import ROLES
from .motion.clip import Tag
from .motion.correspond import NEEDED
from .motion.roles import find_character, find_roles, walks_on_four
from .motion.stance import find_stance
from .networks import file as networks
from .networks import provenance
from .networks.library import METHODS, library_for
from .playback.drive import drive
from .playback.library import BakedLibrary
from .playback.retarget import character_of, retargeted
from .prepare.onto import Onto, target_of
from .prepare.recipe import ROOTS, Recipe
from .prepare.root import find_forward
from .steps import Progress, run
from .text import read_json
from .training.watching.folder import end_with_parent, folder_of, only_one

SUFFIX = ".mmdb"
INPUTS = ("onto", "target", "input", "database", "networks", "schema", "tags")  # options that name what is read
TAG_FILE = 'A tag file looks like {"run*": ["run", {"name": "exclude", "start": 0, "end": 1.5}]}.'
SAMPLES = 5  # clips from which the unit is guessed: one alone may show someone who crawls


def main(arguments=None):
    options = _options(arguments)
    try:
        # What NumPy has to say of a division is for developers.
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
            result = options.run(options)
    except MotionError as error:
        _say(error)
        return 1
    except OSError as error:
        _say(f'"{error.filename or "A file"}" cannot be used: {error.strerror or error}.')
        return 1
    except Cancelled as error:
        _say(error)
        return 130
    except KeyboardInterrupt:
        _say("cancelled; nothing was written.")
        return 130
    if options.json:
        print(records.to_text(result))
    elif isinstance(result, str):
        print(result)
    else:
        _print_plainly(result)
    return 1 if options.failed else 0


def _options(arguments):
    parser = _parser()
    options = parser.parse_args(arguments)
    for name, value in vars(options).items():
        # Where a path is expected it would be the folder where one stands: mostly a variable that nobody has set.
        if name != "query" and "" in (value if isinstance(value, list) else [value]):
            parser.error(f"{name}: the text is empty")
    return options


def _parser():
    parser = argparse.ArgumentParser(prog="python -m mm_blender", description="Motion Matching without Blender.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print one JSON object on stdout and nothing else")

    command = commands.add_parser("bake", parents=[common], help="make a database from BVH files")
    command.add_argument("clips", nargs="+", metavar="CLIP.bvh", help="BVH files, or folders of them")
    command.add_argument("-o", "--output", required=True, metavar="OUT.mmdb", help="the database to write")
    command.add_argument("--fps", type=_rate, default=60.0, help="frames per second of the database (60)")
    command.add_argument("--mirror", action="store_true", help="add the mirror image of every clip")
    command.add_argument("--schema", default="locomotion", metavar="PRESET|FILE.json",
                         help=f"the features: {', '.join(schema.PRESETS)}, or a JSON file (locomotion)")
    command.add_argument("--past-end", choices=schema.PAST_END, help="what happens where a feature's time lies past "
                         "a clip's end: its last velocity is extrapolated, or such frames are not entered")
    command.add_argument("--units", type=_units, metavar="cm|m|SCALE",
                         help="the files' unit, or metres per unit (guessed from the character's height)")
    command.add_argument("--root", choices=ROOTS, default="auto", help="what carries the character over the ground")
    command.add_argument("--tags", metavar="FILE.json", help='tags by file name: {"run*": ["run", '
                         '{"name": "exclude", "start": 0, "end": 1.5}]}, times in seconds')
    command.add_argument("--role", action="append", default=[], metavar="ROLE=BONE",
                         help="which bone plays a role, where it is not found by itself")
    command.add_argument("--onto", metavar="TARGET.bvh|DB.mmdb", help="the character of the database, onto which clips "
                         "of any others are retargeted (that of the clips themselves)")
    command.set_defaults(run=_bake)

    command = commands.add_parser("retarget", parents=[common], help="put motion onto another character; rest poses at "
                                  "the beginning of clips are left out")
    command.add_argument("clips", nargs="+", metavar="CLIP.bvh", help="BVH files, or folders of them")
    command.add_argument("--onto", required=True, metavar="TARGET.bvh|DB.mmdb", help="whose character it is put onto")
    command.add_argument("-o", "--output", required=True, metavar="OUT.bvh|FOLDER", help="the file to write, or the "
                         "folder where there are several clips")
    command.add_argument("--units", type=_units, metavar="cm|m|SCALE",
                         help="the clips' unit, or metres per unit (guessed from the character's height)")
    command.add_argument("--hands", type=_share, default=0.0, help="0: arms keep their angles; 1: hands keep their "
                         "height above the ground, by the length of the legs (0)")
    command.add_argument("--role", action="append", default=[], metavar="ROLE=BONE",
                         help="which bone of the clips plays a role, where it is not found by itself")
    command.add_argument("--report", metavar="R.json", help="write the figures into a file")
    command.set_defaults(run=_retarget)

    command = commands.add_parser("train", parents=[common], help="train networks that take the database's place; "
                                  "needs torch")
    command.add_argument("database", metavar="DB.mmdb", help="what bake has made")
    command.add_argument("-o", "--output", required=True, metavar="OUT.mmnet", help="the networks to write; progress "
                         "and checkpoints go into the folder OUT.mmnet.training")
    command.add_argument("--model", choices=("lmm", "moe"), default="lmm", help="Learned Motion Matching (lmm), or "
                         "with sparse experts and a Lipschitz encoder (moe)")
    budget = command.add_mutually_exclusive_group()
    budget.add_argument("--minutes", type=_minutes, default=15.0, help="how long it may take, all in all (15)")
    budget.add_argument("--iterations", type=_iterations, help="of each network instead: exactly repeatable")
    command.add_argument("--seed", type=int, default=0, help="of all chance (0)")
    command.add_argument("--resume", action="store_true", help="go on with a training that was cancelled or killed")
    command.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda", "mps"),
                         help="what trains: a graphics card if there is one (auto), or what is named")
    command.add_argument("--watch-stdin", action="store_true", help="for programs that start this one: cancel when "
                         "standard input is closed, leave the processor to others, and print a line now and then")
    command.set_defaults(run=_train)

    command = commands.add_parser("drive", parents=[common], help="let a recorded stick steer the character")
    command.add_argument("database", metavar="DB.mmdb", nargs="?", help="what bake has made; lmm goes without, and "
                         "then its figures compare nothing with the data")
    command.add_argument("--networks", metavar="NET.mmnet", help="what train has made, for dmm and lmm")
    command.add_argument("--method", choices=METHODS, default="mm", help="Motion Matching, with the Decompressor, or "
                         "Learned Motion Matching (mm)")
    command.add_argument("--fps", type=_rate, help="frames per second of what lmm plays (those of the data)")
    command.add_argument("--input", required=True, metavar="STICK.csv",
                         help="time,move_x,move_y,face_x,face_y,run,strafe[,crouch][,gait]: x right, y forward, in the "
                         "world; gait names one of the motion's, instead of run and crouch")
    command.add_argument("-o", "--output", required=True, metavar="OUT.bvh", help="the motion that was played")
    command.add_argument("--target", metavar="TARGET.bvh|DB.mmdb", help="whose character plays it (the database's)")
    command.add_argument("--query", default="", metavar="TAGS", help='only frames with these tags: "walk & ~injured"')
    command.add_argument("--report", metavar="R.json", help="write the figures of the drive into a file")
    command.set_defaults(run=_drive)

    command = commands.add_parser("bench", parents=[common], help="memory and time of each method and stage")
    command.add_argument("database", metavar="DB.mmdb", help="what bake has made")
    command.add_argument("--networks", metavar="NET.mmnet", help="what train has made from it")
    command.add_argument("--table", action="store_true", help="print a table in Markdown")
    command.set_defaults(run=_bench)

    command = commands.add_parser("info", parents=[common], help="what is in a .mmdb, .mmnet or .bvh file")
    command.add_argument("files", nargs="+", metavar="FILE")
    command.set_defaults(run=_info)
    parser.set_defaults(failed=False)
    return parser


# bake

def _bake(options):
    files = _bvh_files(options.clips)
    _check_output(options.output, SUFFIX, options, files)
    _check_owner(options.output, _owner(options.output))
    tags = _read_tags(options.tags, files)
    features = schema.load(options.schema)
    if options.past_end:
        features = replace(features, past_end=options.past_end)
    recipe = Recipe(rate=options.fps, root=options.root)
    some = _some_readable(files, SAMPLES)
    units = options.units or bvh.guess_units(statistics.median(map(bvh.height, some)))
    if options.onto:
        target = _target(options.onto)
        character, sources = target[0], _sources_onto(files, options, recipe, units, tags, target)
    else:
        character = _character([clip.scaled(units) for clip in some], options.role)
        sources = [_source(path, units, tags, options.mirror) for path in files]
    _check_features(features, character, options, options.onto or some[0].name)
    with only_us(options.output), _Bar(quiet=options.json) as bar:
        result = run(bake(sources, character, features, recipe), bar.show)
        result.save(options.output)
    _say_all([*result.notes["left_out"], *result.notes["warnings"]])
    return {"file": options.output, "units": units, **result.report()}


def _check_features(features, character, options, name):
    missing = ", ".join(role for role in features.roles if not character.has(role))
    if missing:
        advice = "Choose other features" if options.onto else "Give them with --role, or choose other features"
        raise MotionError(f'The features "{options.schema}" need bones for these roles, and the character of "{name}" '
                          f"has none: {missing}. {advice}.")


def _sources_onto(files, options, recipe, units, tags, target):
    """Sources that come onto a target, (Character, Stance)."""
    sources = {}
    for onto, paths in _ways_onto(files, options.role, recipe, units, target):
        # How source and target stand has a part in what becomes of a clip.
        some = [hashlib.sha256(_contents(path)).hexdigest() for path in _spread(paths)]
        stands = some, target[1].positions.round(4).tolist()
        for path in paths:
            one = _source(path, units, tags, options.mirror)
            mark = hashlib.sha256(json.dumps([one.fingerprint, stands]).encode()).hexdigest()
            sources[path] = replace(one, onto=onto, fingerprint=mark)
    return [sources[path] for path in files]


def _ways_onto(files, roles, recipe, units, target, hands=0.0):
    """For each character in the files an Onto and its files: [(Onto, paths)]."""
    groups = {}
    for path in files:
        groups.setdefault(_contents(path).partition(b"MOTION")[0], []).append(path)
    ways = []
    for paths in groups.values():
        try:
            character = _character([_some_readable(paths, 1)[0].scaled(units)], roles)
            if missing := _missing(character):
                raise MotionError(f"It has no bones for these roles: {missing}. Give them with --role ROLE=BONE.")
        except MotionError as error:
            ways.append((_NoWay(error), paths))
        else:
            ways.append((Onto(character, target, recipe, partial(_samples, paths, units), hands), paths))
    return ways


class _NoWay:
    """In an Onto's place where there is none: each clip hears why."""

    def __init__(self, trouble):
        self._trouble = trouble

    def clean(self, raw, *_):
        raise MotionError(f'Clip "{raw.name}" cannot be retargeted. {self._trouble}')

    before = clean


def _missing(character):
    """The roles that retargeting needs and a character does not have, as text."""
    return ", ".join(role for role in NEEDED if not character.has(role))


def _samples(paths, units):
    return [clip.scaled(units) for clip in _some_readable(_spread(paths), SAMPLES)]


def _spread(paths):
    return paths[::max(1, len(paths) // SAMPLES)][:SAMPLES]


def _contents(path):
    """The bytes of a file; none if it cannot be read, as whoever reads it as motion says in a sentence."""
    try:
        check_regular(path, BVH)
        return path.read_bytes()
    except (MotionError, OSError):
        return b""


def _target(path):
    """The character in a file, with a root, and how it stands."""
    if Path(path).suffix.lower() == SUFFIX:
        motion = database.load(path)
        character = _with_roles(character_of(motion), path)
        return character, find_stance(character, motion.clips())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MotionWarning)
        clip = bvh.read(path)
    clip = clip.scaled(bvh.guess_units(clip))
    return target_of(_with_roles(_character([clip], []), path), [clip], Recipe(rate=clip.rate))


def _with_roles(character, path):
    """The character of a file; fails if it lacks what retargeting needs."""
    if missing := _missing(character):
        raise MotionError(f'The character of "{path}" has no bones for these roles, and retargeting needs them: '
                          f"{missing}. Bake it with --role ROLE=BONE, and give that database instead.")
    return character


def _bvh_files(paths):
    files = []
    for path in map(Path, paths):
        if path.is_dir():
            found = sorted(child for child in path.iterdir() if child.suffix.lower() == ".bvh")
            if not found:
                raise MotionError(f'The folder "{path}" has no .bvh files.')
            files += found
        else:
            check_regular(path, BVH)
            files.append(path)
    names = [path.stem for path in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise MotionError(f'Two of the files are named "{twice}": give each clip a name of its own.')
    return files


def _check_output(path, suffix, options, clips=()):
    """Fails now what would otherwise fail after the work, or take the place of what is read."""
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise MotionError(f'The output "{path}" is a device or a pipe, not a file: choose a file name.')
    if path.suffix.lower() != suffix:
        raise MotionError(f'The output "{path}" is a {suffix} file: let its name end like that.')
    if not path.parent.is_dir():
        raise MotionError(f'The folder of "{path}" does not exist: create it first.')
    if not os.access(path.parent, os.W_OK):
        raise MotionError(f'The folder of "{path}" is read-only: choose another one.')
    if path.is_dir():
        raise MotionError(f'The output "{path}" is a folder: choose a file name.')
    inputs = [*clips, *(name for key in INPUTS if (name := getattr(options, key, None)))]
    if path.exists() and any(Path(name).exists() and path.samefile(name) for name in inputs):
        raise MotionError(f'"{path}" is read and would be written over: choose another output.')


def _check_owner(path, owner, ours=None):
    """Fails if a file belongs to a character in Blender, other than ours: only that replaces it."""
    if owner is not None and (ours is None or owner.id != ours.id):
        raise MotionError(f'"{path}" belongs to {owner}: choose another output, or delete that file first.')


def _owner(path):
    """The Owner of a database; None if it has none, or if there is no file that can be read."""
    try:
        return database.read_about(path)[1]
    except MotionError:
        return None


def _some_readable(files, count):
    """Up to `count` clips spread over the files, in their own units; the character is taken from the first one."""
    clips, trouble = [], None
    step = max(1, len(files) // count)
    for path in [*files[::step], *files]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MotionWarning)
                clips.append(bvh.read(path))
        except MotionError as error:
            trouble = trouble or error
        if len(clips) == min(count, len(files)):
            break
    if not clips:
        raise trouble
    return clips


def _character(clips, assignments):
    """The character of some clips: its bones as in the first one, four-legged if most of them show it so."""
    clip = clips[0]
    character = find_character(clip.skeleton)
    roles = dict(character.roles)
    for text in assignments:
        role, given, bone = text.partition("=")
        if not given:
            raise MotionError(f'"--role {text}" should read --role ROLE=BONE, such as --role hips=Pelvis.')
        if role not in ROLES:
            raise MotionError(f'There is no role "{role}". Roles: {", ".join(ROLES)}.')
        if bone not in clip.skeleton.names:
            raise MotionError(f'The skeleton of "{clip.name}" has no bone "{bone}". '
                              f'Bones: {", ".join(clip.skeleton.names)}.')
        roles[role] = bone
    character = replace(character, roles=roles)
    alike = [one for one in clips if one.skeleton.same_joints(clip.skeleton)]
    on_four = [walks_on_four(character, one.globals()[0]) for one in alike]
    character = replace(character, four_legged=sum(on_four) > len(alike) / 2)
    if character.has("root") and not character.forward:
        character = replace(character, forward=find_forward(clip, character))
    return character


def _source(path, units, tags, mirrored):
    found, own = [], [tag for pattern, tag in tags if fnmatchcase(path.stem, pattern)]

    def read():
        yield 0.0
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", MotionWarning)
            clip = bvh.read(path, units)
        found.extend(str(warning.message) for warning in caught if issubclass(warning.category, MotionWarning))
        tags = [Tag(name, start, clip.duration if end is None else end) for name, start, end in own]
        found.extend(f'The tag "{tag.name}" at {tag.start:g} s lies outside of clip "{clip.name}", which lasts '
                     f"{clip.duration:.2f} s." for tag in tags if tag.start > clip.duration or tag.end < 0)
        return clip.with_changes(tags=tags)

    contents = _contents(path)
    mark = hashlib.sha256(contents)
    mark.update(repr((units, own)).encode(errors="surrogateescape"))
    return Source(path.stem, read, mark.hexdigest(), mirror=mirrored, seconds=bvh.seconds_of(contents), warnings=found)


def _read_tags(path, files):
    """Pairs of a file name pattern and a tag: (name, start, end), the end None for that of the clip."""
    if path is None:
        return []
    try:
        record = read_json(path)
        if not isinstance(record, dict):
            raise ValueError("it is not in braces, with file names and their tags")
        tags = [(pattern.removesuffix(".bvh"), _tag(pattern, entry)) for pattern, many in record.items()
                for entry in (many if isinstance(many, list) else [many])]
    except MotionError as error:
        raise MotionError(f"{error} {TAG_FILE}") from error
    except ValueError as error:
        raise MotionError(f'The tag file "{path}" cannot be read: {error}. {TAG_FILE}') from error
    unknown = [pattern for pattern in dict.fromkeys(pattern for pattern, _ in tags)
               if not any(fnmatchcase(file.stem, pattern) for file in files)]
    _say_all(f'The tag file "{path}" speaks of "{pattern}", and no clip has such a name.' for pattern in unknown)
    return tags


def _tag(pattern, entry):
    entry = entry if isinstance(entry, dict) else {"name": entry}
    name, start, end = entry.get("name"), entry.get("start", 0), entry.get("end")
    if not (isinstance(name, str) and name.strip()):
        raise ValueError(f'a tag of "{pattern}" has no name')
    times = start, start if end is None else end
    if not all(isinstance(time, (int, float)) and abs(time) < math.inf for time in times):
        raise ValueError(f'the times of the tag "{name}" of "{pattern}" are not seconds')
    if times[1] < times[0]:
        raise ValueError(f'the tag "{name}" of "{pattern}" ends before it begins')
    return name, float(start), None if end is None else float(end)


def _number(text, low, high):
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number') from None
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"{text} is not between {low:g} and {high:g}")
    return value


def _rate(text):
    return _number(text, *database.RATES)


def _units(text):
    try:
        return bvh.UNITS[text] if text in bvh.UNITS else _number(text, 1e-6, 1e6)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}: use {', '.join(bvh.UNITS)}, or metres per unit") from None


# retarget

def _retarget(options):
    files = _bvh_files(options.clips)
    outputs = _outputs(files, options.output)
    for path in outputs.values():
        _check_output(path, ".bvh", options, files)
    _check_report(options)
    some = _some_readable(files, SAMPLES)
    units = options.units or bvh.guess_units(statistics.median(map(bvh.height, some)))
    ways = _ways_onto(files, options.role, Recipe(), units, _target(options.onto), options.hands)
    with _Bar(quiet=options.json) as bar:
        reports, left_out = _retarget_all(ways, units, outputs, bar)
    _say_all(left_out)
    result = {"units": units, **retargeting.together(list(reports.values())), "left_out": left_out, "each": reports}
    if options.report:
        _write_report(options.report, result)
    return {"file": options.output, **result}


def _outputs(files, output):
    """path → the file that is written of it."""
    if len(files) == 1 and not Path(output).is_dir():
        return {files[0]: Path(output)}
    if not Path(output).is_dir():
        raise MotionError(f'"{output}" is not a folder: several clips are written into one, create it first.')
    return {path: Path(output) / f"{path.stem}.bvh" for path in files}


def _retarget_all(ways, units, outputs, bar):
    """The figures of each clip that was retargeted and written, by name; and why others were not, in sentences."""
    reports, left_out = {}, []
    try:
        for onto, path in [(onto, path) for onto, paths in ways for path in paths]:
            bar.show(Progress((len(reports) + len(left_out)) / len(outputs), path.stem))
            try:
                clip, report = _retarget_one(path, units, onto)
            except MotionError as error:
                left_out.append(str(error))
                continue
            bvh.write(outputs[path], clip)
            reports[path.stem] = report
    except KeyboardInterrupt:
        raise Cancelled(f"cancelled; {len(reports)} of {len(outputs)} clips were written.") from None
    if not reports:
        raise MotionError(left_out[0])
    return reports, left_out


def _retarget_one(path, units, onto):
    """A clip that was retargeted, and its figures."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MotionWarning)
        raw = bvh.read(path, units)
    (piece,) = onto.before(raw, Recipe(rate=raw.rate))
    clip = onto.retarget.clip(piece.clip)
    return clip, retargeting.report(onto.retarget, piece.clip, clip)


def _share(text):
    return _number(text, 0, 1)


def _check_report(options):
    if options.report:
        _check_output(options.report, ".json", options)


def _write_report(path, figures):
    with replacing(path) as temporary:
        # What a file's name has beside text becomes an escape of JSON.
        Path(temporary).write_text(records.to_text(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8",
                                   errors="backslashreplace")


# train

def _train(options):
    _check_output(options.output, ".mmnet", options)
    started, folder = time.monotonic(), folder_of(options.output)  # it takes seconds to import torch
    if options.watch_stdin:
        end_with_parent(folder)
        if hasattr(os, "nice"):
            os.nice(5)
    try:
        from .training.train import Budget, train
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MotionError("Training needs torch, which this Python does not have: install it (pip install torch), "
                          "or use a Python that has it.") from error
    budget = Budget(options.minutes, options.iterations)
    _, ours = database.read_about(options.database)  # what is no database leaves no folder behind
    _check_owner(options.output, provenance.owner(options.output), ours)
    with _Bar(quiet=options.json) as bar, only_one(folder):
        watch = _print_progress if options.watch_stdin else bar.show
        figures = train(options.database, options.output, budget, options.seed, options.resume, folder, watch,
                        options.device, options.model, started)
    return {"file": options.output, **figures}


def _print_progress(progress):
    print(f"{progress.share:4.0%} {progress.text}", file=sys.stderr, flush=True)


def _minutes(text):
    return _number(text, 0.1, 60 * 24 * 30)


def _iterations(text):
    return int(_number(text, 1, 1e9))


# drive

def _drive(options):
    _check_output(options.output, ".bvh", options)
    _check_report(options)
    recording = stick.load(options.input)
    target = _target(options.target) if options.target else None
    library = _library(options)
    if target:
        _with_roles(library.database.character, options.database or options.networks)
    library = _on_target(library, target)
    asked = {tag_query(gait, library.speeds, options.query) for gait in recording.asked}
    _say_all(dict.fromkeys(trouble for query in sorted(asked) if (trouble := library.choice(query).trouble)))
    with _Bar(quiet=options.json) as bar:
        clip, trace = drive(library, recording, watch=bar.show, query=options.query)
    # What was learned is driven without the database; only the figures compare it with that, if it is there.
    whole = library
    if options.method == "lmm" and options.database:
        whole = _on_target(BakedLibrary(database.load(options.database)), target)
    figures = {"method": options.method, **driving.report(whole.whole(), clip, trace)}
    bvh.write(options.output, clip)
    if options.report:
        _write_report(options.report, figures)
    return {"file": options.output, **figures}


def _on_target(library, target):
    """A library on a character and how it stands, or as it is if there is none."""
    return library if target is None else retargeted(library, target[0], target_stance=target[1])


def _library(options):
    """What is driven with the method that was asked for."""
    if options.method == "lmm" and options.networks:
        return library_for("lmm", options.networks, rate=options.fps)
    if options.fps:
        raise MotionError("Only what was learned can be driven at another rate: leave --fps out, or use --method lmm.")
    if not options.database:
        raise MotionError("Only --method lmm with --networks NET.mmnet goes without a database: give it a DB.mmdb.")
    if options.method != "mm" and not options.networks:
        raise MotionError(f"The method {options.method} needs networks: train them, and give --networks NET.mmnet.")
    library = BakedLibrary(database.load(options.database))
    return library if options.method == "mm" else library_for(options.method, options.networks, library)


# bench

def _bench(options):
    with _Bar(quiet=options.json) as bar:
        result = cost_table.measure(options.database, options.networks, watch=bar.show)
    return cost_table.table(result, Path(options.database).stem) if options.table and not options.json else result


# info

def _info(options):
    reports = []
    for path in options.files:
        try:
            reports.append({"file": path, **_about(Path(path))})
        except MotionError as error:
            if len(options.files) == 1:
                raise
            options.failed = True
            reports.append({"file": path, "error": str(error)})
    return reports[0] if len(reports) == 1 else {"files": reports}


def _about(path):
    if path.suffix.lower() == ".bvh":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MotionWarning)
            clip = bvh.read(path)
        units = bvh.guess_units(clip)
        found = find_roles(clip.scaled(units).skeleton)
        return {"kind": "bvh", "frames": len(clip), "rate": clip.rate, "seconds": round(clip.duration, 3),
                "joints": len(clip.skeleton), "units": units, "family": found.family, "roles": found.character.roles}
    if path.suffix.lower() == ".mmnet":
        return {"kind": "mmnet", **networks.load(path).report()}
    result = database.load(path)
    return {"kind": "mmdb", **result.report(), "roles": result.character.roles,
            "channels": [channel.label for channel in result.schema.channels],
            "clip_names": list(dict.fromkeys(part.source for part in result.ranges)), "key": result.key}


# What a person sees

def _say(sentence):
    print(f"mm_blender: {readable(sentence)}", file=sys.stderr)


def _say_all(sentences, most=100):
    sentences = list(sentences)
    for sentence in sentences[:most]:
        _say(sentence)
    if more := len(sentences[most:]):
        _say(f"{more:,} more sentences like these.")


# What is told of clips, tags and roles, each by a name that stays as it is.
NAMED = ("each", "excluded", "frames_per_clip", "frames_per_tag", "contact_share", "roles")


class _Bar:
    """A progress bar on a terminal's stderr; nothing elsewhere."""

    def __init__(self, quiet):
        self._stream = None if quiet or not sys.stderr.isatty() else sys.stderr

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._stream:
            self._stream.write("\r\x1b[K")

    def show(self, progress):
        if self._stream:
            full = int(30 * progress.share)
            self._stream.write(f"\r\x1b[K[{'█' * full}{'·' * (30 - full)}] {progress.share:4.0%} "
                               f"{readable(progress.text)[:60]}")
            self._stream.flush()


def _print_plainly(result, indent="", named=False):
    width = max(len(readable(name)) for name in result) + 2
    for name, value in result.items():
        label = readable(name) if named else name.replace("_", " ")
        if isinstance(value, dict) and value:
            print(f"{indent}{label}")
            _print_plainly(value, indent + "  ", name in NAMED)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for item in value:
                _print_plainly(item, indent)
                print()
        else:
            text = ", ".join(map(readable, value)) if isinstance(value, list) else readable(value)
            print(f"{indent}{label:{width}}{text if value not in ({}, []) else '–'}")


if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdout.reconfigure(errors="backslashreplace")  # as stderr: not every console can show every name
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)
