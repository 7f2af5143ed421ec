# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys mean what the person has made them mean, or else what the table says."""

from types import SimpleNamespace

import bpy
import pytest

from mm_blender.control.keyboard import CONTROLS
from mm_blender.scene.driving import keymap


@pytest.fixture
def own_keys(monkeypatch):
    """A table in which forward has moved to I, its second key is off, and back has lost its first key."""
    items = [SimpleNamespace(idname=f"mm_drive.{control}", type=key, active=True)
             for control in CONTROLS for key in keymap.KEYS[control]]
    items[0].type, items[1].active, items[2].type = "I", False, "NONE"
    monkeypatch.setattr(keymap, "keymap", lambda: SimpleNamespace(keymap_items=items))


def event(key, **more):
    return SimpleNamespace(type=key, **more)


def test_every_control_has_a_key_and_no_key_has_two_controls():
    keys = [key for some in keymap.KEYS.values() for key in some]
    assert set(keymap.KEYS) == set(CONTROLS) and all(keymap.KEYS.values())
    assert len(set(keys)) == len(keys) and set(keys) <= set(
        bpy.types.KeyMapItem.bl_rna.properties["type"].enum_items.keys())


def test_without_a_window_the_table_counts():
    assert keymap.keymap() is None
    assert keymap.control_of(event("W")) == "forward" and keymap.control_of(event("UP_ARROW")) == "forward"
    assert keymap.control_of(event("ESC")) == "cancel" and keymap.control_of(event("NUMPAD_ENTER")) == "keep"
    assert keymap.control_of(event("P")) is None and keymap.control_of(event("MOUSEMOVE")) is None


def test_modifiers_do_not_matter():
    for value in ("PRESS", "RELEASE"):
        assert keymap.control_of(event("W", value=value, shift=True, ctrl=True, alt=True)) == "forward"


def test_keys_that_the_person_has_changed_count(own_keys):
    assert keymap.control_of(event("I")) == "forward"
    assert keymap.control_of(event("W")) is None and keymap.control_of(event("UP_ARROW")) is None
    assert keymap.control_of(event("S")) is None and keymap.control_of(event("DOWN_ARROW")) == "back"
    assert keymap.labels() | {"forward": "I", "back": "↓"} == keymap.labels()


def test_keys_are_called_as_they_are_printed():
    labels = keymap.labels()
    assert list(labels) == list(CONTROLS)
    assert [labels[control] for control in ("forward", "run", "crouch", "strafe", "keep", "cancel")] == [
        "W", "Shift", "Ctrl", "Alt", "Enter", "Esc"]
