# SPDX-License-Identifier: GPL-3.0-or-later
"""A path and its marks are what the artist has laid."""

import math

import bpy
import numpy as np
import pytest

from mm_blender.errors import MotionError
from mm_blender.scene.directing import marks
from mm_blender.scene.directing.paths import path_of


@pytest.fixture
def ob(extension):
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    return armature


def line(*places, name="Way"):
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(len(places) - 1)
    for point, place in zip(spline.points, places):
        point.co = (*place, 1)
    curve = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(curve)
    return curve


def empty(name, place):
    found = bpy.data.objects.new(name, None)
    found.location = place
    bpy.context.collection.objects.link(found)
    return found


def read(ob):
    bpy.context.view_layer.update()
    return path_of(ob, bpy.context.evaluated_depsgraph_get())


def mark(ob, place, **settings):
    bpy.context.view_layer.update()
    found = marks.add(ob, bpy.context.evaluated_depsgraph_get(), place)
    for name, value in settings.items():
        setattr(found, name, value)
    return found


def test_marks_lie_on_the_curve_and_say_what_changes(ob):
    ob.mm.direct.path = line((0, 0, 0), (10, 0, 2))
    tree = empty("Tree", (5, 5, 0))
    mark(ob, (4, 1, 0), gait="run", use_speed=True, speed=3.0)
    mark(ob, (2, 0, 0), face="OBJECT", face_object=tree, wait=2.0)
    mark(ob, (6, 0, 0), face="DIRECTION", face_angle=math.pi / 2, use_frame=True, frame=121, exact=True)
    mark(ob, (8, 0, 0), face="PATH", use_query=True, query="~crouch")
    bpy.context.scene.render.fps = 24
    path, notes = read(ob)
    assert not notes and path.length == pytest.approx(10, abs=0.02)
    looks, runs, faces, goes = path.marks
    assert [one.at for one in path.marks] == pytest.approx([2, 4, 6, 8], abs=0.02)
    assert (runs.gait, runs.speed) == ("run", 3.0)
    assert looks.look == pytest.approx(5 + 5j) and looks.wait == 2
    assert faces.face == pytest.approx(-1) and faces.time == pytest.approx(5) and faces.exact
    assert goes.face == 0 and goes.query == "~crouch"


def test_marks_stay_where_they_are_when_the_curve_is_moved_or_scaled(ob):
    ob.mm.direct.path = curve = line((0, 0, 0), (10, 0, 0))
    mark(ob, (5, 0, 0), gait="run")
    curve.location, curve.scale = (0, 7, 0), (2, 2, 2)
    path, _ = read(ob)
    assert path.marks[0].at == pytest.approx(10, abs=0.02)


def test_without_a_curve_it_goes_from_object_to_object(ob):
    marks.add_objects(ob, [empty("A", (0, 0, 0)), empty("B", (3, 0, 5)), empty("C", (3, 4, 0))])
    ob.mm.direct.marks[1].wait = 1.0
    path, _ = read(ob)
    away, _ = path.distances(np.array([0, 3, 3 + 4j]))
    assert away.max() < 0.02 and 7 <= path.length < 8.5
    assert path.marks[0].wait == 1 and abs(path.place(path.marks[0].at) - 3) < 0.02


def test_a_reversed_curve_and_another_spline_are_gone(ob):
    ob.mm.direct.path = line((0, 0, 0), (10, 0, 0))
    ob.mm.direct.reverse = True
    path, _ = read(ob)
    assert path.places[0] == pytest.approx(10)
    ob.mm.direct.spline = 2
    with pytest.raises(MotionError, match=r'"Way" has 1 spline, and Spline is 2'):
        read(ob)


def test_what_is_no_path_is_one_sentence(subtests, ob):
    direct = ob.mm.direct
    point = line((1, 1, 0), name="Point")
    upright = line((1, 1, 0), (1, 1, 4), name="Upright")
    nothing = bpy.data.objects.new("Nothing", bpy.data.curves.new("Nothing", "CURVE"))
    bpy.context.collection.objects.link(nothing)
    for curve, sentence in ((None, '"Rig" has no path: choose a curve'), (point, "has a single point"),
                            (upright, "has no length"), (nothing, '"Nothing" is empty')):
        with subtests.test(sentence):
            direct.path = curve
            with pytest.raises(MotionError, match=sentence):
                read(ob)
    direct.path = line((0, 0, 0), (10, 0, 0))
    for settings, sentence in (({"face": "OBJECT"}, "faces an object, but none is chosen"),
                               ({"use_frame": True, "frame": -5}, "before the take begins")):
        with subtests.test(sentence):
            direct.marks.clear()
            mark(ob, (5, 0, 0), **settings)
            with pytest.raises(MotionError, match=sentence):
                read(ob)
    with subtests.test("beside"):
        direct.marks.clear()
        mark(ob, (5, 0, 0)).place = 5, 3, 0
        assert read(ob)[1] == ['The mark "Mark 1" is 3.0 m beside the curve: it counts where the curve is nearest.']
    with subtests.test("deleted"):
        bpy.data.objects.remove(direct.path)
        with pytest.raises(MotionError, match='"Rig" has no path'):
            read(ob)
