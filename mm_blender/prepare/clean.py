# SPDX-License-Identifier: GPL-3.0-or-later
"""One raw clip through every step of preparation."""

from dataclasses import dataclass

import numpy as np

from ..errors import MotionError
from ..limits import HIGHEST, check_clip, check_rate
from ..motion.clip import Clip
from .contacts import find_contacts
from .resample import closed, resample
from .root import add_root, stays_behind
from .travel import ahead, find_travel, give_travel, with_loose_contacts
from .trim import rest_frames

# Tags that say what becomes of a clip.
EXCLUDE = "exclude"
LOOP = "loop"


@dataclass(frozen=True, eq=False)
class Piece:
    """A clean clip.

    source_start  where its first frame lies in the raw clip, in seconds of that
    skipped       raw frames before it that show the rest pose and were left out
    travel        m/s that an in-place clip was given, before it is played faster or slower
    left_behind   whether the root bone stays behind in it
    """

    clip: Clip
    source_start: float
    skipped: int = 0
    travel: float = 0.0
    left_behind: bool = False


def clean(raw, character, recipe, speed=1.0, travel=None):
    """The clean pieces of a raw clip: one, or several where frames tagged "exclude" cut it apart.

    speed   2.0 plays it twice as fast. A clip that is tagged "loop" anywhere is a loop; a part of it is not
    travel  m/s that it should travel though it was made in place; 0 leaves it there, and None gives it what its feet
            tell if it is in place
    """
    check_rate(f'Clip "{raw.name}"', raw.rate)
    if speed > 0:
        check_clip(f'Clip "{raw.name}", which plays for {raw.duration / speed:,.7g} s,',
                   raw.duration / speed * recipe.rate, len(raw.skeleton))
    _check_curves(raw)
    clip = raw.with_changes(loop=raw.loop or bool(raw.tag_mask(LOOP).any()))
    given = _travel(clip, character, travel)
    left_behind = stays_behind(clip, character, recipe)
    pieces = []
    # Cut first: what the artist excluded must not reach into its neighbours when paths are smoothed.
    for start, part in _without_excluded(clip):
        skipped = rest_frames(part) if recipe.skip_rest and start == 0 else 0
        part = resample(closed(part.slice(skipped, len(part))), recipe.rate, speed)
        if given is not None:
            part = give_travel(part, character, given.faster(speed), (travel or given.speed) / given.speed)
        part = add_root(part, character, recipe, left_behind or given is not None)
        part = part.with_changes(contacts=find_contacts(part, character, recipe))
        if given is not None:
            part = with_loose_contacts(part, character, given.faster(speed))
        if len(part) > 1:
            pieces.append(Piece(part, (start + skipped) / raw.rate, skipped,
                                0.0 if given is None else travel or given.speed, left_behind))
    if not pieces:
        raise MotionError(f'Clip "{raw.name}" has no two frames to play one after the other: it needs motion.')
    return pieces


def excluded_seconds(raw):
    """How much of a raw clip is tagged "exclude"."""
    return float(raw.tag_mask(EXCLUDE).sum() / raw.rate)


def _travel(clip, character, speed):
    """The Travel that a clip is given, or None; speed as clean() takes it."""
    if speed == 0:
        return None
    found = find_travel(clip, character)
    return ahead(clip, character, speed) if found is None and speed else found


def _without_excluded(clip):
    """Pairs of a first frame and the part of the clip that begins there."""
    excluded = clip.tag_mask(EXCLUDE)
    if excluded.all():
        raise MotionError(f'Clip "{clip.name}" is tagged "exclude" from beginning to end: disable it instead.')
    edges = np.flatnonzero(np.diff(excluded, prepend=True, append=True))
    return [(start, clip.slice(start, stop)) for start, stop in edges.reshape(-1, 2).tolist()]


def _check_curves(clip):
    for name, curve in clip.curves.items():
        if not np.isfinite(curve).all():
            raise MotionError(f'Clip "{clip.name}" has a value that is not a number in its property "{name}": '
                              "mend that curve.")
        if (np.abs(curve) > HIGHEST).any():
            raise MotionError(f'Clip "{clip.name}" has a value beyond {HIGHEST:,.0f} in its property "{name}": '
                              "mend that curve.")
