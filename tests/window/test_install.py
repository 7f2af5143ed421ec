# SPDX-License-Identifier: GPL-3.0-or-later
"""The zip installs into a clean Blender, is there when Blender starts, and leaves nothing behind when disabled."""


def test_an_installed_extension_shows_its_tab(blender, pictures):
    found = blender.play("start", pictures)
    assert found["tab"] == "Motion Matching"
    assert "create_demo" in found["operators"]


def test_disabling_leaves_nothing_behind_and_enabling_again_works(blender, pictures):
    found = blender.play("disable", pictures, factory=True)
    assert found["enabled"], "enabling added nothing to Blender, so this test looks in the wrong place"
    assert found["objects"], "the demo operator made nothing"
    assert found["left"] == {}
    assert found["enabled again"] == found["enabled"]
    assert found["left again"] == {}
