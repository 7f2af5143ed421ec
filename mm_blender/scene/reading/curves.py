# SPDX-License-Identifier: GPL-3.0-or-later
"""A curve object as lines of points in the world: each of its splines, as the viewport shows it.

Modifiers, parents and scales count. How thick a curve is drawn does not.
"""

from dataclasses import dataclass

import bpy
import numpy as np

from ...errors import MotionError

# Points of each segment of what is a curve between two of the artist's points.
FINE = 12
# As the attribute `curve_type` of the new Curves objects has them.
_CATMULL_ROM, _POLY, _BEZIER, _NURBS = range(4)


@dataclass(frozen=True, eq=False)
class Line:
    """One spline.

    points  (N, 3) in the world, in the spline's direction
    closed  whether its end leads on to its beginning, which is not repeated
    """

    points: np.ndarray
    closed: bool

    def reversed(self):
        """The same from its end to its beginning; a closed one begins where it began."""
        points = self.points[::-1]
        return Line(np.roll(points, 1, axis=0) if self.closed else points, self.closed)


def lines_of(ob, depsgraph):
    """The Lines of a Curve or Curves object, in the order of its splines."""
    if ob.type not in ("CURVE", "CURVES"):
        raise MotionError(f'"{ob.name}" is no curve: choose a Curve object.')
    evaluated = ob.evaluated_get(depsgraph)
    lines = _of_curves(evaluated) if ob.type == "CURVES" else _of_splines(evaluated, depsgraph)
    world = np.array(evaluated.matrix_world)
    return [Line(points @ world[:3, :3].T + world[:3, 3], closed) for points, closed in lines]


def _of_splines(evaluated, depsgraph):
    """(points, closed) of a Curve object. One that is drawn as a tube is read without its thickness."""
    mesh = evaluated.to_mesh()
    try:
        if mesh is None:
            return []
        if not len(mesh.polygons):
            return _chains(mesh)
    finally:
        evaluated.to_mesh_clear()
    data = evaluated.to_curve(depsgraph, apply_modifiers=True).copy()
    evaluated.to_curve_clear()
    thin = bpy.data.objects.new(evaluated.name, data)
    try:
        data.bevel_depth = data.extrude = data.offset = 0.0
        data.bevel_object = data.taper_object = None
        data.dimensions = "3D"  # a flat one may be filled
        return _chains(thin.to_mesh())
    finally:
        thin.to_mesh_clear()
        bpy.data.objects.remove(thin)
        bpy.data.curves.remove(data)


def _chains(mesh):
    """(points, closed) of the chains that the edges of a mesh make, which go from point to point in their direction."""
    points, edges = np.empty((len(mesh.vertices), 3)), np.empty((len(mesh.edges), 2), dtype=np.int32)
    mesh.vertices.foreach_get("co", points.ravel())
    mesh.edges.foreach_get("vertices", edges.ravel())
    following, chains = dict(edges.tolist()), []
    ends = set(following.values())
    begins = [vertex for vertex in range(len(points)) if vertex not in ends]
    while begins or following:
        closed = not begins
        chain = [next(iter(following)) if closed else begins.pop(0)]
        while chain[-1] in following:
            chain.append(following.pop(chain[-1]))
        chains.append((chain[0], points[chain[:-1] if closed else chain], closed))
    return [(line, closed) for _, line, closed in sorted(chains, key=lambda chain: chain[0])]


def _of_curves(evaluated):
    """(points, closed) of a Curves object, the new kind."""
    data = evaluated.data
    kinds, cyclic = _attribute(data, "curve_type", _CATMULL_ROM), _attribute(data, "cyclic", False)
    places = _vectors(data, "position")
    handles = [_vectors(data, name) for name in ("handle_left", "handle_right")]
    lines = []
    for index, curve in enumerate(data.curves):
        part = slice(curve.first_point_index, curve.first_point_index + curve.points_length)
        points, closed, kind = places[part], bool(cyclic[index]) and curve.points_length > 2, kinds[index]
        if kind == _BEZIER and handles[0] is not None:
            points = _bezier(points, *(handle[part] for handle in handles), closed)
        elif kind in (_CATMULL_ROM, _NURBS) and len(points) > 2:
            points = _cubic(points, closed, _BASIS[kind])
        lines.append((points, closed))
    return lines


def _attribute(data, name, usual):
    found = data.attributes.get(name)
    return [item.value for item in found.data] if found is not None else [usual] * len(data.curves)


def _vectors(data, name):
    found = data.attributes.get(name)
    if found is None:
        return None
    values = np.empty(3 * len(found.data), dtype=np.float32)
    found.data.foreach_get("vector", values)
    return values.reshape(-1, 3).astype(np.float64)


# Each segment of such a curve is a cubic of four points around it: rows for 1, t, t² and t³. Weights and orders of
# NURBS are passed over: a path on the ground is none the worse for the usual ones.
_BASIS = {
    _CATMULL_ROM: np.array([[0, 2, 0, 0], [-1, 0, 1, 0], [2, -5, 4, -1], [-1, 3, -3, 1]]) / 2,
    _NURBS: np.array([[1, 4, 1, 0], [-3, 0, 3, 0], [3, -6, 3, 0], [-1, 3, -3, 1]]) / 6,
}


def _cubic(points, closed, basis):
    """Points between points, by a basis (4, 4)."""
    count = len(points)
    if closed:
        around = points[(np.arange(count)[:, None] + [-1, 0, 1, 2]) % count]
    else:  # beyond the ends it goes straight on, so that it begins and ends with them
        longer = np.concatenate([[2 * points[0] - points[1]], points, [2 * points[-1] - points[-2]]])
        around = longer[np.arange(count - 1)[:, None] + np.arange(4)]
    powers = (np.arange(FINE) / FINE)[:, None] ** np.arange(4)
    fine = np.einsum("tp,pk,skc->stc", powers, basis, around).reshape(-1, 3)
    return fine if closed else np.concatenate([fine, points[-1:]])


def _bezier(points, left, right, closed):
    """Points along Bezier segments: points and both handles of each."""
    last = len(points) if closed else len(points) - 1
    ends = (np.arange(last) + 1) % len(points)
    corners = np.stack([points[:last], right[:last], left[ends], points[ends]], axis=1)
    t = (np.arange(FINE) / FINE)[:, None]
    weights = np.concatenate([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t ** 2 * (1 - t), t ** 3], axis=1)
    fine = np.einsum("tk,skc->stc", weights, corners).reshape(-1, 3)
    return fine if closed else np.concatenate([fine, points[-1:]])
