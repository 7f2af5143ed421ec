# SPDX-License-Identifier: GPL-3.0-or-later
"""Gamepads as a stick, through SDL: sticks, triggers and buttons, plugged in and pulled out at any time.

SDL comes in the wheels PySDL2 and pysdl2-dll of the packaged extension. Without them the keyboard still drives.

    left stick          move
    right stick         face while strafing, otherwise orbit the view
    right trigger or A  run
    left trigger        strafe while held; X or a click of the right stick toggles it
    B                   crouch
    Y                   the next gait
    START, BACK         keep the take, cancel
"""

import math
import warnings

import numpy as np

from .device import Device
from .intent import beyond_dead_zone
from .stick import Stick

# A trigger is pulled beyond the first and let go below the second, so that a finger's tremble does not switch it.
PULLED, LET_GO = 0.4, 0.25
# A pad steers from the moment on when one of its sticks or triggers goes so far: more than a worn stick's drift.
TOUCHED = 0.5
FULL = 32767
HINTS = {
    "SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS": "1",  # the window that has the focus is Blender's, not SDL's
    "SDL_JOYSTICK_THREAD": "1",  # on Windows Xbox pads need a window's messages, and SDL has no window of its own here
    "SDL_NO_SIGNAL_HANDLERS": "1",  # Ctrl+C in the terminal belongs to Blender
}


class Gamepads(Device):
    """The gamepads that are plugged in, as one device. The one that was touched last steers.

    look  (2,) how far the right stick is pushed; nothing while strafing
    """

    _reason = ""

    @classmethod
    def open(cls):
        """All gamepads of this machine, or None where there cannot be any: reason() says why."""
        sdl, cls._reason = _load()
        if sdl is None:
            return None
        for hint, value in HINTS.items():
            sdl.SDL_SetHint(hint.encode(), value.encode())
        if sdl.SDL_InitSubSystem(sdl.SDL_INIT_GAMECONTROLLER) < 0:
            error = sdl.SDL_GetError().decode(errors="replace")
            cls._reason = f"Gamepads cannot be used because SDL does not start ({error}): drive with the keyboard."
            return None
        return cls(sdl)

    @classmethod
    def reason(cls):
        """The sentence that says why the last open() gave None; empty when it did not."""
        return cls._reason

    def __init__(self, sdl):
        self._sdl = sdl
        self._room = (sdl.SDL_Event * 64)()
        self._pads = []  # the one that was touched last is the last one
        self._unknown = []
        self._is_open = True
        self.look = np.zeros(2)
        self.pressed = set()
        self._find_pads()

    @property
    def names(self):
        """The names of all pads; the last one steers."""
        return [pad.name for pad in self._pads]

    @property
    def name(self):
        return self._pads[-1].name if self._pads else "Gamepad"

    @property
    def notice(self):
        """About devices that SDL sees but has no layout of buttons for, where there is no other one."""
        if self._pads or not self._unknown:
            return ""
        names = ", ".join(f'"{name}"' for name in self._unknown)
        return f"SDL has no button layout for {names}: set SDL_GAMECONTROLLERCONFIG to one, or use another pad."

    def poll(self, heading=0.0, facing=0.0, seconds=0.0, strafe=False):
        """The Stick of the pad that steers, or None when there is no pad."""
        self.look, self.pressed, self.in_use = np.zeros(2), set(), False
        if not self._is_open:
            return None
        before = self._pads.copy()
        self._sdl.SDL_GameControllerUpdate()
        touched = self._read_events() + [pad for pad in self._pads if pad.read()]
        for pad in touched:
            if not pad.is_new:
                self._pads.remove(pad)
                self._pads.append(pad)
        for pad in before:
            pad.is_new = False
        if not self._pads:
            return None
        stick, right = self._pads[-1].stick(strafe)
        if not stick.strafe:
            self.look = beyond_dead_zone(np.array(right))
        pushed = beyond_dead_zone(stick.move).any() or beyond_dead_zone(stick.face).any()
        self.in_use = bool(pushed or stick.run or stick.crouch)
        return stick

    def close(self):
        """Lets go of all pads and of SDL."""
        if self._is_open:
            self._is_open = False
            for pad in self._pads:
                pad.close()
            self._pads = []
            self._sdl.SDL_QuitSubSystem(self._sdl.SDL_INIT_GAMECONTROLLER)

    def _read_events(self):
        """Takes in what happened since the last poll; the pads whose buttons were pressed, in that order.

        Events also tell of buttons that were pressed and released again between two polls.
        """
        sdl = self._sdl
        controls = {
            sdl.SDL_CONTROLLER_BUTTON_X: "toggle_strafe",
            sdl.SDL_CONTROLLER_BUTTON_RIGHTSTICK: "toggle_strafe",
            sdl.SDL_CONTROLLER_BUTTON_Y: "next_gait",
            sdl.SDL_CONTROLLER_BUTTON_START: "keep",
            sdl.SDL_CONTROLLER_BUTTON_BACK: "cancel",
        }
        known = {pad.number: pad for pad in self._pads if not pad.is_new}
        buttons, plugged = [], False
        for event in self._events():
            plugged |= event.type in (sdl.SDL_JOYDEVICEADDED, sdl.SDL_JOYDEVICEREMOVED)
            if event.type == sdl.SDL_CONTROLLERBUTTONDOWN and event.cbutton.which in known:
                buttons.append((known[event.cbutton.which], event.cbutton.button))
        if plugged:
            self._find_pads()
        self.pressed = {controls[button] for _, button in buttons if button in controls}
        return [pad for pad, _ in buttons if pad in self._pads]

    def _events(self):
        """All that waits in SDL's queue about joysticks; nobody else would take it out."""
        sdl = self._sdl
        count = len(self._room)
        while count == len(self._room):
            count = sdl.SDL_PeepEvents(
                self._room, len(self._room), sdl.SDL_GETEVENT, sdl.SDL_JOYAXISMOTION, sdl.SDL_FINGERDOWN - 1
            )
            yield from self._room[: max(count, 0)]

    def _find_pads(self):
        """Lets go of the pads that were pulled out, and opens those that are new; they do not steer yet."""
        sdl = self._sdl
        for pad in [pad for pad in self._pads if not pad.is_there()]:
            self._pads.remove(pad)
            pad.close()
        open_ones = {pad.number for pad in self._pads}
        self._unknown = []
        for index in range(sdl.SDL_NumJoysticks()):
            if not sdl.SDL_IsGameController(index):
                self._unknown.append(_text(sdl.SDL_JoystickNameForIndex(index)))
            elif sdl.SDL_JoystickGetDeviceInstanceID(index) not in open_ones:
                device = sdl.SDL_GameControllerOpen(index)
                if device:  # not when it was pulled out just now
                    self._pads.insert(0, _Pad(sdl, device))


