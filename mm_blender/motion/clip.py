# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip: one skeleton's motion at a steady rate, with tags."""

from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import MotionError
from ..limits import FURTHEST, TAGS
from .skeleton import Skeleton, forward

SLACK = 0.01  # frames: a tag that ends on a frame includes it, whatever the rounding


@dataclass(frozen=True)
class Tag:
    """A named range of a clip, in seconds from its first frame; both ends are inside."""

    name: str
    start: float
    end: float


@dataclass(frozen=True, eq=False)
class Clip:
    """Local transforms of every joint at every frame.

    positions  (F, J, 3) in the parent's frame, metres; joint 0 is in the world
    rotations  (F, J, 4) in the parent's frame
    contacts   (F, C) whether each contact joint stands on the ground, once prepare.contacts has found out
    curves     custom properties by name, each (F,)
    loop       whether the motion goes round: the last frame shows the first one's pose again
    """

    name: str
    skeleton: Skeleton
    rate: float
    positions: np.ndarray
    rotations: np.ndarray
    tags: tuple = ()
    contacts: np.ndarray | None = None
    curves: dict = field(default_factory=dict)
    loop: bool = False

    def __post_init__(self):
        set_ = object.__setattr__
        set_(self, "positions", np.asarray(self.positions, dtype=np.float32))
        set_(self, "rotations", np.asarray(self.rotations, dtype=np.float32))
        set_(self, "tags", tuple(self.tags))
        _check(self)

    def __len__(self):
        return len(self.positions)

    @property
    def duration(self):
        """Seconds from the first frame to the last."""
        return (len(self) - 1) / self.rate

    def globals(self):
        """Positions (F, J, 3) and rotations (F, J, 4) in the world."""
        return forward(self.skeleton, self.positions, self.rotations)

    def with_changes(self, **changes):
        return replace(self, **changes)

    def scaled(self, factor):
        """The same motion of a character that is factor times as large: how units are changed."""
        skeleton = replace(self.skeleton, positions=self.skeleton.positions * factor)
        return replace(self, skeleton=skeleton, positions=self.positions * factor)

    def slice(self, start, stop):
        """The frames start to stop (not included), with tags and contacts cut to fit."""
        if not 0 <= start < stop <= len(self):
            raise MotionError(f'Clip "{self.name}" has {len(self)} frames; {start} to {stop} is not a part of it.')
        first, last = start / self.rate, (stop - 1) / self.rate
        slack = SLACK / self.rate
        tags = tuple(Tag(tag.name, *(min(max(time, first), last) - first for time in (tag.start, tag.end)))
                     for tag in self.tags if tag.end >= first - slack and tag.start <= last + slack)
        return replace(self, positions=self.positions[start:stop], rotations=self.rotations[start:stop], tags=tags,
                       contacts=None if self.contacts is None else self.contacts[start:stop],
                       curves={name: curve[start:stop] for name, curve in self.curves.items()},
                       loop=self.loop and stop - start == len(self))

    def tag_mask(self, name):
        """(F,) whether each frame lies inside a range with this name."""
        times = np.arange(len(self)) / self.rate
        slack = SLACK / self.rate
        mask = np.zeros(len(self), dtype=bool)
        for tag in self.tags:
            if tag.name == name:
                mask |= (times >= tag.start - slack) & (times <= tag.end + slack)
        return mask


def _check(clip):
    frames, joints = len(clip.positions), len(clip.skeleton)
    if frames == 0:
        raise MotionError(f'Clip "{clip.name}" has no frames.')
    if clip.positions.shape != (frames, joints, 3) or clip.rotations.shape != (frames, joints, 4):
        raise MotionError(f'Clip "{clip.name}" does not fit its skeleton of {joints} joints.')
    if not 0 < clip.rate < np.inf:
        raise MotionError(f'Clip "{clip.name}" has a rate of {clip.rate} frames per second: it must be above zero.')
    if len(clip.tags) > TAGS:
        raise MotionError(f'Clip "{clip.name}" has {len(clip.tags):,} tags: use at most {TAGS:,}.')
    if clip.contacts is not None and len(clip.contacts) != frames:
        raise MotionError(f'Clip "{clip.name}" has {frames} frames, and contacts for {len(clip.contacts)}.')
    for name, curve in clip.curves.items():
        if len(curve) != frames:
            raise MotionError(f'Clip "{clip.name}" has {frames} frames, and its curve "{name}" has {len(curve)}.')
    for array in (clip.positions, clip.rotations):
        if not np.isfinite(array).all():
            frame, joint = np.argwhere(~np.isfinite(array))[0][:2]
            raise MotionError(f'Clip "{clip.name}" has a value that is not a number at frame {frame}, '
                              f'joint "{clip.skeleton.names[joint]}".')
    if max(-clip.positions.min(), clip.positions.max()) > FURTHEST:
        frame, joint = np.argwhere(np.abs(clip.positions) > FURTHEST)[0][:2]
        raise MotionError(f'Clip "{clip.name}" has the joint "{clip.skeleton.names[joint]}" more than {FURTHEST:,.0f} '
                          f"m away at frame {frame}: look at its units and for a damaged value.")
