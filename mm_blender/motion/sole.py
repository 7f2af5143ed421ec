# SPDX-License-Identifier: GPL-3.0-or-later
"""The sole of a foot without toes: where its bone ends, or, where that cannot be meant, about where it has to be.

An end site of a BVH file and the tail of a bone that an artist has drawn mostly lie where the foot does. Importers
invent tails: up, backwards, or metres away.
"""

import numpy as np

from . import quat

# Shares of the shin: an end that is nearer is none, and no foot is longer. Ankles are so high above the ground of a
# rest pose that stands on it: a lower one touches the ground itself, and with a higher one the ground is elsewhere.
SHORTEST, LONGEST = 0.05, 1.5
ON_GROUND, HIGHEST = 0.02, 0.7
# A foot leads ahead, not further to the side than so much (cosine); one of which only the ankle is known is so long
# (share of the shin), up to the ball of the toes.
AHEAD, USUAL = 0.5, 0.3
# An end within these shares of the ankle's height under the ankle is on the ground.
DOWN = 0.5, 1.3


def sole_of(character, side):
    """Where the sole of a foot without toes is, in the frame of its joint: (0, 0, 0) where nothing tells."""
    none = 0.0, 0.0, 0.0
    end = np.array(character.skeleton.ends.get(character.roles[f"{side}_foot"], none))
    needed = "left_thigh", "right_thigh", f"{side}_thigh", f"{side}_shin", f"{side}_foot"
    if not end.any() or not all(map(character.has, needed)):
        return none
    joints, (places, turns) = [character.joint(role) for role in needed], character.skeleton.rest
    left, right, hip, knee, ankle = places[joints].astype(float)
    size, length, turn = np.linalg.norm(knee - ankle), np.linalg.norm(end), turns[joints[-1]].astype(float)
    if not size:
        return none
    if not hip[2] > knee[2] > ankle[2]:  # a rest pose that does not stand tells neither what is down nor where ahead is
        return tuple(end.tolist()) if 2 * SHORTEST < length / size < LONGEST else none
    across = right - left
    ahead = np.array([-across[1], across[0], 0.0]) / max(np.linalg.norm(across[:2]), 1e-9)
    found = _on_ground(quat.rotate(turn, end), ankle[2], size, ahead)
    return none if found is None else tuple(quat.inv_rotate(turn, found).tolist())


def _on_ground(way, height, size, ahead):
    """The way from an ankle, so high above the ground of the rest pose, to the sole; None if it cannot be told.

    way    from the ankle to the bone's end
    size   of the shin
    ahead  where the character faces
    """
    knows_ground, level = ON_GROUND * size < height < HIGHEST * size, way * [1, 1, 0]
    across, length = np.linalg.norm(level), np.linalg.norm(way)
    leads = SHORTEST * size < length < LONGEST * size and level @ ahead >= AHEAD * across
    if not knows_ground:
        return way if leads and across > AHEAD * length and way[2] < SHORTEST * size else None
    if leads and DOWN[0] < -way[2] / height < DOWN[1]:
        return way
    if not leads or across < SHORTEST * size:
        level = USUAL * size * ahead
    return level - [0, 0, height]
