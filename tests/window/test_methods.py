# SPDX-License-Identifier: GPL-3.0-or-later
"""The method is switched while driving, and two are compared, in a real window."""

import pytest

from tests.window.harness import FASTEST


def test_an_artist_drives_with_each_method_and_compares(blender, pictures):
    found = blender.play("methods", pictures)
    if found["trouble"]["LMM"]:
        pytest.skip(f"no networks of the demo character: {found['trouble']['LMM']}")
    assert found["mm"]["method"] == found["mm again"]["method"] == "Motion Matching" and found["mm"]["clip"]
    assert found["lmm"]["method"] == "Learned" and not found["lmm"]["clip"]
    assert 0.8 < found["lmm"]["speed"] < 2.2 and found["lmm running"]["speed"] > 2.2
    assert not found["trouble"]["DMM"], "the networks that ship know the demo motion, whichever Blender bakes it"
    assert found["dmm"]["method"] == "Decompressed" and found["dmm"]["clip"] and 0.8 < found["dmm"]["speed"] < 2.2
    assert found["leap to poses"] < FASTEST
    assert found["leap"] < FASTEST and found["leap back"] < FASTEST, "no pop"
    compared = found["compare"]
    assert compared["beside"] == "Learned" and compared["copies"] == 2, "the armature and its body"
    assert 0 < compared["apart"][1] < 30
    assert 0.5 < (compared["way"][0] ** 2 + compared["way"][1] ** 2) ** 0.5 < 2
    assert found["after undo"] == {"copies": 2, "driving": True} and found["after saving"] == 2
    assert found["saved"] == [] and found["left"] == [] and found["after redo"] == 0 and found["over"]
    assert found["alone"]["method"] == "Learned" and found["alone"]["speed"] > 0.8
    assert found["kept"] == "Demo Character Drive"
