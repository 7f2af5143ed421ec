# SPDX-License-Identifier: GPL-3.0-or-later
"""Plugs a virtual gamepad into the installed extension, pushes its stick, and pulls it out."""

import importlib
from dataclasses import asdict

GAMEPAD = "bl_ext.user_default.motion_matching.mm_blender.control.gamepad"


def steps(result):
    Gamepads = importlib.import_module(GAMEPAD).Gamepads
    pads = Gamepads.open()
    result["reason"] = Gamepads.reason()
    import sdl2

    result["library"] = sdl2.get_dll_file()
    result["no pad"] = pads.poll() is None
    index = sdl2.SDL_JoystickAttachVirtual(sdl2.SDL_JOYSTICK_TYPE_GAMECONTROLLER, 6, 15, 0)
    joystick = sdl2.SDL_JoystickOpen(index)
    yield 0.1
    pads.poll()
    yield 0.1
    result["names"] = pads.names
    result["at rest"] = asdict(pads.poll())

    sdl2.SDL_JoystickSetVirtualAxis(joystick, sdl2.SDL_CONTROLLER_AXIS_LEFTY, -32767)
    sdl2.SDL_JoystickSetVirtualButton(joystick, sdl2.SDL_CONTROLLER_BUTTON_A, 1)
    sdl2.SDL_JoystickSetVirtualButton(joystick, sdl2.SDL_CONTROLLER_BUTTON_START, 1)
    yield 0.1
    result["pushed"] = asdict(pads.poll())
    result["pressed"] = sorted(pads.pressed)

    sdl2.SDL_JoystickDetachVirtual(index)
    yield 0.1
    result["pulled out"] = pads.poll() is None
    pads.close()
    result["released"] = not sdl2.SDL_WasInit(0)
