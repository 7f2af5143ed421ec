# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks on a path: adding them where the artist points, and where they lie."""

import bpy
import numpy as np
from mathutils import Vector

from ...errors import MotionError
from .paths import line_of


def add(ob, depsgraph, place):
    """A mark on the armature's curve, where that is nearest to a place (3,) in the world."""
    direct = ob.mm.direct
    mark = _new(direct)
    put(direct, mark, depsgraph, place)
    return mark


def add_objects(ob, objects):
    """A mark at each of these objects."""
    direct = ob.mm.direct
    for other in objects:
        mark = _new(direct)
        mark.name, mark.ob = other.name, other
    return mark


def put(direct, mark, depsgraph, place):
    """Put a mark on the curve, where that is nearest to a place in the world."""
    on_curve = nearest(line_of(direct, depsgraph), np.asarray(place, dtype=float))
    mark.place = direct.path.evaluated_get(depsgraph).matrix_world.inverted() @ Vector(on_curve)


def nearest(line, place):
    """The point (3,) of a Line that is nearest to a place (3,), as seen from above."""
    begins = line.points
    ends = np.roll(begins, -1, axis=0)
    if not line.closed:
        begins, ends = (begins[:-1], ends[:-1]) if len(begins) > 1 else (begins, begins)
    ways = ends - begins
    lengths = np.maximum((ways[:, :2] ** 2).sum(axis=1), 1e-12)
    shares = np.clip(((place - begins)[:, :2] * ways[:, :2]).sum(axis=1) / lengths, 0, 1)
    points = begins + shares[:, None] * ways
    return points[np.hypot(*(points - place)[:, :2].T).argmin()]


def pointed_at(context, curve):
    """Where in the world a new mark is wanted: at the selected point of the curve that is being edited, or at the 3D
    cursor."""
    if curve.mode == "EDIT" and curve.type == "CURVE":
        for spline in curve.data.splines:
            for point in spline.bezier_points:
                if point.select_control_point:
                    return curve.matrix_world @ point.co
            for point in spline.points:
                if point.select:
                    return curve.matrix_world @ point.co.to_3d()
    return context.scene.cursor.location.copy()


def new_place(context):
    """An Empty at the 3D cursor, for a path that goes from one object to the next."""
    empty = bpy.data.objects.new("Place", None)
    empty.empty_display_type, empty.empty_display_size = "SINGLE_ARROW", 0.5
    empty.location = context.scene.cursor.location
    context.collection.objects.link(empty)
    return empty


def remove(ob, index):
    direct = ob.mm.direct
    if not 0 <= index < len(direct.marks):
        raise MotionError(f'"{ob.name}" has no mark number {index + 1}.')
    direct.marks.remove(index)
    direct.mark_index = min(index, len(direct.marks) - 1)


def summary(mark):
    """What a mark changes, in few words."""
    said = []
    if mark.gait:
        said.append(mark.gait)
    if mark.use_speed:
        said.append(f"{mark.speed:.1f} m/s")
    if mark.wait:
        said.append(f"wait {mark.wait:.1f} s")
    if mark.face != "BEFORE":
        said.append({"PATH": "ahead", "DIRECTION": "faces", "OBJECT": "looks"}[mark.face])
    if mark.use_query:
        said.append(mark.query or "all tags")
    if mark.use_frame:
        said.append(f"frame {mark.frame:.0f}")
    if mark.exact:
        said.append("exact")
    return ", ".join(said)


def _new(direct):
    mark = direct.marks.add()
    mark.name = f"Mark {len(direct.marks)}"
    direct.mark_index = len(direct.marks) - 1
    return mark