class _Pad:
    """One gamepad."""

    def __init__(self, sdl, device):
        self._sdl, self._device = sdl, device
        self._pulled = {sdl.SDL_CONTROLLER_AXIS_TRIGGERLEFT: False, sdl.SDL_CONTROLLER_AXIS_TRIGGERRIGHT: False}
        self._axes = [0.0] * sdl.SDL_CONTROLLER_AXIS_MAX
        self._is_far = False
        self.name = _text(sdl.SDL_GameControllerName(device))
        self.number = sdl.SDL_JoystickInstanceID(sdl.SDL_GameControllerGetJoystick(device))
        self.is_new = True  # what is held while it connects was not pressed for us

    def read(self):
        """Reads the axes; whether a stick or a trigger has just been pushed, however long it is held then."""
        read = self._sdl.SDL_GameControllerGetAxis
        self._axes = [max(-1.0, read(self._device, axis) / FULL) for axis in range(len(self._axes))]
        was_far, self._is_far = self._is_far, max(map(abs, self._axes)) > TOUCHED
        return self._is_far and not was_far

    def stick(self, strafe):
        """The Stick now, and the right stick (x right, y up)."""
        sdl = self._sdl
        left = self._vector(sdl.SDL_CONTROLLER_AXIS_LEFTX, sdl.SDL_CONTROLLER_AXIS_LEFTY)
        right = self._vector(sdl.SDL_CONTROLLER_AXIS_RIGHTX, sdl.SDL_CONTROLLER_AXIS_RIGHTY)
        run = self._trigger(sdl.SDL_CONTROLLER_AXIS_TRIGGERRIGHT) or self._holds(sdl.SDL_CONTROLLER_BUTTON_A)
        strafe = self._trigger(sdl.SDL_CONTROLLER_AXIS_TRIGGERLEFT) or strafe
        face = right if strafe else (0.0, 0.0)
        crouch = self._holds(sdl.SDL_CONTROLLER_BUTTON_B)
        return Stick(*left, *face, float(run), float(strafe), float(crouch)), right

    def is_there(self):
        return bool(self._sdl.SDL_GameControllerGetAttached(self._device))

    def close(self):
        self._sdl.SDL_GameControllerClose(self._device)

    def _vector(self, x, y):
        """A stick, x right and y up, of a length of at most 1; SDL's y points down."""
        x, y = self._axes[x], -self._axes[y]
        length = max(1.0, math.hypot(x, y))
        return x / length, y / length

    def _trigger(self, axis):
        self._pulled[axis] = self._axes[axis] > (LET_GO if self._pulled[axis] else PULLED)
        return self._pulled[axis]

    def _holds(self, button):
        return bool(self._sdl.SDL_GameControllerGetButton(self._device, button))


def _load():
    """SDL as a module and no reason, or None and the reason."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PySDL2 tells with a warning which library it has found
            import sdl2
    except (ImportError, ValueError, OSError) as error:  # no package, no library, one that is too old
        return None, (
            f"Gamepads need SDL, which this Blender does not have ({error}): drive with the keyboard, "
            "or install the extension from a zip with its wheels."
        )
    return sdl2, ""


def _text(name):
    return (name or b"a gamepad without a name").decode(errors="replace")
