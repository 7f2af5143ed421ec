# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of F-curves at many frames at once, as Blender evaluates them."""

import ctypes
from collections import defaultdict
from functools import cache

import bpy
import numpy as np

CONSTANT, LINEAR, BEZIER = 0, 1, 2  # Blender's numbers; those above are its easing curves
SAME_TIME = 1e-4  # Blender takes a key's own value this near to it
CLOSE = 1e-7  # of the way to the next key: finer than Blender's own times

# A key as it lies in Blender's memory. A point is a complex number: its time is the real part, its height the other.
KEY = np.dtype({
    "names": ("handle_left", "co", "handle_right", "interpolation"),
    "formats": ("c8", "c8", "c8", "i1"),
    "offsets": (0, 12, 24, 48),
    "itemsize": 72,
})


def sample(fcurves, frames):
    """The values (C, F) float32 of curves at frames (F,). Curves with keys at the same times share most of the work."""
    values = np.empty((len(fcurves), len(frames)), dtype=np.float32)
    together = defaultdict(list)
    for row, curve in enumerate(fcurves):
        keys = _keys(curve)
        if not len(keys) or any(not modifier.mute for modifier in curve.modifiers):
            _ask(curve, frames, slice(None), values[row])
        else:
            together[keys["co"].real.tobytes()].append((row, curve, keys))
    for alike in together.values():
        rows, curves, keys = zip(*alike)
        values[list(rows)] = _sample_together(curves, keys, frames)
    return values


def key_points(fcurve):
    """Frame and value of every key (K, 2)."""
    return key_values(fcurve, "co")


def key_values(fcurve, name):
    """One property of every key: points (K, 2), or "interpolation" as numbers (K,)."""
    values = _keys(fcurve)[name].copy()
    return values if name == "interpolation" else values.view(np.float32).reshape(-1, 2)


def _sample_together(fcurves, keys, frames):
    """sample() of curves whose keys lie at the same times."""
    points = np.stack([each["co"] for each in keys])
    times, last = points[0].real.astype(np.float64), points.shape[1] - 1
    before = np.searchsorted(times, frames + SAME_TIME, side="right") - 1
    at = np.clip(before, 0, last)  # the key that a frame meets or follows
    apart = np.abs(times[at] - frames) > SAME_TIME
    outside = apart & ((before < 0) | (before >= last))
    between = apart & ~outside
    values = _taken(points.imag, at)
    if between.any():
        at = np.minimum(at, last - 1)
        share = np.where(between, (frames - times[at]) / np.maximum(np.diff(times), 1e-12)[at], 0)
        arcs = _Arcs(points, keys)
        values += arcs.rise(at, share)
        for row in np.flatnonzero(arcs.strange.any(1)):
            _ask(fcurves[row], frames, between & arcs.strange[row, at], values[row])
    if outside.any():
        for curve, row in zip(fcurves, values):
            if curve.extrapolation == "LINEAR":
                _ask(curve, frames, outside, row)
    return values


class _Arcs:
    """What lies between the keys (C, K) of curves.

    reach    (2, C or 1, K - 1) how far the two handles reach in time, as a share of the way to the other key
    powers   three of (C, K - 1): what a curve rises with the cube, the square and the first power of its parameter
    strange  (C, K - 1) whether only Blender itself can follow this arc
    """

    def __init__(self, points, keys):
        keys = np.frombuffer(b"".join(keys), dtype=KEY).reshape(points.shape)
        modes = keys["interpolation"][:, :-1]
        step = points[:, 1:] - points[:, :-1]
        right = keys["handle_right"][:, :-1] - points[:, :-1]
        left = points[:, 1:] - keys["handle_left"][:, 1:]
        straight = modes != BEZIER  # as a curve is whose handles lie at the thirds
        if straight.any():
            step.imag[modes == CONSTANT] = 0
            right[straight] = left[straight] = step[straight] / 3
        reach = np.stack([right.real, left.real]) / np.maximum(step.real, 1e-12)
        if (reach == reach[:, :1]).all():
            reach = reach[:, :1]
        kept = 1 / np.maximum(np.abs(reach), 1)  # a handle never reaches past the other key
        self.reach = reach * kept
        self.strange = (modes > BEZIER) | (self.reach < -1e-6).any(0)
        first, last = right.imag * kept[0], step.imag - left.imag * kept[1]
        self.powers = step.imag + 3 * (first - last), 3 * (last - 2 * first), 3 * first

    def rise(self, at, share):
        """How much the curves rise (C, F) over a share (F,) of the arcs at (F,)."""
        first, last = _taken(self.reach, at).astype(np.float64)
        t = _solve(share, first, 1 - last).astype(np.float32)
        rise = _taken(self.powers[0], at)
        rise *= t
        for power in self.powers[1:]:
            rise += _taken(power, at)
            rise *= t
        return rise


def _ask(fcurve, frames, where, values):
    """Let Blender evaluate a curve where (F,) nothing else will do, and write what it says to values (F,)."""
    values[where] = np.fromiter(map(fcurve.evaluate, frames[where]), dtype=np.float32)


def _keys(fcurve):
    """All keys of a curve (K,), as KEY describes them. They may be Blender's own: copy what is to last."""
    points = fcurve.keyframe_points
    keys = _seen(points) if len(points) > 1 else None
    if keys is None:
        keys = np.empty(len(points), dtype=KEY)
        for name in ("handle_left", "co", "handle_right"):
            values = np.empty(2 * len(points), dtype=np.float32)
            points.foreach_get(name, values)
            keys[name] = values.view(np.complex64)
        modes = np.empty(len(points), dtype=np.int32)
        points.foreach_get("interpolation", modes)
        keys["interpolation"] = modes
    return keys


def _seen(points):
    """The keys where Blender keeps them, to be copied at once, or None when they do not lie there as expected.

    foreach_get asks for every number by itself and would take most of the time that reading an Action needs. Where the
    keys lie, how far apart they are, and what the last one says comes from Blender itself and has to agree.
    """
    last, count = points[-1], len(points)
    begin = points[0].as_pointer()
    if last.as_pointer() != begin + KEY.itemsize * (count - 1):
        return None
    keys = np.frombuffer((ctypes.c_char * (KEY.itemsize * count)).from_address(begin), dtype=KEY)
    told = complex(*last.handle_left), complex(*last.co), complex(*last.handle_right), _modes()[last.interpolation]
    return keys if keys[-1].item() == told else None


@cache
def _modes():
    """The numbers of the kinds of interpolation."""
    return {item.identifier: item.value for item in bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items}


def _taken(numbers, at):
    """numbers[..., at], at twice the speed."""
    return numbers.take(at, axis=-1, mode="clip")


def _solve(x, first, second):
    """Where a cubic from 0 to 1 with inner control points first and second reaches x: Newton inside a bracket."""
    cubic, square, linear = 1 + 3 * (first - second), 3 * second - 6 * first, 3 * first
    cubic_slope, square_slope = 3 * cubic, 2 * square
    low, high, t = 0.0, 1.0, x
    for _ in range(60):
        error = ((cubic * t + square) * t + linear) * t - x
        if not (np.abs(error) > CLOSE).any():
            break
        short = error < 0
        low, high = np.where(short, t, low), np.where(short, high, t)
        newton = t - error / np.maximum((cubic_slope * t + square_slope) * t + linear, 1e-9)
        t = np.where((newton >= low) & (newton <= high), newton, (low + high) / 2)
    return np.broadcast_to(t, first.shape)
