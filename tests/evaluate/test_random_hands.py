# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands by chance do what they are named after."""

import numpy as np

from mm_blender.control import stick
from mm_blender.evaluate import random_hands


def test_hands_that_go_sideways_face_one_way_and_go_all_others():
    course = random_hands.sideways(120, seed=1)
    columns = [stick.NAMES.index(name) for name in ("strafe", "face_x", "face_y")]
    assert len(np.unique(course.values[:, columns], axis=0)) == 1 and course.values[0, columns[0]] == 1
    moves = course.values[np.hypot(*course.values[:, :2].T) > 0.5, :2]
    assert {*np.sign(moves @ course.values[0, columns[1:]])} == {-1, 1} and len(np.unique(moves, axis=0)) > 20
    assert not np.array_equal(random_hands.sideways(120, seed=2).values[0], course.values[0])
