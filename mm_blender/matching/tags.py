# SPDX-License-Identifier: GPL-3.0-or-later
"""Tag queries: which frames a sentence such as `run & ~injured` selects."""

import re

import numpy as np

from ..errors import MotionError
from ..limits import QUERY
from ..prepare.clean import EXCLUDE, LOOP

# Tags with a meaning of their own. Any other name is the artist's.
NO_ENTER = "no-enter"
_STANDS = "The {} stands; replaces the contacts found automatically"
BUILT_IN = {
    EXCLUDE: "These frames are left out of the database",
    NO_ENTER: "These frames are played, but no search may jump to them",
    "contact.left": _STANDS.format("left foot"),
    "contact.right": _STANDS.format("right foot"),
    "contact.left.fore": _STANDS.format("left fore paw"),
    "contact.right.fore": _STANDS.format("right fore paw"),
    LOOP: "The clip's end leads on to its beginning",
}

_TOKEN = re.compile(r'\s*(?:(?P<mark>[&|~!()])|"(?P<quoted>[^"]*)"|(?P<name>[^\s&|~!()"]+))')
_WORDS = {"and": "&", "or": "|", "not": "~"}


def select(query, masks, frames):
    """(N,) the frames that a query selects.

    query   names joined by & (and), | (or), ~ (not) and parentheses; names with spaces in "quotes". Empty: all frames
    masks   tag name → (N,) bool
    frames  N
    """
    tokens = _tokens(query)
    if not tokens:
        return np.ones(frames, dtype=bool)
    try:
        mask, rest = _either(tokens, masks, query)
    except RecursionError:
        raise MotionError("The tag query has too many parentheses or ~ inside one another.") from None
    if rest:
        raise MotionError(f'The tag query "{query}" makes no sense from "{rest[0][1]}" on.')
    return mask.copy()


def _tokens(query):
    tokens, at = [], 0
    query = query.rstrip()
    if len(query) > QUERY:
        raise MotionError(f"The tag query has {len(query):,} letters: use at most {QUERY:,}.")
    while at < len(query):
        match = _TOKEN.match(query, at)
        if match is None:
            raise MotionError(f'The tag query "{query}" has a quotation mark without its partner.')
        mark, quoted, name = match["mark"], match["quoted"], match["name"]
        mark = mark or _WORDS.get((name or "").lower())
        tokens.append(("mark", mark.replace("!", "~")) if mark else ("name", name if quoted is None else quoted))
        at = match.end()
    return tokens


# Precedence as everywhere: not before and before or. Each function takes tokens and returns a mask and what is left.

def _either(tokens, masks, query):
    mask, rest = _both(tokens, masks, query)
    while rest and rest[0] == ("mark", "|"):
        other, rest = _both(rest[1:], masks, query)
        mask = mask | other
    return mask, rest


def _both(tokens, masks, query):
    mask, rest = _one(tokens, masks, query)
    while rest and rest[0] == ("mark", "&"):
        other, rest = _one(rest[1:], masks, query)
        mask = mask & other
    return mask, rest


def _one(tokens, masks, query):
    if not tokens:
        raise MotionError(f'The tag query "{query}" ends too early: a tag name is missing.')
    kind, text = tokens[0]
    if (kind, text) == ("mark", "~"):
        mask, rest = _one(tokens[1:], masks, query)
        return ~mask, rest
    if (kind, text) == ("mark", "("):
        mask, rest = _either(tokens[1:], masks, query)
        if not rest or rest[0] != ("mark", ")"):
            raise MotionError(f'The tag query "{query}" has a parenthesis that is not closed.')
        return mask, rest[1:]
    if kind == "mark":
        raise MotionError(f'The tag query "{query}" has "{text}" where a tag name belongs.')
    if text not in masks:
        known = ", ".join(sorted(masks)) or "none yet"
        raise MotionError(f'The tag query "{query}" names the tag "{text}", which no clip has. Tags here: {known}.')
    return masks[text], tokens[1:]
