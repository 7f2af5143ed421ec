# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast the character goes in each gait: measured from its own motion, so that the stick asks for no more."""

from dataclasses import dataclass, replace

import numpy as np

from ..motion import quat
from .gaits import USUAL, Gait, tags_of_gaits

# Slower than this a character stands and shuffles (its legs' length per second); fewer seconds of a way of going than
# this say nothing about it. Who creeps is slower, but not as slow as one who stands.
MOVING, ENOUGH, CREEPING = 0.35, 1.0, 0.15
# People begin to run where the Froude number v² / (g × leg) passes one half.
FROUDE, GRAVITY = 0.5, 9.81
# Speeds are of one gait that differ by less than this factor.
NEAR = 1.15
# Seconds that a loop lasts at most that is one cycle, or a few of them.
CYCLE = 3.0
# Full stick asks for a speed that this percentile of the frames does not reach, and for a little less, because half of
# them may have the very same speed: what is faster is for catching up in curves. Running a slalom without any sync the
# demo was 0.72 m off when it was asked for all of it, 0.58 m so.
FULL, SPARE = 65, 0.975


@dataclass(frozen=True)
class Speeds:
    """The gaits of a motion. Metres per second at full stick are forward, sideways and backward.

    walk, run, crouch  of the usual gaits
    tagged             which of these have tags
    further            the other Gaits
    """

    walk: tuple = (1.4, 0.8, 1.0)
    run: tuple = (3.6, 2.0, 2.0)
    crouch: tuple = (0.9, 0.6, 0.6)
    tagged: tuple = ()
    further: tuple = ()

    @property
    def gaits(self):
        """All Gaits, the usual ones first."""
        return (*map(self.gait, USUAL), *self.further)

    @property
    def offered(self):
        """The names of the gaits that a person chooses from: nobody crouches who has no motion of it."""
        return tuple(gait.name for gait in self.gaits if gait.name != "crouch" or gait.tag)

    def gait(self, name):
        """The Gait of a name; to walk, where the motion has none of this name."""
        if name in USUAL:
            tag = name if name in self.tagged else ""
            return Gait(name, tag, getattr(self, name), apart=tag == "crouch")
        return next((gait for gait in self.further if gait.name == name), None) or self.gait("walk")

    def following(self, name):
        """The name of the gait after another one of those that are offered; the first one after the last."""
        names = self.offered
        return names[(names.index(name) + 1) % len(names)] if name in names else names[0]

    def scaled(self, scale):
        """The same of a character that is so much larger."""
        return self.with_ways({gait.name: tuple(scale * speed for speed in gait.ways) for gait in self.gaits})

    def with_ways(self, ways):
        """The same gaits with other speeds, where there are some: {name: (forward, sideways, backward)}."""
        if not ways:
            return self
        further = tuple(replace(gait, ways=ways.get(gait.name, gait.ways)) for gait in self.further)
        return replace(self, further=further, **{name: ways[name] for name in USUAL if name in ways})


def measure(database):
    """The Speeds of a database: of the frames with the tag of each gait, or else of all that are slow or fast."""
    going, tags = _Going(database), database.tags
    named = {name: tag for name, tag in tags_of_gaits(tags).items() if going.is_enough(tags[tag] & going.creeping)}
    crouched = tags.get("crouch", going.nobody)
    # Who goes slowly is known by how they go, who goes fast by how fast.
    slow = [name for name, tag in named.items() if going.is_slow(tags[tag])]
    apart = crouched | _any(going, [tags[named[name]] for name in slow])
    if going.is_enough(going.moving & ~crouched) and not going.is_enough(going.moving & ~apart):
        slow, apart = [], crouched  # nothing would be left to walk with
    others, usual = _any(going, [tags[tag] for tag in named.values()]), {}
    for gait, alike, mine in (("walk", ~going.fast & ~apart, ~apart), ("run", going.fast & ~apart, ~apart),
                              ("crouch", crouched, crouched)):
        # What is not tagged with this gait is looked for in motion like it, and rather where no other gait is tagged;
        # then in walking: few run sideways.
        ways = usual.get("walk", (0.0, 0.0, 0.0))
        for frames in (alike, *[alike & ~others] * bool(named), tags.get(gait, alike) & mine):
            ways = going.ways(frames & going.moving, ways)
        usual[gait] = ways
    further = [_further(going, name, tag, tags[tag], name in slow, usual) for name, tag in named.items()]
    return Speeds(**usual, tagged=tuple(name for name in USUAL if name in tags), further=tuple(further))


