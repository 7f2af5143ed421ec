# SPDX-License-Identifier: GPL-3.0-or-later
"""The meshes around a character, in Collections that the artist chose: walls to slide along, ground to stand on."""

import math
import time
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from ...control.obstacles import Obstacles
from ...control.walls import walls_of
from ...errors import MotionError

# Metres: how far a character keeps from walls, and the heights between which a wall is in its way.
RADIUS, LOW, HIGH = 0.25, 0.25, 1.8
# Metres that somebody can step up: what is higher is a ceiling or another floor. Stairs are looked at in hops so long.
STEP, HOP = 0.5, 0.4
# Metres around a point in which the ground may have a gap that nobody falls into.
GAP = 0.06
MOST = 1_000_000  # triangles
# Seconds between two looks at meshes that go on changing, and how many times longer than a look it is at least.
PAUSE, SHARE = 0.25, 4
# Objects that nobody takes for a wall, so that there is no word about them.
_NO_SURFACE = {"EMPTY", "ARMATURE", "CAMERA", "LIGHT", "LIGHT_PROBE", "SPEAKER", "LATTICE"}
_DOWN = (0.0, 0.0, -1.0)
_AROUND = ((GAP, 0.0), (-GAP, 0.0), (0.0, GAP), (0.0, -GAP))


class Ground:
    """Heights of the first surface at or under a point, or else beside it; where there is none, of the plane z = 0.

    What lies ahead may be higher than a step and yet be reached by stairs. So it is looked for in hops from where one
    stands, each from the height that the last one came to: no hop leads up through a ceiling.

    floors  [K] how high in the world that plane is for each of the characters, who see all from there
    """

    def __init__(self, surface, floors):
        self._tree = BVHTree.FromPolygons(surface.vertices.tolist(), surface.triangles.tolist(), all_triangles=True)
        self._floors = floors

    def __call__(self, points):
        """Heights (K, N) at points (K, N, 3), of which the first is where each character stands."""
        return np.array([self._heights(each, floor)
                         for each, floor in zip(np.asarray(points, dtype=np.float64).tolist(), self._floors)])

    def _heights(self, points, floor):
        (x, y, z), *rest = points
        stand = x, y, self._height(x, y, z + floor, floor)
        found = [self._height(*self._reached(stand, (x, y, z + floor)), floor) for x, y, z in rest]
        return [height - floor for height in (stand[2], *found)]

    def _reached(self, stand, point):
        """The point, or above it how high one comes on the way there."""
        (x, y, high), (to_x, to_y, z) = stand, point
        high, hops = max(high, z), int(math.hypot(to_x - x, to_y - y) / HOP)
        for hop in range(1, hops + 1):
            share = hop / (hops + 1)
            below = self._below(x + share * (to_x - x), y + share * (to_y - y), high)
            high = high if below is None else max(high, below)
        return to_x, to_y, high

    def _height(self, x, y, z, floor):
        found = [self._below(x, y, z)]
        if found[0] is None or found[0] < z - STEP:
            found += [self._below(x + right, y + ahead, z) for right, ahead in _AROUND]
        return max((height for height in found if height is not None), default=floor)

    def _below(self, x, y, z):
        place = self._tree.ray_cast((x, y, z + STEP), _DOWN)[0]
        return None if place is None else place.z


class Surroundings:
    """The obstacles and the ground of two Collections (or None), read again when their meshes change.

    begin() and end() watch and stop watching; refresh() each frame. What is wrong with the meshes is in sentences.
    """

    def __init__(self, walls=None, ground=None, floors=(0.0,), radius=RADIUS):
        """floors: as Ground has them"""
        # Collections are kept by session_uid, which outlives undo and renaming.
        self._walls, self._floor = (found and (found.session_uid, found.name) for found in (walls, ground))
        self._floors, self._level = floors, floors[0]
        self.obstacles, self.ground, self.sentences = Obstacles((), radius), None, []
        self._watched, self._visible = set(), set()
        self._stale, self._earliest = True, 0.0

    def begin(self):
        bpy.app.handlers.depsgraph_update_post.append(self._on_update)

    def end(self):
        # Opening a file has taken it away already.
        if self._on_update in bpy.app.handlers.depsgraph_update_post:
            bpy.app.handlers.depsgraph_update_post.remove(self._on_update)

    def stand_at(self, level):
        """Walls are those in the way of somebody who stands so high in the world; a step or two make no difference."""
        if abs(level - self._level) > STEP:
            self._level, self._stale = level, True

    def refresh(self, depsgraph):
        """Read the meshes again if they changed, a few times a second at most. Returns whether it did."""
        began = time.perf_counter()
        if not self._stale or began < self._earliest:
            return False
        self._stale = False
        self._read(depsgraph)
        done = time.perf_counter()
        self._earliest = done + max(PAUSE, SHARE * (done - began))
        return True

    def changed(self, depsgraph):
        """Whether this update of Blender's is about one of the meshes; only its handlers can tell."""
        return any(self._is_about_us(update, depsgraph) for update in depsgraph.updates)

    def _on_update(self, _scene, depsgraph):
        self._stale = self._stale or self.changed(depsgraph)

    def _is_about_us(self, update, depsgraph):
        if isinstance(update.id, bpy.types.Scene):  # that is all Blender tells when something is hidden or shown
            return self._now_visible(depsgraph) != self._visible
        return ((update.is_updated_geometry or update.is_updated_transform)
                and update.id.original.session_uid in self._watched)

    def _read(self, depsgraph):
        self.sentences, self._watched = [], set()
        surfaces = {chosen: self._surface(chosen, depsgraph) for chosen in {self._walls, self._floor} - {None}}
        walls, floor = surfaces.get(self._walls), surfaces.get(self._floor)
        radius = self.obstacles.radius
        self.obstacles = _obstacles(walls, radius, self._level) if walls else Obstacles((), radius)
        self.ground = Ground(floor, self._floors) if floor else None
        self._visible = self._now_visible(depsgraph)

    def _surface(self, chosen, depsgraph):
        uid, name = chosen
        collection = _collection(uid)
        if collection is None:
            self.sentences.append(f'The Collection "{name}" is gone: choose another one.')
            return None
        # Also when it cannot be read: the next edit may be the one that helps.
        _reach(collection, self._watched)
        try:
            surface = _Surface.of(collection, depsgraph)
        except MotionError as error:
            self.sentences.append(str(error))
            return None
        self.sentences += surface.sentences
        return surface

    def _now_visible(self, depsgraph):
        found = [_collection(chosen[0]) for chosen in (self._walls, self._floor) if chosen]
        return {ob.session_uid for collection in found if collection for ob in _visible(collection, depsgraph)}


