# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip at another rate or speed: cubic curves that do not swing past a pose that is held."""

import numpy as np

from ..errors import MotionError
from ..limits import check_clip
from ..motion import quat
from ..motion.clip import Tag


def resample(clip, rate, speed=1.0):
    """The clip at `rate` frames per second, played `speed` times as fast.

    Frames that fall on old frames keep their values. A loop keeps closing: where its last frame repeats the first one
    it still does, otherwise the last frame still leads on to the first, and the cycle is stretched by less than half a
    frame to last a whole number of frames.
    """
    if not (0 < rate < np.inf and 0 < speed < np.inf):
        raise MotionError(f'Clip "{clip.name}" cannot be resampled to {rate} frames per second at speed {speed}: '
                          "both must be above zero.")
    if rate == clip.rate and speed == 1:
        return clip
    check_clip(f'At {rate:,.7g} frames per second clip "{clip.name}"', clip.duration / speed * rate)
    times, source = _times(clip, rate, speed), clip
    if clip.loop and times[-1] > len(clip) - 1:
        source = _closed(clip)
    frame, part = _split(times, len(source))
    nearest = np.rint(times).astype(int) % len(clip)
    return clip.with_changes(
        rate=float(rate),
        positions=_curve(source.positions, frame, part),
        rotations=_turn(source.rotations, frame, part),
        tags=tuple(Tag(tag.name, tag.start / speed, tag.end / speed) for tag in clip.tags),
        contacts=None if clip.contacts is None else clip.contacts[nearest],
        curves={name: _curve(np.asarray(curve, dtype=np.float32), frame, part)
                for name, curve in source.curves.items()})


def closed(clip):
    """A loop that ends with the pose that it begins with: where the last frame leads on to the first, that comes once
    more. Other clips stay as they are."""
    if not clip.loop or len(clip) < 2 or _repeats(clip):
        return clip
    longer = _closed(clip).slice(0, len(clip) + 1)
    tags = tuple(Tag(tag.name, tag.start, tag.end + (tag.end * clip.rate > len(clip) - 1.5) / clip.rate)
                 for tag in clip.tags)
    return longer.with_changes(tags=tags, loop=True)


def _times(clip, rate, speed):
    """Where the new frames lie, counted in old frames."""
    step = clip.rate * speed / rate
    if not clip.loop:
        return np.arange(np.floor((len(clip) - 1) / step + 1e-6) + 1) * step
    repeats = _repeats(clip)
    cycle = len(clip) - 1 if repeats else len(clip)
    count = max(round(cycle / step), 1)
    return np.arange(count + repeats) * (cycle / count)


def _repeats(clip, near=0.9999):
    """Whether the last frame shows the first one's pose again (joint 0 may have travelled)."""
    if len(clip) < 3:
        return False
    return bool((np.abs((clip.rotations[0, 1:] * clip.rotations[-1, 1:]).sum(-1)) > near).all())


def _closed(clip):
    """The loop with its first two frames after the last, joint 0 travelling on at the pace of both ends."""
    rotations = np.concatenate([clip.rotations, clip.rotations[:2]])
    positions = np.concatenate([clip.positions, clip.positions[:2]])
    turns = quat.log(quat.absolute(quat.inv_mul(clip.rotations[[-2, 0], 0], clip.rotations[[-1, 1], 0])))
    steps = quat.inv_rotate(clip.rotations[[-2, 0], 0], clip.positions[[-1, 1], 0] - clip.positions[[-2, 0], 0])
    for ahead, (turn, step) in enumerate([(turns.mean(0), steps.mean(0)), (turns[1], steps[1])]):
        last = len(clip) - 1 + ahead
        positions[last + 1, 0] = positions[last, 0] + quat.rotate(rotations[last, 0], step)
        rotations[last + 1, 0] = quat.mul(rotations[last, 0], quat.exp(turn))
    curves = {name: np.concatenate([curve, curve[:2]]) for name, curve in clip.curves.items()}
    return clip.with_changes(positions=positions, rotations=rotations, curves=curves, contacts=None)


def _split(times, count):
    """Times as a frame that has a successor, and the part of the step after it."""
    frame = np.clip(np.floor(times + 1e-6).astype(int), 0, max(count - 2, 0))
    return frame, np.clip(times - frame, 0, 1).astype(np.float32)


def _curve(values, frame, part):
    """Values (F, …) on a cubic Hermite curve."""
    if len(values) == 1:
        return values[frame]
    steps = np.diff(values, axis=0)
    slopes = _slopes(steps, np.abs)
    t = part.reshape(-1, *[1] * (values.ndim - 1))
    step, start, end = steps[frame], slopes[frame], slopes[frame + 1]
    return values[frame] + t * (start + t * ((3 * step - 2 * start - end) + t * (start + end - 2 * step)))


def _turn(rotations, frame, part):
    """Rotations (F, J, 4) on a spherical cubic: three turns, one after the other, by the cumulative Bernstein weights.

    The first and last turn are a third of the angular velocities at the ends, so the curve is smooth at every frame.
    """
    if len(rotations) == 1:
        return rotations[frame]
    steps = quat.log(quat.absolute(quat.inv_mul(rotations[:-1], rotations[1:])))
    thirds = _slopes(steps, _length) / 3
    back = quat.exp(-thirds)
    middle = quat.log(quat.absolute(quat.mul(quat.mul(back[:-1], quat.exp(steps)), back[1:])))
    t = part[:, None, None]
    turned = quat.mul(rotations[frame], quat.exp((1 - (1 - t) ** 3) * thirds[frame]))
    turned = quat.mul(turned, quat.exp(t * t * (3 - 2 * t) * middle[frame]))
    turned = quat.mul(turned, quat.exp(t ** 3 * thirds[frame + 1]))
    return quat.unroll(quat.normalize(turned))


def _slopes(steps, size):
    """The slope per frame at every frame, from the steps (F - 1, …) between them: central differences over five frames.

    Never longer than three times the larger of the two steps before, or of the two after (Fritsch and Carlson's bound,
    on the length that `size` measures): zero throughout a hold, so that nothing moves within it or swings past it.
    Looking at one step on each side only would also flatten every peak that lies midway between two frames.
    """
    ends = np.concatenate([steps[:1], steps[:1], steps, steps[-1:], steps[-1:]])
    slopes = (7 * (ends[1:-2] + ends[2:-1]) - ends[:-3] - ends[3:]) / 12
    near, length = size(ends), size(slopes)
    limit = 3 * np.minimum(np.maximum(near[:-3], near[1:-2]), np.maximum(near[2:-1], near[3:]))
    return slopes * np.where(length > limit, limit / np.where(length > limit, length, 1), 1)


def _length(v):
    return np.sqrt((v * v).sum(-1, keepdims=True))
