# SPDX-License-Identifier: GPL-3.0-or-later
"""Tags proposed for clips, from what they are called and from what they show.

Where the motion can tell (kinds.py), it says in which frames; a name decides what it cannot tell, such as a dance, and
what a way of going is called: who limps is seen to walk.
"""

import numpy as np

from ..control.gaits import KNOWN
from ..errors import MotionError
from ..motion.clip import Tag
from ..motion.sides import split_side
from ..steps import Progress, mapped
from .bake import cleaned
from .database import runs
from .kinds import MEASURED, kinds_of

# What people call what somebody does. Other forms of these words are known, too: walks, walking, danced.
_MEANINGS = {
    "idle": ("idle", "breathe"), "walk": ("walk",), "run": ("run",), "crouch": ("crouch", "duck", "squat"),
    "strafe": ("strafe", "sidestep", "sideways", "sidewalk"), "backward": ("backward", "backwards"),
    "turn": ("turn", "pivot"), "jump": ("jump", "leap"), "fall": ("fall",), "sit": ("sit", "seated"),
    "dance": ("dance", "hiphop", "samba", "salsa", "rumba", "tango", "waltz", "ballet", "breakdance", "pirouette"),
    "fight": ("fight", "punch", "kick", "boxing", "combat"), "wave": ("wave",), "stumble": ("stumble", "trip"),
    "die": ("die", "death", "dying"), "climb": ("climb",), "swim": ("swim",), "push": ("push",), "pull": ("pull",),
    "throw": ("throw",), "aim": ("aim",), "clap": ("clap",), **{gait: (gait,) for gait in KNOWN}}
_TAGS = {word: tag for tag, words in _MEANINGS.items() for word in words}
FAST = {"run", "jog", "sprint", "gallop", "canter"}
GOING = {"walk", "run", *KNOWN}
# Of the frames in which somebody goes somewhere so many (shares) are as fast, or as slow, as the name of the clip says;
# where fewer are, the name is believed for all of them. What lacks fewer seconds than these of a clip has all of it.
SOME, ALMOST = 0.25, 0.3


def named(name):
    """The tags that the words of a name stand for, in their order: Armature|mixamo.com|WalkTurn_L → walk, turn."""
    words, tags = split_side(name)[1], []
    while words:
        # Two words may be one: side steps, hip-hop, which is no hop.
        count = 2 if _tag_of("".join(words[:2])) and len(words) > 1 else 1
        tags.append(_tag_of("".join(words[:count])))
        words = words[count:]
    return tuple(dict.fromkeys(filter(None, tags)))


def propose(sources, character, recipe):
    """A generator: yields Progress, returns for each Source its proposed Tags, in the source's own seconds. What a clip
    has a tag of already is not proposed, and nothing is for a clip that cannot be read."""
    proposed = []
    for index, source in enumerate(sources):
        progress = Progress(index / len(sources), f'Looking at "{source.name}"')
        yield progress
        try:
            raw, pieces, shown = yield from mapped(cleaned(source, character, recipe), lambda _, now=progress: now)
        except MotionError:
            proposed.append([])
            continue
        tags, known = named(source.name), {tag.name for tag in raw.tags}
        proposed.append([tag for piece in pieces for tag in _tags_of(piece, source, tags, kinds_of(piece.clip, shown))
                         if tag.name not in known])
    return proposed


def believed(tags, found, frames):
    """{tag: (F,) bool} of a clip of so many frames, whose name says these tags and whose motion shows what was
    found, as kinds_of() has it."""
    nothing, everything = np.zeros(frames, dtype=bool), np.ones(frames, dtype=bool)
    walks, fast = found.get("walk", nothing), found.get("run", nothing)
    ways, goes = [tag for tag in tags if tag in GOING], (walks | fast).any()
    masks = {**found, **_ways(ways, walks, fast)}
    if not goes and found.get("idle", nothing).mean() < 1 / 2:
        # A cycle that goes on the spot, or somebody who is not upright: there is only what it is called. Who is said to
        # run and bounds high does not jump.
        if ways and "jump" not in tags:
            masks["jump"] = nothing
        masks |= {tag: everything for tag in tags if tag in ways or tag == "sit"}
    masks |= {tag: everything for tag in tags if tag not in MEASURED and tag not in GOING}
    if masks.get("sit") is everything:
        masks["crouch"] = nothing
    return {tag: mask for tag, mask in masks.items() if mask.any()}


def _ways(ways, walks, fast):
    """{tag: (F,) bool} of a clip that is seen to walk and to go fast, and that is called by these ways of going."""
    quick, slow = ([tag for tag in ways if (tag in FAST) == wanted] for wanted in (True, False))
    if bool(quick) != bool(slow):
        seen, going = (fast if quick else walks), walks | fast
        if seen.sum() < SOME * going.sum():
            return {"walk": going & False, "run": going & False, ways[0]: going}
    return {"walk": walks & False, "run": fast & False, (slow or ["walk"])[0]: walks, (quick or ["run"])[0]: fast}


def _tags_of(piece, source, tags, found):
    """The Tags of one Piece of a Source."""
    clip, made = piece.clip, []
    for name, mask in believed(tags, found, len(clip)).items():
        spans = [(0, len(mask))] if (~mask).sum() < ALMOST * clip.rate else runs(mask)
        for start, stop in spans:
            first, last = (source.origin + piece.source_start + frame / clip.rate * source.speed
                           for frame in (start, stop - 1))
            made.append(Tag(name, round(first, 4), round(last, 4)))
    return made


def _tag_of(word):
    """The tag that a word stands for in any of its forms, or None. The N of walkNturn is an "and"."""
    stems = [word, *(word[:-len(end)] for end in ("s", "es", "ed", "d", "ing") if word.endswith(end))]
    stems += [stem + "e" for stem in stems] + [stem[:-1] for stem in stems if len(stem) > 3 and stem[-1] == stem[-2]]
    return next((_TAGS[stem] for stem in stems if stem in _TAGS),
                _tag_of(word[1:]) if word.startswith("n") and len(word) > 3 else None)
