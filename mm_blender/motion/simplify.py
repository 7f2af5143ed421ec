# SPDX-License-Identifier: GPL-3.0-or-later
"""Which keys a motion needs: all that move anything, or few with curves between them that stay within a tolerance."""

from dataclasses import dataclass

import numpy as np

from . import quat
from .skeleton import forward

SAME = 1e-5  # values that differ by less are the same
# A joint that rests on the ground or on anything else must not slide: below this speed over the ground (m/s) its
# tolerance shrinks with the speed, down to this share.
FREE, RESTING = 0.05, 0.05
NEAR = 0.1  # metres: a bone without joints below it turns something of this size
MARGIN = 0.97  # of the tolerance: Blender computes in single precision
ROUNDS = 30
BLOCK = 16384  # frames that fit into a processor's own memory


@dataclass(eq=False)
class Curves:
    """Curves of T joints that are read in the same way.

    joints  (T,) whose they are
    values  (T, F, C)
    read    from values, components first, to rotations (4, …); None for places, in metres along the axes of rest
    """

    joints: np.ndarray
    values: np.ndarray
    read: object = None


def changing(values):
    """(F,) where straight curves through values (F, C) need keys: not inside a run in which nothing changes."""
    # Values are the same in one cell of a grid. Of two grids, one does not cut through where a curve rests.
    grids = [np.diff(np.floor(values / SAME + shift), axis=0) == 0 for shift in (0, 0.5)]
    same = np.where(grids[0].sum(0) > grids[1].sum(0), *grids).all(-1)
    needed = np.ones(len(values), dtype=bool)
    needed[1:-1] = ~(same[1:] & same[:-1])
    return needed


def slopes(values):
    """(F, …) change per frame, which the handles of a key show."""
    return np.gradient(values, axis=0) if len(values) > 1 else np.zeros_like(values)


def simplify(clip, curves, tolerance, every=1):
    """For each of the Curves of a clip, (T, F) where keys are needed so that no joint is further than `tolerance`
    metres from where it was, with cubic curves through the keys that have slopes().

    every  only each so many-th frame can have a key, and the last; those between are there to be matched
    """
    exact, _ = clip.globals()
    allowed = MARGIN * tolerance * np.clip(_speeds(exact, clip.rate) / FREE, RESTING, 1)
    fits = [_Fit(clip, each, allowed, every) for each in curves]
    for _ in range(ROUNDS):
        positions, rotations = clip.positions.copy(), clip.rotations.copy()
        for fit in fits:
            fit.refine()
            fit.pose(positions, rotations)
        apart = np.linalg.norm(forward(clip.skeleton, positions, rotations)[0] - exact, axis=-1).T
        over = apart / allowed
        if over.max() <= 1:
            break
        # Errors of a whole chain add up: where they come to too much, all of its bones have to be better.
        for joint in range(len(over) - 1, 0, -1):
            parent = clip.skeleton.parents[joint]
            np.maximum(over[parent], over[joint], out=over[parent])
        for fit in fits:
            fit.tighten(over)
    return [fit.kept.reshape(each.values.shape[:2]) for fit, each in zip(fits, curves)]


