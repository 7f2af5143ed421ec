# SPDX-License-Identifier: GPL-3.0-or-later
"""Text files that people write, JSON and tables; and names where there is little room."""

import json
import math
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

from .errors import MotionError
from .files import check_regular
from .limits import LIST

# Words of a name with what joins them: push|And|Fall1|_subject1|_walk.
_WORD = re.compile(r"[\W_]*(?:[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d)\d*|[\W_]+")
# What stands for what is left out, and how much that takes from what a name says. So many words are looked at.
MORE, GAP, MANY = "…", 0.2, 9


def short_names(names, most):
    """{name: the same in at most so many letters}: what names share is left out, what tells them apart is kept.

    Of a name that is too long the words are kept that say most: a word says the more, the fewer names have it. Two
    names become the same only where nothing of that length tells them apart.
    """
    names = dict.fromkeys(names)
    long, short = [name for name in names if len(name) > most], {name: name for name in names}
    if not long:
        return short
    common = Counter(word for name in names for word in set(_words(name)))
    ways = {name: _ways(name, most, common, len(names)) for name in long}
    taken = Counter(text for name in long for text in {text for _, text in ways[name]})
    used = set()
    for name in sorted(long, key=lambda name: all(taken[text] > 1 for _, text in ways[name])):
        short[name] = max(ways[name], key=lambda way: (taken[way[1]] == 1, way[1] not in used, way[0]))[1]
        used.add(short[name])
    return short


def _ways(name, most, common, count):
    """All ways to shorten a name by one or two gaps between words: [(how much it says, text)]."""
    words = _WORD.findall(name)
    words = words[:MANY] + ["".join(words[MANY:])] * bool(words[MANY:])
    said = [math.log(count / max(common[_bare(word)], 1)) for word in words]
    ways, edges = [], range(len(words) + 1)
    for start, stop in combinations(edges, 2):
        for other, end in [(stop, stop), *combinations(range(stop + 1, len(words) + 1), 2)]:
            parts = [words[:start], words[stop:other], words[end:]] if end > other else [words[:start], words[stop:]]
            text = MORE.join("".join(part).strip("_ .-|") if at else "".join(part) for at, part in enumerate(parts))
            if len(text) <= most and any(parts):
                kept = sum(said[:start]) + sum(said[stop:other]) + sum(said[end:])
                ways.append(((round(kept - GAP * len(parts), 6), len(text)), text))
    # Where words are too long themselves they are cut, what all names have at the end aside.
    stem = name
    while len(words) > 1 and common[_bare(words[-1])] == count:
        stem = stem[:-len(words.pop())]
    stem = stem if len(stem) >= most else name
    cut = [((-math.inf, head), stem[:head] + MORE + stem[len(stem) - (most - 1 - head):]) for head in range(most)]
    return ways + cut


def _words(name):
    return [_bare(word) for word in _WORD.findall(name)]


def _bare(word):
    return word.strip("_ .-|").lower()


def read_text(path, most=LIST):
    """What is written in a file of at most so many bytes."""
    check_regular(path, most)
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise MotionError(f'"{path}" is not a text in UTF-8: save it as one.') from None
    except OSError as error:
        raise MotionError(f'"{path}" cannot be read: {error.strerror or error}.') from error


def read_json(path):
    """What a JSON file holds; numbers that nothing can count with become infinite."""
    try:
        return json.loads(read_text(path), parse_int=_whole)
    except json.JSONDecodeError as error:
        raise MotionError(f'"{path}" is not JSON: line {error.lineno}, column {error.colno} makes no sense.') from None
    except RecursionError:
        raise MotionError(f'"{path}" has too many brackets inside one another.') from None


def _whole(digits):
    # Python's whole numbers have any size, and with that most of what one does with numbers fails.
    return int(digits) if len(digits) < 16 else float(digits)
