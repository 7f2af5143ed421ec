# SPDX-License-Identifier: GPL-3.0-or-later
"""A database with all that driving makes from it, once for all characters that share it."""

from functools import cached_property

import numpy as np

from ..control import speeds
from ..control.intent import tag_query
from ..matching.database import MIRRORED, Database, runs
from ..matching.schema import weights_of
from ..matching.search import Search, enterable
from ..text import short_names
from .matcher import BakedMotion
from .protocols import Choice
from .standing import COMES_TO_REST, GOES, STANDS, frames_of_standing, jumps_on_the_spot

# So many tag queries are kept ready, each for those who go, those who come to rest, and those who stand.
READY = 12
EVERYTHING = "", GOES
# Letters of a name of a clip where there is little room.
LETTERS = 22
# Seconds before what is avoided in which it is not entered, as before the end of a clip.
END = 1 / 3
SLACK = 1e-4  # seconds that rounding may take from a stretch


class BakedLibrary:
    """The Library of a Database: its frames are searched for, and played as they are."""

    method, retarget = "mm", None

    def __init__(self, database, search=None):
        """search: a Search over the database, where there is one already."""
        self.database, self.motion, self.speeds = database, BakedMotion(database), speeds.measure(database)
        self._weights, self._avoided = weights_of(database.schema), np.zeros(len(database), dtype=bool)
        allowed, trouble = enterable(database)
        search = search or search_of(database, allowed)
        self._choices = {EVERYTHING: Choice(np.ones(len(database), dtype=bool), search, trouble)}

    @property
    def baked(self):
        return self

    def choice(self, query="", still=GOES):
        asked, choose = (query, still), (self._choose, self._choose_rest, self._choose_still)[still]
        found = self._choices.pop(asked, None) or choose(query)
        self._choices[asked] = found  # the last one that was asked for is the last one to be forgotten
        while len(self._choices) > READY:
            del self._choices[next(other for other in self._choices if other != EVERYTHING)]
        return found

    @cached_property
    def standing(self):
        """A frame to begin with: the usual pose, not moving and not about to."""
        features = self.database.normalisation.mean.copy()
        for channel, part in zip(self.database.schema.channels, self.database.schema.slices):
            if channel.about.at_rest is not None:
                features[part] = np.tile(channel.about.at_rest, len(channel.times))
        choice = self.choice(tag_query("walk", self.speeds), STANDS)
        found = choice.search.nearest(self.database.normalisation.apply(features))
        return found.frame if found is not None else 0

    def begin(self, where, query=""):
        if where.frame >= 0:
            return where.frame
        found = self.choice(query).search.nearest(where.features)
        return found.frame if found is not None else self.standing

    def weigh(self, schema):
        weights = weights_of(schema)
        if np.array_equal(weights, self._weights):
            return False
        self._weights = weights
        everything = self._choices[EVERYTHING]
        everything.search.set_weights(weights)
        self._choices = {EVERYTHING: everything}
        return True

    def avoid(self, stretches):
        """From now on stretches of sources, as (source, start, end) in its own seconds, are not played, as if they had
        been left out of the bake; whether anything changed. All that was chosen before is to be chosen anew."""
        avoided = np.zeros(len(self.database), dtype=bool)
        for source, start, end in stretches:
            for part in self.database.ranges:
                if part.source == source:
                    times = part.source_start + np.arange(len(part)) / self.database.rate * part.speed
                    avoided[part.start:part.stop] |= (times >= start - SLACK) & (times <= end + SLACK)
        if np.array_equal(avoided, self._avoided):
            return False
        self._avoided = avoided
        everything = self._choices[EVERYTHING]
        allowed, trouble = self._enterable("")
        everything.search.set_allowed(allowed)
        self._choices = {EVERYTHING: Choice(~avoided, everything.search, trouble)}
        return True

    def short(self, clip):
        """The name of a clip, as clip_of() says it, where there is little room."""
        source = clip.removesuffix(MIRRORED)
        return self._short_names[source != clip].get(source, source) + clip[len(source):]

    @cached_property
    def _short_names(self):
        """The names of all sources, and shorter ones that have room for MIRRORED behind them."""
        names = [part.source for part in self.database.ranges]
        return short_names(names, LETTERS), short_names(names, LETTERS - len(MIRRORED) // 2)

    def clip_of(self, frame):
        return self.database.clip_of(frame) if frame >= 0 else ("", 0.0)

    def whole(self):
        return self.database

    def _choose(self, query):
        allowed, trouble = self._enterable(query)
        everything = self._choices[EVERYTHING]
        wanted = everything.wanted if trouble else self.database.select(query) & ~self._avoided
        return Choice(wanted, everything.search.allowing(allowed), trouble)

    def _choose_rest(self, query):
        """What a query leaves without jumps on the spot; all that it leaves where there is nothing else."""
        usual, allowed = self.choice(query), self._enterable(query)[0] & ~self._jumps
        if not self._jumps.any() or not allowed.any():
            return usual
        # Who is in the air lands first.
        leaves = self._jumps & self.motion.contacts.any(axis=1)
        return Choice(usual.wanted & ~leaves, self._choices[EVERYTHING].search.allowing(allowed), usual.trouble)

    def _choose_still(self, query):
        """What a query leaves of standing; all that it leaves where nobody stands."""
        usual, (stands, enters) = self.choice(query, COMES_TO_REST), self._standing
        allowed = self._enterable(query)[0] & enters
        if not allowed.any():
            return usual
        return Choice(usual.wanted & stands, self._choices[EVERYTHING].search.allowing(allowed), usual.trouble)

    @property
    def stands(self):
        """Whether it has somebody standing still."""
        return bool(self._standing[0].any())

    @cached_property
    def _standing(self):
        return frames_of_standing(self.motion, self.database.rate, self.database.character.size)

    @cached_property
    def _jumps(self):
        return jumps_on_the_spot(self.motion, self.database.rate, self.database.character.size)

    def _enterable(self, query):
        """The frames (N,) that a search may answer, without those that are avoided and those that lead there at once;
        and a sentence where that is not possible."""
        allowed, trouble = enterable(self.database, query)
        soon, late = self._avoided.copy(), int(END * self.database.rate)
        for start, _ in runs(self._avoided):
            soon[max(start - late, self.database.ranges[self.database.range_of_frame[start]].start):start] = True
        if (allowed & ~soon).any():
            return allowed & ~soon, trouble
        return allowed, trouble or "All that could be played is excluded: it is played all the same."


def search_of(database: Database, frames: np.ndarray | None = None) -> Search:
    """A Search over frames (N,), or all that may be entered, with the weights of the database's own features."""
    frames = enterable(database)[0] if frames is None else frames
    return Search(database.features, weights_of(database.schema), frames, database.cells)
