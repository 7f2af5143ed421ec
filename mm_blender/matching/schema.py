# SPDX-License-Identifier: GPL-3.0-or-later
"""Which features describe a frame: the list of channels that the artist chooses, and the presets."""

import json
import os
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np

from ..errors import MotionError
from ..motion.character import ROLES
from ..text import read_json
from .features import KINDS

PAST_END = ("extrapolate", "exclude")
FURTHEST = 30.0  # seconds that a feature may look ahead or back
TIMES, NUMBERS = 60, 1000  # of a feature, and of all features together: a frame is described by some dozens
HEAVIEST = 1e6  # weight, responsiveness or quality


@dataclass(frozen=True)
class Channel:
    """One feature: a kind, the bone role (or tag, or property) that it belongs to, times in seconds, a weight."""

    kind: str
    of: str = ""
    times: tuple = (0.0,)
    weight: float = 1.0

    def __post_init__(self):
        if not (isinstance(self.kind, str) and self.kind in KINDS):
            raise MotionError(f'There is no feature "{self.kind}". There are: {", ".join(KINDS)}.')
        belongs = self.about.belongs
        if belongs and not (self.of and isinstance(self.of, str)):
            raise MotionError(f'The feature "{self.kind}" needs a {belongs}.')
        if not isinstance(self.of, str):
            raise MotionError(f'The feature "{self.kind}" is "of" {_written(self.of)}, which is no name: leave it out.')
        if belongs == "role" and self.of not in ROLES:
            raise MotionError(f'There is no role "{self.of}". Roles: {", ".join(ROLES)}.')
        try:
            object.__setattr__(self, "times", tuple(round(float(time), 6) for time in self.times))
        except (TypeError, ValueError, OverflowError):
            raise MotionError(f'The feature "{self.label}" has times {_written(self.times)}: use a list of '
                              "seconds.") from None
        if len(self.times) > TIMES:
            raise MotionError(f'The feature "{self.label}" looks at {len(self.times):,} times: use at most {TIMES}.')
        if not self.times:
            raise MotionError(f'The feature "{self.kind}" needs at least one time.')
        wrong = [time for time in self.times if not abs(time) <= FURTHEST]
        if wrong:
            raise MotionError(f'The feature "{self.label}" looks {wrong[0]:g} s ahead: use -{FURTHEST:g} to '
                              f"{FURTHEST:g} s.")
        _check_factor(f'The feature "{self.label}" has the weight', self.weight)

    @property
    def about(self):
        """The Kind, which says all about it."""
        return KINDS[self.kind]

    @property
    def size(self):
        """How many numbers it adds to each frame."""
        return self.about.numbers * len(self.times)

    @property
    def label(self):
        return self.about.label(self.of)


@dataclass(frozen=True)
class Schema:
    """The features of a database.

    responsiveness, quality  scale the trajectory features and the pose features (equation 3.16 of the thesis)
    past_end                 what happens where a feature's time lies past a clip's end: the last velocity is
                             "extrapolate"d, or such frames are "exclude"d from the search
    """

    channels: tuple
    name: str = "custom"
    responsiveness: float = 1.0
    quality: float = 1.0
    past_end: str = "extrapolate"

    def __post_init__(self):
        object.__setattr__(self, "channels", tuple(self.channels))
        if not self.channels:
            raise MotionError("A database needs at least one feature.")
        if self.past_end not in PAST_END:
            raise MotionError(f'Past a clip\'s end features are {"d or ".join(PAST_END)}d, not "{self.past_end}".')
        if not isinstance(self.name, str):
            raise MotionError(f"A list of features has a name in words, not {self.name}.")
        if self.size > NUMBERS:
            raise MotionError(f"The features have {self.size:,} numbers in all: use at most {NUMBERS:,}.")
        _check_factor("The responsiveness is", self.responsiveness)
        _check_factor("The quality is", self.quality)

    @property
    def size(self):
        return sum(channel.size for channel in self.channels)

    @property
    def slices(self):
        """Where each channel's numbers lie in a frame's features."""
        slices, at = [], 0
        for channel in self.channels:
            slices.append(slice(at, at + channel.size))
            at += channel.size
        return slices

    @property
    def reach(self):
        """The longest times that it looks back and ahead, in seconds (both ≥ 0)."""
        times = [time for channel in self.channels for time in channel.times]
        return max(0.0, -min(times)), max(0.0, max(times))

    @property
    def roles(self):
        """The bone roles that it needs."""
        return tuple(dict.fromkeys(role for channel in self.channels for role in channel.about.roles(channel)))

    @property
    def properties(self):
        """The custom properties that it needs."""
        return tuple(dict.fromkeys(channel.of for channel in self.channels if channel.about.belongs == "property"))

    def same_features(self, other):
        """Whether the numbers of a frame mean the same; they may have other weights."""
        return [(one.kind, one.of, one.times) for one in self.channels] == [
            (one.kind, one.of, one.times) for one in other.channels]

    def weights(self):
        """What each channel's normalised numbers are multiplied with, the two macro sliders included.

        Costs are squared distances, so the factor on the cost in equation 3.16 enters as its square root.
        """
        return [channel.weight * (self.responsiveness if channel.about.trajectory else self.quality) ** 0.5
                for channel in self.channels]

    def to_json(self):
        return asdict(self)

    @classmethod
    def from_json(cls, record):
        _check_names("A list of features", cls, record, "channels")
        if not isinstance(record["channels"], (list, tuple)):
            raise MotionError('The "channels" of a list of features should be a list, in brackets.')
        for channel in record["channels"]:
            _check_names("A feature", Channel, channel, "kind")
        return cls(**{**record, "channels": [Channel(**channel) for channel in record["channels"]]})


