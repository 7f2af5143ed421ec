# SPDX-License-Identifier: GPL-3.0-or-later
"""Places and angles on the ground plane."""

import numpy as np
import pytest

from mm_blender.motion.plane import nearest_turn, to_numbers, to_points, wrapped


def test_angles_are_wrapped():
    np.testing.assert_allclose(wrapped(np.array([3.5, -3.5, 0.1])), [3.5 - 2 * np.pi, 2 * np.pi - 3.5, 0.1])


def test_the_nearest_turn_is_the_same_yaw_and_less_than_half_a_turn_away():
    assert nearest_turn(-3.0, 3.0) == pytest.approx(2 * np.pi - 3.0)


def test_points_and_numbers_are_the_same_places():
    points = np.array([[1.0, 2.0], [-3.0, 0.5]])
    assert to_numbers(points) == [1 + 2j, -3 + 0.5j]
    np.testing.assert_array_equal(to_points(to_numbers(points)), points)
