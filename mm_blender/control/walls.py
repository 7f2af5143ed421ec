# SPDX-License-Identifier: GPL-3.0-or-later
"""From triangles to walls on the ground plane: where they cut the heights between a step and a head."""

import numpy as np

# Cosine of the steepest slope that is a way up, not a wall: 45 degrees.
SLOPE = 0.7071
# Metres between two heights at which triangles are cut, at most.
SPACING = 0.32
# What lies wholly between two such heights (a rail, a table top) counts when it is as long as this, in metres.
NOTEWORTHY = 0.1
# Metres: roundings finer than this are left out; ends so near are the same.
DETAIL, SAME = 0.01, 1e-4


def walls_of(triangles, low, high):
    """Segments (S, 2, 2) that stand for triangles (N, 3, 3) between two heights."""
    steep = triangles[_is_steep(triangles)]
    heights = np.linspace(low, high, int(np.ceil((high - low) / SPACING)) + 1)
    lowest, highest = steep[..., 2].min(axis=1), steep[..., 2].max(axis=1)
    first, end = np.searchsorted(heights, lowest), np.searchsorted(heights, highest)
    counts = end - first
    which = np.repeat(np.arange(len(steep)), counts)
    step = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    between = np.flatnonzero((counts == 0) & (highest > low) & (lowest < high))
    own = cut(steep[between], (np.maximum(lowest, low) + np.minimum(highest, high))[between] / 2)
    own = own[np.linalg.norm(own[:, 1] - own[:, 0], axis=-1) > NOTEWORTHY]
    return plainer(np.concatenate([cut(steep[which], heights[first[which] + step]), own]))


def cut(triangles, heights):
    """Where each triangle (M, 3, 3) crosses its height (M,): segments (M, 2, 2)."""
    above = triangles[..., 2] > heights[:, None]
    # One vertex is alone on its side, and both its edges cross the height.
    lone = np.where(above.sum(axis=1) == 1, above.argmax(axis=1), above.argmin(axis=1))
    rows = np.arange(len(triangles))[:, None]
    tip, others = triangles[rows, lone[:, None]], triangles[rows, (lone[:, None] + [1, 2]) % 3]
    part = (heights[:, None] - tip[..., 2]) / (others[..., 2] - tip[..., 2])
    return tip[..., :2] + part[..., None] * (others - tip)[..., :2]


def plainer(segments):
    """Chains of segments (S, 2, 2) with fewer ends: those less than DETAIL beside the line of their neighbours go."""
    _, first, ends = np.unique(_keys(np.round(segments.reshape(-1, 2) / SAME)), return_index=True, return_inverse=True)
    places, ends = segments.reshape(-1, 2)[first], ends.reshape(-1, 2)
    chance = np.random.default_rng(0)
    while True:
        # One wall is cut at many heights: once what lay between its ends is gone, all of them are the same.
        ends = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
        ends = ends[np.unique(_keys(ends), return_index=True)[1]]
        flat = ends.ravel()
        degrees = np.bincount(flat, minlength=len(places))
        inner = np.flatnonzero(degrees == 2)
        sorted_at = np.argsort(flat, kind="stable")[(np.cumsum(degrees) - degrees)[inner][:, None] + [0, 1]]
        left, right = flat[sorted_at ^ 1].T  # the other ends of the two segments
        small = _beside(places[inner], places[left], places[right]) < DETAIL
        # Of neighbours only one goes at a time: the one that draws the highest lot.
        lots = np.zeros(len(places))
        lots[inner[small]] = chance.uniform(0.1, 1, small.sum())
        goes = small & (lots[inner] > lots[left]) & (lots[inner] > lots[right])
        if not goes.any():
            return places[ends]
        flat[sorted_at[goes, 0]] = right[goes]
        ends = np.delete(flat.reshape(-1, 2), sorted_at[goes, 1] // 2, axis=0)


def _keys(pairs):
    """One whole number for each pair of whole numbers (…, 2)."""
    first, second = np.asarray(pairs, dtype=np.int64).T
    return first * 2**32 + second


def _beside(points, start, end):
    """How far points (…, 2) are from segments."""
    way = end - start
    part = ((points - start) * way).sum(axis=-1) / np.maximum((way * way).sum(axis=-1), 1e-12)
    return np.linalg.norm(points - start - np.clip(part, 0, 1)[..., None] * way, axis=-1)


def _is_steep(triangles):
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return np.abs(normals[:, 2]) < SLOPE * np.linalg.norm(normals, axis=-1)
