# SPDX-License-Identifier: GPL-3.0-or-later
"""bench: memory and time of each method and stage."""

from pathlib import Path

from ..evaluate import cost_table
from .options import add_command
from .terminal import Bar


def add(commands):
    command = add_command(commands, "bench", run, ("database",), help="memory and time of each method and stage")
    command.add_argument("database", metavar="DB.mmdb", help="what bake has made")
    command.add_argument("--networks", metavar="NET.mmnet", help="what train has made from it")
    command.add_argument("--table", action="store_true", help="print a table in Markdown")


def run(options):
    with Bar(quiet=options.json) as bar:
        result = cost_table.measure(options.database, options.networks, watch=bar.show)
    return cost_table.table(result, Path(options.database).stem) if options.table and not options.json else result
