# SPDX-License-Identifier: GPL-3.0-or-later
"""K characters that share a database, driven frame by frame at its rate.

Player.play() is a frame from its beginning to its end: search (matcher.py), inertialise (inertialise.py, some frames at
once: lookahead.py), move the root (root.py), hold the feet (feet.py).
"""

import math
import time
from dataclasses import dataclass, field, replace

import numpy as np

from ..motion import spring
from ..motion.plane import to_numbers, to_points
from .beats import Beats
from .body import Body
from .contact import Lock
from .feet import Feet
from .inertialise import Blend, Inertia
from .limbs import Limbs, turned
from .lookahead import Lookahead
from .query import Queries
from .root import Sync, synchronise, travel
from .standing import Standing

# Half-lives in seconds in which the root follows the ground, and sinks for legs that are too short to reach it.
FOLLOW, SINK = 0.12, 0.09
# What the limbs carry takes so many times longer to come over from another motion: arms swing wide, and no foot hangs
# from them.
UPPER = 1.6
STANDS = (0.0, 0.0), (0.0, 0.0)  # on the plane, at rest
NOBODY = (), ()  # has searched


@dataclass
class Drive:
    """What the artist may change while driving.

    search_every  seconds between the searches of a character; many take turns (see beats.py). A jump in what is wanted
                  triggers one of its own
    stay          how much better another frame must be, as a share of the cost of going on
    """

    search_every: float = 0.1
    stay: float = 0.0
    blend: Blend = field(default_factory=Blend)
    sync: Sync = field(default_factory=Sync)
    lock: Lock = field(default_factory=Lock)


