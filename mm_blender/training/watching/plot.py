# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture of a training under way: errors in cm above, losses below, over time. Painted with NumPy alone."""

import math
from itertools import pairwise

import numpy as np

# One colour for each network, in both halves: what it is measured by, and what it learns from.
COLOURS = {"decompressor": (0.30, 0.64, 1.00), "stepper": (1.00, 0.60, 0.20), "projector": (0.35, 0.80, 0.40)}
ERRORS = {"decompressor": "joint_error_cm", "stepper": "drift_1s_learned_cm"}
BACKGROUND, GRID, INK = (0.11, 0.11, 0.12), (0.24, 0.24, 0.26), (0.62, 0.62, 0.64)
# Pixels around and between the two halves, and of a digit, in a picture 480 pixels wide.
LEFT, RIGHT, EDGE, GAP, DIGIT = 58, 14, 38, 26, 9
# Letters as strokes through the points of a grid 2 wide and 4 high, numbered from the lower left.
_GRID = [(x, y) for y in range(5) for x in range(3)]
_STROKES = {"0": "0-2-14-12-0", "1": "9-13-1", "2": "12-14-8-6-0-2", "3": "12-14-2-0 8-6", "4": "12-6-8 14-2",
            "5": "14-12-6-8-2-0", "6": "14-12-0-2-8-6", "7": "12-14-1", "8": "0-2-14-12-0 6-8", "9": "8-6-12-14-2-0",
            ".": "1-1", "c": "8-6-0-2", "m": "0-6-8-2 7-1", "i": "1-7 10-10", "n": "0-6-8-2", "h": "12-0 6-8-2",
            "l": "13-1", "o": "0-2-8-6-0", "s": "8-6-3-5-2-0"}


def paint(lines, size=480):
    """(size, size, 4) float32, the lowest row first, from lines of progress."""
    canvas = _Canvas(size)
    told = [line for line in lines if _is_number(line.get("seconds"))]
    until = max((line["seconds"] + _value(line.get("seconds_left")) for line in told[-1:]), default=0.0)
    half = (size - 2 * canvas.to(EDGE) - canvas.to(GAP)) / 2
    upper = _Chart(canvas, canvas.to(EDGE) + half + canvas.to(GAP), half, until, "cm")
    lower = _Chart(canvas, canvas.to(EDGE), half, until, "loss")
    upper.draw({name: _errors(told, figure) for name, figure in ERRORS.items()}, dots=True)
    lower.draw({name: _losses(told, name) for name in COLOURS})
    lower.draw_times()
    return canvas.pixels


def swatch(name, size=16):
    """The colour of a network as a small picture, for a legend."""
    pixels = np.zeros((size, size, 4), dtype=np.float32)
    pixels[3:-3, 3:-3] = (*COLOURS[name], 1)
    return pixels


def _errors(lines, figure):
    """(N, 2) seconds and centimetres, where the figure was measured anew."""
    points, before = [], None
    for line in lines:
        value = (line.get("figures") or {}).get(figure)
        if _is_number(value) and value != before:
            points.append((line["seconds"], value))
            before = value
    return np.array(points).reshape(-1, 2)


def _losses(lines, stage):
    points = [(line["seconds"], sum(map(_value, line["losses"].values()))) for line in lines
              if line.get("stage") == stage and isinstance(line.get("losses"), dict)]
    return np.array(points).reshape(-1, 2)


class _Chart:
    """One half: a logarithmic axis of values over time."""

    def __init__(self, canvas, bottom, height, until, unit):
        self.canvas, self.bottom, self.height, self.until, self.unit = canvas, bottom, height, until, unit
        self.left, self.right = canvas.to(LEFT), canvas.size - canvas.to(RIGHT)

    def draw(self, series, dots=False):
        series = {name: points[points[:, 1] > 0] for name, points in series.items()}
        values = np.concatenate([points[:, 1] for points in series.values()] or [np.zeros(0)])
        self.low, self.high = _decades(values)
        canvas = self.canvas
        for value in _ticks(self.low, self.high):
            y = self._y(value)
            canvas.line(np.array([(self.left, y), (self.right, y)]), GRID, 1)
            canvas.write(f"{value:g}", self.left - canvas.to(8), y, 1.0)
        for name, points in series.items():
            if len(points):
                where = np.column_stack([self._x(points[:, 0]), self._y(points[:, 1])])
                canvas.curve(where, COLOURS[name], 3)
                for point in where if dots and len(where) < 16 else where[-1:]:
                    canvas.line(np.array([point, point]), COLOURS[name], 9)
        canvas.write(self.unit, self.right, self.bottom + self.height + canvas.to(12), 1.0)

    def draw_times(self):
        """What the numbers below mean: minutes, or hours."""
        unit, length = ("h", 3600) if self.until > 2 * 3600 else ("min", 60)
        step = next((step for step in (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100) if self.until / length <= 4 * step), 1000)
        y = self.bottom - self.canvas.to(20)
        for number in np.arange(0, self.until / length + 1e-6, step):
            x = self._x(number * length)
            if x < self.right - self.canvas.to(70):
                self.canvas.write(f"{number:g}", x, y, 0.5)
        self.canvas.write(unit, self.right, y, 1.0)

    def _x(self, seconds):
        return self.left + (self.right - self.left) * np.asarray(seconds, dtype=float) / max(self.until, 1e-6)

    def _y(self, values):
        share = np.log(np.asarray(values, dtype=float) / self.low) / math.log(self.high / self.low)
        return self.bottom + self.height * np.clip(share, 0, 1)


