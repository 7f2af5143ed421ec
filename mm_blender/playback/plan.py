# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan: which frame of the database is played when, and where; and playing it with the same blending, limbs and feet
as everything else."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from ..control.guide import Guide
from ..control.path_guide import way_back
from ..matching.search import Match
from .player import Drive, Player
from .record import FrameRecord
from .root import Sync

HELD = Sync("full", "full")  # the root is where the plan has it
LOOK = 10  # frames between two looks at how far it is


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


@dataclass(frozen=True, eq=False)
class Setting:
    """What a character plays in.

    drive     how, a Drive
    ground    heights as a Player takes them, or None for the plane
    height    about how high the ground is where it begins
    commands  {label: command} of its features, as a Player's command() takes them
    """

    drive: Drive = field(default_factory=Drive)
    ground: object = None
    height: float = 0.0
    commands: dict = field(default_factory=dict)

    def begin(self, player):
        """Let a Player of one character begin in it, where its guide is."""
        player.ground = self.ground
        if self.ground is not None:
            place, yaw = player.guides[0].root
            player.place([[place.real, place.imag]], [yaw], [self.height])
        for label, command in self.commands.items():
            player.command(0, label, command)


def play_steps(library, plan, schedule, setting, name="direct"):
    """Steps that return the Clip of a Plan with frames of a Library, its Trace, and (F,) what its frames cost at their
    last search. They are shares of the way."""
    guide = PlanGuide(plan, schedule)
    drive = replace(setting.drive, sync=HELD)
    player = Player(library.motion, PlannedSearch(library.choice().search, guide), [guide], drive, plan.begin)
    setting.begin(player)
    record, costs = FrameRecord(player), []
    for frame in range(len(plan)):
        if frame % LOOK == 0:
            yield frame / len(plan)
        player.step()
        record.add()
        costs.append(float(player.matcher.costs[0]))
    places, yaws = schedule.at(plan.times)
    simulated = np.column_stack([places.real, places.imag, yaws])
    return record.clip(0, name), replace(record.trace(0), simulated=simulated), np.array(costs)
