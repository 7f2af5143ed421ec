# SPDX-License-Identifier: GPL-3.0-or-later
"""Training in a real window: Blender stays usable, and nothing is lost whatever happens meanwhile."""

import time

import pytest

from mm_blender.training.watching.run import look
from tests.window.harness import FASTEST


def test_an_artist_trains_cancels_and_resumes(blender, pictures):
    found = blender.play("train", pictures, timeout=600)
    assert not found["before bake"]
    if not found["torch"]:
        pytest.skip("no Python with torch was found")
    assert found["first"]["word"] == "running" and not found["first"]["trouble"]
    assert found["undo"]["undone"] and found["undo"]["word"] == "running", "undo and another name do not touch it"
    assert 0 < found["first"]["share"] < found["running"]["share"] and found["running"]["figures"]["joint_error_cm"] > 0
    assert found["cancel"]["word"] == "stopping", "nobody waits for it"
    assert (found["cancelled"]["word"], found["cancelled"]["resumable"], found["cancelled"]["file"]) == (
        "cancelled", True, False)
    assert found["done"]["word"] == "done" and found["done"]["file"] and not found["done"]["trouble"]
    assert found["done"]["figures"]["verdict"] in ("good", "usable", "not yet")


def test_experts_are_trained_and_driven_with_blends_of_latents(blender, pictures):
    found = blender.play("experts", pictures, timeout=600)
    if not found["torch"]:
        pytest.skip("no Python with torch was found")
    assert found["trained"]["word"] == "done" and found["trained"]["file"] and not found["trained"]["trouble"]
    assert found["walking"]["method"] == "Learned" and not found["walking"]["clip"]
    assert found["fades"][0] > 0 and found["fades"][1:] == ["moe", 2]
    assert 0.3 < found["walking"]["speed"] < 3.5 and found["fastest"] < FASTEST and found["over"]


def test_whatever_goes_wrong_is_told_in_a_sentence_and_nothing_is_lost(blender, pictures):
    found = blender.play("train_trouble", pictures, timeout=600)
    assert found["no python"].startswith("No Python with torch was found: make a private one")
    assert '"/nowhere/python" cannot be started' in found["no torch"]
    assert found["not started"]["word"] == "failed" and "preferences" in found["not started"]["trouble"]
    if not found["torch"]:
        pytest.skip("no Python with torch was found")
    assert found["killed"]["word"] == "failed" and "(signal 9)" in found["killed"]["trouble"]
    assert found["killed"]["resumable"]
    assert found["queue"] == ["running", "waiting"] and found["left the queue"] == "none"
    assert found["another file"] and found["opened again"]["word"] == "running"
    assert found["disabled"]["word"] == "cancelled" and found["disabled"]["resumable"]
    left = found["when Blender ends"]
    assert left["word"] == "running"
    end = time.monotonic() + 60
    while look(left["output"]).word == "running":
        assert time.monotonic() < end, "the training goes on without Blender"
        time.sleep(0.2)
    assert look(left["output"]).word == "cancelled" and look(left["output"]).resumable
