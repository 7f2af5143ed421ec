# SPDX-License-Identifier: GPL-3.0-or-later
"""bake: make a database from BVH files."""

import glob
import hashlib
import json
import warnings
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial

from .. import steps
from ..errors import MotionError, MotionWarning
from ..files import only_us
from ..matching import database, schema
from ..matching.bake import ARCS, Source, bake
from ..matching.proposals import propose
from ..motion import bvh
from ..motion.clip import Tag
from ..prepare.recipe import ROOTS, Recipe
from .characters import character_in, target_in, ways_onto
from .clips import SAMPLES, bvh_files, contents_of, some_readable, spread, units_of
from .jobs import jobs
from .options import add_command, add_strict, check_strict, job_count, rate, scale, speed_of_clip
from .outputs import check_output, check_owner, owner_of, write_report
from .tag_file import read_tags, record_of
from .terminal import Bar, say_all


def add(commands):
    command = add_command(commands, "bake", run, ("clips", "schema", "tags", "onto"), ".mmdb",
                          help="make a database from BVH files")
    command.add_argument("clips", nargs="+", metavar="CLIP.bvh", help="BVH files, or folders of them")
    command.add_argument("-o", "--output", required=True, metavar="OUT.mmdb", help="the database to write")
    command.add_argument("--fps", type=rate, default=60.0, help="frames per second of the database (60)")
    command.add_argument("--mirror", action="store_true", help="add the mirror image of every clip")
    command.add_argument("--schema", default="locomotion", metavar="PRESET|FILE.json",
                         help=f"the features: {', '.join(schema.PRESETS)}, or a JSON file (locomotion)")
    command.add_argument("--past-end", choices=schema.PAST_END, help="what happens where a feature's time lies past "
                         "a clip's end: its last velocity is extrapolated, or such frames are not entered")
    command.add_argument("--units", type=scale, metavar="cm|m|SCALE",
                         help="the files' unit, or metres per unit (guessed from the character's height)")
    command.add_argument("--root", choices=ROOTS, default="auto", help="what carries the character over the ground")
    command.add_argument("--tags", metavar="FILE.json", help='tags by file name: {"run*": ["run", '
                         '{"name": "exclude", "start": 0, "end": 1.5}]}, times in seconds')
    command.add_argument("--propose-tags", metavar="FILE.json", help="bake with tags that are found in names and "
                         "motion, beside those of --tags, and write all of them into this file, as --tags reads it")
    command.add_argument("--travel", choices=("auto", "off"), default="auto", help="let clips that were "
                         "made in place, with hips that stay while the feet slide backwards, travel as their feet "
                         "tell (auto)")
    command.add_argument("--travel-speed", action="append", default=[], metavar="CLIP=M/S", type=speed_of_clip,
                         help="how fast a clip that was made in place travels, such as walk=1.4; with * and ? for "
                         "several")
    command.add_argument("--loops", choices=("auto", "tagged"), default="auto", help="which clips go round: those that "
                         "end as they begin (auto), or only those with the tag loop")
    command.add_argument("--arcs", choices=ARCS, default="auto", help="copies of cycles that go straight on, bent to "
                         "both sides: where no clip turns (auto), always, or never")
    command.add_argument("--role", action="append", default=[], metavar="ROLE=BONE",
                         help="which bone plays a role, where it is not found by itself")
    command.add_argument("--onto", metavar="TARGET.bvh|DB.mmdb", help="the character of the database, onto which clips "
                         "of any others are retargeted (that of the clips themselves)")
    add_strict(command)
    command.add_argument("--jobs", type=job_count, default=1, metavar="N",
                         help="how many processes read clips side by side; 0: one on each core (1)")


