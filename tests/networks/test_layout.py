# SPDX-License-Identifier: GPL-3.0-or-later
"""A pose survives being written as a row of numbers."""

import numpy as np
import pytest

from mm_blender.motion import quat
from mm_blender.networks.layout import Layout


def test_a_pose_comes_back_from_its_row():
    rng, layout = np.random.default_rng(0), Layout(joints=5, moving=2, contacts=2, tags=3)
    rotations = quat.absolute(quat.normalize(rng.normal(size=(10, 5, 4))))
    positions, travel = rng.normal(size=(10, 2, 3)), rng.normal(size=(10, 3))
    contacts, tags = rng.random((10, 2)) < 0.5, rng.random((10, 3)) < 0.5
    rows = layout.rows(positions, rotations, travel, contacts, tags)
    assert rows.shape == (10, layout.size) and rows.dtype == np.float32
    assert quat.absolute(layout.rotations(rows))[:, 1:] == pytest.approx(rotations[:, 1:], abs=1e-5)
    assert layout.positions(rows) == pytest.approx(positions, abs=1e-6)
    assert layout.travel(rows) == pytest.approx(travel, abs=1e-6)
    assert np.array_equal(layout.contacts_of(rows), contacts)
    assert np.array_equal(layout.tags_of(rows) > 0, tags)
