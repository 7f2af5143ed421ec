# SPDX-License-Identifier: GPL-3.0-or-later
"""A character that is ready to bake."""

import pytest

from tests import walker


@pytest.fixture
def character(extension, tmp_path):
    """An armature with two clips, "walk" and "run", the preset "locomotion" and a file to bake into."""
    ob = walker.armature()
    return walker.ready(ob, tmp_path / "motion.mmdb", walker.walk(ob), walker.walk(ob, "run", 1.5, 3.0))