def run(options):
    files = bvh_files(options.clips)
    check_output(options.output, ".mmdb", options, files)
    check_owner(options.output, owner_of(options.output))
    if options.propose_tags:
        check_output(options.propose_tags, ".json", options, files)
    tags = read_tags(options.tags, files)
    _check_speeds(options.travel_speed, files)
    features = schema.load(options.schema)
    if options.past_end:
        features = replace(features, past_end=options.past_end)
    recipe = Recipe(rate=options.fps, root=options.root)
    some = some_readable(files, SAMPLES)
    units = options.units or units_of(some)
    target = target_in(options.onto) if options.onto else None
    character = target[0] if target else character_in([clip.scaled(units) for clip in some], options.role)

    def sources_with(tags):
        if target:
            return _sources_onto(files, options, recipe, units, tags, target)
        return [_source(path, units, tags, options) for path in files]

    sources = sources_with(tags)
    _check_features(features, character, options, options.onto or some[0].name)
    with only_us(options.output), Bar(quiet=options.json) as bar, jobs(options.jobs) as others:
        if options.propose_tags:
            found = steps.run(propose(sources, character, recipe), bar.show)
            tags = [*tags, *((glob.escape(path.stem), (tag.name, tag.start, tag.end))
                             for path, own in zip(files, found) for tag in own)]
            sources = sources_with(tags)
            write_report(options.propose_tags, record_of(tags))
        result = steps.run(bake(sources, character, features, recipe, _previous(options.output), others,
                                arcs=options.arcs), bar.show)
        check_strict(options, result.notes["left_out"])
        result.save(options.output)
    say_all([*result.notes["left_out"], *result.notes["warnings"]])
    return {"file": options.output, "units": units, **result.report()}


def _check_speeds(speeds, files):
    for pattern, _ in speeds:
        if not any(fnmatchcase(path.stem, pattern) for path in files):
            raise MotionError(f'--travel-speed speaks of "{pattern}", and no clip has such a name.')


def _previous(path):
    """The database that is written over, whose unchanged clips are taken over; None if there is none."""
    try:
        return database.load(path, to_bake=True)
    except MotionError:
        return None


def _check_features(features, character, options, name):
    missing = ", ".join(role for role in features.roles if not character.has(role))
    if missing:
        advice = "Choose other features" if options.onto else "Give them with --role, or choose other features"
        raise MotionError(f'The features "{options.schema}" need bones for these roles, and the character of "{name}" '
                          f"has none: {missing}. {advice}.")


def _sources_onto(files, options, recipe, units, tags, target):
    """Sources that come onto a target, (Character, Stance)."""
    sources = {}
    for onto, paths in ways_onto(files, options.role, recipe, units, target):
        # How source and target stand has a part in what becomes of a clip.
        some = [hashlib.sha256(contents_of(path)).hexdigest() for path in spread(paths)]
        stands = some, target[1].positions.round(4).tolist()
        for path in paths:
            one = _source(path, units, tags, options)
            mark = hashlib.sha256(json.dumps([one.fingerprint, stands]).encode()).hexdigest()
            sources[path] = replace(one, onto=onto, fingerprint=mark)
    return [sources[path] for path in files]


def _source(path, units, tags, options):
    found, own = [], [tag for pattern, tag in tags if fnmatchcase(path.stem, pattern)]
    contents = contents_of(path)
    mark = hashlib.sha256(contents)
    mark.update(repr((units, own)).encode(errors="surrogateescape"))
    speeds = [speed for pattern, speed in options.travel_speed if fnmatchcase(path.stem, pattern)]
    return Source(path.stem, partial(_read, path, units, own, found), mark.hexdigest(), mirror=options.mirror,
                  seconds=bvh.seconds_of(contents), loop=None if options.loops == "auto" else False,
                  travel=speeds[-1] if speeds else None if options.travel == "auto" else 0.0, warnings=found)


def _read(path, units, tags, found):
    """A clip with its tags, step by step, as a Source reads it; what is odd about it goes into a list of sentences."""
    yield 0.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", MotionWarning)
        clip = bvh.read(path, units)
    found.extend(str(warning.message) for warning in caught if issubclass(warning.category, MotionWarning))
    tags = [Tag(name, start, clip.duration if end is None else end) for name, start, end in tags]
    found.extend(f'The tag "{tag.name}" at {tag.start:g} s lies outside of clip "{clip.name}", which lasts '
                 f"{clip.duration:.2f} s." for tag in tags if tag.start > clip.duration or tag.end < 0)
    return clip.with_changes(tags=tags)
