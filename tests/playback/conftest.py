# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo motion, ready to be played."""

import pytest

from mm_blender.playback.library import search_of
from mm_blender.playback.matcher import BakedMotion


@pytest.fixture(scope="session")
def motion(demo_database):
    return BakedMotion(demo_database)


@pytest.fixture(scope="session")
def search(demo_database):
    return search_of(demo_database)
