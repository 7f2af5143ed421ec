# SPDX-License-Identifier: GPL-3.0-or-later
"""info: what is in a file."""

import warnings
from pathlib import Path

from .. import steps
from ..errors import MotionError, MotionWarning
from ..evaluate import triage
from ..matching import database
from ..motion import bvh
from ..motion.roles import find_roles
from ..networks import file as networks
from ..playback.library import BakedLibrary
from .options import add_command
from .streams import HERE
from .terminal import Bar


def add(commands):
    command = add_command(commands, "info", run, ("files",), help="what is in a .mmdb, .mmnet or .bvh file")
    command.add_argument("files", nargs="+", metavar="FILE")
    command.add_argument("--clips", action="store_true", help="of a database each clip measured, and how much a short "
                         "test drive plays of it")


def run(options):
    if options.clips and len(options.files) == 1 and not options.json:
        return triage.table(_tested(Path(options.files[0]), Bar(quiet=False)))
    reports = []
    for path in options.files:
        name = HERE if path == options.came else path
        try:
            reports.append({"file": name, **_about(Path(path)), **_clips(Path(path), options)})
        except MotionError as error:
            if len(options.files) == 1:
                raise
            options.failed = True
            reports.append({"file": name, "error": str(error)})
    return reports[0] if len(reports) == 1 else {"files": reports}


def _clips(path, options):
    if not options.clips or path.suffix.lower() != ".mmdb":
        return {}
    return {"test_drive": _tested(path, Bar(quiet=options.json))}


def _tested(path, bar):
    """What a test drive with a database says of its clips."""
    with bar:
        return steps.run(triage.triage(BakedLibrary(database.load(path))), bar.show)


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