class _Fit:
    """Curves and the keys they have so far. All curves lie end to end in one row: frame f of curve t is t F + f."""

    def __init__(self, clip, curves, allowed, every):
        count, frames, _ = curves.values.shape
        self.curves, self.every = curves, every
        self.values, self.slopes = _end_to_end(curves.values), _end_to_end(np.gradient(curves.values, axis=1))
        self.exact = self._read(self.values)
        self.before = np.repeat(np.arange(count) * frames, frames)  # the key before each frame
        self.after = self.before + frames - 1
        self.kept = np.zeros(count * frames, dtype=bool)
        self.kept[self.before] = self.kept[self.after] = True
        self.fitted, self.off = self.exact.copy(), np.zeros(count * frames, dtype=np.float32)
        self._fit(np.flatnonzero(~self.kept))
        self.limits = self._limits(clip.skeleton, allowed).ravel()
        if curves.read is None:
            self.ahead = clip.skeleton.rotations[curves.joints].T[..., None]
        else:  # what comes before a bone's own rotation
            shown = clip.rotations[:, curves.joints].transpose(2, 1, 0).reshape(4, -1)
            self.ahead = quat.mul(shown, quat.inv(self.exact, axis=0), axis=0)

    def refine(self):
        """More keys, until no curve is further off than its limits."""
        inside = np.flatnonzero(~self.kept)
        while len(inside := self._split(inside)):
            self._fit(inside)

    def tighten(self, over):
        """Smaller limits where errors (J, F) are more than what is allowed, which is 1."""
        over = over[self.curves.joints].ravel()
        self.limits /= np.where(over > 1, np.clip(over, 1.25, 3), 1)

    def pose(self, positions, rotations):
        """Write what the curves show into a clip's local transforms."""
        joints = self.curves.joints
        if self.curves.read is None:
            moved = quat.rotate(self.ahead, (self.fitted - self.exact).reshape(3, len(joints), -1), axis=0)
            positions[:, joints] += moved.transpose(2, 1, 0)
        else:
            turned = quat.mul(self.ahead, self.fitted, axis=0).reshape(4, len(joints), -1)
            rotations[:, joints] = turned.transpose(2, 1, 0)

    def _limits(self, skeleton, allowed):
        """(T, F) how far each curve alone may be off, in radians or metres, for the joints (J, F) that it moves."""
        places, limits = skeleton.rest[0], np.full(allowed.shape, np.inf, dtype=np.float32)
        for joint, limit in enumerate(allowed):
            for above in _line(skeleton, joint):
                reach = 1 if self.curves.read is None else max(NEAR, np.linalg.norm(places[joint] - places[above]))
                np.minimum(limits[above], limit / reach, out=limits[above])
        return limits[self.curves.joints]

    def _split(self, inside):
        """A new key in every stretch between keys that is off too far, where it is worst; the frames around the new
        keys. inside: the frames to look at, whole stretches."""
        wrong = self.off[inside] / self.limits[inside]
        first = np.flatnonzero(np.diff(self.before[inside], prepend=-1))
        length = np.diff(first, append=len(inside))
        worst = np.maximum.reduceat(wrong, first) if len(first) else wrong
        bad = (worst > 1) & (self.after[inside[first]] - self.before[inside[first]] > self.every)
        chosen = np.repeat(bad, length)
        inside, stretch = inside[chosen], np.repeat(np.arange(bad.sum()), length[bad])
        peaks = np.flatnonzero(wrong[chosen] == worst[bad][stretch])
        at = inside[peaks[np.diff(stretch[peaks], prepend=-1) > 0]]
        if self.every > 1:
            begin, end = self.before[at], self.after[at]
            step = np.round((at - begin) / self.every).astype(int) * self.every
            at = begin + np.clip(step, self.every, end - begin - self.every)
        self.kept[at] = True
        key = at[stretch]
        self.before[inside] = np.where(inside >= key, key, self.before[inside])
        self.after[inside] = np.where(inside <= key, key, self.after[inside])
        self.fitted[:, at], self.off[at] = self.exact[:, at], 0
        return inside[inside != key]

    def _fit(self, frames):
        """The cubic curves at these frames, and how far they are from the exact ones: radians or metres."""
        for begin in range(0, len(frames), BLOCK):
            self._fit_block(frames[begin:begin + BLOCK])

    def _fit_block(self, frames):
        before, after = self.before[frames], self.after[frames]
        span = (after - before).astype(np.float32)
        t = (frames - before).astype(np.float32) / span
        start, end = self.values.take(before, axis=1), self.values.take(after, axis=1)
        leave, arrive = self.slopes.take(before, axis=1) * span, self.slopes.take(after, axis=1) * span
        rise = end - start
        shape = start + t * (leave + t * (3 * rise - 2 * leave - arrive + t * (leave + arrive - 2 * rise)))
        self.fitted[:, frames] = shape = self._read(shape)
        apart = shape - self.exact[:, frames]
        size = 1 if self.curves.read is None else 2  # a rotation's quaternion changes by half its angle
        self.off[frames] = size * np.sqrt((apart * apart).sum(0))

    def _read(self, values):
        return values if self.curves.read is None else self.curves.read(values)


def _end_to_end(values):
    """Values (T, F, C) as (C, T F)."""
    return np.ascontiguousarray(values.reshape(-1, values.shape[-1]).T, dtype=np.float32)


def _speeds(positions, rate):
    """(J, F) how fast each joint moves over the ground, in m/s: the slower of the steps before and after a frame."""
    steps = np.hypot(*np.diff(positions[..., :2], axis=0).T) * rate
    return np.minimum(np.pad(steps, ((0, 0), (1, 0)), "edge"), np.pad(steps, ((0, 0), (0, 1)), "edge"))


def _line(skeleton, joint):
    """The joint and all that it hangs from."""
    while joint >= 0:
        yield joint
        joint = skeleton.parents[joint]
