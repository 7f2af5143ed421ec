# SPDX-License-Identifier: GPL-3.0-or-later
"""What the options of several commands have in common."""

import argparse

from ..matching import database
from ..motion import bvh


def add_command(commands, name, run, **words):
    """A command's own parser: it does run(options), whose result is printed, in plain words or with --json."""
    command = commands.add_parser(name, **words)
    command.add_argument("--json", action="store_true", help="print one JSON object on stdout and nothing else")
    command.set_defaults(run=run, failed=False)
    return command


def number(text, low, high):
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number') from None
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"{text} is not between {low:g} and {high:g}")
    return value


def rate(text):
    return number(text, *database.RATES)


def scale(text):
    try:
        return bvh.UNITS[text] if text in bvh.UNITS else number(text, 1e-6, 1e6)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}: use {', '.join(bvh.UNITS)}, or metres per unit") from None
