# SPDX-License-Identifier: GPL-3.0-or-later
"""A database with all that driving makes from it, once for all characters that share it."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..control import speeds
from ..control.intent import tag_query
from ..matching.schema import weights_of
from ..matching.search import Search, enterable
from .matcher import Motion

# So many tag queries are kept ready.
READY = 6


class Choice(NamedTuple):
    """The frames (N,) that a tag query wants, the Search among those that may be entered, and a sentence if the query
    cannot be heeded."""

    wanted: np.ndarray
    search: Search
    trouble: str


class Library:
    """speeds, motion and searches of a database."""

    def __init__(self, database, search=None):
        """search: a Search over the database, where there is one already."""
        self.database, self.motion, self.speeds = database, Motion(database), speeds.measure(database)
        self._weights = weights_of(database.schema)
        allowed, trouble = enterable(database)
        search = search or search_of(database, allowed)
        self._choices = {"": Choice(np.ones(len(database), dtype=bool), search, trouble)}

    def choice(self, query=""):
        """What a tag query leaves to choose from."""
        found = self._choices.pop(query, None) or self._choose(query)
        self._choices[query] = found  # the last one that was asked for is the last one to be forgotten
        while len(self._choices) > READY:
            del self._choices[next(name for name in self._choices if name)]
        return found

    @cached_property
    def standing(self):
        """A frame to begin with: the usual pose, not moving and not about to."""
        features = self.database.normalisation.mean.copy()
        for channel, part in zip(self.database.schema.channels, self.database.schema.slices):
            if channel.kind in ("trajectory_position", "bone_velocity"):
                features[part] = 0
            elif channel.kind == "trajectory_direction":
                features[part] = np.tile([0, 1], len(channel.times))
        choice = self.choice(tag_query("walk", self.database.tags))
        found = choice.search.nearest(self.database.normalisation.apply(features))
        return found.frame if found is not None else 0

    def begin(self, where, query=""):
        """The frame with which a character goes on that is somewhere (Where)."""
        if where.frame >= 0:
            return where.frame
        found = self.choice(query).search.nearest(where.features)
        return found.frame if found is not None else self.standing

    def _choose(self, query):
        allowed, trouble = enterable(self.database, query)
        wanted = self._choices[""].wanted if trouble else self.database.select(query)
        return Choice(wanted, self._choices[""].search.allowing(allowed), trouble)

    def weigh(self, schema):
        """Take over the weights of a schema that has the same channels; whether anything changed."""
        weights = weights_of(schema)
        if np.array_equal(weights, self._weights):
            return False
        self._weights = weights
        everything = self._choices[""]
        everything.search.set_weights(weights)
        self._choices = {"": everything}
        return True


def search_of(database, frames=None):
    """A Search over frames (N,), or all that may be entered, with the weights of the database's own features."""
    frames = enterable(database)[0] if frames is None else frames
    return Search(database.features, weights_of(database.schema), frames, database.cells)
