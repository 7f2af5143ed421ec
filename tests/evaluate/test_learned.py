# SPDX-License-Identifier: GPL-3.0-or-later
"""Learned motion stays near the data: what is measured is what is meant, and the networks that ship keep to it."""

from pathlib import Path

import numpy as np
import pytest

from mm_blender.evaluate import learned
from mm_blender.evaluate.courses import all_courses
from mm_blender.networks.library import LearnedLibrary, library_for
from mm_blender.playback.library import BakedLibrary
from tests.networks.conftest import untrained

SHIPPED = Path(__file__).resolve().parents[2] / "trained" / "demo.mmnet"
# As a share of how far two frames are from each other; those that ship came to 0.41.
FAR = 0.5


@pytest.fixture(scope="module")
def usual(demo_database):
    return BakedLibrary(demo_database)


def test_the_nearest_frame_is_found(demo_database):
    frames = np.array([3, 500, 12345])
    assert learned.nearest(demo_database, demo_database.features[frames]) == pytest.approx(0, abs=5e-3)
    beside = demo_database.features[frames].copy()
    beside[:, 0] += 100  # further away than all of the data is wide: about as far as that
    assert learned.nearest(demo_database, beside) == pytest.approx(100, rel=0.1)


def test_frames_of_the_database_do_not_stray(usual, demo_database):
    assert learned.strays(usual, demo_database, 5, count=2).max() < 1e-3


def test_networks_that_have_learned_nothing_stray(demo_database):
    library = LearnedLibrary(untrained(demo_database))
    assert learned.strays(library, demo_database, 5, count=2).max() > FAR


@pytest.mark.skipif(not SHIPPED.exists(), reason="no networks of the demo character ship yet")
def test_ten_minutes_of_random_driving_never_leave_the_data(usual, demo_database):
    library = library_for("lmm", SHIPPED, usual)
    far = learned.strays(library, demo_database, 20, count=30)
    assert far.max() < FAR and np.mean(far) < 0.2


@pytest.mark.skipif(not SHIPPED.exists(), reason="no networks of the demo character ship yet")
def test_on_the_courses_the_networks_that_ship_follow_as_the_database_does(usual, demo_database):
    here, there = (learned.drive_courses(library, demo_database, list(all_courses(40).values()))
                   for library in (usual, library_for("lmm", SHIPPED, usual)))
    for name in ("distance to the simulated root, m", "seconds to a new velocity", "acceleration at transitions"):
        assert there[name] < 1.25 * here[name], name
    assert there["slide of low feet over the ground, cm/s"] < 2
