# SPDX-License-Identifier: GPL-3.0-or-later
"""Another key for forward, set as in the preferences; then the keys are restored. With a picture of the preferences."""

from types import SimpleNamespace

import bpy
from inside import EXTENSION, drive_on, engine, hold, in_view3d, let_go, picture, press, session, until_driving, view3d


def steps(result):
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT")
        bpy.ops.mm.bake()
    keymap = engine("scene.driving.keymap")
    result["labels"] = keymap.labels()
    result["shortcut"] = keymap.shortcut().to_string()

    keymap.keymap().keymap_items[0].type = "I"
    yield 0.5
    result["changed"] = keymap.labels()["forward"]
    press("D", ctrl=True, shift=True)
    yield from until_driving()
    for key in ("W", "I", "UP_ARROW"):
        hold(key)
        yield from drive_on(1.0)
        result[key] = session().status.speed
        let_go(key)
        yield from drive_on(1.5)
    hold("I")
    for key in ("TWO", "G", "G"):
        press(key)
        yield from drive_on(2.0)
        result.setdefault("gaits", []).append((session().status.gait, session().status.speed))
    let_go("I")
    press("ESC")
    yield 0.5

    with bpy.context.temp_override(keymap=keymap.keymap()):
        bpy.ops.preferences.keymap_restore()
    yield 0.5
    result["restored"] = keymap.labels()["forward"]

    _, area, _ = view3d()
    area.ui_type = "PREFERENCES"
    bpy.context.preferences.active_section = "ADDONS"
    bpy.context.window_manager.addon_search = "Motion Matching"
    bpy.ops.preferences.addon_expand(module=EXTENSION)
    bpy.context.window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=area.x + 50, y=area.y + 50)
    yield 2.0
    own = SimpleNamespace(type="BOX", x=area.x + 180, y=area.y + area.height - 633, width=area.width - 195, height=343)
    picture("preferences", own)
    area.ui_type = "VIEW_3D"
    result["gamepads"] = engine("scene.driving.gamepads").sentence()