class _Canvas:
    def __init__(self, size):
        self.size = size
        self.pixels = np.empty((size, size, 4), dtype=np.float32)
        self.pixels[:] = (*BACKGROUND, 1)

    def to(self, pixels):
        """A length in a picture 480 pixels wide as one in this picture."""
        return pixels * self.size / 480

    def curve(self, points, colour, width):
        """A line through (N, 2) points that only goes to the right: column by column, however many points there are."""
        first, last = int(points[0, 0]), min(int(points[-1, 0]) + 1, self.size)
        edges = np.interp(np.arange(first, last + 1), *points.T).astype(np.float32)
        if len(edges) < 2:
            return
        radius = self.to(width) / 2 + 0.5
        low, high = np.minimum(edges[:-1], edges[1:]) - radius, np.maximum(edges[:-1], edges[1:]) + radius
        rows = slice(max(0, int(low.min())), min(self.size, int(high.max()) + 1))
        y = np.arange(rows.start, rows.stop, dtype=np.float32)[:, None] + np.float32(0.5)
        cover = np.clip(y - low, 0, 1) * np.clip(high - y, 0, 1)
        part = self.pixels[rows, first:last, :3]
        part += cover[..., None] * (np.float32(colour) - part)

    def line(self, points, colour, width):
        """A line through (N, 2) points, smooth at its edges."""
        radius = self.to(width) / 2
        for start, end in pairwise(points):
            low = np.maximum(np.floor(np.minimum(start, end) - radius - 1), 0).astype(int)
            high = np.minimum(np.ceil(np.maximum(start, end) + radius + 2), self.size).astype(int)
            if (high <= low).any():
                continue
            x, y = np.arange(low[0], high[0])[None, :] + 0.5, np.arange(low[1], high[1])[:, None] + 0.5
            along = end - start
            share = ((x - start[0]) * along[0] + (y - start[1]) * along[1]) / max(along @ along, 1e-9)
            share = np.clip(share, 0, 1)
            distance = np.hypot(x - start[0] - share * along[0], y - start[1] - share * along[1])
            cover = np.clip(radius + 0.5 - distance, 0, 1)[..., None]
            part = self.pixels[low[1]:high[1], low[0]:high[0], :3]
            part += cover * (np.float32(colour) - part)

    def write(self, text, x, y, anchor):
        """Text at the height y; its left end at x where the anchor is 0, its right end where it is 1."""
        step, unit = self.to(1.5 * DIGIT), self.to(DIGIT) / 2
        x -= anchor * (len(text) * step - self.to(0.5 * DIGIT))
        for index, letter in enumerate(text):
            for stroke in _STROKES.get(letter, "").split():
                grid = np.array([_GRID[int(place)] for place in stroke.split("-")], dtype=float)
                self.line(np.array([x + index * step, y - 2 * unit]) + unit * grid, INK, 2.2)


def _decades(values):
    """A range around the values, of a decade at the least."""
    if not len(values):
        return 0.1, 10.0
    low, high = float(values.min()) / 1.2, float(values.max()) * 1.2
    widen = max(1.0, math.sqrt(10 / (high / low)))
    return low / widen, high * widen


def _ticks(low, high):
    ticks = [number * 10.0 ** power for power in range(-5, 6) for number in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    whole = [tick for tick in ticks if math.log10(tick) == round(math.log10(tick))]
    return whole if len(ticks) > 5 else ticks


def _is_number(value):
    return isinstance(value, int | float) and math.isfinite(value)


def _value(value):
    return float(value) if _is_number(value) else 0.0
