# SPDX-License-Identifier: GPL-3.0-or-later
"""Left and right in names: of joints (thigh.L, mixamorig:LeftUpLeg, Bip01 L Thigh, lThigh) and of tags."""

import re

_SIDES = {"l": "left", "left": "left", "r": "right", "right": "right"}
_SWAP = {"l": "r", "r": "l", "left": "right", "right": "left"}
# Words: runs of capitals before a capitalised word (LHip → L, Hip), capitalised or small words, capitals, numbers.
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")


def split_side(name):
    """The side of a name ("left", "right" or "") and its other words in small letters.

    Of two sides the last one counts: "r_toe.L" is the rear toe on the left.
    """
    words = [match.group().lower() for match in _WORD.finditer(name.rsplit(":", 1)[-1])]
    at = max((index for index, word in enumerate(words) if word in _SIDES), default=None)
    if at is None:
        return "", words
    return _SIDES[words[at]], words[:at] + words[at + 1:]


def swap_side(name):
    """The name with its side exchanged, in the same spelling; the same name where it has no side."""
    start = name.rfind(":") + 1
    sided = [match for match in _WORD.finditer(name, start) if match.group().lower() in _SIDES]
    if not sided:
        return name
    word = sided[-1].group()
    other = _SWAP[word.lower()]
    other = other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other
    return name[:sided[-1].start()] + other + name[sided[-1].end():]


def find_pairs(names):
    """name → the name on the other side. One whose partner does not exist, or that has no side, is its own."""
    known = set(names)
    return {name: other if (other := swap_side(name)) in known else name for name in names}
