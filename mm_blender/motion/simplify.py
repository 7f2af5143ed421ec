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
ROUNDS = 16  # then nothing helps: a key on each frame may still be too few for what happens between frames
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
    allowed = np.full(exact.shape[1::-1], MARGIN * tolerance)
    # Only where there can be keys: between them a foot that stands may tremble whatever one does.
    allowed[:, ::every] *= np.clip(_speeds(exact[::every], clip.rate / every) / FREE, RESTING, 1)
    fits = [_Fit(clip, each, allowed, every) for each in curves]
    for step in dict.fromkeys((every, 1)):  # most keys are found with less to look at
        for fit in fits:
            fit.look_at(step)
        _settle(clip, fits, exact, allowed)
    return [fit.kept.reshape(each.values.shape[:2]) for fit, each in zip(fits, curves)]


def _settle(clip, fits, exact, allowed):
    """More keys, until no joint is further from where it was (F, J, 3) than allowed (J, F), or nothing helps."""
    apart = np.zeros_like(allowed)
    for _ in range(ROUNDS):
        for fit in fits:
            fit.refine()
        frames = np.flatnonzero(np.any([fit.changed.any(axis=0) for fit in fits], axis=0))
        positions, rotations = clip.positions[frames], clip.rotations[frames]
        for fit in fits:
            fit.pose(positions, rotations, frames)
        places, _ = forward(clip.skeleton, positions, rotations)
        apart[:, frames] = np.linalg.norm(places - exact[frames], axis=-1).T
        over = apart / allowed
        if over.max() <= 1:
            break
        # Errors of a whole chain add up: where they come to too much, all of its bones have to be better.
        for joint in range(len(over) - 1, 0, -1):
            parent = clip.skeleton.parents[joint]
            np.maximum(over[parent], over[joint], out=over[parent])
        for fit in fits:
            fit.tighten(over)


class _Fit:
    """Curves and the keys they have so far. All curves lie end to end in one row: frame f of curve t is t F + f."""

    def __init__(self, clip, curves, allowed, every):
        count, frames, _ = curves.values.shape
        self.curves, self.every = curves, every
        self.values, self.slopes = _end_to_end(curves.values), _end_to_end(np.gradient(curves.values, axis=1))
        self.exact = self._read(self.values)
        self.frames = np.tile(np.arange(frames), count)
        self.kept = (self.frames == 0) | (self.frames == frames - 1)
        self.fitted, self.off = self.exact.copy(), np.zeros(count * frames, dtype=np.float32)
        self.changed = np.zeros((count, frames), dtype=bool)  # since pose() looked
        self.limits = self._limits(clip.skeleton, allowed).ravel()
        if curves.read is None:
            self.ahead = clip.skeleton.rotations[curves.joints].T[..., None]
        else:  # what comes before a bone's own rotation
            shown = clip.rotations[:, curves.joints].transpose(2, 1, 0).reshape(4, -1)
            self.ahead = quat.mul(shown, quat.inv(self.exact, axis=0), axis=0)

    def look_at(self, step):
        """From now on, only every so many-th frame counts."""
        row = np.arange(len(self.kept))
        self.before = np.maximum.accumulate(np.where(self.kept, row, 0))  # the key before each frame, and that after
        self.after = np.minimum.accumulate(np.where(self.kept, row, len(row))[::-1])[::-1]
        self.seen = np.flatnonzero(self.frames % step == 0)
        self._fit(self.seen[~self.kept[self.seen]])
        self.changed.reshape(-1)[self.seen] = True

    def refine(self):
        """More keys, until no curve is further off than its limits."""
        inside = self.seen[~self.kept[self.seen]]
        while len(inside := self._split(inside)):
            self._fit(inside)

    def tighten(self, over):
        """Smaller limits where errors (J, F) are more than what is allowed, which is 1."""
        over = over[self.curves.joints].ravel()
        wrong = np.flatnonzero(over > 1)
        self.limits[wrong] /= np.clip(over[wrong], 1.25, 3)

    def pose(self, positions, rotations, frames):
        """Write what the curves show at frames (N,) into their local transforms (N, J, …)."""
        joints, shape = self.curves.joints, (len(self.fitted), *self.curves.values.shape[:2])
        fitted = self.fitted.reshape(shape)[..., frames]
        if self.curves.read is None:
            moved = quat.rotate(self.ahead, fitted - self.exact.reshape(shape)[..., frames], axis=0)
            positions[:, joints] += moved.transpose(2, 1, 0)
        else:
            turned = quat.mul(self.ahead.reshape(shape)[..., frames], fitted, axis=0)
            rotations[:, joints] = turned.transpose(2, 1, 0)
        self.changed[:] = False

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
        self.changed.reshape(-1)[inside] = True
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
