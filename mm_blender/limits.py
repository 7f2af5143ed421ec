# SPDX-License-Identifier: GPL-3.0-or-later
"""How much there may be of anything that a file or a setting asks for: more than any capture session has, and not so
much that a mistake takes all memory. The sentences name the limits."""

from .errors import MotionError

# Bytes of a file: an hour of 100 joints at 30 frames per second; six hours of a stick; what people list by hand.
BVH, TABLE, LIST = 500_000_000, 100_000_000, 10_000_000
JOINTS = 2_000  # of a skeleton: those that deform a body with face and hands are some hundreds
# A pose of one joint is what counts in memory. LAFAN1, mirrored at 240 frames per second, has 183 million in all.
FRAMES, POSES, ALL_POSES = 2_000_000, 30_000_000, 300_000_000
TAGS, TAG_NAMES, QUERY = 10_000, 500, 5_000  # ranges in a clip; names in a database; letters of a tag query
FURTHEST = 1e7  # metres from where a scene begins
HIGHEST = 1e9  # of a custom property, and of what features are before they are normalised
SLOWEST = 1.0  # frames per second: with fewer it is no motion, and each would be stretched over a hundred


def check_joints(what, count):
    if count > JOINTS:
        raise MotionError(f"{what} has {count:,} joints, and a skeleton has at most {JOINTS:,}: leave some out.")


def check_rate(what, rate):
    if not rate >= SLOWEST:
        raise MotionError(f"{what} has {rate:.2g} frames per second, and motion has at least {SLOWEST:g}: look at its "
                          "frame rate.")


def check_clip(what, frames, joints=1):
    """Fails before a clip of so many frames is made; what: its name, as a sentence begins with it."""
    most = min(FRAMES, POSES // max(joints, 1))
    if not frames <= most:
        of = f" of {joints:,} joints" if most < FRAMES else ""
        raise MotionError(f"{what} would have {_many(frames)} frames, and a clip{of} has at most {most:,}: look at its "
                          "frame rate, or cut it into parts.")


def check_all(frames, joints):
    """Fails before a database of so many frames is made."""
    most = ALL_POSES // max(joints, 1)
    if not frames <= most:
        raise MotionError(f"All clips together would have {_many(frames)} frames, and a database of {joints:,} joints "
                          f"has at most {most:,}: bake fewer clips or at a lower rate, or without their mirror images.")


def _many(number):
    return f"{number:,.0f}" if number < 1e12 else "far too many"
