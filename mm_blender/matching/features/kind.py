# SPDX-License-Identifier: GPL-3.0-or-later
"""What a kind of feature is. Each kind says all about itself: a new one is a class here beside, and a line in KINDS."""

from typing import NamedTuple

import numpy as np

from ...errors import MotionError

MOST = 1e6  # that may be commanded, in metres and the like


class Place(NamedTuple):
    """A place in the world, in metres, that the artist commands: something to look at, to point at, or to reach."""

    x: float
    y: float
    z: float


class Kind:
    """A kind of feature; its channels say of which bone (or tag, or property) and at which times.

    name        in schemas, and with capitals in panels
    tooltip     what the artist reads
    icon        that Blender shows
    numbers     how many it has for each time
    belongs     to a "role", a "tag", a "property", or to nothing
    usual       what a new channel belongs to, the times that it looks at, and perhaps its weight
    trajectory  whether Responsiveness scales it, and not Quality: what is asked for comes from the guide
    length      whether its numbers are metres, or metres per second: they grow with the legs
    at_rest     its numbers in someone who stands and is not about to go; None for what they usually are
    in_pose     whether poses alone tell it
    commanded   with what the panel commands it: a "value", a "switch" or a "target" to look at; empty for scripts only
    colour      of its lines; None if it has no place to be drawn at
    """

    name = tooltip = belongs = commanded = ""
    icon = "DOT"
    numbers = 1
    usual: tuple = "", (0.0,)
    trajectory = length = False
    at_rest: tuple | None = None
    in_pose = True
    colour: tuple | None = None

    def label(self, of):
        """What a channel is called, in messages and commands."""
        words = self.name.replace("_", " ")
        return f"{of} {words}" if of else words

    def roles(self, channel):
        """The bone roles that it needs."""
        return (channel.of,) if self.belongs == "role" else ()

    def measure(self, scene, channel):
        """(F, numbers × times) in a clip; scene: a ClipScene, the clip and what is beside it."""
        return np.concatenate([self.measure_at(scene, channel, time) for time in channel.times], axis=1)

    def measure_at(self, scene, channel, time):
        """(F, numbers) at each frame of the clip plus a time."""
        raise NotImplementedError

    def ask(self, channel, situation):
        """What the character wants, as numbers in the order of measure(); None to go on with what is playing.
        situation: a playback.query.Situation, from which the guide, the pose and the like can be seen."""

    def obey(self, channel, command, situation):
        """What it wants where the artist has commanded something that check() lets through."""
        return command if len(command) == self.numbers * len(channel.times) else [*command] * len(channel.times)

    def check(self, channel, command, character):
        """A command as obey() takes it: as many numbers as the kind has, or as many for each time."""
        if isinstance(command, Place):
            command = ()
        return _numbers(channel, command, sorted({self.numbers, self.numbers * len(channel.times)}))

    def resized(self, mean, scale, legs, higher):
        """Mean and scale on a body whose legs are so many times as long, and whose hips are so much higher than that
        tells."""
        return (mean * legs, scale * legs) if self.length else (mean, scale)

    def lines(self, drawn, frame, channel, time, value):
        """The colour and the segments (N, 2, 3), in the world, of the value (numbers,) at a time from a frame."""


class BoneKind(Kind):
    """What belongs to a bone role, and can be commanded with a Place, too."""

    belongs = "role"
    usual: tuple = "left_foot", (0.0,)
    numbers = 3

    def label(self, of):
        return super().label(of).replace("bone ", "")

    def check(self, channel, command, character):
        if not isinstance(command, Place):
            return super().check(channel, command, character)
        character.joint(channel.of)  # or it says that it is missing
        return Place(*_numbers(channel, command, [3]))


def _numbers(channel, command, counts):
    """A command as so many floats."""
    try:
        numbers = [float(number) for number in np.ravel(command)]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) not in counts:
        raise MotionError(f'The feature "{channel.label}" cannot be commanded like this: give '
                          f"{' or '.join(map(str, counts))} number{'s' * (counts != [1])}.")
    if wrong := [number for number in numbers if not abs(number) <= MOST]:
        raise MotionError(f'The feature "{channel.label}" is commanded to be {wrong[0]:g}: use -{MOST:,.0f} to '
                          f"{MOST:,.0f}.")
    return numbers
