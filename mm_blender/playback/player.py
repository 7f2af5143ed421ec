# SPDX-License-Identifier: GPL-3.0-or-later
"""K characters that share a database, driven frame by frame at its rate."""

import cmath
import math
import time
from dataclasses import dataclass, field, replace

import numpy as np

from ..control import simulation
from ..control.intent import jumps
from ..control.simulation import Simulation, to_points
from ..motion import spring
from .ahead import Ahead
from .feet import Feet, Lock
from .inertialise import Blend, Inertia
from .legs import Legs, turned
from .root import Sync, synchronise, travel

# Half-lives in seconds in which the root follows the ground, and sinks for legs that are too short to reach it.
FOLLOW, SINK = 0.12, 0.09
# What the legs carry takes so many times longer to come over from another motion: arms swing wide, and no foot hangs
# from them.
UPPER = 1.6
STANDS = (0.0, 0.0), (0.0, 0.0)  # on the plane, at rest


@dataclass
class Drive:
    """What the artist may change while driving.

    search_every  seconds between searches, of all characters together: much of the work is then done at once. A jump in
                  what is wanted triggers one of its own
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

    roots            [(place, yaw)] where they are, each place as x + yi; positions (K, 2) and yaws (K,) for short
    heights          [number] of the ground that they stand on, or lower so that both feet reach it
    ground           heights (K, N) of points (K, N, 3) in the world, or None for the plane z = 0
    played           the Pose before the feet are held
    contacts         [character][side] whether the source says that a foot stands
    moving           (K, M, 3) local positions of the moving joints
    rotations        (K, J, 4) as they are shown; the root's own means nothing: `roots` has its yaw
    toes             (K, 2, 3) where they are held, in the world
    jumped           (K) whether each one jumped in this frame
    search_seconds   how long the last search took
    wishes           (K, D) other features that are wanted, normalised, and nan for those of what is playing; or None
    """

    def __init__(self, motion, search, count=1, settings=None, begin=None):
        database = motion.database
        self.motion, self.settings = motion, settings or Drive()
        self.dt = 1 / database.rate
        self.matcher = motion.matcher(search, count, begin)
        self.simulation = Simulation(count, self.dt, database.schema.reach[0] + 0.1)
        self.roots = [(0j, 0.0)] * count
        self.ground, self.heights, self._climbs = None, [0.0] * count, [STANDS] * count
        pose = self.matcher.pose()
        self.legs = Legs(database.character, database.fixed, motion.moving)
        # Where in all rotations those of the legs are.
        self._turning = np.arange(pose.rotations.size).reshape(pose.rotations.shape)[:, self.legs.turning]
        inertia = Inertia(pose, self.settings.blend.of_offsets, np.where(self.legs.carried, UPPER, 1.0))
        self._ahead = Ahead(pose, self.legs, inertia, self.dt)
        self.feet = Feet(self.legs, count, motion.stance(self.legs), self.settings.lock)
        self.contacts, self.moving = pose.contacts.tolist(), pose.positions
        self.rotations = self._rotations_before = pose.rotations
        self.jumped = self._nobody = (False,) * count
        self._trajectory = Trajectory(database)
        self.search_seconds, self.wishes = 0.0, None
        # Seconds until all search again, and with which wish each one has searched: velocity and yaw.
        self._beat, self._asked = 0.0, [(0j, 0.0)] * count
        self._switched = []  # those who come over from another matcher in the next frame

    @property
    def positions(self):
        return to_points([place for place, _ in self.roots])

    @property
    def yaws(self):
        return np.array([yaw for _, yaw in self.roots])

    @property
    def toes(self):
        return self.feet.toes

    @property
    def played(self):
        ahead = self._ahead
        return replace(self.matcher.pose(), positions=ahead.positions(), rotations=ahead.rotations(),
                       travel=ahead.travel())

    def place(self, positions, yaws, heights=None):
        """Stand the characters somewhere; heights (K,): about where the ground is that they stand on, if there is one.
        """
        self.simulation.place(positions, yaws)
        self.roots, count = self.simulation.roots, len(self.simulation.roots)
        self.heights = [0.0] * count
        if self.ground is not None:
            about = self.heights if heights is None else heights
            self.heights = self.ground(np.column_stack([self.positions, about])[:, None])[:, 0].tolist()
        self.feet = Feet(self.legs, count, self.feet.standing, self.settings.lock)
        self.feet.level = list(self.heights)
        self._climbs = [((height, 0.0), (0.0, 0.0)) for height in self.heights]

    def begin_from(self, index, positions, rotations):
        """A character begins with a pose that was shown before, positions (M, 3) of its moving joints and rotations
        (J, 4), and comes over from there as after a jump."""
        self._ahead.begin_from(index, positions, rotations)
        self.rotations[index], self.moving[index] = rotations, positions
        self._switched.append(index)

    def switch(self, matcher, who):
        """Another matcher from the next frame on: characters `who` (indices) come over to it as after a jump."""
        self.matcher, self._switched = matcher, [*self._switched, *who]

    def step(self, wishes):
        """One frame on, with what each one wants: [(velocity, yaw)], as a Simulation takes it."""
        settings, matcher = self.settings, self.matcher
        halflife, blend = (settings.velocity_halflife, settings.facing_halflife), settings.blend
        self.simulation.step(wishes, halflife)
        self.feet.lock = settings.lock
        jumped = self._search(halflife, matcher.advance().tolist())
        # Who fades is where it was, and has no offset; what comes is another motion all the same.
        faded = [index for index in matcher.faded if index in jumped and index not in self._switched]
        if self._switched:
            jumped, self._switched = sorted({*jumped, *self._switched}), []
        self.jumped = tuple([index in jumped for index in range(len(self.jumped))]) if jumped else self._nobody
        self.contacts = matcher.contacts()
        jumped = [index for index in jumped if index not in faded] if faded else jumped
        self._ahead.step(matcher, blend.of_offsets, jumped, self._released(), faded)
        self._move_roots()
        self._plant_feet()

    def query(self, who, wishes, halflife):
        """(W, D) normalised, of characters `who` (indices) with their wishes (velocity, yaw): pose features of what is
        playing, trajectory features of what is wanted."""
        queries = self.matcher.features().take(who, axis=0)
        for query, index, (velocity, yaw) in zip(queries, who, wishes):
            path = self.simulation.path(index, self._trajectory.times, velocity, yaw, halflife)
            self._trajectory.write(query, path, *self.roots[index])
        return queries if self.wishes is None else np.where(np.isnan(self.wishes[who]), queries, self.wishes[who])

    def _search(self, halflife, ended):
        """Those who jump in this frame, as indices."""
        wishes = self.simulation.wishes
        who = self._due(wishes, ended)
        if not who:
            return []
        begin = time.perf_counter()
        queries = self.query(who, [wishes[index] for index in who], halflife)
        jumped = self.matcher.match(who, queries, self.settings.stay, [ended[index] for index in who],
                                    self.settings.blend.of_latents)
        self.search_seconds = time.perf_counter() - begin
        for index in who:
            self._asked[index] = wishes[index]
        if len(who) == len(wishes):
            self._beat = self.settings.search_every
        return jumped

    def _due(self, wishes, ended):
        """Who has to search in this frame, as indices: all after a while; at a clip's end, when the wish jumps."""
        self._beat = min(self._beat, self.settings.search_every) - self.dt
        if self._beat < 1e-6:
            return list(range(len(wishes)))
        # Who wants what it wanted has the same wish, most often.
        return [index for index, (end, asked, wish) in enumerate(zip(ended, self._asked, wishes))
                if end or (asked is not wish and jumps(*asked, *wish))]

    def _move_roots(self):
        sync, dt, roots = self.settings.sync, self.dt, []
        for (place, yaw), (velocity, _), (goal, goal_yaw) in zip(self.roots, self._ahead.steps, self.simulation.roots):
            place, yaw = travel(place, yaw, velocity, dt)
            roots.append(synchronise(place, yaw, velocity, goal, goal_yaw, sync, dt))
        self.roots = roots

    def _released(self):
        """The legs of feet that are let go in this frame, as Ahead.step() takes them."""
        released = []
        for who, side in self.feet.release(self.contacts, self.dt):
            leg = self.legs.turning[side]
            released.append((who, leg, np.array([self._rotations_before[who, leg], self.rotations[who, leg]])))
        return released

    def _plant_feet(self):
        """The rotations that are shown: those of the played pose, with legs that reach for where the toes are held."""
        if self.ground is not None or any(self.heights):
            self._climb()
        self._rotations_before = self.rotations
        self.rotations, self.moving = self._ahead.rotations(), self._ahead.positions()
        turns = self.feet.plant(self.roots, self.heights, self._ahead.steps, self.contacts, self.dt, self.ground)
        shown = turned(self._ahead.turners(), turns)
        self.rotations.put(self._turning, shown if self.legs.has_toes else shown.reshape(-1, 4, 4)[:, :3])

    def _climb(self):
        """Follow the ground, or go back to the plane."""
        level, most = self.feet.level, self.feet.most
        if self.ground is None:
            level, most = [0.0] * len(level), [math.inf] * len(level)
        self._climbs = [_climbed(*each, self.dt) for each in zip(self._climbs, level, most)]
        self.heights = [height - sag for (height, _), (sag, _) in self._climbs]


