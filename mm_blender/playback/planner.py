# SPDX-License-Identifier: GPL-3.0-or-later
"""Planning: of all ways to follow a path that a search could take, one that is good to its end.

Quick directing takes at each moment what is best then. Here a beam of states goes along the path side by side: each
goes on with its frame or jumps to one of the best others, every tenth of a second as a search does, and those are kept
whose way so far has cost least. What a step costs is the cost of Motion Matching (equation 1 of Learned Motion
Matching), and how far it is from the path.
"""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from ..control.guide import Guide
from ..control.intent import tag_query
from ..control.path_guide import FASTEST, HALFLIFE, MAKES_UP, pace_of, seconds_of, way_back
from ..matching.seeded import seeded
from ..motion import spring
from .plan import Plan
from .query import Queries
from .root import synchronise_many


@dataclass(frozen=True)
class Beam:
    """How a plan is looked for.

    states   that go on side by side
    jumps    best frames that each of them may jump to
    every    seconds between jumps
    jump     what a jump costs beside what its frame costs, in costs of a search
    apart    what a square metre costs beside the path, each time
    """

    states: int = 40
    jumps: int = 4
    every: float = 0.1
    jump: float = 0.3
    apart: float = 80.0


# States whose frames, places and yaws are nearer than this (frames, metres, radians) are one: the cheaper one goes on.
ALIKE = 6, 0.04, 0.06
# Who plays what a tag query does not allow, or has come to a clip's end and finds nothing, pays this.
FORBIDDEN = 100.0
# Who does not arrive is given up after so many times the seconds that the path takes, and so many more.
PATIENCE, MORE = 1.5, 5.0


@dataclass
class States:
    """S ways to be somewhere; of each

    frame         the frame that is played
    place, yaw    x + yi, and radians
    time, waited  of the schedule, and by how many seconds it is behind the clock
    pace          of the schedule's clock
    offset, fades (S, 3) what a jump has left over the root's travel, and how fast that changes
    cost          of all that was done until now
    """

    frame: np.ndarray
    place: np.ndarray
    yaw: np.ndarray
    time: np.ndarray
    waited: np.ndarray
    pace: np.ndarray
    offset: np.ndarray
    fades: np.ndarray
    cost: np.ndarray

    def take(self, rows):
        return States(*(getattr(self, field.name)[rows] for field in fields(self)))

    def __len__(self):
        return len(self.frame)


