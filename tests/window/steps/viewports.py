# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist drives with several viewports open, one of them in another window, while the view follows and while it
does not."""

from collections import Counter

import bpy
from inside import drive_on, empty_scene, hold, in_view3d, picture, press, view3d


def steps(result):
    empty_scene()
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT")
        bpy.ops.mm.bake()
    _, view, _ = view3d()
    others = [area for area in view.id_data.areas if area.type != "VIEW_3D"]
    max(others, key=lambda area: area.width * area.height).type = "VIEW_3D"
    with in_view3d():
        bpy.ops.wm.window_new()
    second = bpy.context.window_manager.windows[-1].screen.areas[0]
    second.type = "VIEW_3D"
    yield 1.0

    # With smooth edges Blender draws each picture several times, also where nobody asks for it.
    bpy.context.preferences.system.viewport_aa = "OFF"
    drawn = Counter()
    handler = bpy.types.SpaceView3D.draw_handler_add(
        lambda: drawn.update([bpy.context.region.as_pointer()]), (), "WINDOW", "POST_PIXEL")
    bpy.context.object.mm.drive.follow = True
    with in_view3d():
        bpy.ops.mm.drive("INVOKE_DEFAULT")
    hold("W")
    for follows in (True, False):
        bpy.context.object.mm.drive.follow = follows
        yield from drive_on(0.5)
        drawn.clear()
        yield from drive_on(2.0)
        result[f"follow {follows}"] = sorted(drawn.values())
    picture("viewports")
    press("ESC")
    yield 0.5
    bpy.types.SpaceView3D.draw_handler_remove(handler, "WINDOW")
