# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person sees of a command: sentences and a progress bar on stderr, the result on stdout."""

import sys

from ..errors import readable

# What is told of clips, tags and roles, each by a name that stays as it is.
NAMED = ("each", "excluded", "frames_per_clip", "frames_per_tag", "contact_share", "roles")

_quiet = False


def say(sentence):
    print(f"mm_blender: {readable(sentence)}", file=sys.stderr)


def be_quiet(quiet):
    """Whether only what goes wrong is said, until the next command."""
    global _quiet
    _quiet = quiet


def say_all(sentences, most=100):
    """What is odd but usable."""
    sentences = [] if _quiet else list(sentences)
    for sentence in sentences[:most]:
        say(sentence)
    if more := len(sentences[most:]):
        say(f"{more:,} more sentences like these.")


class Bar:
    """A progress bar on a terminal's stderr; nothing elsewhere."""

    def __init__(self, quiet):
        self._stream = None if quiet or _quiet or not sys.stderr.isatty() else sys.stderr

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._stream:
            self._stream.write("\r\x1b[K")

    def show(self, progress):
        if self._stream:
            full = int(30 * progress.share)
            self._stream.write(f"\r\x1b[K[{'█' * full}{'·' * (30 - full)}] {progress.share:4.0%} "
                               f"{readable(progress.text)[:60]}")
            self._stream.flush()


def print_plainly(result, indent="", named=False):
    width = max(len(readable(name)) for name in result) + 2
    for name, value in result.items():
        label = readable(name) if named else name.replace("_", " ")
        if isinstance(value, dict) and value:
            print(f"{indent}{label}")
            print_plainly(value, indent + "  ", name in NAMED)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for item in value:
                print_plainly(item, indent)
                print()
        else:
            text = ", ".join(map(readable, value)) if isinstance(value, list) else readable(value)
            print(f"{indent}{label:{width}}{text if value not in ({}, []) else '–'}")
