# SPDX-License-Identifier: GPL-3.0-or-later
"""Gamepads steer through SDL itself: its virtual joysticks are plugged in, pushed and pulled out like real ones."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mm_blender.control import gamepad
from mm_blender.control.gamepad import Gamepads
from mm_blender.control.stick import Stick

ROOT = Path(__file__).resolve().parent.parent.parent


class Virtual:
    """A virtual joystick; a gamepad unless told otherwise."""

    def __init__(self, sdl, kind="GAMECONTROLLER"):
        self.sdl = sdl
        index = sdl.SDL_JoystickAttachVirtual(getattr(sdl, f"SDL_JOYSTICK_TYPE_{kind}"), 6, 15, 0)
        assert index >= 0, sdl.SDL_GetError()
        self.joystick = sdl.SDL_JoystickOpen(index)
        self.number = sdl.SDL_JoystickInstanceID(self.joystick)

    def push(self, axis, value):
        number = getattr(self.sdl, f"SDL_CONTROLLER_AXIS_{axis}")
        raw = 2 * value - 1 if axis.startswith("TRIGGER") else value  # a trigger's rest is at the end of its way
        self.sdl.SDL_JoystickSetVirtualAxis(self.joystick, number, round(raw * 32767))

    def hold(self, *buttons, down=True):
        for button in buttons:
            number = getattr(self.sdl, f"SDL_CONTROLLER_BUTTON_{button}")
            self.sdl.SDL_JoystickSetVirtualButton(self.joystick, number, down)

    def release(self, *buttons):
        self.hold(*buttons, down=False)

    def unplug(self):
        every = range(self.sdl.SDL_NumJoysticks())
        index = next(i for i in every if self.sdl.SDL_JoystickGetDeviceInstanceID(i) == self.number)
        self.sdl.SDL_JoystickDetachVirtual(index)


@pytest.fixture
def sdl():
    pytest.importorskip("sdl2", reason="PySDL2 and pysdl2-dll are not installed")
    sdl, reason = gamepad._load()
    assert reason == ""
    return sdl


@pytest.fixture
def pads(sdl):
    pads = Gamepads.open()
    real = [name for name in pads.names if not name.startswith("Virtual")]
    if real:
        pads.close()
        pytest.skip(f"a real gamepad would disturb: {real[0]}")
    assert pads.names == [], "a test before this one left SDL open"
    yield pads
    pads.close()


@pytest.fixture
def plug(sdl, pads):
    """Plugs a virtual gamepad in; the first poll finds it."""

    def plug(*arguments):
        pad = Virtual(sdl, *arguments)
        pads.poll()
        pads.poll()
        return pad

    return plug


def test_without_a_pad_there_is_no_stick(pads):
    assert pads.poll() is None
    assert pads.names == [] and pads.notice == "" and Gamepads.reason() == ""


def test_a_pad_that_nobody_touches_is_at_rest(pads, plug):
    plug()
    assert pads.poll() == Stick()
    assert pads.names == ["Virtual Controller"]


def test_up_is_forward_and_right_is_right(pads, plug):
    pad = plug()
    pad.push("LEFTY", -1)
    assert pads.poll().move == pytest.approx([0, 1])
    pad.push("LEFTY", 0)
    pad.push("LEFTX", 0.5)
    assert pads.poll().move == pytest.approx([0.5, 0], abs=1e-4)


def test_a_corner_is_no_faster(pads, plug):
    pad = plug()
    pad.push("LEFTX", 1)
    pad.push("LEFTY", -1)
    assert pads.poll().move == pytest.approx([np.sqrt(0.5), np.sqrt(0.5)])


def test_the_dead_zone_is_left_to_the_intent(pads, plug):
    plug().push("LEFTX", 0.1)
    assert pads.poll().move_x == pytest.approx(0.1, abs=1e-4)


def test_the_right_stick_orbits_and_faces_only_while_strafing(pads, plug):
    pad = plug()
    pad.push("RIGHTX", 1)
    assert not pads.poll().face.any()
    assert pads.look == pytest.approx([1, 0])
    pad.push("TRIGGERLEFT", 1)
    stick = pads.poll()
    assert stick.strafe == 1 and stick.face == pytest.approx([1, 0])
    assert not pads.look.any()
    pad.push("TRIGGERLEFT", 0)
    pad.push("RIGHTX", 0)
    pad.push("RIGHTY", -1)
    assert pads.poll().strafe == 0 and pads.look == pytest.approx([0, 1])


def test_a_right_stick_at_rest_does_not_let_the_view_drift(pads, plug):
    plug().push("RIGHTX", 0.1)
    pads.poll()
    assert not pads.look.any()


def test_strafing_can_be_switched_on_from_outside(pads, plug):
    plug().push("RIGHTX", 1)
    stick = pads.poll(strafe=True)
    assert stick.strafe == 1 and stick.face_x == pytest.approx(1)


@pytest.mark.parametrize("button, control", [("A", "run"), ("B", "crouch")])
def test_buttons_count_as_long_as_they_are_held(pads, plug, button, control):
    pad = plug()
    pad.hold(button)
    assert pads.poll() == Stick(**{control: 1.0})
    assert pads.poll() == Stick(**{control: 1.0})
    pad.release(button)
    assert pads.poll() == Stick()


@pytest.mark.parametrize("trigger, control", [("TRIGGERRIGHT", "run"), ("TRIGGERLEFT", "strafe")])
def test_a_trembling_finger_does_not_switch_a_trigger(pads, plug, trigger, control):
    pad = plug()
    seen = []
    for value in (0.2, 0.3, 0.42, 0.38, 0.41, 0.3, 0.2, 0.3, 0.38):
        pad.push(trigger, value)
        seen.append(getattr(pads.poll(), control))
    assert seen == [0, 0, 1, 1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    "button, control",
    [("START", "keep"), ("BACK", "cancel"), ("X", "toggle_strafe"), ("Y", "next_gait"),
     ("RIGHTSTICK", "toggle_strafe")],
)
def test_a_press_is_told_once(pads, plug, button, control):
    pad = plug()
    pad.hold(button)
    pads.poll()
    assert pads.pressed == {control}
    pads.poll()
    assert pads.pressed == set()


def test_a_tap_between_two_polls_is_not_lost(sdl, pads, plug):
    pad = plug()
    pad.hold("START")
    sdl.SDL_GameControllerUpdate()
    pad.release("START")
    sdl.SDL_GameControllerUpdate()
    pads.poll()
    assert pads.pressed == {"keep"}


def test_nothing_is_lost_in_a_long_stall(sdl, pads, plug):
    pad = plug()
    for turn in range(500):
        pad.push("LEFTX", turn / 500)
        sdl.SDL_GameControllerUpdate()
    pad.hold("BACK")
    pads.poll()
    assert pads.pressed == {"cancel"}
    assert not sdl.SDL_HasEvents(sdl.SDL_FIRSTEVENT, sdl.SDL_LASTEVENT), "the queue fills up"


def test_a_button_that_is_held_while_a_pad_connects_is_not_a_press(sdl, pads):
    pad = Virtual(sdl)
    pad.hold("BACK", "START")
    for _ in range(3):
        pads.poll()
        assert pads.pressed == set()


def test_a_button_that_is_still_held_from_the_last_drive_is_not_a_press(sdl, pads, plug):
    plug().hold("START")
    again = Gamepads.open()
    again.poll()
    assert again.pressed == set()
    again.close()


def test_the_pad_that_was_touched_last_steers(pads, plug):
    one, two = plug(), plug()
    one.push("LEFTX", 1)
    assert pads.poll().move_x == 1
    two.push("LEFTX", -1)
    assert pads.poll().move_x == -1
    one.push("LEFTX", 0.9)  # still held, and never quite still
    assert pads.poll().move_x == -1
    one.hold("A")
    assert pads.poll().run == 1


def test_a_pad_that_drifts_or_is_plugged_in_does_not_take_over(pads, plug):
    one = plug()
    one.push("LEFTX", 1)
    pads.poll()
    two = plug()
    assert pads.poll().move_x == 1
    two.push("LEFTX", -0.3)
    assert pads.poll().move_x == 1


def test_a_pad_that_is_pushed_while_it_connects_does_not_take_over(sdl, pads, plug):
    plug().push("LEFTX", 1)
    pads.poll()
    Virtual(sdl).push("LEFTX", -1)
    for _ in range(3):
        assert pads.poll().move_x == 1
    assert len(pads.names) == 2


def test_a_pad_can_be_plugged_in_and_out_while_driving(pads, plug):
    assert pads.poll() is None
    pad = plug()
    pad.push("LEFTY", -1)
    assert pads.poll().move_y == 1
    pad.unplug()
    assert pads.poll() is None
    assert pads.names == []
    plug().push("LEFTY", 1)
    assert pads.poll().move_y == -1


def test_a_pad_that_is_pulled_out_while_pushed_leaves_the_stick_at_rest(pads, plug):
    plug()
    pushed = plug()
    pushed.push("LEFTY", -1)
    pushed.hold("A")
    assert pads.poll() == Stick(move_y=1.0, run=1.0)
    pushed.unplug()
    assert pads.poll() == Stick()
    assert len(pads.names) == 1


def test_a_joystick_without_a_layout_is_named_and_does_not_steer(pads, plug):
    stick = plug("FLIGHT_STICK")
    stick.push("LEFTX", 1)
    assert pads.poll() is None
    assert '"Virtual Flight Stick"' in pads.notice
    stick.unplug()
    pads.poll()
    assert pads.notice == ""


def test_closed_pads_can_be_opened_again(sdl, pads, plug):
    plug()
    pads.close()
    pads.close()
    assert pads.poll() is None
    assert not sdl.SDL_WasInit(0)
    again = Gamepads.open()
    plugged = Virtual(sdl)
    again.poll()
    plugged.push("LEFTX", 1)
    assert again.poll().move_x == 1
    again.close()
    assert not sdl.SDL_WasInit(0)


def test_closing_leaves_sdl_to_those_who_had_it_before(sdl):
    sdl.SDL_InitSubSystem(sdl.SDL_INIT_GAMECONTROLLER)
    Gamepads.open().close()
    assert sdl.SDL_WasInit(sdl.SDL_INIT_GAMECONTROLLER)
    sdl.SDL_QuitSubSystem(sdl.SDL_INIT_GAMECONTROLLER)


def test_sdl_that_is_missing_gets_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "sdl2", None)
    assert Gamepads.open() is None
    assert "keyboard" in Gamepads.reason() and Gamepads.reason().endswith(".")


def test_sdl_that_does_not_start_gets_a_sentence(sdl, monkeypatch):
    monkeypatch.setattr(sdl, "SDL_InitSubSystem", lambda flags: sdl.SDL_SetError(b"no permission"))
    assert Gamepads.open() is None
    assert "no permission" in Gamepads.reason()


def test_gamepads_print_nothing_and_leave_signals_and_start_alone(sdl):
    code = (
        "import signal, sys\n"
        "from mm_blender.control.gamepad import Gamepads\n"
        "assert 'sdl2' not in sys.modules, 'SDL is loaded only to drive'\n"
        "pads = Gamepads.open()\n"
        "pads.poll()\n"
        "signal.raise_signal(signal.SIGTERM)\n"
    )
    fresh = {name: value for name, value in os.environ.items() if name != "PYSDL2_DLL_PATH"}  # SDL here has set it
    outcome = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=fresh, capture_output=True, text=True)
    assert (outcome.stdout, outcome.stderr) == ("", "")
    assert outcome.returncode, "SIGTERM should still end it"
