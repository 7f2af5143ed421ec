# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward kinematics inside a loss: one level of the tree at a time, in the character's space.

Numbers of one kind lie side by side (components, then joints level by level, then frames), so that few large sums do
the work.
"""

import numpy as np
import torch


class Kinematics:
    """Rows of poses (see Layout) → places and axes of the joints below the root, equations 3 and 4."""

    def __init__(self, skeleton, layout, moving, fixed, device="cpu"):
        order = np.concatenate(skeleton.levels)
        self._joints, self.device = len(order), device
        # Which numbers of a row are the two axes (3, 2, J - 1) of the joints, and the positions (3, M) of some of them.
        start = layout.parts["rotations"].start
        self._axes = _indices(start + 6 * (order - 1) + np.arange(6).reshape(3, 2, 1), device)
        start = layout.parts["positions"].start
        self._positions = _indices(start + 3 * np.arange(len(moving)) + np.arange(3).reshape(3, 1), device)
        self._moving = _indices([order.tolist().index(joint) for joint in moving], device)
        self._fixed = torch.as_tensor(fixed[order].T[:, :, None].copy(), dtype=torch.float32, device=device)
        # How many joints each level has, and on which of the level before they hang.
        self._sizes = [len(level) for level in skeleton.levels]
        self._above = [_indices(np.searchsorted(before, skeleton.parents[level]), device)
                       for before, level in zip(skeleton.levels, skeleton.levels[1:])]

    def __call__(self, rows):
        """Places (3, J - 1, F) and the first two axes (3, 2, J - 1, F) of rows (F, R), the root at the origin; joints
        in the order of the tree's levels."""
        placed = self.placed(rows, self.local(self.axes(rows)))
        return placed[:, 3], placed[:, :2]

    def axes(self, rows):
        """(3, 2, J - 1, F) the first two axes of each joint as they are in the rows, of whatever length."""
        return rows.t().index_select(0, self._axes).reshape(3, 2, self._joints, len(rows))

    def local(self, axes):
        """(3, 3, J - 1, F) the three axes of each joint, seen from the one that it hangs from, of its first two."""
        x = _unit(axes[:, 0])
        y = _unit(axes[:, 1] - x * (x * axes[:, 1]).sum(0))
        return torch.stack([x, y, cross(x, y)], 1)

    def placed(self, rows, local):
        """(3, 4, J - 1, F) the three axes of each joint and its place, in the character's space."""
        columns, frames = rows.t(), len(rows)
        arms = self._fixed.expand(3, self._joints, frames)
        if len(self._moving):
            own = columns.index_select(0, self._positions).reshape(3, len(self._moving), frames)
            arms = arms.index_copy(1, self._moving, own)
        first, *others = torch.cat([local, arms[:, None]], 1).split(self._sizes, 2)
        placed = [first]
        for local, above in zip(others, self._above):
            parents = placed[-1].index_select(2, above)
            turned = (parents[:, :3, None] * local).sum(1)
            placed.append(torch.cat([turned[:, :3], (turned[:, 3] + parents[:, 3])[:, None]], 1))
        return torch.cat(placed, 2)


def _indices(numbers, device):
    return torch.as_tensor(np.asarray(numbers, dtype=np.int64).ravel(), device=device)


def _unit(vectors):
    return vectors * torch.rsqrt((vectors * vectors).sum(0) + 1e-12)


def cross(a, b):
    """Of (3, …); torch's own takes several times as long."""
    (ax, ay, az), (bx, by, bz) = a.unbind(), b.unbind()
    return torch.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
