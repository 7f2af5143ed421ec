# SPDX-License-Identifier: GPL-3.0-or-later
"""Queries as they come up while driving: what a Player asks for when hands that do this and that steer it."""

import numpy as np

from ..control.intent import intent_of, tag_query
from ..control.stick import Stick
from ..evaluate import courses
from ..playback.cast import Cast
from ..playback.matcher import MotionMatcher

# So many hands of each kind drive for so many seconds. With half as many, latents of the experts' answers were off by
# 0.32 standard deviations instead of 0.29 (LAFAN1, courses that were not learned from).
HANDS, SECONDS = 32, 20.0
# How often a mind that changes wants to run, to crouch, and to face another way than it goes.
RUNNING, CROUCHING, STRAFING = 0.3, 0.1, 0.4


def of_courses(library):
    """(Q, D) queries to a BakedLibrary, the tag query of each, and the frame (Q,) that was playing, from the courses
    that driving is measured with: to test, not to learn from."""
    return _driven(library, list(courses.all_courses(SECONDS).values()))


def of_chance(library, seed=0):
    """The same from hands that are all over the place, from as many that turn right round, and from as many that face
    one way and go any other: chance hardly does either, and no other wishes leave so much open."""
    kinds = courses.anything, courses.to_and_fro, courses.sideways
    recordings = [course(SECONDS, seed * 1000 + hand) for course in kinds for hand in range(1, HANDS + 1)]
    return _driven(library, recordings, np.random.default_rng(seed))


def _driven(library, recordings, chance=None):
    """chance: to note beside each query what would be asked if the hand had just changed its mind."""
    database = library.database
    cast = Cast(library, len(recordings))
    heard = cast.player.matcher = _Listening(library, len(recordings))
    if chance is not None:
        heard.minds = _Minds(cast, chance)
    for step in range(round(max(one.duration for one in recordings) * database.rate)):
        for index, recording in enumerate(recordings):
            cast.want(index, recording.at(step / database.rate))
            heard.asked[index] = tag_query(cast.intents[index].gait, database.tags)
        cast.step()
    asked, tags, frames = zip(*heard.heard)
    return np.concatenate(asked), [tag for some in tags for tag in some], np.concatenate(frames)


class _Listening(MotionMatcher):
    """Remembers what it was asked, and with `minds` what it might have been asked as well."""

    minds = None

    def __init__(self, library, count):
        super().__init__(library.motion, library.choice().search, count, library.standing)
        self.heard, self.asked = [], [""] * count

    def match(self, who, queries, stay=0.0, must=None, fade=0.0):
        tags, frames = [self.asked[index] for index in who], self.frames[who]
        self.heard.append((np.array(queries, dtype=np.float32), tags, frames))
        if self.minds is not None:
            self.heard.append((*self.minds.changed(who), frames))
        return super().match(who, queries, stay, must, fade)


class _Minds:
    """What characters of a Cast would ask for if the hands that steer them wanted anything else from now on.

    A hand changes its mind once in a while, in whatever pose somebody is: those moments are few among all that are
    asked, no two of them are alike, and what is asked then is farther from all frames than anything else.
    """

    def __init__(self, cast, chance):
        self._cast, self._chance = cast, chance

    def changed(self, who):
        """(W, D) queries of characters `who` (indices), and their tag queries."""
        player, library = self._cast.player, self._cast.library
        settings, roots = player.settings, player.simulation.roots
        intents = [intent_of(self._stick(), library.speeds, 0.0, roots[index][1]) for index in who]
        halflife = settings.velocity_halflife, settings.facing_halflife
        queries = player.query(who, [(intent.velocity, intent.yaw) for intent in intents], halflife)
        return (np.array(queries, dtype=np.float32),
                [tag_query(intent.gait, library.database.tags) for intent in intents])

    def _stick(self):
        way, facing = self._chance.uniform(-np.pi, np.pi, 2)
        size, gait = self._chance.choice([0.0, 0.6, 1.0, 1.0]), self._chance.random()
        return Stick(size * np.sin(way), size * np.cos(way), np.sin(facing), np.cos(facing), run=gait < RUNNING,
                     crouch=gait > 1 - CROUCHING, strafe=self._chance.random() < STRAFING)
