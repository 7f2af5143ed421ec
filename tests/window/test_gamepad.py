# SPDX-License-Identifier: GPL-3.0-or-later
"""The SDL that comes with the zip reads a gamepad inside a real Blender, beside an SDL that Blender may have itself."""

import sys
from pathlib import Path

import pytest

import dev


def test_the_installed_extension_reads_a_gamepad(blender, pictures):
    if not dev.fetch_wheels(sys.executable):
        pytest.skip("the zip was built without wheels: they could not be fetched")
    found = blender.play("gamepad", pictures)
    assert found["reason"] == ""
    assert Path(found["library"]).is_relative_to(blender.profile), "another SDL than the zip's was found"
    assert found["no pad"] and found["names"] == ["Virtual Controller"]
    assert not any(found["at rest"].values())
    assert {name: value for name, value in found["pushed"].items() if value} == {"move_y": 1.0, "run": 1.0}
    assert found["pressed"] == ["keep"]
    assert found["pulled out"] and found["released"]
