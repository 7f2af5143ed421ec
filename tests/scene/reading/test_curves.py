# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves are read as the viewport shows them, whatever made them."""

import bpy
import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.scene.reading.curves import lines_of

CORNERS = np.array([(0, 0, 0), (2, 0, 1), (2, 2, 0), (4, 2, 0)], dtype=float)


def curve(kind, closed=False, corners=CORNERS, data=None):
    """A Curve object with one spline more, through the corners or near them."""
    data = data or bpy.data.curves.new("Path", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new(kind)
    points = spline.bezier_points if kind == "BEZIER" else spline.points
    points.add(len(corners) - 1)
    for point, place in zip(points, corners):
        point.co = place if kind == "BEZIER" else (*place, 1)
        if kind == "BEZIER":
            point.handle_left_type = point.handle_right_type = "AUTO"
    spline.use_cyclic_u = closed
    if kind == "NURBS":
        spline.use_endpoint_u = True
    ob = bpy.data.objects.new("Path", data)
    bpy.context.collection.objects.link(ob)
    return ob


def read(ob):
    bpy.context.view_layer.update()
    return lines_of(ob, bpy.context.evaluated_depsgraph_get())


def test_every_kind_of_spline_open_and_closed(subtests):
    for kind in ("POLY", "BEZIER", "NURBS"):
        for closed in (False, True):
            with subtests.test(kind=kind, closed=closed):
                (line,) = read(curve(kind, closed))
                assert line.closed == closed and len(line.points) >= len(CORNERS)
                if not closed:
                    assert np.allclose(line.points[[0, -1]], CORNERS[[0, -1]], atol=1e-5)
                if kind != "NURBS":
                    away = np.linalg.norm(line.points[:, None] - CORNERS, axis=2).min(axis=0)
                    assert away.max() < 1e-5


def test_several_splines_come_in_their_order_and_each_in_its_direction():
    ob = curve("POLY")
    curve("POLY", True, CORNERS + 10, ob.data)
    curve("POLY", False, CORNERS[::-1] - 10, ob.data)
    first, second, third = read(ob)
    assert np.allclose(first.points, CORNERS) and not first.closed
    assert np.allclose(second.points, CORNERS + 10) and second.closed
    assert np.allclose(third.points, CORNERS[::-1] - 10) and not third.closed


def test_parents_scales_and_modifiers_count_and_thickness_does_not(subtests):
    ob = curve("POLY")
    ob.parent = bpy.data.objects.new("Parent", None)
    bpy.context.collection.objects.link(ob.parent)
    ob.parent.location, ob.scale = (5, 0, 0), (2, 2, 2)
    hook = ob.modifiers.new("Bend", "HOOK")
    hook.object = bpy.data.objects.new("Hook", None)
    bpy.context.collection.objects.link(hook.object)
    hook.vertex_indices_set([3])
    bpy.context.view_layer.update()
    hook.matrix_inverse = ob.matrix_world
    hook.object.location = 0, 0, 3
    expected = 2 * CORNERS + [5, 0, 0]
    expected[3, 2] += 3
    for what in ("thin", "bevel_depth", "extrude"):
        with subtests.test(what):
            if what != "thin":
                setattr(ob.data, what, 0.2)
            (line,) = read(ob)
            assert np.allclose(line.points, expected, atol=1e-4)
    assert len(bpy.data.curves) == 1 and len(bpy.data.objects) == 3


def test_the_new_curves_objects_are_read_too(subtests):
    data = bpy.data.hair_curves.new("Path")
    data.add_curves([4, 4])
    data.attributes["position"].data.foreach_set("vector", np.tile(CORNERS, (2, 1)).ravel())
    data.attributes.new("cyclic", "BOOLEAN", "CURVE").data[1].value = True
    ob = bpy.data.objects.new("Path", data)
    bpy.context.collection.objects.link(ob)
    for kind in ("CATMULL_ROM", "POLY", "BEZIER", "NURBS"):
        with subtests.test(kind):
            if hasattr(data, "set_types"):  # before Blender 4.5 a script cannot make others
                data.set_types(type=kind)
                if kind == "BEZIER":
                    for name in ("handle_left", "handle_right"):
                        handles = data.attributes.get(name) or data.attributes.new(name, "FLOAT_VECTOR", "POINT")
                        handles.data.foreach_set("vector", np.tile(CORNERS, (2, 1)).ravel())
            first, second = read(ob)
            assert np.allclose(first.points[[0, -1]], CORNERS[[0, -1]], atol=1e-5)
            assert not first.closed and second.closed
            if kind != "NURBS":
                assert np.linalg.norm(second.points[:, None] - CORNERS, axis=2).min(axis=0).max() < 1e-5


def test_what_is_no_curve_is_told():
    ob = bpy.data.objects.new("Cube", bpy.data.meshes.new("Cube"))
    with pytest.raises(MotionError, match='"Cube" is no curve: choose a Curve object'):
        read(ob)