class Player:
    """Plays K characters after their guides: search, inertialisation, root, feet.

    guides           the Guide of each one
    bodies           the Body of each one, which guides see
    roots            [(place, yaw)] where they are, each place as x + yi; positions (K, 2) and yaws (K,) for short
    heights          [number] of the ground that they stand on, or lower so that both feet reach it
    ground           heights (K, N) of points (K, N, 3) in the world, or None for the plane z = 0
    played           the Pose before the feet are held
    contacts         [character][limb] whether the source says that it stands
    moving           (K, M, 3) local positions of the moving joints
    rotations        (K, J, 4) as they are shown; the root's own means nothing: `roots` has its yaw
    toes             (K, L, 3) where they are held, in the world
    jumped           (K) whether each one jumped in this frame
    search_seconds   how long the last search took
    asked            who searched in this frame, as indices, and their queries (W, D), normalised
    standing         who of them stands still, and where
    commands         [{label: command}] what the artist commands of each one's features
    """

    def __init__(self, motion, search, guides, settings=None, begin=None):
        database, count = motion.database, len(guides)
        self.motion, self.settings = motion, settings or Drive()
        self.dt = 1 / database.rate
        self.matcher = motion.matcher(search, count, begin)
        self.guides, self.bodies = list(guides), [Body(self, index) for index in range(count)]
        self.roots = [guide.root for guide in guides]
        self.ground, self.heights, self._climbs = None, [0.0] * count, [STANDS] * count
        pose = self.matcher.pose()
        self.limbs = Limbs(database.character, database.fixed, motion.moving)
        for guide in self.guides:
            guide.size = self.limbs.size
        inertia = Inertia(pose, self.settings.blend.of_offsets, np.where(self.limbs.carried, UPPER, 1.0))
        self._lookahead = Lookahead(pose, self.limbs, inertia, self.dt)
        self.feet = Feet(self.limbs, count, motion.stance(self.limbs), self.settings.lock)
        self._turning = self.limbs.joints[self.limbs.joints >= 0]  # the joints that feet turn
        self.contacts, self.moving = pose.contacts.tolist(), pose.positions
        self.rotations = self._rotations_before = pose.rotations
        self.jumped = self._nobody = (False,) * count
        self._queries = Queries(database)
        self.search_seconds, self.commands, self.asked = 0.0, [{} for _ in guides], NOBODY
        self._beats, self.standing = Beats(count), Standing(count, self.limbs.size)
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
        lookahead = self._lookahead
        return replace(self.matcher.pose(), positions=lookahead.positions(), rotations=lookahead.rotations(),
                       travel=lookahead.travel())

    def place(self, positions, yaws, heights=None, speeds=None):
        """Stand the characters somewhere; heights (K,): about where the ground is that they stand on, if there is one;
        speeds (K, 3): how they go on there, x, y and turning (rad/s), or None for at rest."""
        places, yaws = to_numbers(np.asarray(positions, dtype=np.float64)), np.asarray(yaws, dtype=np.float64).tolist()
        self.roots, count = list(zip(places, yaws)), len(places)
        self.standing = Standing(count, self.limbs.size)
        speeds = np.zeros((count, 3)) if speeds is None else np.asarray(speeds, dtype=np.float64)
        for guide, root, (x, y, turning) in zip(self.guides, self.roots, speeds.tolist()):
            guide.place(*root, complex(x, y), turning)
        self.heights = [0.0] * count
        if self.ground is not None:
            about = self.heights if heights is None else heights
            self.heights = self.ground(np.column_stack([self.positions, about])[:, None])[:, 0].tolist()
        self.feet = Feet(self.limbs, count, self.feet.standing, self.settings.lock)
        self.feet.stand_at(self.heights)
        self._climbs = [((height, 0.0), (0.0, 0.0)) for height in self.heights]

    def begin_from(self, index, shown):
        """A character begins as it was Shown before, and comes over from there as after a jump."""
        self._lookahead.begin_from(index, shown)
        self.rotations[index], self.moving[index] = shown.rotations[-1], shown.positions[-1]
        self._switched.append(index)

    def switch(self, matcher, who):
        """Another matcher from the next frame on: characters `who` (indices) come over to it as after a jump."""
        self.matcher, self._switched = matcher, [*self._switched, *who]

    def step(self):
        """One frame on: guide(), and then play()."""
        self.guide()
        self.play()

    def guide(self):
        """Let the guides go on, and look at their characters."""
        for guide, body in zip(self.guides, self.bodies):
            guide.step(body)
        self.standing.look(self.guides, self.bodies, self.commands, self.feet.held(), self.dt)

    def play(self):
        """Play a frame after what the guides say now."""
        settings, matcher, blend = self.settings, self.matcher, self.settings.blend
        self.feet.lock = settings.lock
        jumped = self._search(matcher.advance().tolist())
        # Who fades is where it was, and has no offset; what comes is another motion all the same.
        faded = [index for index in matcher.faded if index in jumped and index not in self._switched]
        if self._switched:
            jumped, self._switched = sorted({*jumped, *self._switched}), []
        self.jumped = tuple([index in jumped for index in range(len(self.jumped))]) if jumped else self._nobody
        self.contacts = matcher.contacts()
        jumped = [index for index in jumped if index not in faded] if faded else jumped
        self._lookahead.step(matcher, blend.of_offsets, jumped, self._released(), faded)
        self._move_roots()
        self._plant_feet()

    def command(self, index, label, command=None):
        """From now on a character wants something of a feature, by its label such as "head direction": a number, or
        several, or a Place in the world. None: as it would by itself."""
        if command is None:
            self.commands[index].pop(label, None)
        else:
            self.commands[index][label] = self._queries.check(label, command)

    def query(self, who, guides=None):
        """(W, D) normalised, of characters `who` (indices) after their guides, or after others (W): what each feature
        asks for, and of what is playing where it asks for nothing."""
        queries = self.matcher.features().take(who, axis=0)
        guides = [self.guides[index] for index in who] if guides is None else guides
        for query, index, guide in zip(queries, who, guides):
            self._queries.write(query, guide, self.bodies[index], self.commands[index])
        return queries

    def _search(self, ended):
        """Those who jump in this frame, as indices."""
        who = self._due(ended)
        if not who:
            self.asked = NOBODY
            return []
        begin = time.perf_counter()
        queries = self.query(who)
        self.asked = who, queries
        jumped = self.matcher.match(who, queries, self.settings.stay, [ended[index] for index in who],
                                    self.settings.blend.of_latents)
        self.search_seconds = time.perf_counter() - begin
        for index in who:
            self.guides[index].searched()
        self._beats.searched(who, self.settings.search_every)
        return jumped

    def _due(self, ended):
        """Who has to search in this frame, as indices: each one after a while, and at once at a clip's end and
        when what is wanted jumps."""
        urgent = [index for index, (end, guide) in enumerate(zip(ended, self.guides)) if end or guide.jumped]
        return self._beats.due(urgent, self.settings.search_every, self.dt)

    def _move_roots(self):
        sync, dt, roots, size = self.settings.sync, self.dt, [], self.limbs.size
        if size != 1:  # the radius is meant for a person
            sync = replace(sync, radius=size * sync.radius)
        self._travels = self._lookahead.travel().tolist()
        for (place, yaw), velocity, guide, stands in zip(self.roots, self._travels, self.guides, self.standing.places):
            place, yaw = travel(place, yaw, velocity, dt)
            roots.append(synchronise(place, yaw, velocity, *guide.root, sync, dt, stands))
        self.roots = roots

    def _released(self):
        """The joints of limbs that are let go in this frame, as Lookahead.step() takes them."""
        released = []
        for who, limb in self.feet.release():
            joints = self.limbs.joints[limb]
            joints = joints[joints >= 0]
            released.append((who, joints, np.array([self._rotations_before[who, joints], self.rotations[who, joints]])))
        return released

    def _plant_feet(self):
        """The rotations that are shown: those of the played pose, with limbs that reach for where the toes are held."""
        if self.ground is not None or any(self.heights):
            self._climb()
        self._rotations_before = self.rotations
        self.rotations, self.moving = self._lookahead.rotations(), self._lookahead.positions()
        ahead = self._lookahead
        swings = self.feet.plant(self.roots, self.heights, self._travels, ahead.limbs(), ahead.own(),
                                 self.contacts, self.dt, self.ground)
        shown = turned(swings, self._lookahead.turns())
        self.rotations[:, self._turning] = shown[:, self.limbs.joints >= 0]

    def _climb(self):
        """Follow the ground, or go back to the plane."""
        level, most = self.feet.levels()
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
