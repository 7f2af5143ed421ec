# SPDX-License-Identifier: GPL-3.0-or-later
"""How much there may be of anything that a file or a setting asks for: more than any capture session has, and not so
much that a mistake takes all memory. The sentences name the limits."""

from .errors import MotionError

# Bytes of a file: an hour of 100 joints at 30 frames per second; six hours of a stick; what people list by hand.
BVH, TABLE, LIST = 500_000_000, 100_000_000, 10_000_000
JOINTS = 5_000  # of a skeleton: the largest control rigs with faces have 2,000
# A pose of one joint is what counts in memory. LAFAN1, mirrored at 240 frames per second, has 183 million in all.
FRAMES, POSES, ALL_POSES = 1_000_000, 30_000_000, 300_000_000
TAGS, TAG_NAMES = 10_000, 500  # ranges in a clip; names in a database
FURTHEST = 1e7  # metres from where a scene begins


def check_joints(what, count):
    if count > JOINTS:
        raise MotionError(f"{what} has {count:,} joints, and a skeleton has at most {JOINTS:,}: leave some out.")


def check_clip(what, frames, joints=1):
    """Fails before a clip of so many frames is made; what: its name, as a sentence begins with it."""
    most = min(FRAMES, POSES // max(joints, 1))
    if not frames <= most:
        of = f" of {joints:,} joints" if most < FRAMES else ""
        raise MotionError(f"{what} would have {frames:,.0f} frames, and a clip{of} has at most {most:,}: look at its "
                          "frame rate, or cut it into parts.")


def check_all(frames, joints):
    """Fails before a database of so many frames is made."""
    most = ALL_POSES // max(joints, 1)
    if not frames <= most:
        raise MotionError(f"All clips together would have {frames:,.0f} frames, and a database of {joints:,} joints "
                          f"has at most {most:,}: bake fewer clips or at a lower rate, or without their mirror images.")
