# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the root goes: keys of speed, heading and facing become a smooth path over the ground."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .curves import keyed, smooth

MARGIN = 2.5  # seconds planned before and after every clip, so that it begins and ends in full flow


@dataclass(frozen=True)
class Stepping:
    """A stretch of time with footsteps: from the first lift to the last touch.

    start, stop  seconds; None means from before the clip, or on past its end
    first        the foot that lifts first ("left" or "right"); with no start the one that touches last, with no end
                 either the one that touches at the time `at`
    cycles       how many strides fit into the clip exactly, for clips that loop
    """

    start: float | None = None
    stop: float | None = None
    first: str = "left"
    at: float = 0.0
    cycles: int | None = None


@dataclass(frozen=True)
class Path:
    """A plan for the root; each curve is a number or (time, value) keys. Angles in degrees, left is positive.

    speed    m/s along the heading; negative goes the other way
    heading  where the root moves to; 0 is Y
    facing   where the body faces; None: where it moves
    crouch   0 upright to 1 crouched
    shift    weight on one leg while standing: -1 left to 1 right
    look     degrees that the head turns to the left
    brisk    seconds over which the keys of speed, heading and facing are rounded off
    """

    duration: float
    rate: float
    speed: object = 0.0
    heading: object = 0.0
    facing: object = None
    crouch: object = 0.0
    shift: object = 0.0
    look: object = 0.0
    steps: tuple = ()
    brisk: float = 0.14

    @cached_property
    def times(self):
        """(F,) seconds, margins included."""
        margin = round(MARGIN * self.rate)
        return np.arange(-margin, round(self.duration * self.rate) + margin) / self.rate

    @property
    def inside(self):
        """The frames of the clip itself, without margins."""
        margin = round(MARGIN * self.rate)
        return slice(margin, len(self.times) - margin)

    def curve(self, keys, seconds):
        """(F,) a keyed curve, rounded off."""
        return smooth(keyed(keys, self.times), seconds, self.rate)

    @cached_property
    def yaw(self):
        """(F,) facing in radians."""
        return np.radians(self.curve(self.heading if self.facing is None else self.facing, self.brisk))

    @cached_property
    def velocity(self):
        """(F, 2) metres per second in the world."""
        heading = np.radians(self.curve(self.heading, self.brisk))
        return self.curve(self.speed, self.brisk)[:, None] * np.stack([-np.sin(heading), np.cos(heading)], axis=-1)

    @cached_property
    def position(self):
        """(F, 2) metres in the world; the clip begins at the origin."""
        steps = (self.velocity[1:] + self.velocity[:-1]) / (2 * self.rate)
        position = np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
        return position - position[self.inside.start]

    @cached_property
    def acceleration(self):
        """(F, 2) m/s² in the world, smoothed as a body would feel it."""
        return smooth(np.gradient(self.velocity, 1 / self.rate, axis=0), 0.08, self.rate)

    @cached_property
    def crouching(self):
        return self.curve(self.crouch, 0.2)

    def at(self, curve, times):
        """The values of a curve (F, …) at any times (N,)."""
        if curve.ndim == 1:
            return np.interp(times, self.times, curve)
        return np.stack([np.interp(times, self.times, column) for column in curve.T], axis=-1)


def turned(vectors, angle):
    """Ground vectors (…, 2) turned to the left by angle (…) in radians."""
    c, s = np.cos(angle), np.sin(angle)
    x, y = vectors[..., 0], vectors[..., 1]
    return np.stack([c * x - s * y, s * x + c * y], axis=-1)
