# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks as driving takes them: what a Library is for a database, with no database."""

from ..playback.library import Choice
from .matchers import LearnedMatcher


class LearnedMotion:
    """What a Player needs to know of its motion."""

    def __init__(self, networks):
        self.database, self.moving = networks, networks.moving

    def matcher(self, allowed, count, state=None):
        matcher = LearnedMatcher(self.database, count, state)
        for index in range(count):
            matcher.allow(index, allowed)
        return matcher

    def stance(self, legs):
        """(2, 2) how high toe and ankle of each foot are while it stands; the legs learn where their knees bend to."""
        legs.fronts = self.database.fronts.astype(float)
        return self.database.heights.astype(float)


class LearnedLibrary:
    """speeds and motion of Networks; what a tag query leaves to choose from are combinations of tags."""

    standing = None  # the networks know where to begin

    def __init__(self, networks):
        self.database, self.motion, self.speeds = networks, LearnedMotion(networks), networks.speeds
        self._choices = {}

    def choice(self, query=""):
        if query not in self._choices:
            allowed, trouble = self.database.allowed(query)
            self._choices[query] = Choice(allowed, allowed, trouble)
        return self._choices[query]
