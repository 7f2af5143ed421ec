# SPDX-License-Identifier: GPL-3.0-or-later
"""Driving without a window: a recorded stick in, the motion that was played out."""

from dataclasses import dataclass

import numpy as np

from ..control import speeds as gaits
from ..control.intent import intent_of
from ..matching.search import Search
from ..motion import quat
from ..motion.clip import Clip
from ..steps import Progress
from .matcher import Motion
from .player import Drive, Player


@dataclass(eq=False)
class Trace:
    """What happened at each of F frames.

    frames      (F,) of the database, that were played
    jumped      (F,) whether playback jumped there from somewhere else
    wanted      (F, 3) velocity in the world and yaw that the stick asked for
    simulated   (F, 3) place and yaw of the simulated root
    contacts    (F, C) whether the source says that each foot stands
    planted     (F, C) whether each foot is held in place
    """

    frames: np.ndarray
    jumped: np.ndarray
    wanted: np.ndarray
    simulated: np.ndarray
    contacts: np.ndarray
    planted: np.ndarray


def drive(database, recording, settings=None, speeds=None, search=None, watch=None):
    """The Clip that a Recording makes the character play, with the database's own skeleton, root first; and its Trace.

    settings  a Drive, or None for the usual one
    speeds    Speeds, or None to measure them
    search    a Search over the database, where there is one already
    watch     is called with the Progress, once for each second that was driven
    """
    return drive_all(database, [recording], settings, speeds, search, watch)[0]


def drive_all(database, recordings, settings=None, speeds=None, search=None, watch=None):
    """drive() for several recordings at once, each with a character of its own; all as long as the longest."""
    speeds = speeds or gaits.measure(database)
    motion = Motion(database)
    player = Player(motion, search or search_of(database), len(recordings), settings or Drive())
    film = _Film(player)
    count = max(1, round(max(one.duration for one in recordings) * database.rate))
    for step in range(count):
        if watch is not None and step % round(database.rate) == 0:
            watch(Progress(step / count, f"driving, {step / database.rate:.0f} s"))
        sticks = [recording.at(step / database.rate) for recording in recordings]
        intents = [intent_of(stick, speeds, 0.0, yaw) for stick, yaw in zip(sticks, player.simulation.yaws)]
        wanted = np.array([[*intent.velocity, intent.yaw] for intent in intents])
        player.step(wanted[:, :2], wanted[:, 2])
        film.take(wanted)
    return [(film.clip(index), film.trace(index)) for index in range(len(recordings))]


def search_of(database, frames=None):
    """A Search over frames (N,), or all that may be entered, with the weights of the database's own features."""
    schema = database.schema
    weights = np.concatenate([np.full(channel.size, weight)
                              for channel, weight in zip(schema.channels, schema.weights())])
    return Search(database.features, weights, database.barred() == 0 if frames is None else frames)


class _Film:
    """Collects what a Player shows, frame by frame."""

    def __init__(self, player):
        self.player, self._rows = player, []

    def take(self, wanted):
        player, simulation = self.player, self.player.simulation
        self._rows.append((
            player.matcher.frames.copy(), player.jumped.copy(), wanted,
            np.column_stack([simulation.positions, simulation.yaws]),
            player.played.contacts, player.feet.locked.copy(),
            np.column_stack([player.positions, player.yaws]), player.played.positions, player.rotations))

    def trace(self, index):
        return Trace(*(np.array([row[column][index] for row in self._rows]) for column in range(6)))

    def clip(self, index):
        database, moving = self.player.motion.database, self.player.motion.moving
        roots, places, rotations = (np.array([row[column][index] for row in self._rows]) for column in (6, 7, 8))
        positions = np.broadcast_to(database.fixed, (len(roots), *database.fixed.shape)).copy()
        positions[:, moving] = places
        positions[:, 0] = np.column_stack([roots[:, :2], np.zeros(len(roots))])
        rotations[:, 0] = quat.from_yaw(roots[:, 2])
        return Clip("drive", database.skeleton, database.rate, positions, rotations,
                    contacts=np.array([row[5][index] for row in self._rows]))
