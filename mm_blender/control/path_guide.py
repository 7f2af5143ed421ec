# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide that follows a path: where to be goes on by time, and waits for who falls behind."""

import cmath
import math

from ..motion.spring import LN2, decay
from .guide import Guide
from .schedule import RATE

# Where to be goes on as scheduled as long as the character is no farther behind than so many metres, and so many
# seconds of its way; beyond that it slows down, and so many metres farther behind it is slowest. It never stands.
BEHIND, LATE, RANGE, SLOWEST = 0.15, 0.2, 1.0, 0.1
# Who was waited for and has a time to keep makes up for it: by this share of each second that is lost, at most so fast.
MAKES_UP, FASTEST = 0.5, 1.12
HALFLIFE = 0.15  # seconds in which the pace changes
# Who is beside the path is led back to it so soon (half-life in seconds), and turned towards it, by at most so much:
# straight back would be steps to the side, of which most motion has few.
BACK, TURN = 0.25, 1.0
MOVES = 0.3  # m/s: who is to go slower than this is not turned
SETTLES = 0.7  # seconds that it stands at the end of a path
ROUNDS = 3  # of a loop: in the first one it begins, and of the others one is like the next


class PathGuide(Guide):
    """Follows a Schedule.

    schedule  the Schedule
    until     when it is done, in seconds of the schedule
    time      of the schedule, in seconds: it is behind the clock when the character had to be waited for
    """

    def __init__(self, schedule, rate):
        """rate: frames per second of the motion that is played"""
        self.schedule, self._dt = schedule, 1 / rate
        self._keeps = max((time for mark, time in schedule.marks if mark.time is not None), default=-math.inf)
        self.until = seconds_of(schedule)
        self.begin()

    def begin(self, time=0.0):
        """The next frame is that of a time of the schedule."""
        self.time, self.waited, self._pace, self._apart = time - self._dt, 0.0, 1.0, 0j
        self._see()

    def place(self, place, yaw, velocity=0j, turning=0.0):
        """A path stays where it is, wherever the character is put: it has to come there."""

    @property
    def done(self):
        """Whether the end of the path was reached, and it has stood there."""
        return self.time >= self.until

    def step(self, body):
        goal = pace_of(self.root[0] - body.root[0], self.intent.velocity)
        if self.time < self._keeps and goal == 1.0:
            goal = min(1 + MAKES_UP * self.waited, FASTEST)
        self._pace += (goal - self._pace) * (1 - math.exp(-LN2 * self._dt / HALFLIFE))
        self.time += self._pace * self._dt
        self.waited += (1 - self._pace) * self._dt
        self._see()
        self._apart = body.root[0] - self.root[0]

    def path(self, times):
        return way_back(self.schedule, self.time, self._apart, times)

    def _see(self):
        (place,), (yaw,) = self.schedule.at((self.time,))
        self.root, self.intent = (complex(place), float(yaw)), self.schedule.intent(self.time)


def seconds_of(schedule):
    """How long a Schedule is followed: until one has stood at its end, or has gone round and round again."""
    return ROUNDS * schedule.duration + LATE if schedule.loop else schedule.duration + SETTLES


def way_back(schedule, now, apart, times):
    """[(place, yaw)] of who is so far apart (x + yi) from where a Schedule is now, and comes back to it on the way."""
    now = [now + time for time in times]
    (places, yaws), (further, _) = schedule.at(now), schedule.at([time + 1 / RATE for time in now])
    found = []
    for time, place, yaw, velocity in zip(times, places.tolist(), yaws.tolist(), ((further - places) * RATE).tolist()):
        if time > 0 and apart:
            left, fades = decay(1.0, 0.0, BACK, time)
            if abs(velocity) > MOVES:
                # Who faces aside or backwards steps there.
                faces = max(0.0, (velocity * cmath.rect(1, -yaw)).imag / abs(velocity))
                turn = cmath.phase((velocity + apart * fades) / velocity)
                yaw += faces * min(max(turn, -TURN), TURN)
            place += apart * left
        found.append((place, yaw))
    return found


def pace_of(apart, velocity):
    """How much of the schedule's pace is kept for a character from which it is so far (x + yi) to where it should be,
    while that goes on with this velocity."""
    speed = abs(velocity)
    behind = (apart * (velocity / speed).conjugate()).real if speed > 1e-3 else 0.0
    late = (behind - BEHIND - LATE * speed) / RANGE
    return 1.0 if late <= 0 else max(SLOWEST, 1 - late)
