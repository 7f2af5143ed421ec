# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist drives with a (virtual) gamepad: walks, runs, orbits, strafes, pulls the plug, and keeps the take."""

import time

import bpy
from inside import drive_on, empty_scene, in_view3d, picture, session, view3d


def steps(result):
    empty_scene()
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT", with_mesh=True)
        bpy.ops.mm.bake()
    view = view3d()[2].region_3d
    view.view_location, view.view_distance = (0, 0, 0.85), 5
    with in_view3d():
        bpy.ops.mm.drive("INVOKE_DEFAULT")
    yield 0.3
    import sdl2

    # Plugged in while driving.
    index = sdl2.SDL_JoystickAttachVirtual(sdl2.SDL_JOYSTICK_TYPE_GAMECONTROLLER, 6, 15, 0)
    pad = sdl2.SDL_JoystickOpen(index)
    yield from drive_on(0.2)
    result["names"] = session().gamepads.names
    axis, button = sdl2.SDL_JoystickSetVirtualAxis, sdl2.SDL_JoystickSetVirtualButton

    axis(pad, sdl2.SDL_CONTROLLER_AXIS_LEFTY, -18000)
    yield from drive_on(1.5)
    result["half"] = facts()
    axis(pad, sdl2.SDL_CONTROLLER_AXIS_LEFTY, -32767)
    yield from drive_on(1.5)
    result["walk"] = facts()
    axis(pad, sdl2.SDL_CONTROLLER_AXIS_TRIGGERRIGHT, 32767)
    yield from drive_on(2.0)
    result["run"] = facts()
    picture("drive_pad", view3d()[1])
    turned = view.view_rotation.copy()
    axis(pad, sdl2.SDL_CONTROLLER_AXIS_RIGHTX, 32767)
    yield from drive_on(0.5)
    result["orbit"] = turned.rotation_difference(view.view_rotation).angle
    axis(pad, sdl2.SDL_CONTROLLER_AXIS_RIGHTX, 0)
    axis(pad, sdl2.SDL_CONTROLLER_AXIS_TRIGGERRIGHT, -32768)
    button(pad, sdl2.SDL_CONTROLLER_BUTTON_X, 1)
    yield from drive_on(0.1)
    button(pad, sdl2.SDL_CONTROLLER_BUTTON_X, 0)
    yield from drive_on(0.3)
    result["strafe"] = bpy.context.object.mm.drive.strafe
    bpy.context.object.mm.drive.strafe = False

    # Unplugged with the stick held: it stops; plugged in again it goes on.
    sdl2.SDL_JoystickDetachVirtual(index)
    yield from drive_on(1.5)
    result["unplugged"] = facts()
    index = sdl2.SDL_JoystickAttachVirtual(sdl2.SDL_JOYSTICK_TYPE_GAMECONTROLLER, 6, 15, 0)
    pad = sdl2.SDL_JoystickOpen(index)
    yield from drive_on(0.3)
    button(pad, sdl2.SDL_CONTROLLER_BUTTON_START, 1)
    end = time.monotonic() + 10
    while session() is not None and time.monotonic() < end:
        yield 0.1
    result["kept"] = bpy.context.object.animation_data.action.name
    sdl2.SDL_JoystickDetachVirtual(index)


def facts():
    status = session().status
    return {"device": status.device, "speed": status.speed, "gait": status.gait, "tags": status.tags}
