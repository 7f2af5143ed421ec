# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys act like a stick, and none of them sticks."""

import numpy as np
import pytest

from mm_blender.control.keyboard import TURNING, Keyboard


@pytest.fixture
def keyboard():
    return Keyboard()


def stick(keyboard, **more):
    return keyboard.poll(**{"heading": 0.0, "facing": 0.0, "seconds": 1 / 60} | more)


def test_two_keys_at_once_go_diagonally_and_no_faster(keyboard):
    keyboard.press("W", "forward")
    keyboard.press("D", "right")
    assert stick(keyboard).move == pytest.approx([np.sqrt(0.5), np.sqrt(0.5)])


def test_opposite_keys_cancel_out(keyboard):
    keyboard.press("A", "left")
    keyboard.press("D", "right")
    assert not stick(keyboard).move.any()


def test_a_control_lasts_until_both_of_its_keys_are_released(keyboard):
    keyboard.press("W", "forward")
    keyboard.press("UP_ARROW", "forward")
    assert keyboard.release("W")
    assert stick(keyboard).move_y == 1
    assert keyboard.release("UP_ARROW")
    assert stick(keyboard).move_y == 0
    assert not keyboard.release("UP_ARROW")


def test_losing_the_focus_lets_go_of_everything(keyboard):
    for key, control in (("W", "forward"), ("LEFT_SHIFT", "run"), ("LEFT_CTRL", "crouch")):
        keyboard.press(key, control)
    keyboard.release_all(besides=["LEFT_SHIFT"])
    assert keyboard.held == {"run"}
    keyboard.release_all()
    assert stick(keyboard) == type(stick(keyboard))()


def test_strafing_keeps_the_facing_wherever_the_view_turns(keyboard):
    keyboard.press("LEFT_ALT", "strafe")
    for heading in (0.0, 1.0, 2.5):
        now = stick(keyboard, heading=heading, facing=0.4 if heading == 0 else 9.9)
        yaw = heading + np.arctan2(-now.face_x, now.face_y)
        assert np.cos(yaw - 0.4) == pytest.approx(1)
        assert now.strafe == 1


def test_turning_while_strafing_takes_its_time(keyboard):
    keyboard.press("Q", "turn_left")
    stick(keyboard, strafe=True, facing=0.0)
    for _ in range(29):
        now = stick(keyboard, strafe=True)
    assert np.arctan2(-now.face_x, now.face_y) == pytest.approx(TURNING / 2)


def test_a_new_strafe_begins_with_the_facing_of_that_moment(keyboard):
    stick(keyboard, strafe=True, facing=1.0)
    stick(keyboard)
    now = stick(keyboard, strafe=True, facing=-1.0)
    assert np.arctan2(-now.face_x, now.face_y) == pytest.approx(-1.0)
