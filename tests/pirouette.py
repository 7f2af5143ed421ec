# SPDX-License-Identifier: GPL-3.0-or-later
"""A pirouette of the demo character: on the tips of the left toes, twice round."""

import numpy as np

from mm_blender.motion import demo, quat
from mm_blender.motion.clip import Clip
from mm_blender.motion.roles import find_character
from mm_blender.motion.skeleton import backward

RATE, SECONDS, HEEL, KNEE, THIGH = 60, 4.0, 55, 100, 60  # degrees


def pirouette():
    """It rises from 0.6 to 1.1 s, and is down again at 3.5 s."""
    character = find_character(demo.skeleton())
    times = np.arange(round(SECONDS * RATE)) / RATE
    rises = _eased((times - 0.6) / 0.5) * _eased((3.5 - times) / 0.5)
    shown = [_frame(character, *each) for each in zip(rises, 4 * np.pi * _eased((times - 0.9) / 2.2))]
    local = backward(character.skeleton, *(np.array(part, dtype=np.float32) for part in zip(*shown)))
    return Clip("pirouette", character.skeleton, float(RATE), local[0], quat.unroll(local[1]))


def _frame(character, rise, yaw):
    """Where joints are and how they are turned, with the heel and the other knee up by this share."""
    skeleton = character.skeleton
    places, turns = (np.array(part, dtype=np.float64) for part in skeleton.rest)
    across = np.array([1.0, 0, 0]) * np.sign(places[character.joint("right_thigh"), 0])

    def bend(role, degrees, about=None):
        joint, turn = character.joint(role), quat.from_angle_axis(np.radians(degrees) * rise, across)
        below = [one for one in range(len(skeleton)) if joint in skeleton.ancestors(one)]
        pivot = places[joint if about is None else character.joint(about)].copy()
        places[below] = pivot + quat.rotate(turn, places[below] - pivot)
        turns[below] = quat.mul(turn, turns[below])

    bend("right_shin", -KNEE)
    bend("right_thigh", THIGH)
    ankle, toe = character.joint("left_foot"), character.joint("left_toe")
    before, toe_turn, toe_place = places[ankle].copy(), turns[toe].copy(), places[toe].copy()
    bend("left_foot", -HEEL, about="left_toe")
    turns[toe] = toe_turn
    others = [joint for joint in range(1, len(skeleton)) if joint not in (ankle, toe)]
    places[others] += places[ankle] - before
    turn, middle = quat.from_yaw(yaw), toe_place * [1, 1, 0]
    return middle + quat.rotate(turn, places - middle), quat.mul(turn, turns)


def _eased(share):
    share = np.clip(share, 0, 1)
    return share * share * (3 - 2 * share)
