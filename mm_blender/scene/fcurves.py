# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of F-curves at many frames at once, as Blender evaluates them."""

import numpy as np

CONSTANT, LINEAR, BEZIER = 0, 1, 2
SAME_TIME = 1e-4  # Blender takes a key's own value this near to it


class Sampler:
    """Evaluates curves at fixed frames (F,). Curves that are keyed together share the search for their keys."""

    def __init__(self, frames):
        self.frames = np.asarray(frames, dtype=np.float64)
        self._times = None

    def values(self, fcurve):
        """(F,) float32."""
        keys = fcurve.keyframe_points
        if not len(keys) or any(not modifier.mute for modifier in fcurve.modifiers):
            return self._asked(fcurve, self.frames)
        times, heights = key_points(fcurve).T
        self._find(times)
        values = heights[self._at]
        if self._outside.size and fcurve.extrapolation == "LINEAR":
            values[self._outside] = self._asked(fcurve, self.frames[self._outside])
        if self._between.size:
            values[self._between] = self._interpolated(fcurve, times, heights)
        return values

    def _find(self, times):
        """For each frame the key that it meets or follows; which frames lie between keys, and which outside of all."""
        if self._times is not None and np.array_equal(times, self._times):
            return
        self._times = times
        frames, last = self.frames, len(times) - 1
        before = np.searchsorted(times, frames + SAME_TIME, side="right") - 1
        self._at = np.clip(before, 0, last)
        apart = np.abs(times[self._at] - frames) > SAME_TIME
        outside = (before < 0) | (before >= last)
        self._outside = np.flatnonzero(apart & outside)
        self._between = np.flatnonzero(apart & ~outside)

    def _interpolated(self, fcurve, times, heights):
        frames, start = self.frames[self._between], self._at[self._between]
        modes = key_values(fcurve, "interpolation")[start]
        values = heights[start]  # right for CONSTANT
        linear = modes == LINEAR
        if linear.any():
            a = start[linear]
            share = (frames[linear] - times[a]) / (times[a + 1] - times[a])
            values[linear] += share * (heights[a + 1] - heights[a])
        ask = modes > BEZIER
        bezier = np.flatnonzero(modes == BEZIER)
        if bezier.size:
            a = start[bezier]
            right, left = key_values(fcurve, "handle_right")[a], key_values(fcurve, "handle_left")[a + 1]
            points = np.stack([times, heights], axis=-1).astype(np.float64)
            values[bezier], backward = _bezier(frames[bezier], points[a], right, left, points[a + 1])
            ask[bezier[backward]] = True
        if ask.any():
            values[ask] = self._asked(fcurve, frames[ask])
        return values

    @staticmethod
    def _asked(fcurve, frames):
        return np.fromiter(map(fcurve.evaluate, frames), dtype=np.float32, count=len(frames))


def key_points(fcurve):
    """Frame and value of every key (K, 2)."""
    return key_values(fcurve, "co")


def key_values(fcurve, name):
    """One property of every key: points (K, 2), or "interpolation" as numbers (K,)."""
    keys = fcurve.keyframe_points
    values = np.empty(len(keys), np.int32) if name == "interpolation" else np.empty((len(keys), 2), np.float32)
    keys.foreach_get(name, values.reshape(-1))
    return values


def _bezier(frames, start, right, left, end):
    """Heights at frames of curves with points (N, 2), and where they are wrong since a handle points backwards."""
    length = end[:, 0] - start[:, 0]
    right, left = right - start, left - end
    for handle in (right, left):  # a handle never reaches past the other key
        handle *= np.minimum(1, length / np.maximum(np.abs(handle[:, 0]), 1e-12))[:, None]
    first, second = right[:, 0] / length, 1 + left[:, 0] / length
    backward = (first < -1e-6) | (second > 1 + 1e-6)
    t = _solve((frames - start[:, 0]) / length, first, second)
    a, b, c, d = start[:, 1], start[:, 1] + right[:, 1], end[:, 1] + left[:, 1], end[:, 1]
    s = 1 - t
    return s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d, backward


def _solve(x, first, second):
    """Where a cubic from 0 to 1 with inner control points first and second reaches x: Newton inside a bracket."""
    cubic, square, linear = 1 + 3 * first - 3 * second, 3 * second - 6 * first, 3 * first
    low, high, t = np.zeros_like(x), np.ones_like(x), x.copy()
    for _ in range(60):
        error = ((cubic * t + square) * t + linear) * t - x
        if np.abs(error).max() < 1e-10:
            break
        low, high = np.where(error < 0, t, low), np.where(error < 0, high, t)
        slope = (3 * cubic * t + 2 * square) * t + linear
        newton = t - error / np.where(slope > 1e-9, slope, 1)
        inside = (slope > 1e-9) & (newton > low) & (newton < high)
        t = np.where(inside, newton, (low + high) / 2)
    return t
