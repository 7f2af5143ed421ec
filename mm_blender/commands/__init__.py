# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line's commands, one file each: add() says what it can be told, and run() does it.

What run() gives back is printed; if something failed all the same it sets options.failed.
"""

import argparse
import sys
import warnings
from importlib import import_module
from pathlib import Path

from .. import __version__, records
from ..errors import Cancelled, MotionError
from . import terminal
from .streams import streams
from .terminal import print_plainly, say

INSTALLED = "motion-matching"  # what pip calls it
COMMANDS = ("bake", "merge", "retarget", "train", "drive", "direct", "bench", "info")  # in the order of --help


def main(arguments=None):
    """Does what the arguments say, those of the shell if none are given; its exit code comes back."""
    return run(options_in(sys.argv[1:] if arguments is None else arguments))


def run(options):
    """Does what the options say; its exit code comes back."""
    try:
        # What NumPy has to say of a division is for developers.
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
            terminal.be_quiet(options.quiet)
            with streams(options) as written_out:
                result = options.run(options)
    except MotionError as error:
        say(error)
        return 1
    except BrokenPipeError:  # whoever reads our output has seen enough
        raise
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
    elif written_out or (options.quiet and hasattr(options, "output")):
        pass
    elif isinstance(result, str):
        print(result)
    else:
        print_plainly(result)
    return 1 if options.failed else 0


def options_in(arguments):
    """What the arguments say, as options; what is no use of ours ends the program."""
    called = INSTALLED if Path(sys.argv[0]).stem == INSTALLED else "python -m mm_blender"
    parser = argparse.ArgumentParser(prog=called, description="Motion Matching without Blender.")
    parser.add_argument("--version", action="version", version=f"Motion Matching {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    # What another command needs takes its time to import.
    for name in COMMANDS if not arguments or arguments[0] not in COMMANDS else arguments[:1]:
        import_module(f".{name}", __package__).add(commands)
    options = parser.parse_args(arguments)
    for name, value in vars(options).items():
        # Where a path is expected it would be the folder where one stands: mostly a variable that nobody has set.
        if name != "query" and "" in (value if isinstance(value, list) else [value]):
            parser.error(f"{name}: the text is empty")
    return options
