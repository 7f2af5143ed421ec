# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg bends towards any goal, and where it has no room or no length nothing is divided by zero."""

import itertools

import numpy as np
import pytest

from mm_blender.playback.legs import swung

HIP, FRONT = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)


@pytest.mark.parametrize("thigh, shin", [
    ((0, 0, -0.5), (0, 0, 0.5)), ((0, 0, 0), (0, 0, -0.5)), ((0, 0, -0.5), (0, 0, 0)), ((0, 0, 0), (0, 0, 0)),
])
@pytest.mark.parametrize("foot", [(0, 0.1, -0.1), (0, 0, 0)])
def test_a_folded_leg_and_bones_without_length_give_swings_that_are_numbers(thigh, shin, foot):
    toe = tuple(np.sum([HIP, thigh, shin, foot], axis=0).tolist())
    for goal, has_toes, pitch in itertools.product((toe, HIP, (0.0, 5.0, 0.0)), (True, False), (0.0, 0.5)):
        swings = swung((HIP, thigh, shin, foot, FRONT, toe), goal, 0.98, has_toes, pitch)
        assert np.allclose(np.linalg.norm(swings, axis=-1), 1, atol=1e-6), (goal, has_toes, pitch)
