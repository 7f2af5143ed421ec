# SPDX-License-Identifier: GPL-3.0-or-later
"""Standing still: who has come to rest, and is not wanted to go, stays there and plays nothing but standing.

Otherwise it would play whatever is nearest where a clip of standing ends, or where it came to rest a little beside
where its guide has it: the beginnings of steps and turns, again and again, in which toes rise and sink.
"""

import math

import numpy as np

# What goes and turns slower (m/s, rad/s) is at rest. Frames of standing are left so many seconds before it ends, and
# not entered so many before that.
RESTS = 0.15
LEFT, ENTERED = 0.2, 1 / 3
# Who has had its feet on the ground for so many seconds stands, if it is at most so far (m, radians) from where its
# guide has it; and until it is so far away.
WAITS, NEAR, STAYS = 1.0, (0.1, math.radians(12)), (0.15, math.radians(20))


class Standing:
    """Who of K characters stands still.

    places  [(place, yaw)] where each one does, or None
    """

    def __init__(self, count):
        self.places, self._since = [None] * count, [0.0] * count

    def look(self, guides, bodies, held, dt):
        """Take note who stands; held: [character][limb] which feet are held."""
        for index, (guide, body, feet, stood) in enumerate(zip(guides, bodies, held, self.places)):
            rests = (stood or all(feet)) and _is_where_it_should_be(guide, body, STAYS if stood else NEAR)
            self._since[index] = self._since[index] + dt if rests else 0.0
            self.places[index] = (stood or body.root) if self._since[index] > WAITS else None


def frames_of_standing(motion, rate):
    """The frames (N,) that one who stands may play, and those of them that it may enter."""
    rests = motion.contacts.all(axis=1) & (np.abs(motion.travel) < RESTS).all(axis=1)
    left = np.zeros(len(rests))  # the seconds for which each one goes on standing
    for first, last, loop in motion.bounds:
        seconds = math.inf if loop and rests[first:last + 1].all() else 0.0
        for frame in range(last, first - 1, -1):
            seconds = left[frame] = seconds + 1 / rate if rests[frame] else 0.0
    return left > LEFT, left > LEFT + ENTERED


def _is_where_it_should_be(guide, body, limits):
    if guide.intent.velocity:
        return False
    (wanted, _), (place, yaw), (far, turned) = guide.root, body.root, limits
    return abs(wanted - place) < far and abs(math.remainder(guide.intent.yaw - yaw, math.tau)) < turned
