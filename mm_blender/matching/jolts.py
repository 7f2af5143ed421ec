# SPDX-License-Identifier: GPL-3.0-or-later
"""Where motion jolts, as in a hard step or a glitch."""

import numpy as np

from ..motion.skeleton import forward

# The legs jolt where one of their joints accelerates beyond this percentile of all frames, and so many times as much as
# usual. For so many seconds before that no frame is entered.
JOLT, UNUSUAL, BEFORE = 99, 3, 0.1
# Any joint jolts beyond so many times this percentile of all of them, as where a capture comes out of its first pose.
POP, RARE, SOME = 1.5, 99.9, 8  # that percentile is seen in one frame of eight


def steps_of(character, clip):
    """How far joints are from where their speed of the frame before would bring them: (F, 2) the hardest of the legs,
    and of all that have roles; and (S, J) each of these, in one frame of eight."""
    joints, limbs = character.skeleton.carrying([character.joint(role) for role in character.roles
                                                 if character.has(role)])
    of_legs, _ = character.skeleton.carrying([character.joint(role) for role in character.contact_roles()])
    steps = np.zeros((len(clip), 2), dtype=np.float32)
    if len(clip) <= 2:
        return steps, np.zeros((0, len(joints)), dtype=np.float32)
    places, _ = forward(limbs, clip.positions[:, joints], clip.rotations[:, joints])
    peaks = np.linalg.norm(np.diff(places, 2, axis=0), axis=-1)
    steps[1:-1, 0], steps[1:-1, 1] = peaks[:, np.searchsorted(joints, of_legs)].max(axis=1), peaks.max(axis=1)
    return steps, peaks[::SOME]


def sampled(frames):
    """How many rows of each joint's steps a clip of so many frames has."""
    return max(0, -(-(frames - 2) // SOME))


def jolts(steps, some):
    """The frames that jolt, of all clips together."""
    (of_legs, of_any), usual = steps.T, UNUSUAL * np.median(steps, axis=0)
    rare = POP * np.percentile(some, RARE) if some.size else 0
    return np.flatnonzero((of_legs > max(np.percentile(of_legs, JOLT), usual[0])) | (of_any > max(rare, usual[1])))
