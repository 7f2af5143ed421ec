# SPDX-License-Identifier: GPL-3.0-or-later
"""The path of an armature as the artist has laid it: a curve, or objects to go between, and marks."""

import math

import numpy as np

from ...control.path import Mark, Path
from ...errors import MotionError
from ...motion.plane import to_numbers
from ..reading.curves import lines_of
from ..reading.sampling import scene_rate

# Metres: a mark that is so far beside the curve is told of.
BESIDE = 0.5


def path_of(ob, depsgraph):
    """The Path of an armature's settings, and sentences that are good to know about it."""
    direct = ob.mm.direct
    if direct.path is not None:
        return _along_curve(direct, depsgraph)
    return _between_objects(ob, direct, depsgraph), []


def is_closed(direct):
    """Whether the path leads back to its beginning, as a look at the curve tells: what its modifiers do is not seen.
    Places always may."""
    if direct.path is None:
        return True
    data, index = direct.path.data, direct.spline - 1
    if direct.path.type == "CURVES":
        cyclic = data.attributes.get("cyclic")
        return cyclic is not None and index < len(cyclic.data) and cyclic.data[index].value
    if index >= len(data.splines):
        return False
    spline = data.splines[index]
    points = spline.bezier_points if spline.type == "BEZIER" else spline.points
    return spline.use_cyclic_u or (len(points) > 2 and (points[0].co - points[-1].co).length < 1e-6)


def line_of(direct, depsgraph):
    """The spline that was chosen, as a Line in the direction in which it is gone."""
    curve = direct.path
    lines = lines_of(curve, depsgraph)
    if not lines:
        raise MotionError(f'The curve "{curve.name}" is empty: add points to it, or choose another Path.')
    if direct.spline > len(lines):
        raise MotionError(f'The curve "{curve.name}" has {len(lines)} spline{"s" * (len(lines) > 1)}, and Spline is '
                          f"{direct.spline}.")
    line = lines[direct.spline - 1]
    return line.reversed() if direct.reverse else line


def place_of(mark, direct, depsgraph):
    """Where a mark is in the world (3,)."""
    if mark.ob is not None:
        return np.array(mark.ob.evaluated_get(depsgraph).matrix_world.translation)
    if direct.path is None:
        return np.array(mark.place)
    return np.array(direct.path.evaluated_get(depsgraph).matrix_world @ mark.place)


def _along_curve(direct, depsgraph):
    line, name = line_of(direct, depsgraph), f'The curve "{direct.path.name}"'
    points = on_ground(line.points)
    bare = Path(points, closed=line.closed, name=name)
    if not len(direct.marks):
        return bare, []
    places = on_ground([place_of(mark, direct, depsgraph) for mark in direct.marks])
    apart, at = bare.distances(places)
    notes = [f'The mark "{mark.name}" is {far:.1f} m beside the curve: it counts where the curve is nearest.'
             for mark, far in zip(direct.marks, apart.tolist()) if far > BESIDE]
    marks = [_mark(mark, direct, place, depsgraph, float(length))
             for mark, place, length in zip(direct.marks, places, at)]
    return Path(points, marks, line.closed, name), notes


def _between_objects(ob, direct, depsgraph):
    there = [mark for mark in direct.marks if mark.ob is not None]
    if len(there) < 2:
        raise MotionError(f'"{ob.name}" has no path: choose a curve as its Path, or add at least two marks with '
                          "objects to go between.")
    places = on_ground([place_of(mark, direct, depsgraph) for mark in there])
    marks = {index: _mark(mark, direct, places[index], depsgraph) for index, mark in enumerate(there)}
    return Path(places, marks, direct.loop, f'The path of "{ob.name}"')


def _mark(mark, direct, place, depsgraph, at=0.0):
    """A mark as the engine has it."""
    face = look = None
    if mark.face == "PATH":
        face = 0j
    elif mark.face == "DIRECTION":
        face = 1j * complex(math.cos(mark.face_angle), math.sin(mark.face_angle))
    elif mark.face == "OBJECT":
        if mark.face_object is None:
            raise MotionError(f'The mark "{mark.name}" faces an object, but none is chosen: choose one.')
        look = complex(*mark.face_object.evaluated_get(depsgraph).matrix_world.translation[:2])
    time = (mark.frame - direct.start) / scene_rate() if mark.use_frame else None
    if time is not None and time < 0:
        raise MotionError(f'The mark "{mark.name}" is to be reached at frame {mark.frame:g}, before the take begins, '
                          f"which is at frame {direct.start}.")
    return Mark(at=at, row=f'"{mark.name}"', speed=mark.speed if mark.use_speed else None, gait=mark.gait or None,
                face=face, look=look, query=mark.query if mark.use_query else None, wait=mark.wait or None, time=time,
                exact=mark.exact)


def on_ground(points):
    """Points (N, 3) as seen from above, (N,) x + yi."""
    return np.array(to_numbers(np.asarray(points, dtype=np.float64)[:, :2]))
