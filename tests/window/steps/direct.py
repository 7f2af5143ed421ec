# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist directs: a curve, marks, Generate; then a point of the curve is moved, and a mark dragged."""

import sys
import time

import bpy
from inside import EXTENSION, empty_scene, engine, in_view3d, open_sidebar, picture, region, show_only, view3d
from mathutils import Euler, Vector


def steps(result):
    empty_scene()
    with in_view3d():
        bpy.ops.mm.create_demo("INVOKE_DEFAULT")
        bpy.ops.mm.bake()
    ob = bpy.context.object
    curve = path()
    direct = ob.mm.direct
    direct.path = curve
    for place, settings in (((3.0, 1.0, 0), {"gait": "run"}), ((6.0, 0.0, 0), {"gait": "walk", "wait": 1.0}),
                            ((8.0, -1.0, 0), {"face": "DIRECTION", "name": "Look back"})):
        with in_view3d():
            bpy.ops.mm.path_mark_add(place=place)
        for name, value in settings.items():
            setattr(direct.marks[-1], name, value)
    look()
    bpy.context.preferences.system.use_region_overlap = False
    show_only("direct")
    yield from open_sidebar()
    with in_view3d():
        bpy.ops.ed.undo_push(message="Ready")
        began = time.perf_counter()
        result["generated"] = bpy.ops.mm.generate_path("INVOKE_DEFAULT") == {"FINISHED"}
        result["seconds"] = time.perf_counter() - began
    take = ob.animation_data.action
    result["frames"] = take.frame_range[1] - take.frame_range[0]
    bpy.context.scene.frame_set(round(take.frame_range[1] * 0.45))
    yield 1.0
    picture("direct", view3d()[1])
    picture("direct_panel", region("UI"))

    # Moving a point of the curve, as an artist sees it.
    direct.update = True
    yield 1.0
    before = direct.take.mm.written
    curve.data.splines[0].bezier_points[-1].co.y += 2.5
    curve.data.update_tag()
    end = time.monotonic() + 20
    yield 0.3
    while direct.take.mm.written == before and time.monotonic() < end:
        yield 0.1
    result["updated"] = direct.take.mm.written != before and len([one for one in bpy.data.actions if one.mm.take]) == 1
    bpy.context.scene.frame_set(round(direct.take.frame_range[1]))
    yield 0.5
    picture("direct_moved", view3d()[1])
    # In world space the character has come to the curve's new end.
    place = ob.matrix_world @ ob.pose.bones[ob.mm.roles["hips"].bone].matrix.translation
    result["away"] = (place - curve.data.splines[0].bezier_points[-1].co).to_2d().length

    # Dragging a mark.
    direct.update = False
    mark = direct.marks[0]
    result["mark before"] = list(mark.place)
    yield from drag(where(mark.place), where(Vector((1.2, 0.6, 0))))
    result["mark after"] = list(mark.place)
    picture("direct_dragged", view3d()[1])
    yield from in_the_background(result, direct)
    yield from vary(result, ob.name)


def in_the_background(result, direct):
    """A path that counts as long is gone in the background, and its take is the same Action."""
    sys.modules[EXTENSION].operators.direct.LONG = {"QUICK": 1.0, "PLANNED": 1.0}
    take, before = direct.take, direct.take.mm.written
    with in_view3d():
        bpy.ops.mm.generate_path("INVOKE_DEFAULT")
    result["background"] = [engine("scene.jobs.slices").current() is not None]
    while engine("scene.jobs.slices").current() is not None:
        yield 0.1
    result["background"] += [direct.take == take, direct.take.mm.written != before]


def vary(result, name):
    """Variations are shown, one is chosen, and undo brings them all back."""
    with in_view3d():
        bpy.ops.ed.undo_push(message="Before")
        bpy.ops.mm.take_variations("INVOKE_DEFAULT")
    yield 0.3
    while engine("scene.jobs.slices").current() is not None:
        yield 0.1
    found = engine("scene.directing.variations")
    bpy.context.scene.frame_set(round(bpy.data.objects[name].mm.direct.take.frame_range[1] * 0.6))
    yield 1.0
    picture("variations", view3d()[1])

    def ghosts():
        return len(found.ghosts_of(bpy.data.objects[name])), len([one for one in bpy.data.actions if one.mm.take])

    result["ghosts"] = [ghosts()]
    # An operator that a script calls leaves an undo step only if it is told so.
    for step in (lambda: bpy.ops.mm.variation_choose("EXEC_DEFAULT", True), bpy.ops.ed.undo, bpy.ops.ed.undo):
        with in_view3d():
            step()
        yield 0.5
        result["ghosts"].append(ghosts())


def path():
    data = bpy.data.curves.new("Way", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("BEZIER")
    places = ((0, 0, 0), (2.5, 1.2, 0), (5.5, -0.6, 0), (9, -1, 0))
    spline.bezier_points.add(len(places) - 1)
    for point, place in zip(spline.bezier_points, places):
        point.co, point.handle_left_type, point.handle_right_type = place, "AUTO", "AUTO"
    ob = bpy.data.objects.new("Way", data)
    bpy.context.collection.objects.link(ob)
    return ob


def look():
    view = view3d()[2].region_3d
    view.view_perspective = "PERSP"
    view.view_rotation = Euler((0.95, 0, 0.35)).to_quaternion()
    view.view_location, view.view_distance = (4.3, 0, 0.4), 11


def where(place):
    """Where on the screen a place of the world is."""
    space, window = view3d()[2], region("WINDOW")
    seen = space.region_3d.perspective_matrix @ Vector(place).to_4d()
    return (round(window.x + (seen.x / seen.w + 1) / 2 * window.width),
            round(window.y + (seen.y / seen.w + 1) / 2 * window.height))


def drag(start, end):
    window = view3d()[0]
    window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=start[0] - 3, y=start[1])
    yield 0.5
    window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=start[0], y=start[1])
    yield 0.8
    window.event_simulate(type="LEFTMOUSE", value="PRESS", x=start[0], y=start[1])
    yield 0.3
    for share in (0.2, 0.5, 0.8, 1.0, 1.0):
        x, y = (round(a + share * (b - a)) for a, b in zip(start, end))
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        yield 0.2
    window.event_simulate(type="LEFTMOUSE", value="RELEASE", x=end[0], y=end[1])
    yield 0.5
