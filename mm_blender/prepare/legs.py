# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the legs of a clip can bend."""

import numpy as np

from ..errors import MotionError

# A bone of a leg that is shorter than this share of it has no length: the leg cannot bend.
STUB = 1e-3


def check_legs(clip, character):
    """Fails if a leg cannot bend, for then its foot cannot be held."""
    for limb in (limb for limb in character.limbs if limb.bends):
        names = [character.roles.get(role) for role in limb.roles[:3]]
        if not all(name in clip.skeleton.names for name in names):
            continue
        joints = [clip.skeleton.index(name) for name in names]
        if clip.skeleton.parents[joints[1:]].tolist() != joints[:-1]:
            continue  # with bones between
        lengths = np.linalg.norm(clip.positions[:, joints[1:]], axis=-1).min(axis=0)
        if lengths.min() <= STUB * lengths.max():
            short = int(lengths.argmin())
            raise MotionError(f'Clip "{clip.name}" has "{names[short]}" and "{names[short + 1]}" in the same place, '
                              "where no leg can bend: give the bone a length, or the roles to other bones.")
