# SPDX-License-Identifier: GPL-3.0-or-later
"""Standing still: who has come to rest, and of whom nothing is wanted, stays there and plays nothing but standing.

Otherwise it would play whatever is nearest where a clip of standing ends, or where it came to rest a little beside
where its guide has it: the beginnings of steps and turns, again and again, in which toes rise and sink. Nor does one
of whom nothing is wanted begin to jump on the spot: its path would be that of standing.
"""

import math

import numpy as np

from ..matching.database import runs
from ..matching.kinds import FLIGHT

# Metres are those of a person. What goes and turns slower (m/s, rad/s) is at rest. Frames of standing are left so many
# seconds before it ends, and not entered so many before that.
RESTS = 0.15
LEFT, ENTERED = 0.2, 1 / 3
# Where some of it lasts so much longer, only that is entered: not the pauses of a dance.
LONG = 2.0
# Who has had its feet on the ground for so many seconds stands, if it is at most so far (m, radians) from where its
# guide has it; and until it is so far away.
WAITS, NEAR, STAYS = 1.0, (0.1, math.radians(12)), (0.15, math.radians(20))
# Who is in the air and gets no further than this (m/s) jumps on the spot, and is about to for so many seconds before.
ON_THE_SPOT, ABOUT_TO = 0.5, 1.0
# What is wanted of somebody: to go or to do something, to come to rest, to go on standing.
GOES, COMES_TO_REST, STANDS = range(3)


class Standing:
    """Who of K characters stands still.

    places  [(place, yaw)] where each one does, or None
    wanted  GOES, COMES_TO_REST, or STANDS of each one
    size    how many times as large as a person they are
    """

    def __init__(self, count, size=1.0):
        self.places, self.wanted, self._since = [None] * count, [GOES] * count, [0.0] * count
        self._size = size

    def look(self, guides, bodies, commands, held, dt):
        """Take note who stands; commands: of features, as a Player has them; held: [character][limb] which feet are."""
        for index, (guide, body, command, feet, stood) in enumerate(zip(guides, bodies, commands, held, self.places)):
            nothing = not command and _asks_nothing(guide.intent)
            rests = (stood or all(feet)) and nothing and self._is_in_place(guide, body, STAYS if stood else NEAR)
            self._since[index] = self._since[index] + dt if rests else 0.0
            self.places[index] = (stood or body.root) if self._since[index] > WAITS else None
            self.wanted[index] = STANDS if self.places[index] is not None else COMES_TO_REST if nothing else GOES

    def _is_in_place(self, guide, body, limits):
        """Whether a character is where its guide has it, or nearly."""
        (wanted, _), (place, yaw), (far, turned) = guide.root, body.root, limits
        off = math.remainder(guide.intent.yaw - yaw, math.tau)
        return abs(wanted - place) < far * self._size and abs(off) < turned


def frames_of_standing(motion, rate, size=1.0):
    """The frames (N,) that one who stands may play, and those of them that it may enter; size: how many times as large
    as a person it is."""
    rests = motion.contacts.all(axis=1) & (np.abs(motion.travel) < (size * RESTS, size * RESTS, RESTS)).all(axis=1)
    left = np.zeros(len(rests))  # the seconds for which each one goes on standing
    for first, last, loop in motion.bounds:
        seconds = math.inf if loop and rests[first:last + 1].all() else 0.0
        for frame in range(last, first - 1, -1):
            seconds = left[frame] = seconds + 1 / rate if rests[frame] else 0.0
    return left > LEFT, left > LEFT + (LONG if (left > LEFT + LONG).any() else ENTERED)


def jumps_on_the_spot(motion, rate, size=1.0):
    """The frames (N,) of jumps that lead nowhere, with what leads up to them; of loops all. size: as above."""
    away, jumps = ~motion.contacts.any(axis=1), np.zeros(len(motion.contacts), dtype=bool)
    speed, before = np.linalg.norm(motion.travel[:, :2], axis=1), round(ABOUT_TO * rate)
    for first, last, loop in motion.bounds:
        for start, stop in runs(away[first:last + 1]):
            start, stop = first + start, first + stop
            if stop - start >= FLIGHT * rate and speed[start:stop].mean() < size * ON_THE_SPOT:
                # What goes round comes to it again and again.
                jumps[first if loop else max(start - before, first):last + 1 if loop else stop] = True
    return jumps


def _asks_nothing(intent):
    """Whether nothing is wanted but to be there: a query of the artist's own may ask for a dance on the spot."""
    return not intent.velocity and not intent.query
