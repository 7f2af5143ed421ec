# SPDX-License-Identifier: GPL-3.0-or-later
"""Directing in a real window: a curve, marks, Generate, and a curve that is moved afterwards."""

import numpy as np


def test_an_artist_draws_a_curve_and_the_walk_follows_it(blender, pictures):
    found = blender.play("direct", pictures)
    assert found["generated"] and found["frames"] > 300
    assert found["updated"] and found["away"] < 0.15, "the take follows the curve, in one Action"
    # (ghosts, takes): as they are shown, chosen, and undone twice.
    assert found["ghosts"] == [[3, 4], [0, 1], [3, 4], [0, 1]]
    assert np.linalg.norm(np.subtract(found["mark after"], found["mark before"])) > 1
    assert found["background"] == [True, True, True], "a long path does not make anybody wait"
