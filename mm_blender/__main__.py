# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: python -m mm_blender bake | info."""

import argparse
import hashlib
import json
import sys
import warnings
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from .errors import MotionError, MotionWarning
from .matching import database, schema
from .matching.bake import Source, bake, run
from .motion import bvh
from .motion.character import ROLES
from .motion.clip import Tag
from .motion.roles import find_character
from .prepare.recipe import ROOTS, Recipe
from .prepare.root import find_forward


def main(arguments=None):
    options = _parser().parse_args(arguments)
    try:
        result = options.run(options)
    except MotionError as error:
        print(f"mm_blender: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nmm_blender: cancelled; nothing was written.", file=sys.stderr)
        return 130
    if options.json:
        print(json.dumps(result, ensure_ascii=False))
    else:
        _print_plainly(result)
    return 0


def _parser():
    parser = argparse.ArgumentParser(prog="python -m mm_blender", description="Motion Matching without Blender.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print one JSON object on stdout and nothing else")

    command = commands.add_parser("bake", parents=[common], help="make a database from BVH files")
    command.add_argument("clips", nargs="+", metavar="CLIP.bvh", help="BVH files, or folders of them")
    command.add_argument("-o", "--output", required=True, metavar="OUT.mmdb", help="the database to write")
    command.add_argument("--fps", type=_positive, default=60.0, help="frames per second of the database (60)")
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
    command.set_defaults(run=_bake)

    command = commands.add_parser("info", parents=[common], help="what is in a .mmdb or .bvh file")
    command.add_argument("files", nargs="+", metavar="FILE")
    command.set_defaults(run=_info)
    return parser


# bake

def _bake(options):
    files = _bvh_files(options.clips)
    if not Path(options.output).resolve().parent.is_dir():
        raise MotionError(f'The folder of "{options.output}" does not exist: create it first.')
    tags = _read_tags(options.tags)
    features = schema.load(options.schema)
    if options.past_end:
        features = replace(features, past_end=options.past_end)
    recipe = Recipe(rate=options.fps, root=options.root)
    first = _first_readable(files)
    units = options.units or bvh.guess_units(first)
    character = _character(first.scaled(units), options.role)
    sources = [_source(path, units, tags, options.mirror) for path in files]
    with _Bar(quiet=options.json) as bar:
        result = run(bake(sources, character, features, recipe), bar.show)
        result.save(options.output)
    for sentence in [*result.notes["left_out"], *result.notes["warnings"]]:
        print(f"mm_blender: {sentence}", file=sys.stderr)
    return {"file": options.output, "units": units, **result.report()}


def _bvh_files(paths):
    files = []
    for path in map(Path, paths):
        if path.is_dir():
            found = sorted(child for child in path.iterdir() if child.suffix.lower() == ".bvh")
            if not found:
                raise MotionError(f'The folder "{path}" has no .bvh files.')
            files += found
        elif path.is_file():
            files.append(path)
        else:
            raise MotionError(f'There is no file "{path}".')
    names = [path.stem for path in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise MotionError(f'Two of the files are named "{twice}": give each clip a name of its own.')
    return files


def _first_readable(files):
    """The first file that can be read, in its own units; the character is taken from it."""
    trouble = None
    for path in files:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", MotionWarning)
                return bvh.read(path)
        except MotionError as error:
            trouble = trouble or error
    raise trouble


def _character(clip, assignments):
    character = find_character(clip.skeleton)
    roles = dict(character.roles)
    for text in assignments:
        role, _, bone = text.partition("=")
        if role not in ROLES:
            raise MotionError(f'There is no role "{role}". Roles: {", ".join(ROLES)}.')
        if bone not in clip.skeleton.names:
            raise MotionError(f'The skeleton of "{clip.name}" has no bone "{bone}". '
                              f'Bones: {", ".join(clip.skeleton.names)}.')
        roles[role] = bone
    character = replace(character, roles=roles)
    if character.has("root") and not character.forward:
        character = replace(character, forward=find_forward(clip, character))
    return character


def _source(path, units, tags, mirrored):
    found = []

    def read():
        yield 0.0
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", MotionWarning)
            clip = bvh.read(path, units)
        found.extend(str(warning.message) for warning in caught)
        return clip.with_changes(name=path.stem, tags=_tags_for(path, clip, tags))

    contents = hashlib.sha256(path.read_bytes())
    contents.update(repr((units, [tag for pattern, tag in tags if fnmatch(path.stem, pattern)])).encode())
    return Source(path.stem, read, contents.hexdigest(), mirror=mirrored, warnings=found)


def _read_tags(path):
    """Pairs of a file name pattern and a tag: (name, start, end), times None for the whole clip."""
    if path is None:
        return []
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        entries = [(pattern.removesuffix(".bvh"), entry) for pattern, many in record.items()
                   for entry in (many if isinstance(many, list) else [many])]
        return [(pattern, (entry, None, None) if isinstance(entry, str) else
                 (str(entry["name"]), float(entry["start"]), float(entry["end"]))) for pattern, entry in entries]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise MotionError(f'The tag file "{path}" cannot be read ({type(error).__name__}: {error}). It should look '
                          'like {"run*": ["run", {"name": "exclude", "start": 0, "end": 1.5}]}.') from error


def _tags_for(path, clip, tags):
    whole = (0.0, clip.duration)
    return tuple(Tag(name, *((start, end) if start is not None else whole))
                 for pattern, (name, start, end) in tags if fnmatch(path.stem, pattern))


def _positive(text):
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above zero")
    return value


def _units(text):
    return bvh.UNITS[text] if text in bvh.UNITS else _positive(text)


# info

def _info(options):
    reports = [{"file": path, **_about(Path(path))} for path in options.files]
    return reports[0] if len(reports) == 1 else {"files": reports}


def _about(path):
    if path.suffix.lower() == ".bvh":
        clip = bvh.read(path)
        units = bvh.guess_units(clip)
        character = find_character(clip.scaled(units).skeleton)
        return {"kind": "bvh", "frames": len(clip), "rate": clip.rate, "seconds": round(clip.duration, 3),
                "joints": len(clip.skeleton), "units": units, "roles": character.roles}
    result = database.load(path)
    return {"kind": "mmdb", **result.report(), "roles": result.character.roles,
            "channels": [channel.label for channel in result.schema.channels],
            "clip_names": list(dict.fromkeys(part.source for part in result.ranges)), "key": result.key}


# What a person sees

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
            self._stream.write(f"\r\x1b[K[{'█' * full}{'·' * (30 - full)}] {progress.share:4.0%} {progress.text[:60]}")
            self._stream.flush()


def _print_plainly(result, indent=""):
    width = max(len(name) for name in result) + 2
    for name, value in result.items():
        label = name.replace("_", " ")
        if isinstance(value, dict) and value:
            print(f"{indent}{label}")
            _print_plainly(value, indent + "  ")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for item in value:
                _print_plainly(item, indent)
                print()
        else:
            text = ", ".join(map(str, value)) if isinstance(value, list) else value
            print(f"{indent}{label:{width}}{text if value not in ({}, []) else '–'}")


if __name__ == "__main__":
    sys.exit(main())
