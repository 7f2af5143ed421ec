# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line's commands, one file each: add() says what it can be told, and run() does it.

What run() gives back is printed; if something failed all the same it sets options.failed.
"""

import argparse
import warnings

from .. import records
from ..errors import Cancelled, MotionError
from . import bake, bench, direct, drive, info, retarget, train
from .terminal import print_plainly, say

COMMANDS = (bake, retarget, train, drive, direct, bench, info)  # in the order of --help


def main(arguments=None):
    """Does what the arguments say, those of the shell if none are given; its exit code comes back."""
    options = _options(arguments)
    try:
        # What NumPy has to say of a division is for developers.
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
            result = options.run(options)
    except MotionError as error:
        say(error)
        return 1
    except OSError as error:
        say(f'"{error.filename or "A file"}" cannot be used: {error.strerror or error}.')
        return 1
    except Cancelled as error:
        say(error)
        return 130
    except KeyboardInterrupt:
        say("cancelled; nothing was written.")
        return 130
    if options.json:
        print(records.to_text(result))
    elif isinstance(result, str):
        print(result)
    else:
        print_plainly(result)
    return 1 if options.failed else 0


def _options(arguments):
    parser = argparse.ArgumentParser(prog="python -m mm_blender", description="Motion Matching without Blender.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    options = parser.parse_args(arguments)
    for name, value in vars(options).items():
        # Where a path is expected it would be the folder where one stands: mostly a variable that nobody has set.
        if name != "query" and "" in (value if isinstance(value, list) else [value]):
            parser.error(f"{name}: the text is empty")
    return options
