# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig that has nothing to do with the motion, in a real window."""

from tests.window.harness import ROOT


def test_a_target_a_fresh_rigify_human_walks_within_two_minutes(blender, pictures, request):
    if (ROOT.parent / "shared" / "data" / "cmu.tar.xz").exists():
        request.getfixturevalue("cmu")
    found = blender.play("target", pictures)
    assert found["target"], "the rig that was active is what imported motion is for"
    assert found["driving"] and found["seconds until it walks"] < 120
    walking, standing = found["walking"], found["standing"]
    assert walking["speed"] > 0.6 and 1.5 < walking["head"][2] < 1.9 and 0.8 < walking["hips"][2] < 1.2
    assert all(abs(walking["hips"][axis] - walking["root"][axis]) < 0.4 for axis in (0, 1))
    assert standing["speed"] < 0.4 and max(standing["left"][2], standing["right"][2]) < 0.08, "it stands on its feet"
    assert not any("may not show" in sentence for sentence in found["sentences"])
    assert found["restored"], "Esc brings back pose and properties"
    assert found["kept"] == [f"{'rig'} Drive", 1.0] and abs(found["travelled"][1]) + abs(found["travelled"][0]) > 0.8
    assert found["undone"]
