# SPDX-License-Identifier: GPL-3.0-or-later
"""Queries as they come up while driving: what a Player asks for when hands that do this and that steer it."""

import numpy as np

from ..control.intent import intent_of, tag_query
from ..control.stick import Stick
from ..evaluate import courses, random_hands
from ..playback.group import Group
from ..playback.matcher import MotionMatcher

# So many hands of each kind drive for so many seconds. With half as many, latents of the experts' answers were off by
# 0.32 standard deviations instead of 0.29 (LAFAN1, courses that were not learned from).
HANDS, SECONDS = 32, 20.0
# How often a mind that changes wants to run, to crouch, to go in one of the gaits beside these, and to face another way
# than it goes.
RUNNING, CROUCHING, GAITS, STRAFING = 0.3, 0.1, 0.3, 0.4


def of_courses(library, goes_on=lambda: True):
    """(Q, D) queries to a BakedLibrary, the tag query of each, and the frame (Q,) that was playing, from the courses
    that driving is measured with: to test, not to learn from. goes_on() is asked now and then, and may raise: where it
    says no, what was asked until then has to do."""
    return _driven(library, list(courses.all_courses(SECONDS).values()), goes_on=goes_on)


def of_chance(library, seed=0, goes_on=lambda: True):
    """The same from hands that are all over the place, from as many that turn right round, and from as many that face
    one way and go any other: chance hardly does either, and nothing else that is wanted leaves so much open."""
    kinds = random_hands.anything, random_hands.to_and_fro, random_hands.sideways
    recordings = [course(SECONDS, seed * 1000 + hand) for course in kinds for hand in range(1, HANDS + 1)]
    return _driven(library, recordings, np.random.default_rng(seed), goes_on)


def _driven(library, recordings, chance=None, goes_on=lambda: True):
    """chance: to note beside each query what would be asked if the hand had just changed its mind."""
    database, further = library.database, [gait.name for gait in library.speeds.further]
    if chance is not None and further:
        recordings = [random_hands.with_gaits(one, further, hand) for hand, one in enumerate(recordings)]
    group = Group(library, [one.guide(database.rate, library.speeds) for one in recordings])
    heard = group.player.matcher = _Listening(library, group.guides)
    if chance is not None:
        heard.minds = _Minds(group, chance)
    for step in range(round(max(one.duration for one in recordings) * database.rate)):
        if step and not goes_on():
            break
        group.step()
    asked, tags, frames = zip(*heard.heard)
    return np.concatenate(asked), [tag for some in tags for tag in some], np.concatenate(frames)


class _Listening(MotionMatcher):
    """Remembers what it was asked, and with `minds` what it might have been asked as well."""

    minds = None

    def __init__(self, library, guides):
        super().__init__(library.motion, library.choice().search, len(guides), library.standing)
        self.heard, self._guides, self._speeds = [], guides, library.speeds

    def match(self, who, queries, stay=0.0, must=None, fade=0.0):
        tags = [tag_query(self._guides[index].intent.gait, self._speeds) for index in who]
        frames = self.frames[who]
        self.heard.append((np.array(queries, dtype=np.float32), tags, frames))
        if self.minds is not None:
            self.heard.append((*self.minds.changed(who), frames))
        return super().match(who, queries, stay, must, fade)


class _Minds:
    """What characters of a Group would ask for if the hands that steer them wanted anything else from now on.

    A hand changes its mind once in a while, in whatever pose somebody is: those moments are few among all that are
    asked, no two of them are alike, and what is asked then is farther from all frames than anything else.
    """

    def __init__(self, group, chance):
        self._group, self._chance = group, chance

    def changed(self, who):
        """(W, D) queries of characters `who` (indices), and their tag queries."""
        library, guides = self._group.library, [self._group.guides[index] for index in who]
        further = [gait.name for gait in library.speeds.further]
        intents = [intent_of(self._stick(further), library.speeds, 0.0, guide.root[1]) for guide in guides]
        queries = self._group.player.query(who, [guide.wanting(intent) for guide, intent in zip(guides, intents)])
        return (np.array(queries, dtype=np.float32),
                [tag_query(intent.gait, library.speeds) for intent in intents])

    def _stick(self, further):
        """further: the names of the gaits beside walk, run and crouch"""
        way, facing = self._chance.uniform(-np.pi, np.pi, 2)
        size, gait = self._chance.choice([0.0, 0.6, 1.0, 1.0]), self._chance.random()
        named = further[int((gait - RUNNING) / GAITS * len(further))] if further and (
            RUNNING <= gait < RUNNING + GAITS) else ""
        return Stick(size * np.sin(way), size * np.cos(way), np.sin(facing), np.cos(facing), run=gait < RUNNING,
                     crouch=gait > 1 - CROUCHING, strafe=self._chance.random() < STRAFING, gait=named)
