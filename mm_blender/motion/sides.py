# SPDX-License-Identifier: GPL-3.0-or-later
"""Left and right in names: of joints (thigh.L, mixamorig:LeftUpLeg, Bip01 L Thigh, lThigh, lfemur) and of tags."""

import re

_SIDES = {"l": "left", "left": "left", "左": "left", "r": "right", "right": "right", "右": "right"}
_SWAP = {"l": "r", "r": "l", "left": "right", "right": "left", "左": "右", "右": "左"}
_PARTS = ("arm", "upperarm", "forearm", "lowerarm", "hand", "wrist", "elbow", "finger", "fingers", "thumb", "shoulder",
          "collar", "clavicle", "scapula", "humerus", "radius", "ulna", "hip", "hipjoint", "leg", "upleg", "upperleg",
          "lowerleg", "thigh", "femur", "knee", "shin", "calf", "tibia", "fibula", "ankle", "foot", "heel", "toe",
          "toes", "toebase", "eye", "UArm", "FArm")
# Words: a side glued to a part of the body in small letters (lfemur, Lefthand), runs of capitals before a capitalised
# word (LHip → L, Hip), capitalised or small words, capitals, numbers, a side in Japanese (左足).
_WORD = re.compile(rf"(?<![A-Za-z])(?:[Ll]eft|[Rr]ight|[LlRr])(?=(?:{'|'.join(_PARTS)})(?![a-z]))|[A-Z]+(?=[A-Z][a-z])"
                   r"|[A-Z]?[a-zß-öø-ÿĀ-ſ]+|[A-Z]+|\d+|[左右]|[^\W\d_a-zA-Z左右]+")
# What a name repeats in short: NPC L Thigh [LThg].
_SHORT = re.compile(r"\[([LR]?)[^]]*\]$")


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
    rest, short = name[found[at].end():], _SHORT.search(name)
    if short is not None and short[1]:
        at_side = short.start(1) - found[at].end()
        rest = rest[:at_side] + _SWAP[short[1].lower()].upper() + rest[at_side + 1:]
    return name[:found[at].start()] + other + rest


def find_pairs(names):
    """name → the name on the other side. One whose partner does not exist, or that has no side, is its own."""
    known = set(names)
    return {name: other if (other := swap_side(name)) in known else name for name in names}


def _words(name):
    short = _SHORT.search(name)
    return list(_WORD.finditer(name, name.rfind(":") + 1, short.start() if short else len(name)))


def _side(found):
    """Which of the words is the side, or None. A letter with nothing but numbers is none: L5 is a vertebra."""
    words = [match.group().lower() for match in found]
    named = sum(not word.isdigit() for word in words) > 1
    return max((at for at, word in enumerate(words) if word in _SIDES and (named or len(word) > 1)), default=None)
