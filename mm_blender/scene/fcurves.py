# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of F-curves at many frames at once, as Blender evaluates them."""

import ctypes

import numpy as np

CONSTANT, LINEAR, BEZIER = 0, 1, 2
POINT_OFFSETS = {"handle_left": 0, "co": 12, "handle_right": 24}  # bytes from where a key begins
KEY_BYTES = 36
SAME_TIME = 1e-4  # Blender takes a key's own value this near to it


class Sampler:
    """Evaluates curves at fixed frames (F,). Curves that are keyed together share the search for their keys."""

    def __init__(self, frames):
        self.frames = np.asarray(frames, dtype=np.float64)
        self._times = self._reach = None

    def values(self, fcurve):
        """(F,) float32."""
        keys = fcurve.keyframe_points
        if not len(keys) or any(not modifier.mute for modifier in fcurve.modifiers):
            return self._asked(fcurve, self.frames)
        times, heights = key_points(fcurve).T
        self._find(times)
        if self._one_to_one:
            return heights
        values = heights[self._at]
        if self._outside.size and fcurve.extrapolation == "LINEAR":
            values[self._outside] = self._asked(fcurve, self.frames[self._outside])
        if self._between.size:
            values[self._between] = self._interpolated(fcurve, heights)
        return values

    def _find(self, times):
        """For each frame the key that it meets or follows; which frames lie between keys, and which outside of all."""
        if self._times is not None and len(times) == len(self._times) and (times == self._times).all():
            return
        self._times, self._reach = times, None
        frames, last = self.frames, len(times) - 1
        before = np.searchsorted(times, frames + SAME_TIME, side="right") - 1
        self._at = np.clip(before, 0, last)
        apart = np.abs(times[self._at] - frames) > SAME_TIME
        outside = (before < 0) | (before >= last)
        self._outside = np.flatnonzero(apart & outside)
        self._between = np.flatnonzero(apart & ~outside)
        self._one_to_one = len(times) == len(frames) and not apart.any() and bool((np.diff(self._at) > 0).all())
        self._start = self._at[self._between]
        self._lengths = np.maximum(np.diff(times.astype(np.float64)), 1e-12)
        self._share = (frames[self._between] - times[self._start]) / self._lengths[self._start] if last else None

    def _interpolated(self, fcurve, heights):
        """The values at the frames that lie between keys."""
        start, modes = self._start, key_values(fcurve, "interpolation")[:-1]
        values, ask = heights[start], (modes > BEZIER)[start]
        if (modes == BEZIER).any():
            curved, backward = self._bezier(fcurve, heights)
            if (modes == BEZIER).all() and not backward.any():
                return curved
            bezier = (modes == BEZIER)[start]
            values, ask = np.where(bezier, curved, values), ask | (bezier & backward)
        if (modes == LINEAR).any():
            values = np.where((modes == LINEAR)[start], values + self._share * np.diff(heights)[start], values)
        if ask.any():
            values[ask] = self._asked(fcurve, self.frames[self._between[ask]])
        return values

    def _bezier(self, fcurve, heights):
        """The values as if all keys were BEZIER, and where they are wrong since a handle points backwards."""
        times, lengths, start = self._times, self._lengths, self._start
        heights = heights.astype(np.float64)
        right, left = key_values(fcurve, "handle_right")[:-1].T, key_values(fcurve, "handle_left")[1:].T
        reach = np.stack([right[0] - times[:-1], times[1:] - left[0]]) / lengths
        if self._reach is None or not np.array_equal(reach, self._reach):
            self._reach = reach
            # A handle never reaches past the other key.
            self._kept = np.minimum(1, 1 / np.maximum(np.abs(reach), 1e-12))
            first, last = np.clip(reach * self._kept, -1, 1)
            self._backward = ((first < -1e-6) | (last < -1e-6))[start]
            self._t = _solve(self._share, first[start], 1 - last[start])
        a, d = heights[:-1], heights[1:]
        b, c = a + (right[1] - a) * self._kept[0], d + (left[1] - d) * self._kept[1]
        parts = np.stack([d - a + 3 * (b - c), 3 * (a + c) - 6 * b, 3 * (b - a), a])
        cubic, square, linear, constant = parts.take(start, axis=1, mode="clip")
        t = self._t
        return ((cubic * t + square) * t + linear) * t + constant, self._backward

    @staticmethod
    def _asked(fcurve, frames):
        return np.fromiter(map(fcurve.evaluate, frames), dtype=np.float32, count=len(frames))


def key_points(fcurve):
    """Frame and value of every key (K, 2)."""
    return key_values(fcurve, "co")


def key_values(fcurve, name):
    """One property of every key: points (K, 2), or "interpolation" as numbers (K,)."""
    keys = fcurve.keyframe_points
    if name == "interpolation":
        values = np.empty(len(keys), np.int32)
        keys.foreach_get(name, values)
        return values
    points = _copied(keys, name) if len(keys) > 1 else None
    if points is None:
        points = np.empty((len(keys), 2), np.float32)
        keys.foreach_get(name, points.reshape(-1))
    return points


def _copied(keys, name):
    """Points (K, 2) copied from where Blender keeps its keys, or None when they do not lie there as expected.

    foreach_get asks for every point by itself and would take most of the time that reading an Action needs. A key
    begins with its three points (left handle, key, right handle) of three numbers; where the keys lie, how far apart
    they are, and the first and last point come from Blender itself and have to agree.
    """
    first, last, count = keys[0], keys[-1], len(keys)
    begin = first.as_pointer()
    size = keys[1].as_pointer() - begin
    if size < KEY_BYTES or last.as_pointer() != begin + size * (count - 1):
        return None
    memory = (ctypes.c_char * (size * count)).from_address(begin)
    pairs = np.ndarray(count, np.complex64, memory, POINT_OFFSETS[name], size)  # two numbers at a time copy faster
    points = pairs.copy().view(np.float32).reshape(-1, 2)
    agree = points[0].tolist() == [*getattr(first, name)] and points[-1].tolist() == [*getattr(last, name)]
    return points if agree else None


def _solve(x, first, second):
    """Where a cubic from 0 to 1 with inner control points first and second reaches x: Newton inside a bracket."""
    cubic, square, linear = 1 + 3 * first - 3 * second, 3 * second - 6 * first, 3 * first
    low, high, t = np.zeros_like(x), np.ones_like(x), x.copy()
    for _ in range(60):
        error = ((cubic * t + square) * t + linear) * t - x
        wrong = np.abs(error) > 1e-9
        if not wrong.any():
            break
        low, high = np.where(error < 0, t, low), np.where(error < 0, high, t)
        slope = (3 * cubic * t + 2 * square) * t + linear
        newton = t - error / np.where(slope > 1e-9, slope, 1)
        inside = (slope > 1e-9) & (newton >= low) & (newton <= high)
        t = np.where(wrong, np.where(inside, newton, (low + high) / 2), t)
    return t
