# SPDX-License-Identifier: GPL-3.0-or-later
"""Driving in a real window, with keys and with a gamepad, and whatever else the artist does meanwhile."""

import sys

import pytest

import dev


@pytest.fixture(scope="module")
def several_viewports(blender, pictures):
    return blender.play("viewports", pictures, shared=True)


def test_an_artist_drives_with_the_keyboard(blender, pictures):
    found = blender.play("drive", pictures)
    assert found["shortcut"]
    assert 0.9 < found["walking"]["speed"] < 2.0 and "walk" in found["walking"]["tags"]
    assert found["running"]["speed"] > 2.2 and "run" in found["running"]["tags"]
    assert found["standing"]["speed"] < 0.2
    assert abs(found["turning"]["yaw"] - found["walking"]["yaw"]) > 0.7
    assert abs(found["strafing"]["yaw"] - found["standing"]["yaw"]) < 0.5 and found["strafing"]["speed"] > 0.4
    assert "crouch" in found["crouching"]["tags"] and "crouch" not in found["standing"]["tags"]
    assert found["slider"], "the sliders act at once"
    for moment in ("walking", "turning", "running", "standing"):
        assert found[moment]["apart"] < 0.2 and found[moment]["view apart"] < 0.8, moment
    assert found["restored"] and found["over"]
    kept = found["kept"]
    assert kept["new"] == 1 and kept["slot"] and kept["frames"] == pytest.approx(60 * kept["seconds"], abs=2)
    assert found["travelled"] > 1
    assert found["undone"] == {"action": True, "actions": True}, "one undo step takes all of it back"
    assert found["redone"]
    assert found["mm.drive_cancel"] == {"new": 0, "over": True} and found["mm.drive_keep"] == {"new": 1, "over": True}


def test_driving_survives_what_the_artist_does_meanwhile(blender, pictures):
    found = blender.play("survive", pictures)
    goes_on = {"driving": True, "shown": True, "flag": True}
    for moment in ("undo", "redo", "timeline", "rename", "pose mode", "without a bone", "workspace", "scene back",
                   "database gone", "before opening", "enabled"):
        assert {key: found[moment][key] for key in goes_on} == goes_on, moment
    assert found["autosave"], "the person is told that autosave waits"
    assert (found["undo"]["stay"], found["redo"]["stay"]) == (0, 0.5)
    assert found["after undo"] and found["after timeline"] and found["frame"] == 1
    assert found["rename"]["kept"] == "Hero Drive" and found["rename"]["paths"]
    assert "Edit Mode" in found["edit mode"][0] and "not in this scene" in found["scene"][0]
    assert found["held"] == ["forward"] and found["held after losing the focus"] == []
    assert found["orbited"] > 0.05 and found["held after orbiting"] == [], "no key sticks"
    assert found["held in a menu"] == ["forward", "run"], "the menu took the release"
    assert found["held after it"] == [], "no key sticks"
    assert found["stall"]["seconds"] < 1 and found["stall"]["way"] < 1.5
    assert "demo.mmdb" in found["no database"]
    assert found["opened"] == {"driving": False, "flag": False, "pose": True}
    assert "Undo brings it back" in found["deleted"][0] and found["deleted and cancelled"]
    assert found["disabled"] == "Demo Character Drive", "the take is kept"


@pytest.mark.parametrize("follow", [True, False])
def test_every_viewport_of_every_window_is_drawn_anew(several_viewports, follow):
    drawn = several_viewports[f"follow {follow}"]
    assert len(drawn) == 3 and drawn[0] > 5 and drawn[0] >= 0.8 * drawn[-1], drawn


def test_an_artist_drives_with_a_gamepad(blender, pictures):
    if not dev.fetch_wheels(sys.executable):
        pytest.skip("the zip was built without wheels: they could not be fetched")
    found = blender.play("drive_pad", pictures, shared=True)
    assert found["names"] == ["Virtual Controller"], "a pad that is plugged in while driving is found"
    for moment in ("half", "walk", "run"):
        assert found[moment]["device"] == "Virtual Controller"
    assert 0.2 < found["half"]["speed"] < 0.9 * found["walk"]["speed"], "a light push is slow"
    assert "run" in found["run"]["tags"] and found["run"]["speed"] > 1.5 * found["walk"]["speed"]
    assert found["orbit"] > 0.3 and found["strafe"]
    assert found["unplugged"]["speed"] < 0.3, "nobody holds the stick any more"
    assert found["kept"] == "Demo Character Drive"


def test_two_characters_among_walls_and_on_a_slope(blender, pictures):
    found = blender.play("walls", pictures, shared=True)
    ground, toes = found["on the slope"]["ground"], found["on the slope"]["toes"]
    assert found["up"][1] > 3 and ground > 0.3, "it walked up the slope"
    assert found["up"][2] - ground == pytest.approx(0.9, abs=0.15)
    assert all(abs(toe - ground) < 0.2 for toe in toes), "the feet are on it"
    assert found["driven"] != found["kept"][0].removesuffix(" Drive"), "the second character was driven"
    assert found["along the wall"][0] < 3.35 and found["along the wall"][1] > 1, "it slid along the wall at x = 3.35"
    assert len(set(found["kept"])) == 2 and all("Drive" in name for name in found["kept"])
