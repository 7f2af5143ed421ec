# SPDX-License-Identifier: GPL-3.0-or-later
"""K characters that share a database, driven frame by frame at its rate."""

from dataclasses import dataclass, field

import numpy as np

from ..control import simulation
from ..control.intent import jumps
from ..control.simulation import Simulation
from .feet import Feet, Legs, Lock
from .inertialise import Blend, Inertia
from .matcher import MotionMatcher
from .root import Sync, synchronise, travel


@dataclass
class Drive:
    """What the artist may change while driving.

    search_every  seconds between searches; a jump in what is wanted triggers one at once
    stay          how much better another frame must be, as a share of the cost of going on
    """

    search_every: float = 0.1
    stay: float = 0.0
    blend: Blend = field(default_factory=Blend)
    sync: Sync = field(default_factory=Sync)
    lock: Lock = field(default_factory=Lock)
    velocity_halflife: float = simulation.VELOCITY
    facing_halflife: float = simulation.FACING


class Player:
    """Steps K characters: control, search, inertialisation, root, feet.

    positions, yaws  (K, 2), (K,) where the roots are
    heights          (K,) of the ground that they stand on
    played           the Pose before the feet are held
    rotations        (K, J, 4) as they are shown
    jumped           (K,) who jumped in this frame
    """

    def __init__(self, motion, search, count=1, settings=None, frame=0):
        database = motion.database
        self.motion, self.settings = motion, settings or Drive()
        self.dt = 1 / database.rate
        self.matcher = MotionMatcher(motion, search, count, frame)
        self.simulation = Simulation(count, self.dt, database.schema.reach[0] + 0.1)
        self.positions, self.yaws, self.heights = np.zeros((count, 2)), np.zeros(count), np.zeros(count)
        self.played = self.matcher.pose()
        self.inertia = Inertia(self.played, self.settings.blend)
        self.legs = Legs(database.character, database.fixed, motion.moving)
        self.feet = Feet(self.legs, count, self.settings.lock)
        self.toe_height = standing_height(motion, self.legs)
        self.rotations, self.toes = self.played.rotations, None
        self.jumped = np.zeros(count, dtype=bool)
        self._since = np.full(count, np.inf)
        self._wish = np.zeros((count, 2)), np.zeros(count)  # at the last search

    def place(self, positions, yaws):
        """Stand the characters somewhere."""
        self.positions[:], self.yaws[:] = positions, yaws
        self.simulation.place(positions, yaws)
        self.feet = Feet(self.legs, len(self.yaws), self.settings.lock)

    def step(self, velocities, yaws):
        """One frame on, with wanted velocities (K, 2) and yaws (K,)."""
        halflife = self.settings.velocity_halflife, self.settings.facing_halflife
        self.simulation.step(velocities, yaws, halflife)
        ended = self.matcher.advance()
        self._search(velocities, yaws, halflife, ended)
        self.inertia.blend = self.settings.blend
        self.played = self.inertia.apply(self.matcher.pose(), self.dt)
        self.positions, self.yaws = travel(self.positions, self.yaws, self.played.travel, self.dt)
        self.positions, self.yaws = synchronise(self.positions, self.yaws, self.played.travel,
                                                self.simulation.positions, self.simulation.yaws,
                                                self.settings.sync, self.dt)
        self._hold_feet()
        return self.played

    def query(self, velocities, yaws, halflife):
        """(K, D) normalised: pose features of what is playing, trajectory features of what is wanted."""
        database = self.motion.database
        queries = self.matcher.features().copy()
        for channel, part in zip(database.schema.channels, database.schema.slices):
            if channel.kind not in ("trajectory_position", "trajectory_direction"):
                continue
            places, angles = self.simulation.at(channel.times, velocities, yaws, halflife)
            if channel.kind == "trajectory_position":
                vectors = places - self.positions[:, None]
            else:
                vectors = np.stack([-np.sin(angles), np.cos(angles)], axis=-1)
            near = self._turned(vectors, -1).reshape(len(queries), -1)
            scale, mean = database.normalisation.scale[part], database.normalisation.mean[part]
            queries[:, part] = (near - mean) / scale
        return queries

    def _search(self, velocities, yaws, halflife, ended):
        self._since += self.dt
        due = self._since >= self.settings.search_every - 1e-6
        who = np.flatnonzero(ended | due | jumps(*self._wish, velocities, yaws))
        self.jumped[:] = False
        if not len(who):
            return
        jumped = self.matcher.match(who, self.query(velocities, yaws, halflife)[who], self.settings.stay, ended[who])
        self._since[who] = 0
        for old, new in zip(self._wish, (velocities, yaws)):
            old[who] = new[who]
        if jumped:
            self.inertia.transition(jumped, self.played, self.matcher.pose(), self.dt)
            self.jumped[jumped] = True

    def _hold_feet(self):
        """The rotations that are shown: those of the played pose, with legs that reach for where the toes are held."""
        self.feet.lock = self.settings.lock
        contacts, shown = self.played.contacts, self.played.rotations.copy()
        self.feet.release(shown, contacts, self.dt)
        places, turns = self.legs.forward(self.played.positions, shown)
        toes, hips = (self._to_world(places[:, self.legs.at[:, part]]) for part in (3, 0))
        self.toes = self.feet.hold(toes, hips, contacts, self.toe_height, self.dt)
        self.feet.reach(places, turns, shown, self._to_root(self.toes))
        self.feet.remember(self.played.rotations, shown, self.dt)
        self.rotations = shown

    def _to_world(self, points):
        moved = points.astype(np.float64)
        moved[..., :2] = self._turned(points[..., :2], 1) + self.positions[:, None]
        return moved

    def _to_root(self, points):
        moved = points.copy()
        moved[..., :2] = self._turned(points[..., :2] - self.positions[:, None], -1)
        return moved

    def _turned(self, vectors, sign):
        """Vectors (K, N, 2) turned by the characters' yaws, or back."""
        cos, sin = np.cos(self.yaws)[:, None], sign * np.sin(self.yaws)[:, None]
        x, y = vectors[..., 0], vectors[..., 1]
        return np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)


def standing_height(motion, legs):
    """(2,) how high each toe joint is while its foot stands."""
    database = motion.database
    sample = np.arange(0, len(database), max(1, len(database) // 5000))
    places, _ = legs.forward(motion.positions[sample], database.rotations[sample])
    heights, contacts = places[:, legs.at[:, 3], 2], database.contacts[sample]
    return np.array([np.median(heights[contacts[:, side], side]) if contacts[:, side].any() else 0.0
                     for side in (0, 1)])