@dataclass
class _Surface:
    """All triangles of a Collection in the world: vertices (V, 3), indices (T, 3), and what is to be said about it."""

    vertices: np.ndarray
    triangles: np.ndarray
    sentences: list

    @classmethod
    def of(cls, collection, depsgraph):
        chosen = {ob.session_uid: ob for ob in _visible(collection, depsgraph)}
        rigged = {uid: ob.name for uid, ob in chosen.items() if _armature(ob) is not None and ob.type != "ARMATURE"}
        pieces, meshes, sizes, total = [], {}, {}, 0
        # Collections, curves and text come as instances: their meshes belong to the object that makes them.
        for instance in depsgraph.object_instances:
            ob = instance.object
            owner = (instance.parent if instance.is_instance else ob).original.session_uid
            if ob.type != "MESH" or owner not in chosen or owner in rigged:
                continue
            key = ob.data.as_pointer()
            if key not in meshes:
                meshes[key] = _arrays(ob)
            vertices, triangles = meshes[key]
            sizes[owner] = sizes.get(owner, 0) + len(triangles)
            total += len(triangles)
            if total > MOST:
                most = chosen[max(sizes, key=sizes.get)].name
                raise MotionError(f'The Collection "{collection.name}" has more than {MOST:,} triangles, most of them '
                                  f'in "{most}": give it a Decimate modifier, or choose a simpler mesh.')
            world = np.array(instance.matrix_world)
            pieces.append((vertices @ world[:3, :3].T + world[:3, 3], triangles))
        if not total:
            raise MotionError(f'The Collection "{collection.name}" has no visible mesh to be walls or ground: '
                              "put meshes into it, or choose another one.")
        bare = [ob.name for uid, ob in chosen.items()
                if ob.type not in _NO_SURFACE and uid not in rigged and not sizes.get(uid)]
        first = np.cumsum([0, *(len(vertices) for vertices, _ in pieces[:-1])])
        return cls(np.concatenate([vertices for vertices, _ in pieces]),
                   np.concatenate([triangles + start for start, (_, triangles) in zip(first, pieces)]),
                   [*_left_out(collection, bare, "without faces"),
                    *_left_out(collection, rigged.values(), "that move with an armature")])


def _obstacles(surface, radius, level):
    return Obstacles(walls_of(surface.vertices[surface.triangles], level + LOW, level + HIGH), radius)


def _arrays(ob):
    """Vertices (V, 3) and triangles (T, 3) of an evaluated mesh object."""
    # In edit mode the mesh itself is empty, or as it was before.
    mesh = ob.to_mesh() if ob.data.is_editmode else ob.data
    vertices = np.empty((len(mesh.vertices), 3), dtype=np.float32)
    mesh.vertices.foreach_get("co", vertices.ravel())
    triangles = np.empty((len(mesh.loop_triangles), 3), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles.ravel())
    if mesh is not ob.data:
        ob.to_mesh_clear()
    return vertices.astype(np.float64), triangles


def _visible(collection, depsgraph):
    return [ob for ob in collection.all_objects if ob.visible_get(view_layer=depsgraph.view_layer)]


def _armature(ob):
    """The armature that an object moves with: then it is part of a character, or in its hand, and no wall."""
    if ob.type == "ARMATURE":
        return ob
    for modifier in ob.modifiers:
        if modifier.type == "ARMATURE" and modifier.object is not None:
            return modifier.object
    return _armature(ob.parent) if ob.parent is not None else None


def _reach(collection, found):
    """Add the session_uid of a Collection and of all that can change it, also through instances of others."""
    found |= {one.session_uid for one in (collection, *collection.children_recursive)}
    for ob in collection.all_objects:
        if _armature(ob) is None:
            found.add(ob.session_uid)
        if ob.instance_collection is not None and ob.instance_collection.session_uid not in found:
            _reach(ob.instance_collection, found)


def _left_out(collection, names, why):
    names = ", ".join(f'"{name}"' for name in sorted(names))
    return [f'The Collection "{collection.name}" has objects {why}, which are left out: {names}.'] if names else []


def _collection(uid):
    return next((collection for collection in bpy.data.collections if collection.session_uid == uid), None)
