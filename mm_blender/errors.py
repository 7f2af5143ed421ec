# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception that carries a sentence for the person in front of the screen."""

import re

NAME, SENTENCE = 200, 800  # letters of what is quoted, and of all that is said


def readable(text):
    """A text as one line that a terminal and Blender can show, whatever a file has put into it: without control
    characters, with quoted names and the whole no longer than somebody reads."""
    line = _UNSEEN.sub("�", re.sub(r"\s*[\n\r\t]\s*", " ", str(text)))
    line = line.encode("utf-8", "backslashreplace").decode()
    return _shortened(re.sub('"[^"]*"', lambda quoted: f'"{_shortened(quoted[0][1:-1], NAME)}"', line), SENTENCE)


# Control characters, with which a terminal is steered, and those that turn the direction of what is written.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def _shortened(text, most):
    """The beginning and the end of a text: there a sentence says what to do."""
    return text if len(text) <= most else f"{text[:most * 2 // 3]} … {text[3 - most // 3:]}"


class MotionError(Exception):
    """Something in the input is wrong. The message names it (Action, bone, file) and says what to do."""

    def __init__(self, sentence):
        super().__init__(readable(sentence))


class Cancelled(Exception):
    """The person asked to stop."""


class MotionWarning(UserWarning):
    """Something in the input is odd, and it was used all the same. The message says what was done."""

    def __init__(self, sentence):
        super().__init__(readable(sentence))
