# SPDX-License-Identifier: GPL-3.0-or-later
"""Loops, recognised: a clip that ends as it begins, in pose and in motion, may go round."""

import numpy as np

from ..motion import quat

# How far joints may be apart on average: a share of the way from hips to feet in any case, or so many steps from frame
# to frame, as the last frame may show the first pose again or lead on to it.
SAME, STEPS = 0.004, 1.5
# How much more their velocities may change at the seam than they do from one frame to the next elsewhere.
JERK = 2.5
# At its seam a loop goes on, with this share of its usual pace: what begins and ends at rest happens once. Unless it is
# all rest, slower than this (ways from hips to feet per second).
GOES_ON, CALM = 0.33, 0.12
# Frames that a loop has at least, and seconds.
FEWEST, SHORTEST = 5, 0.3
NEEDED = ("hips", "left_thigh", "right_thigh", "left_foot")


def is_loop(clip, character):
    """Whether the last frame of a clip shows the first one's pose again, or leads on to it, and goes on like it."""
    names = clip.skeleton.names
    if len(clip) < FEWEST or clip.duration < SHORTEST or any(character.roles.get(role) not in names for role in NEEDED):
        return False
    places, leg = _seen_from_hips(clip, character)
    steps = np.diff(places, axis=0)
    begin, end, pace = _size(steps[:1]), _size(steps[-1:]), _size(steps)
    if _size(places[-1:] - places[:1]) > max(SAME * leg, STEPS * min(max(begin, end), pace)):
        return False
    changes = np.linalg.norm(np.diff(steps, axis=0), axis=-1).mean(axis=-1)
    if _size(steps[:1] - steps[-1:]) > JERK * changes.max():
        return False
    return bool(pace < CALM * leg / clip.rate or begin + end > 2 * GOES_ON * pace)


def _seen_from_hips(clip, character):
    """(F, J, 3) where the joints are, seen from a place on the ground under the hips that faces as they do; and the way
    from hips to feet."""
    positions, _ = clip.globals()
    joint = {part: clip.skeleton.index(character.roles[part])
             for part in ("hips", "left_thigh", "right_thigh", "left_foot")}
    right = positions[:, joint["right_thigh"]] - positions[:, joint["left_thigh"]]
    back = quat.from_yaw(-quat.yaw(quat.cross(quat.AXES[2], right)))
    level = positions[:, joint["hips"], None] * (1, 1, 0)
    # What has no part in the body, such as a root that stays behind, says nothing of the pose.
    below = [index for index in range(len(clip.skeleton)) if joint["hips"] in clip.skeleton.ancestors(index)]
    feet = [clip.skeleton.index(name) for role, name in character.roles.items() if role.endswith(("_foot", "_toe"))]
    seen = quat.rotate(back[:, None], positions - level)[:, sorted({*below, *feet})]
    leg = np.linalg.norm(positions[0, joint["hips"]] - positions[0, joint["left_foot"]])
    return seen.astype(np.float64), float(leg)


def _size(moves):
    """How far joints (F, J, 3) move on average."""
    return float(np.linalg.norm(moves, axis=-1).mean())
