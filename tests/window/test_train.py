# SPDX-License-Identifier: GPL-3.0-or-later
"""Training in a real window: Blender stays usable, and nothing is lost whatever happens meanwhile."""

import pytest


def test_an_artist_trains_cancels_and_resumes(blender, pictures):
    found = blender.play("train", pictures, timeout=600)
    assert not found["before bake"]
    if not found["torch"]:
        pytest.skip("no Python with torch was found")
    assert found["first"]["word"] == "running" and not found["first"]["trouble"]
    assert found["undo"]["undone"] and found["undo"]["word"] == "running", "undo and another name do not touch it"
    assert found["running"]["figures"]["joint_error_cm"] > 0 and 0 < found["running"]["share"] < 1
    assert found["cancel"]["word"] == "stopping", "nobody waits for it"
    assert (found["cancelled"]["word"], found["cancelled"]["resumable"], found["cancelled"]["file"]) == (
        "cancelled", True, False)
    assert found["done"]["word"] == "done" and found["done"]["file"] and not found["done"]["trouble"]
    assert found["done"]["figures"]["verdict"] in ("good", "usable", "not yet")
