# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: python -m mm_blender COMMAND, or motion-matching COMMAND where pip has installed it.

The commands are in commands/, one file each.
"""

import os
import signal
import sys


def main(arguments=None):
    """Does what the arguments say, those of the shell if none are given; its exit code comes back."""
    from . import commands  # it takes a moment to import
    return commands.main(arguments)


def start():
    """What a shell starts: Ctrl-C ends it without a traceback, from the first moment on."""
    listens = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN  # unless a shell has switched that off
    if listens:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    if any(word.startswith("--jobs") for word in sys.argv):
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # its threads would wait for those of other jobs
    from . import commands
    options = commands.options_in(sys.argv[1:])
    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdout.reconfigure(errors="backslashreplace")  # as stderr: not every console can show every name
    try:
        code = commands.run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


if __name__ == "__main__":
    start()
