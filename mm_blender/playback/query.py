# SPDX-License-Identifier: GPL-3.0-or-later
"""What a character searches with: what each of its features asks for, and of what is playing where one asks nothing.

That is the query vector of section 3 of Learned Motion Matching; which feature takes its part from where, the features
say themselves.
"""

import cmath

from ..control.gaits import USUAL, tags_of_gaits
from ..errors import MotionError
from ..matching.features import KINDS


class Situation:
    """What a feature may look at when it says what it wants.

    guide  the Guide of the character
    body   its Body, as it is shown
    path   {time: (place, way)} where the guide leads and which way it faces then, both as x + yi seen from the root,
           at the times of all trajectory features
    gaits  {tag: the name of the gait that it stands for}
    """

    def __init__(self, guide, body, times, usual, gaits):
        """times: of the path; usual: {channel: numbers}"""
        self.guide, self.body, self.gaits, self._usual = guide, body, gaits, usual
        root, yaw = body.root
        self._back = back = cmath.rect(1, -yaw)
        self.path = {time: ((place - root) * back, 1j * cmath.rect(1, angle) * back)
                     for time, (place, angle) in zip(times, guide.path(times))}

    def usual(self, channel):
        """What the numbers of a channel are on average."""
        return self._usual[channel]

    def near(self, place):
        """A Place in the world, seen from the root (3,)."""
        away = (complex(place.x, place.y) - self.body.root[0]) * self._back
        return [away.real, away.imag, place.z - self.body.height]

    def joint(self, role):
        """Where the bone of a role is now, seen from the root (3,)."""
        return self.body.joints()[self.body.character.joint(role)]


class Queries:
    """Asks the features of a motion (Facts).

    times  of the path that they want to know of a guide
    """

    def __init__(self, facts):
        schema, normalisation = facts.schema, facts.normalisation
        self._character, self._channels = facts.character, schema.channels
        means, scales = normalisation.mean.tolist(), normalisation.scale.tolist()
        self._parts = [(KINDS[channel.kind], channel, channel.label, part, means[part], scales[part])
                       for channel, part in zip(schema.channels, schema.slices)]
        self._usual = {channel: mean for _, channel, _, _, mean, _ in self._parts}
        self._gaits = {name: name for name in USUAL} | {tag: name for name, tag in tags_of_gaits(facts.tags).items()}
        self.times = sorted({time for channel in schema.channels if channel.about.trajectory for time in channel.times})

    def write(self, query, guide, body, commands=None):
        """Put what is wanted into a query (D,), normalised; commands: {label: what check() gave}."""
        situation = Situation(guide, body, self.times, self._usual, self._gaits)
        for kind, channel, label, part, means, scales in self._parts:
            if commands and label in commands:
                wanted = kind.obey(channel, commands[label], situation)
            else:
                wanted = kind.ask(channel, situation)
            if wanted is not None:
                query[part] = [(number - mean) / scale for number, mean, scale in zip(wanted, means, scales)]

    def check(self, label, command):
        """A command of the artist as write() takes it, or a sentence that says what is wrong."""
        found = [channel for channel in self._channels if channel.label == label]
        if not found:
            labels = ", ".join(dict.fromkeys(f'"{channel.label}"' for channel in self._channels))
            raise MotionError(f'There is no feature "{label}" to command: this motion has {labels}.')
        for channel in found:  # several look at different times
            checked = channel.about.check(channel, command, self._character)
        return checked
