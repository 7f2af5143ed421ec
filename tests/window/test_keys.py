# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of driving are the person's own, and some of them choose a gait."""


def test_a_key_that_was_changed_steers_and_the_old_one_does_not(blender, pictures):
    found = blender.play("keys", pictures, shared=True)
    assert found["labels"]["forward"] == "W" and found["shortcut"] == "Shift Ctrl D"
    assert found["changed"] == "I" and found["restored"] == "W"
    assert found["W"] < 0.3 < 0.8 < found["I"]
    assert found["UP_ARROW"] > 0.8, "the second key is still there"
    (run, fast), (crouch, slow), (walk, usual) = found["gaits"]
    assert (run, crouch, walk) == ("run", "crouch", "walk") and slow < usual < fast
    assert found["gamepads"]
