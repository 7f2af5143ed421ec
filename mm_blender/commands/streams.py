# SPDX-License-Identifier: GPL-3.0-or-later
"""Standard input and output in the place of files, where an option is "-"."""

import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from ..errors import MotionError
from ..limits import BVH

HERE = "-"
SAID = "standard input"  # in sentences, in the place of the file that holds it for a while


@contextmanager
def streams(options):
    """While this lasts files that hold what comes and what goes are in the place of each "-".

    options.came is the file that came, or None. Yields whether the result goes to standard output.
    """
    asked = [name for name in options.reads for value in _many(options, name) if value == HERE]
    out = options.writes is not None and options.output == HERE
    if len(asked) > 1:
        raise MotionError('Standard input can be read once: give a file in the place of one "-".')
    if out and options.json:
        raise MotionError("Both the result and the JSON object would go to standard output: give -o a file name, or "
                          "leave --json out.")
    if out and sys.stdout.isatty():
        raise MotionError("The result would be written to the screen: send it on with | or >, or give -o a file name.")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options.came = str(_received(Path(folder))) if asked else None
        for name in asked:
            _put(options, name, options.came)
        if out:
            options.output = goes = os.path.join(folder, f"stdout{options.writes}")
        try:
            yield out
        except MotionError as error:
            raise MotionError(_said(str(error), options.came)) from error
        if out:
            with open(goes, "rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)


def _said(sentence, came):
    """A sentence that names standard input, not the file that holds it."""
    return sentence if came is None else sentence.replace(f'"{came}"', SAID).replace(os.path.basename(came), SAID)


def _many(options, name):
    value = getattr(options, name)
    return value if isinstance(value, list) else [value]


def _put(options, name, path):
    """The path of a file instead of "-" in an option."""
    value = getattr(options, name)
    setattr(options, name, [path if one == HERE else one for one in value] if isinstance(value, list) else path)


def _received(folder):
    """The file with what came, named after what it is."""
    content = sys.stdin.buffer.read(BVH + 1)
    if len(content) > BVH:
        raise MotionError(f"What comes on standard input has more than {BVH / 1e6:,.0f} MB: give the file itself.")
    path = folder / f"stdin{_suffix(content)}"
    path.write_bytes(content)
    return path


def _suffix(content):
    if content.startswith(b"PK"):
        return ".mmdb"
    if b"HIERARCHY" in content[:10_000].upper():
        return ".bvh"
    return ".json" if content.lstrip()[:1] in (b"{", b"[") else ".csv"
