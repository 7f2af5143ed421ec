# SPDX-License-Identifier: GPL-3.0-or-later
"""The side of the window tests that runs inside Blender: plays steps, presses keys, takes pictures, leaves a result.

A file of steps has one generator, `steps(result)`. It does something, yields how many seconds Blender should go on by
itself (drawing, timers, keys), does the next thing, and puts what it found into the dictionary `result`.
"""

import json
import runpy
import subprocess
import sys
import time
import traceback
from pathlib import Path

import bpy

EXTENSION = "bl_ext.user_default.motion_matching"

# The panels of each file in panels/ of which pictures are taken.
PANELS = {"character": ("MM_PT_character", "MM_PT_roles"), "clips": ("MM_PT_clips",), "tags": ("MM_PT_tags",),
          "features": ("MM_PT_features",), "bake": ("MM_PT_bake", "MM_PT_bake_details", "MM_PT_bake_report"),
          "train": ("MM_PT_train",),
          "drive": ("MM_PT_drive", "MM_PT_drive_steering", "MM_PT_drive_speeds", "MM_PT_drive_matching"),
          "direct": ("MM_PT_direct", "MM_PT_direct_take")}

_pictures = None


def play(script, result_file, pictures, then=None):
    """Plays the steps in a script, writes what they found as JSON, and quits Blender, or does something else then."""
    global _pictures
    _pictures = Path(pictures) / "{}.{}".format(*bpy.app.version)
    _pictures.mkdir(parents=True, exist_ok=True)
    bpy.context.preferences.view.show_splash = False
    result = {}
    playing = runpy.run_path(script)["steps"](result)

    def step():
        try:
            return next(playing) or 0.0
        except StopIteration:
            pass
        except BaseException:
            result["error"] = traceback.format_exc()
            picture("error")
        part = Path(f"{result_file}.part")
        part.write_text(json.dumps(result))
        part.replace(result_file)
        (then or bpy.ops.wm.quit_blender)()

    bpy.app.timers.register(step, first_interval=1.0, persistent=True)


def serve(orders):
    """Plays what is ordered in a file, again and again, each time from the file that Blender starts with. Quits when
    nothing has been ordered for some minutes."""
    orders, preferences = Path(orders), _preferences()

    def wait():
        end = time.monotonic() + 600

        def look():
            if orders.exists():
                order = json.loads(orders.read_text())
                orders.unlink()
                play(*order, then=tidy)
            elif time.monotonic() < end:
                return 0.1
            else:
                bpy.ops.wm.quit_blender()

        bpy.app.timers.register(look, persistent=True)

    def tidy():
        bpy.ops.wm.read_homefile()
        for (group, name), value in preferences.items():
            if getattr(getattr(bpy.context.preferences, group), name) != value:
                setattr(getattr(bpy.context.preferences, group), name, value)
        wait()

    wait()


def _preferences():
    """The switches and choices of the preferences that steps change: (group, name) → value."""
    preferences = bpy.context.preferences
    return {(group, prop.identifier): getattr(getattr(preferences, group), prop.identifier)
            for group in ("system", "view") for prop in getattr(preferences, group).bl_rna.properties
            if prop.type in ("BOOLEAN", "ENUM") and not prop.is_readonly and not getattr(prop, "is_array", False)}


def engine(name):
    """A module of the installed extension's engine, for example "scene.jobs"."""
    return sys.modules[f"{EXTENSION}.mm_blender.{name}"]


def session():
    """The drive that is under way, or None."""
    return engine("scene.driving").current()


def until_driving():
    """Steps that wait until a key that was pressed has begun a drive."""
    limit = time.monotonic() + 20
    while session() is None and time.monotonic() < limit:
        yield 0.1


def drive_on(seconds):
    """Steps that let so many seconds be driven: Blender may not draw as fast as they pass."""
    end, limit = session().seconds + seconds, time.monotonic() + 90
    while session() is not None and session().seconds < end:
        assert time.monotonic() < limit, f"nothing moves: {session().status}"
        yield 0.05


def empty_scene():
    """Removes all objects."""
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)


def view3d():
    """The window, and the area and the space of its (largest) 3D viewport."""
    window = bpy.context.window_manager.windows[0]
    areas = [area for area in window.screen.areas if area.type == "VIEW_3D"]
    area = max(areas, key=lambda area: area.width * area.height)
    return window, area, area.spaces.active


def region(kind):
    """A region of the 3D viewport: "WINDOW", "UI" (the sidebar), "HEADER" …"""
    return next(found for found in view3d()[1].regions if found.type == kind)


def in_view3d():
    """A context in which operators believe that they were called in the 3D viewport: `with in_view3d(): …`."""
    window, area, _ = view3d()
    return bpy.context.temp_override(window=window, area=area, region=region("WINDOW"))


def open_sidebar(tab="Motion Matching"):
    """Steps that open the viewport's sidebar on a tab: `yield from open_sidebar()`."""
    _, area, space = view3d()
    space.show_region_ui = True
    yield 0.5
    region("UI").active_panel_category = tab
    area.tag_redraw()
    yield 0.5


def show_only(*names):
    """Put these panels into our tab, opened, and the others into a tab of their own."""
    panels = sys.modules[EXTENSION].panels
    panels.unregister()
    for module in panels.PARTS:
        own = module.__name__.rsplit(".", 1)[-1]
        for panel in (getattr(module, name) for name in PANELS.get(own, ())):
            panel.bl_category = "Motion Matching" if own in names else "Put Aside"
            panel.bl_options = set()
    panels.register()
    view3d()[1].tag_redraw()


def press(key, x=None, y=None, **held):
    """Presses and releases a key or mouse button, over the middle of the 3D viewport or at x, y; held: ctrl=True …"""
    window, area, _ = view3d()
    x = area.x + area.width // 2 if x is None else x
    y = area.y + area.height // 2 if y is None else y
    window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    for value in ("PRESS", "RELEASE"):
        window.event_simulate(type=key, value=value, x=x, y=y, **held)


def hold(*keys):
    """Presses keys in the middle of the 3D viewport, and does not release them."""
    _keys("PRESS", keys)


def let_go(*keys):
    """Releases keys that are held."""
    _keys("RELEASE", keys)


def _keys(value, keys):
    window, area, _ = view3d()
    x, y = area.x + area.width // 2, area.y + area.height // 2
    for key in keys:
        window.event_simulate(type=key, value=value, x=x, y=y)


def picture(name, of=None):
    """Saves the screen as <name>.png, or the part of it that an area or region takes. Needs ImageMagick and X.

    Of the sidebar only the panels are kept: without the tabs at its edge and the empty space below.
    """
    command = ["import", "-window", "root"]
    if of is not None:
        top = bpy.context.window_manager.windows[0].height - of.y - of.height
        tabs = round(24 * bpy.context.preferences.system.ui_scale) if of.type == "UI" else 0
        edge = 3 if tabs else 0  # the line around a region
        size = f"{of.width - tabs - 2 * edge}x{of.height - 2 * edge}"
        command += ["-crop", f"{size}+{of.x + edge}+{top + edge}", "+repage"]
    file = str(_pictures / f"{name}.png")
    subprocess.run([*command, file], check=True)
    if of is not None and of.type == "UI":
        subprocess.run(["mogrify", "-fuzz", "4%", "-trim", "+repage", file], check=True)
