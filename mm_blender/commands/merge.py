# SPDX-License-Identifier: GPL-3.0-or-later
"""merge: several databases of one character become one."""

from pathlib import Path

from ..errors import MotionError
from ..files import only_us
from ..matching import database
from ..matching.merge import merge
from ..steps import Progress
from .options import add_command
from .outputs import check_output, check_owner, owner_of
from .terminal import Bar, say_all


def add(commands):
    command = add_command(commands, "merge", run, ("databases",), ".mmdb",
                          help="put databases of one character into one; it is nobody's")
    command.add_argument("databases", nargs="+", metavar="DB.mmdb", help="what bake has made, with the same features")
    command.add_argument("-o", "--output", required=True, metavar="OUT.mmdb", help="the database to write")


def run(options):
    if len(options.databases) < 2:
        raise MotionError("Merging takes two databases or more: name another one.")
    check_output(options.output, ".mmdb", options, options.databases)
    check_owner(options.output, owner_of(options.output))
    with only_us(options.output), Bar(quiet=options.json) as bar:
        bar.show(Progress(0.0, "Reading"))
        read = [database.load(path, to_bake=True) for path in options.databases]
        bar.show(Progress(0.3, "Sorting similar frames"))
        result = merge(read, _names(options.databases))
        bar.show(Progress(0.9, "Writing"))
        result.save(options.output)
    say_all([*result.notes["left_out"], *result.notes["warnings"]])
    return {"file": options.output, **result.report()}


def _names(paths):
    """What each file is called: its name, or as much of its path as tells it from the others."""
    stems = [Path(path).stem for path in paths]
    return [stem if stems.count(stem) == 1 else path for stem, path in zip(stems, map(str, paths))]
