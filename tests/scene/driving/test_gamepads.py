# SPDX-License-Identifier: GPL-3.0-or-later
"""The preferences say which gamepads there are, without looking for them while they draw."""

from types import SimpleNamespace

import bpy
import pytest

from mm_blender.scene.driving import gamepads


@pytest.fixture
def pads(monkeypatch):
    """The names of pads that are plugged in; `opened` counts how often somebody looked, `closed` how often it ended."""
    found = SimpleNamespace(names=[], notice="", opened=0, closed=0)

    def opened():
        found.opened += 1
        return found

    def close():
        found.closed += 1
    found.close = close
    monkeypatch.setattr(gamepads.Gamepads, "open", opened)
    monkeypatch.setattr(gamepads, "_answer", "")
    monkeypatch.setattr(gamepads, "_found", -gamepads.TRUSTED)
    yield found
    gamepads.unregister()


def test_it_is_found_out_later_and_then_trusted_for_a_while(pads):
    pads.names.append("Pad of a Friend")
    assert gamepads.sentence() == "" and pads.opened == 0 and bpy.app.timers.is_registered(gamepads.look)
    assert gamepads.look() is None
    bpy.app.timers.unregister(gamepads.look)
    assert gamepads.sentence() == "Pad of a Friend" and not bpy.app.timers.is_registered(gamepads.look)
    assert pads.opened == pads.closed == 1


def test_without_any_it_says_so(pads, monkeypatch):
    gamepads.look()
    assert "No gamepad is plugged in" in gamepads.sentence()
    pads.notice = 'SDL has no button layout for "Wheel".'
    gamepads.look()
    assert gamepads.sentence() == pads.notice
    monkeypatch.setattr(gamepads.Gamepads, "open", lambda: None)
    monkeypatch.setattr(gamepads.Gamepads, "_reason", "Gamepads need SDL.")
    gamepads.look()
    assert gamepads.sentence() == "Gamepads need SDL."


def test_while_driving_the_pads_of_the_session_are_told(pads, monkeypatch):
    session = SimpleNamespace(gamepads=SimpleNamespace(names=["Own Pad"], notice=""))
    monkeypatch.setattr(gamepads, "current", lambda: session)
    assert gamepads.sentence() == "Own Pad" and pads.opened == 0
