# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies on the ground around a character: the arrow where it faces, and while it is driven paths, feet and roots.

They are drawn anew in each frame: so shapes are made once, and all of them are put in place together.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...matching.feature_lines import COLOURS, LIFT, arrow

WANTED, FACED = COLOURS["trajectory"], COLOURS["trajectory_direction"]  # as where features are drawn
PLAYED, STANDING = COLOURS["bone_position"], COLOURS["bone_velocity"]
FINE = 6  # pieces of a curve between two points
_CIRCLE = np.stack([np.cos(np.arange(24) * np.pi / 12), np.sin(np.arange(24) * np.pi / 12), np.zeros(24)], axis=-1)


@dataclass(frozen=True, eq=False)
class Shape:
    """Lines (N, 2, 3) and triangles (M, 3, 3) of a character whose hips are 1 m high and that faces Y."""

    lines: np.ndarray
    triangles: np.ndarray
    colour: tuple
    filled: float = 0.35  # how much the triangles cover what is under them


def closed(outline):
    """The segments (P, 2, 3) around an outline (P, 3)."""
    return np.stack([outline, np.roll(outline, -1, axis=0)], axis=1)


def fan(outline):
    """The triangles (P, 3, 3) that fill an outline (P, 3) around its middle."""
    return np.insert(closed(outline), 0, outline.mean(axis=0), axis=1)


def _disc(radius, colour, filled=0.35):
    return Shape(closed(radius * _CIRCLE), fan(radius * _CIRCLE), colour, filled)


def _arrow():
    outline = np.array([[-0.045, 0.22], [-0.045, 0.60], [-0.13, 0.60], [0.0, 0.82], [0.13, 0.60], [0.045, 0.60],
                        [0.045, 0.22]])
    outline = np.insert(outline, 2, 0.0, axis=1)
    return Shape(closed(outline), outline[[[0, 1, 5], [0, 5, 6], [2, 3, 4]]], FACED)


def _ring(radius, colour):
    """A circle with a tip where it faces."""
    tip = np.array([[[-0.05, radius, 0.0], [0.0, radius + 0.08, 0.0], [0.05, radius, 0.0]]])
    return Shape(closed(radius * _CIRCLE), tip, colour, 0.9)


SHAPES = {
    "arrow": _arrow(),
    "root": _ring(0.16, PLAYED),
    "simulated": _ring(0.20, WANTED),
    "foot": _disc(0.075, STANDING),
    "wanted": _disc(0.022, WANTED, 0.9),
    "facing": Shape(arrow(np.zeros(3), np.array([0.0, 0.16, 0.0])), np.zeros((0, 3, 3)), FACED),
    "played": _disc(0.035, PLAYED),
}


class GroundLines:
    """Shapes and curves on the ground in the world, for a character whose hips are `size` high."""

    def __init__(self, size):
        self._size = size
        self._names, self._places, self._yaws, self._curves = [], [], [], []

    def arrow(self, place, yaw):
        """Where the character faces."""
        self._put("arrow", place, yaw)

    def desired(self, points, facings):
        """The path (T, 3) that the stick leads along, with the facing at each of its times but the first, now."""
        self._curves.append((points, WANTED))
        for point, yaw in zip(points[1:], facings[1:]):
            self._put("wanted", point)
            self._put("facing", point, yaw)

    def matched(self, points):
        """The path (T, 3) that the motion leads along."""
        self._curves.append((points, PLAYED))
        for point in points[1:]:
            self._put("played", point)

    def contacts(self, toes, held):
        """The toes (L, 3) that are held."""
        for toe in toes[held]:
            self._put("foot", toe)

    def root(self, place, yaw, simulated, simulated_yaw):
        """The character's root, and the one that the stick moves."""
        self._put("root", place, yaw)
        self._put("simulated", simulated, simulated_yaw)

    @property
    def lines(self):
        """Segments (N, 2, 3) and their colours (N, 3)."""
        segments, owners, colours = _joined_lines(tuple(self._names))
        segments, colours = [self._placed(segments, owners)], [colours]
        for points, colour in self._curves:
            curve = smooth(points) + (0, 0, LIFT / 2)
            segments.append(np.stack([curve[:-1], curve[1:]], axis=1))
            colours.append(np.broadcast_to(colour, (len(curve) - 1, 3)))
        return np.concatenate(segments), np.concatenate(colours)

    @property
    def triangles(self):
        """Triangles (M, 3, 3) and their colours (M, 4)."""
        triangles, owners, colours = _joined_triangles(tuple(self._names))
        return self._placed(triangles, owners), colours

    def _put(self, name, place, yaw=0.0):
        self._names.append(name)
        self._places.append(place)
        self._yaws.append(yaw)

    def _placed(self, points, owners):
        """Points (N, P, 3), each turned and moved as its owner (N,) is."""
        yaws = np.array(self._yaws)[owners, None]
        cos, sin = self._size * np.cos(yaws), self._size * np.sin(yaws)
        placed = np.array(self._places, dtype=np.float64).reshape(-1, 3)[owners, None].repeat(points.shape[1], axis=1)
        placed[..., 0] += cos * points[..., 0] - sin * points[..., 1]
        placed[..., 1] += sin * points[..., 0] + cos * points[..., 1]
        placed[..., 2] += LIFT / 2
        return placed


def smooth(points):
    """A curve through points (P, 3): cubic pieces whose tangents look from neighbour to neighbour (Catmull–Rom)."""
    return _catmull_rom(len(points)) @ points


@lru_cache
def _catmull_rom(count):
    """How much each of the points counts at each place of the curve."""
    if count < 3:
        return np.eye(count)
    points = np.eye(count)
    around = np.concatenate([2 * points[:1] - points[1:2], points, 2 * points[-1:] - points[-2:-1]])
    a, b, c, d = (around[start:start + count - 1, None] for start in range(4))
    t = (np.arange(FINE) / FINE)[None, :, None]
    pieces = b + t / 2 * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)))
    return np.concatenate([pieces.reshape(-1, count), points[-1:]])


@lru_cache(maxsize=16)
def _joined_lines(names):
    """The lines of shapes, which of them each belongs to, and colours (N, 3)."""
    return _joined([(SHAPES[name].lines, SHAPES[name].colour) for name in names], 2, 3)


@lru_cache(maxsize=16)
def _joined_triangles(names):
    return _joined([(SHAPES[name].triangles, (*SHAPES[name].colour, SHAPES[name].filled)) for name in names], 3, 4)


def _joined(parts, corners, channels):
    owners = np.repeat(np.arange(len(parts)), [len(points) for points, _ in parts])
    colours = np.array([colour for _, colour in parts]).reshape(-1, channels)[owners]
    return np.concatenate([np.zeros((0, corners, 3)), *(points for points, _ in parts)]), owners, colours