def _climbed(climb, level, most, dt):
    """How high a character stands on its ground and by how much it sinks, both with velocities, one step on.

    level  how high the ground is
    most   how high it can stand at most
    """
    (height, climbing), (sag, sinking) = climb
    height, climbing = spring.towards_number(height, climbing, level, FOLLOW, dt)
    height = level if abs(height - level) < 1e-6 else height
    lack = max(height - most, 0.0)
    sag, sinking = spring.towards_number(sag, sinking, lack, SINK, dt)
    return (height, climbing), (lack if abs(sag - lack) < 1e-6 else sag, sinking)


class Trajectory:
    """Which numbers of a query are the trajectory, and at which times."""

    def __init__(self, database):
        schema, normalisation = database.schema, database.normalisation
        kinds = {"trajectory_position": 0, "trajectory_direction": 1}
        parts = [(channel, part) for channel, part in zip(schema.channels, schema.slices) if channel.kind in kinds]
        self.times = sorted({time for channel, _ in parts for time in channel.times})
        self._columns = np.concatenate([np.arange(*part.indices(schema.size)) for _, part in parts] or [[]]).astype(int)
        # Of each pair of numbers which place or direction it is, places first, and its means and scales.
        order = [self.times.index(time) + len(self.times) * kinds[channel.kind]
                 for channel, _ in parts for time in channel.times]
        norms = (table[self._columns].reshape(-1, 2).tolist() for table in (normalisation.mean, normalisation.scale))
        self._pairs = [(at, *mean, *scale) for at, mean, scale in zip(order, *norms)]

    def write(self, query, path, root, yaw):
        """Put a path [(place, yaw)] into a query (D,) of a character that is somewhere; all in the world."""
        back, numbers = cmath.rect(1, -yaw), []
        near = [(place - root) * back for place, _ in path] + [1j * cmath.rect(1, angle) * back for _, angle in path]
        for at, x, y, wide, high in self._pairs:
            pair = near[at]
            numbers += (pair.real - x) / wide, (pair.imag - y) / high
        query.put(self._columns, numbers)
