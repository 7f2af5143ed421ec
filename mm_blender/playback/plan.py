# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan: which frame of the database is played when, and where; and playing it with the same blending, limbs and feet
as everything else."""

import math
from dataclasses import dataclass, replace

import numpy as np

from ..control.guide import Guide
from ..control.path_guide import way_back
from ..matching.search import Match
from .player import Drive, Player
from .record import FrameRecord
from .root import Sync

HELD = Sync("full", "full")  # the root is where the plan has it


@dataclass(frozen=True, eq=False)
class Plan:
    """F frames of one character, after a Schedule.

    begin   the frame of the database that was shown before
    frames  (F,) of the database
    jumps   (F,) whether it is jumped to
    places  (F,) x + yi, and yaws (F,) where the root is
    times   (F,) of the Schedule
    """

    begin: int
    frames: np.ndarray
    jumps: np.ndarray
    places: np.ndarray
    yaws: np.ndarray
    times: np.ndarray

    def __len__(self):
        return len(self.frames)


class PlanGuide(Guide):
    """Leads along a Plan: where the root is to be is where the plan has it; what is ahead is that of its Schedule."""

    def __init__(self, plan, schedule):
        self.plan, self.schedule, self.now, self._apart = plan, schedule, 0, 0j
        self._see(0)
        self.now = -1

    def place(self, place, yaw, velocity=0j, turning=0.0):
        """It is where the plan has it."""

    def step(self, body):
        self._see(min(self.now + 1, len(self.plan) - 1))
        self._apart = body.root[0] - self._here

    def path(self, times):
        return way_back(self.schedule, self.plan.times[self.now], self._apart, times)

    @property
    def jumped(self):
        return bool(self.plan.jumps[self.now])

    def _see(self, now):
        self.now, plan = now, self.plan
        self.root = complex(plan.places[now]), float(plan.yaws[now])
        self._here = complex(self.schedule.at(plan.times[now:now + 1])[0][0])
        self.intent = self.schedule.intent(plan.times[now])


class PlannedSearch:
    """In a Search's place: it finds what the plan says when it says so, and nothing else."""

    def __init__(self, search, guide):
        self._search, self._guide = search, guide

    def cost(self, query, frame):
        return math.inf if self._guide.jumped else self._search.cost(query, frame)

    def nearest(self, query, besides=None, at_most=math.inf):
        if not self._guide.jumped:
            return None
        frame = int(self._guide.plan.frames[self._guide.now])
        return Match(frame, self._search.cost(query, frame))


def play(library, plan, schedule, settings=None, ground=None, name="direct"):
    """The Clip of a Plan with frames of a Library, its Trace, and (F,) what its frames cost at their last search."""
    guide = PlanGuide(plan, schedule)
    settings = replace(settings or Drive(), sync=HELD)
    player = Player(library.motion, PlannedSearch(library.choice().search, guide), [guide], settings, plan.begin)
    player.ground = ground
    record, costs = FrameRecord(player), []
    for _ in range(len(plan)):
        player.step()
        record.add()
        costs.append(float(player.matcher.costs[0]))
    places, yaws = schedule.at(plan.times)
    simulated = np.column_stack([places.real, places.imag, yaws])
    return record.clip(0, name), replace(record.trace(0), simulated=simulated), np.array(costs)