class Planner:
    """Plans with the frames of a Library along a Schedule."""

    def __init__(self, library, schedule, settings, beam=None, seed=None):
        """settings: the Drive with which it will be played; seed: of chance in the costs, or None for none"""
        self._library, self._schedule, self._beam, self._seed = library, schedule, beam or Beam(), seed
        self._searches = {}  # of each gait and query
        self._motion, self._facts = library.baked.motion, library.database
        scale = library.retarget.scale if library.retarget else 1.0
        self._travel = self._motion.travel.astype(np.float64) * (scale, scale, 1.0)
        self._halflife, self._sync, self._dt = settings.blend.halflife, settings.sync, 1 / self._facts.rate
        self._steps = max(1, round(self._beam.every * self._facts.rate))
        self._queries = Queries(self._facts)
        self._keeps = max((time for mark, time in schedule.marks if mark.time is not None), default=-np.inf)

    def steps(self):
        """Steps, shares of the way, that return the Plan."""
        states, past, end = self._begin(), [], seconds_of(self._schedule)
        while states.time[0] < end and len(past) * self._beam.every < PATIENCE * end + MORE:
            yield min(max(float(states.time[0]) / end, 0.0), 1.0)
            states, *step = self._step(states)
            past.append(step)
        return self._traced(past)

    def _begin(self):
        (place,), (yaw,) = self._schedule.at([0.0])
        one = np.zeros(1)
        return States(np.array([self._library.standing]), np.array([place]), np.array([yaw]), one - self._dt, one,
                      one + 1, np.zeros((1, 3)), np.zeros((1, 3)), one)

    def _step(self, states):
        """The States a moment later; of each from which of the old ones it comes, (S,), whether it has jumped, and its
        frames, places, yaws and times since then, (S, steps)."""
        parent, first, jumped, cost = self._ways_on(states)
        later = states.take(parent)
        frames = self._following(first)
        times = later.time[:, None] + later.pace[:, None] * self._dt * np.arange(1, self._steps + 1)
        places, yaws, away = self._move(later, frames, jumped, times)
        later.cost = later.cost + cost + self._beam.apart * np.square(away).mean(axis=1)
        self._wait(later, times[:, -1])
        best = self._best(later)
        return later.take(best), parent[best], *(part[best] for part in (jumped, frames, places, yaws, times))

    def _ways_on(self, states):
        """All that the states can do now: from which each way comes, its first frame, whether that is a jump, and what
        it costs."""
        motion = self._motion
        following = motion.following[states.frame]
        queries = self._query(states, following)
        ended = motion.ends[following] & (following == states.frame)
        ways = []  # (parent, first frame, whether it is a jump, cost)
        for search, wanted, rows in self._choices(states):
            for row in rows:
                query, frame = queries[row], int(following[row])
                must = ended[row] or not wanted[frame]
                ways.append((row, frame, False, search.cost(query, frame) + FORBIDDEN * must))
                besides = self._around(frame)
                for _ in range(self._beam.jumps):
                    found = search.nearest(query, besides)
                    if found is None:
                        break
                    ways.append((row, found.frame, True, found.cost + self._beam.jump))
                    besides += self._around(found.frame)
        return tuple(map(np.array, zip(*ways)))

    def _choices(self, states):
        """(search, wanted frames (N,), rows) of the states that search with it."""
        names = [self._schedule.name(time) for time in states.time]
        for name in dict.fromkeys(names):
            rows = [row for row, other in enumerate(names) if other == name]
            if name not in self._searches:
                gait, query = name
                choice = self._library.choice(tag_query(gait, self._library.speeds, query))
                self._searches[name] = seeded(choice.search, self._seed, self._facts.rate), choice.wanted
            yield *self._searches[name], rows

    def _around(self, frame):
        first, last, _ = self._motion.bounds[self._motion.range_of_frame[frame]]
        return max(first, frame - self._motion.near), min(last, frame + self._motion.near)

    def _query(self, states, frames):
        """(S, D) what each state searches with that would go on with these frames (S,)."""
        queries = self._motion.features[frames]
        places, _ = self._schedule.at(states.time)
        for row, query in enumerate(queries):
            place, yaw, time = complex(states.place[row]), float(states.yaw[row]), float(states.time[row])
            guide = _Ahead(self._schedule, time, place - complex(places[row]))
            self._queries.write(query, guide, _Seen((place, yaw)))
        return queries

    def _following(self, frames):
        """(W, steps) frames (W,) and those that follow them."""
        found = [frames]
        for _ in range(self._steps - 1):
            found.append(self._motion.following[found[-1]])
        return np.stack(found, axis=1)

    def _move(self, states, frames, jumped, times):
        """Let states play these frames (S, steps), with what jumps leave over the root's travel, as a Player does it:
        their places and yaws (S, steps), and how far they are from where they should be."""
        own = self._travel[frames]
        played = self._travel[states.frame] + states.offset
        offset = np.where(jumped[:, None], played - own[:, 0], states.offset)[:, None]
        fades = np.where(jumped[:, None], 0.0, states.fades)[:, None]
        left, fades = spring.decay(offset, fades, self._halflife, self._dt * np.arange(1, self._steps + 1)[:, None])
        (goals, goal_yaws), velocities = self._schedule.at(times), own + left
        places, yaws, place, yaw = np.empty(times.shape, dtype=complex), np.empty(times.shape), states.place, states.yaw
        for step in range(self._steps):
            right, forward, turning = velocities[:, step].T
            place = place + np.exp(1j * (yaw + turning * (self._dt / 2))) * (right + 1j * forward) * self._dt
            yaw = yaw + turning * self._dt
            place, yaw = synchronise_many(place, yaw, velocities[:, step], goals[:, step], goal_yaws[:, step],
                                          self._sync, self._dt)
            places[:, step], yaws[:, step] = place, yaw
        states.place, states.yaw, states.frame = place, yaw, frames[:, -1]
        states.offset, states.fades = left[:, -1], fades[:, -1]
        return places, yaws, np.abs(places - goals)

    def _wait(self, states, times):
        """The clock of the schedule waits for who is behind, as that of a PathGuide."""
        passed = self._dt * self._steps
        (here, _), (further, _) = self._schedule.at(times), self._schedule.at(times + self._dt)
        velocities = ((further - here) / self._dt).tolist()
        states.waited = states.waited + passed - (times - states.time)
        states.time = times
        paces = [pace_of(away, velocity) for away, velocity in zip((here - states.place).tolist(), velocities)]
        makes_up = np.minimum(1 + MAKES_UP * np.maximum(states.waited, 0), FASTEST)
        paces = np.where((np.array(paces) == 1.0) & (times < self._keeps), makes_up, paces)
        states.pace = states.pace + (paces - states.pace) * (1 - 0.5 ** (passed / HALFLIFE))

    def _best(self, states):
        """Which states go on, the cheapest first: of those that are alike only that one."""
        frames, apart, turn = ALIKE
        order = np.lexsort((states.frame, np.round(states.cost, 5)))
        kept, seen = [], set()
        for row in order.tolist():
            place = states.place[row]
            key = (int(states.frame[row]) // frames, round(place.real / apart), round(place.imag / apart),
                   round(float(states.yaw[row]) / turn))
            if key not in seen:
                seen.add(key)
                kept.append(row)
                if len(kept) == self._beam.states:
                    break
        return np.array(kept)

    def _traced(self, past):
        """The Plan that the cheapest state at the end has come by."""
        row, parts, jumps = 0, [], []
        for parent, jumped, *each in reversed(past):
            parts.append([part[row] for part in each])
            jumps.append([jumped[row]] + [False] * (self._steps - 1))
            row = parent[row]
        frames, places, yaws, times = map(np.concatenate, zip(*reversed(parts)))
        return Plan(int(self._library.standing), frames, np.concatenate(jumps[::-1]), places, yaws, times)


class _Ahead(Guide):
    """What a state sees of the path."""

    def __init__(self, schedule, time, apart):
        self._schedule, self._time, self._apart = schedule, time, apart
        self.intent = schedule.intent(time)

    def path(self, times):
        return way_back(self._schedule, self._time, self._apart, times)


class _Seen(NamedTuple):
    """What features may see of a state that nobody commands."""

    root: tuple
    height: float = 0.0