def root_velocities(database):
    """(N, 3) velocity of the root in each frame, seen from itself: right, forward (m/s), turning (rad/s)."""
    column = int(np.flatnonzero(database.moving == 0)[0])
    places, turns = database.positions[:, column], database.rotations[:, 0]
    velocities = np.zeros((len(database), 3), dtype=np.float32)
    for part in database.ranges:
        if len(part) > 1:
            frames, steps = slice(part.start, part.stop), slice(part.start, part.stop - 1)
            step = quat.inv_rotate(turns[steps], np.diff(places[frames], axis=0)) * database.rate
            velocities[steps, :2] = step[:, :2]
            velocities[steps, 2] = quat.angular_velocity(turns[frames], 1 / database.rate)[:, 2]
            velocities[part.stop - 1] = velocities[part.start if part.loop else part.stop - 2]
    return velocities


def _steady(velocities, database):
    """Velocities (N, 2) with the mean of each short loop throughout it: what sways within a cycle is not how fast it
    goes, and there may be no other motion that would go as fast as its fast half."""
    for part in database.ranges:
        if part.loop and len(part) <= CYCLE * database.rate:
            velocities[part.start:part.stop] = velocities[part.start:part.stop].mean(axis=0)
    return velocities


def _further(going, name, tag, frames, is_slow, usual):
    """The Gait of a tag of these frames (N,), beside the speeds of the usual gaits."""
    own = going.ways(frames & going.creeping, (0.0, 0.0, 0.0))
    # Where it has no motion of its own it goes as others do, but no faster than it goes at all.
    ways = tuple(speed or min(other, max(own)) for speed, other in zip(own, usual["walk" if is_slow else "run"]))
    return Gait(name, tag, ways, is_slow, going.is_enough(frames & ~going.creeping))


class _Going:
    """How the root of a database goes in each of its N frames: each of these is (N,).

    fast      so that people run
    moving    goes somewhere
    creeping  does not stand, however slow it is
    nobody    none of them
    """

    def __init__(self, database):
        self._velocities, leg = _steady(root_velocities(database)[:, :2], database), database.character.leg
        self._size = database.character.size
        self._speed, self._seconds = np.hypot(*self._velocities.T), _seconds(database)
        # Who is not of a person's size is taken for a person who was imported in other units.
        self.fast = self._speed > np.sqrt(FROUDE * GRAVITY * leg * self._size)
        self.moving, self.creeping = self._speed > MOVING * leg, self._speed > CREEPING * leg
        self.nobody = np.zeros(len(database), dtype=bool)
        if self.is_enough(self.moving) and not self.is_enough(self.moving & ~self.fast):
            # Drawn characters take long steps: of two that are both fast the slower one walks.
            slow, quick = np.percentile(self._speed[self.moving], (5, 95))
            self.fast &= self._speed > max(np.sqrt(slow * quick), slow * NEAR)

    def is_enough(self, frames):
        """Whether frames last so long that they say something."""
        return bool(self._seconds[frames].sum() >= ENOUGH - 1e-6)

    def is_slow(self, frames):
        """Whether most of what moves in these frames goes no faster than people walk."""
        moving = frames & self.creeping
        return 2 * self._seconds[moving & self.fast].sum() <= self._seconds[moving].sum()

    def ways(self, frames, fallback):
        """Speeds forward, sideways and backward of frames, each within 45 degrees of that direction."""
        (right, forward), speed = self._velocities.T, self._speed
        sideways = np.abs(right) > np.abs(forward)
        ways = (~sideways & (forward > 0), sideways, ~sideways & (forward < 0))
        return tuple(self._rounded(SPARE * float(np.percentile(speed[frames & way], FULL)))
                     if self.is_enough(frames & way) else other for way, other in zip(ways, fallback))


    def _rounded(self, speed):
        """To centimetres per second of a person's size."""
        return round(speed / self._size, 2) * self._size


def _any(going, masks):
    """(N,) the frames that any of some masks has."""
    return np.logical_or.reduce([going.nobody, *masks])


def _seconds(database):
    """(N,) how long each frame lasts. Those of a loop, which goes on for ever, say enough however short it is, even if
    half of them are something else."""
    seconds = np.full(len(database), 1 / database.rate)
    for part in database.ranges:
        if part.loop:
            seconds[part.start:part.stop] = max(1 / database.rate, 2 * ENOUGH / len(part))
    return seconds
