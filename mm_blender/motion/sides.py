# SPDX-License-Identifier: GPL-3.0-or-later
"""Left and right in names: of joints (thigh.L, mixamorig:LeftUpLeg, Bip01 L Thigh, lThigh, lfemur) and of tags."""

import re

_SIDES = {"l": "left", "left": "left", "r": "right", "right": "right"}
_SWAP = {"l": "r", "r": "l", "left": "right", "right": "left"}
_PARTS = ("arm", "upperarm", "forearm", "lowerarm", "hand", "wrist", "elbow", "finger", "fingers", "thumb", "shoulder",
          "collar", "clavicle", "scapula", "humerus", "radius", "ulna", "hip", "hipjoint", "leg", "upleg", "upperleg",
          "lowerleg", "thigh", "femur", "knee", "shin", "calf", "tibia", "fibula", "ankle", "foot", "heel", "toe",
          "toes", "toebase", "eye")
# Words: runs of capitals before a capitalised word (LHip → L, Hip), a side glued to a part of the body in small letters
# (lfemur, Lefthand), capitalised or small words, capitals, numbers.
_WORD = re.compile(rf"[A-Z]+(?=[A-Z][a-z])|(?<![A-Za-z])(?:[Ll]eft|[Rr]ight|[LlRr])(?=(?:{'|'.join(_PARTS)})(?![a-z]))"
                   r"|[A-Z]?[a-zß-öø-ÿĀ-ſ]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")


def split_side(name):
    """The side of a name ("left", "right" or "") and its other words in small letters.

    Of two sides the last one counts: "r_toe.L" is the rear toe on the left.
    """
    found = _words(name)
    at = _side(found)
    words = [match.group().lower() for match in found]
    return ("", words) if at is None else (_SIDES[words[at]], words[:at] + words[at + 1:])


def swap_side(name):
    """The name with its side exchanged, in the same spelling; the same name where it has no side."""
    found = _words(name)
    at = _side(found)
    if at is None:
        return name
    word = found[at].group()
    other = _SWAP[word.lower()]
    other = other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other
    return name[:found[at].start()] + other + name[found[at].end():]


def find_pairs(names):
    """name → the name on the other side. One whose partner does not exist, or that has no side, is its own."""
    known = set(names)
    return {name: other if (other := swap_side(name)) in known else name for name in names}


def _words(name):
    return list(_WORD.finditer(name, name.rfind(":") + 1))


def _side(found):
    """Which of the words is the side, or None. A letter with nothing but numbers is none: L5 is a vertebra."""
    words = [match.group().lower() for match in found]
    named = sum(not word.isdigit() for word in words) > 1
    return max((at for at, word in enumerate(words) if word in _SIDES and (named or len(word) > 1)), default=None)