def _check_names(what, cls, record, needed):
    """Fails if a record out of JSON is not what a dataclass can be made from."""
    if not isinstance(record, dict):
        raise MotionError(f"{what} should be in braces, with names and values.")
    known = [field.name for field in fields(cls)]
    if odd := [name for name in record if name not in known]:
        raise MotionError(f'{what} has no "{odd[0]}". It has: {", ".join(known)}.')
    if needed not in record:
        raise MotionError(f'{what} needs "{needed}".')


def _check_factor(what, factor):
    if not (isinstance(factor, (int, float)) and 0 <= factor <= HEAVIEST):
        raise MotionError(f"{what} {_written(factor)}: use 0 to {HEAVIEST:,.0f}.")


def _written(value):
    """A value as people write it in JSON; numbers that JSON does not know are no trouble."""
    return f"{value:g}" if isinstance(value, float) else json.dumps(value, default=str)


def _locomotion(times):
    return (Channel("trajectory_position", times=times), Channel("trajectory_direction", times=times),
            Channel("bone_position", "left_foot"), Channel("bone_position", "right_foot"),
            Channel("bone_velocity", "left_foot"), Channel("bone_velocity", "right_foot"),
            Channel("bone_velocity", "hips"))


_AHEAD = (1 / 3, 2 / 3, 1.0)
PRESETS = {
    # The 27 numbers of Learned Motion Matching, section 3.
    "locomotion": Schema(_locomotion(_AHEAD), "locomotion"),
    # The 31 of the sparse-experts paper, appendix D, without the phase.
    "locomotion_past": Schema(_locomotion((-0.1, 0.3, 0.6, 1.0)), "locomotion_past"),
    # Four feet: the fore feet have the roles of hands.
    "quadruped": Schema((*_locomotion(_AHEAD)[:2],
                         *(Channel(kind, f"{side}_{part}") for kind in ("bone_position", "bone_velocity")
                           for part in ("hand", "foot") for side in ("left", "right")),
                         Channel("bone_velocity", "hips")), "quadruped"),
}


def weights_of(schema):
    """(D,) what each number of the features is multiplied with."""
    return np.concatenate([np.full(channel.size, weight) for channel, weight in
                           zip(schema.channels, schema.weights())])


def load(name_or_file: str | os.PathLike) -> Schema:
    """A preset by name, or a schema from a JSON file."""
    if name_or_file in PRESETS:
        return PRESETS[name_or_file]
    path = Path(name_or_file)
    if not os.path.exists(path):
        raise MotionError(f'"{name_or_file}" is neither a preset ({", ".join(PRESETS)}) nor a file.')
    record = read_json(path)
    if isinstance(record, dict):
        record.pop("version", None)  # a preset that was saved in Blender has one
    try:
        schema = Schema.from_json(record)
    except MotionError as error:
        raise MotionError(f'The feature file "{path.name}" cannot be read: {error}') from error
    return replace(schema, name=schema.name if "name" in record else path.stem)
