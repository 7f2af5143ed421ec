# SPDX-License-Identifier: GPL-3.0-or-later
"""Queries as they come up while driving: what a Player asks for when hands that do this and that steer it."""

import numpy as np

from ..control.intent import tag_query
from ..evaluate import courses
from ..playback.cast import Cast
from ..playback.matcher import MotionMatcher

# So many hands of each kind drive for so many seconds. With half as many, latents of the experts' answers were off by
# 0.32 standard deviations instead of 0.29 (LAFAN1, courses that were not learned from).
HANDS, SECONDS = 32, 20.0


def of_courses(library):
    """(Q, D) queries to a Library, the tag query of each, and the frame (Q,) that was playing, from the courses that
    driving is measured with: to test, not to learn from."""
    return _driven(library, list(courses.all_courses(SECONDS).values()))


def of_chance(library, seed=0):
    """The same from hands that are all over the place, from as many that turn right round, and from as many that face
    one way and go any other: chance hardly does either, and no other wishes leave so much open."""
    kinds = courses.anything, courses.to_and_fro, courses.sideways
    return _driven(library, [course(SECONDS, seed * 1000 + hand) for course in kinds for hand in range(1, HANDS + 1)])


def _driven(library, recordings):
    database = library.database
    cast = Cast(library, len(recordings))
    heard = cast.player.matcher = _Listening(library, len(recordings))
    for step in range(round(max(one.duration for one in recordings) * database.rate)):
        for index, recording in enumerate(recordings):
            cast.want(index, recording.at(step / database.rate))
            heard.asked[index] = tag_query(cast.intents[index].gait, database.tags)
        cast.step()
    asked, tags, frames = zip(*heard.heard)
    return np.concatenate(asked), [tag for some in tags for tag in some], np.concatenate(frames)


class _Listening(MotionMatcher):
    """Remembers what it was asked."""

    def __init__(self, library, count):
        super().__init__(library.motion, library.choice().search, count, library.standing)
        self.heard, self.asked = [], [""] * count

    def match(self, who, queries, stay=0.0, must=None):
        tags = [self.asked[index] for index in who]
        self.heard.append((np.array(queries, dtype=np.float32), tags, self.frames[who]))
        return super().match(who, queries, stay, must)
