# SPDX-License-Identifier: GPL-3.0-or-later
"""info: what is in a file."""

import warnings
from pathlib import Path

from ..errors import MotionError, MotionWarning
from ..matching import database
from ..motion import bvh
from ..motion.roles import find_roles
from ..networks import file as networks
from .options import add_command


def add(commands):
    command = add_command(commands, "info", run, help="what is in a .mmdb, .mmnet or .bvh file")
    command.add_argument("files", nargs="+", metavar="FILE")


def run(options):
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
