# SPDX-License-Identifier: GPL-3.0-or-later
"""What the options of several commands have in common."""

import argparse

from ..errors import MotionError
from ..matching import database
from ..motion import bvh


def add_command(commands, name, run, reads=(), writes=None, **words):
    """A command's own parser: it does run(options), whose result is printed, in plain words or with --json.

    reads   the options that name a file which is read; "-" is standard input
    writes  how the file ends that is named by -o, where "-" is standard output
    """
    command = commands.add_parser(name, **words)
    command.add_argument("--json", action="store_true", help="print one JSON object on stdout and nothing else")
    command.add_argument("--quiet", action="store_true", help="say nothing but what goes wrong")
    command.set_defaults(run=run, failed=False, reads=reads, writes=writes)
    return command


def add_strict(command):
    command.add_argument("--strict", action="store_true", help="fail, and write nothing, if any clip cannot be used")


def check_strict(options, left_out):
    """With --strict: fails if a clip was left out."""
    if options.strict and left_out:
        more = f" So are {len(left_out) - 1:,} others." if len(left_out) > 1 else ""
        raise MotionError(f"{left_out[0]} Nothing was written, because of --strict.{more}")


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


def speed_of_clip(text):
    """("walk*", 1.4) of walk*=1.4."""
    clip, given, speed = text.rpartition("=")
    if not (given and clip.strip()):
        raise argparse.ArgumentTypeError(f'"{text}" should read CLIP=M/S, such as walk=1.4')
    return clip.strip().removesuffix(".bvh"), number(speed, 0, 1000)


def job_count(text):
    return int(number(text, 0, 256))


def scale(text):
    try:
        return bvh.UNITS[text] if text in bvh.UNITS else number(text, 1e-6, 1e6)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}: use {', '.join(bvh.UNITS)}, or metres per unit") from None
