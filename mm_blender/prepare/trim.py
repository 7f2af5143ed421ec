# SPDX-License-Identifier: GPL-3.0-or-later
"""Cutting a clip, and noticing a rest pose that was left at its beginning."""

import numpy as np

from ..errors import MotionError

NEAR = 3.0  # degrees from the rest pose
MOST = 2 / 3  # of the moving joints are at rest in a rest pose; capture systems set a few otherwise
JUMP = 4.0  # degrees per frame on average over the joints, and as many times as fast as the fast frames afterwards


def rest_frames(clip):
    """How many frames at the beginning show the rest pose or T-pose, from which the motion then jumps away.

    A clip that begins at rest and moves on smoothly has none.
    """
    steps = _angles(clip.rotations[1:, 1:], clip.rotations[:-1, 1:])
    moving = steps.sum(axis=0) > 1
    if not moving.any():
        return 0
    at_rest = (_angles(clip.rotations[:, 1:], clip.skeleton.rotations[1:]) < NEAR)[:, moving].mean(axis=1) > MOST
    count = int(at_rest.argmin()) if not at_rest.all() else 0
    if count == 0:
        return 0
    pace = steps[:, moving].mean(axis=1)
    after = np.percentile(pace[count:], 90) if count < len(pace) else 0.0
    return count if pace[count - 1] > JUMP * max(1.0, after) else 0


def trim(clip, start=None, end=None):
    """The part of a clip from start to end, in seconds; both frames are inside, None leaves that end as it is."""
    start, end = 0.0 if start is None else start, clip.duration if end is None else end
    first = max(int(np.ceil(start * clip.rate - 1e-3)), 0)
    last = min(int(np.floor(end * clip.rate + 1e-3)), len(clip) - 1)
    if first > last:
        raise MotionError(f'Clip "{clip.name}" lasts {clip.duration:.2f} s: nothing is left of it from {start:.2f} s '
                          f"to {end:.2f} s.")
    return clip.slice(first, last + 1)


def _angles(a, b):
    """Degrees between rotations (…, 4)."""
    # From the chord: the arc cosine of a float32 near one cannot tell zero from a twentieth of a degree.
    chord = np.sqrt(np.minimum(((a - b) ** 2).sum(-1), ((a + b) ** 2).sum(-1)))
    return np.degrees(4 * np.arcsin(np.clip(chord / 2, 0, 1)))
