# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward kinematics inside a loss: one level of the tree at a time, in the character's space.

A number of all frames lies in one row (components before frames), so that few large sums do the work.
"""

import torch


class Kinematics:
    """Rows of poses (see Layout) → places and axes of the joints below the root, equations 3 and 4."""

    def __init__(self, skeleton, layout, moving, fixed, device="cpu"):
        self._layout, self._moving = layout, torch.as_tensor(moving - 1, dtype=torch.long, device=device)
        self._fixed = torch.as_tensor(fixed[1:], dtype=torch.float32, device=device)[:, :, None]
        of_moving = {int(joint): place for place, joint in enumerate(moving)}
        self._levels, placed = [], []
        for joints in skeleton.levels:
            above = [placed.index(parent) if parent else None for parent in skeleton.parents[joints].tolist()]
            own = [(place, of_moving[joint]) for place, joint in enumerate(joints.tolist()) if joint in of_moving]
            self._levels.append((torch.as_tensor(joints - 1, device=device),
                                 None if above[0] is None else torch.as_tensor(above, device=device), own))
            placed += joints.tolist()
        # Where each joint came to lie among those that were placed level by level.
        self._order = torch.as_tensor([placed.index(joint) for joint in range(1, len(skeleton))], device=device)

    def __call__(self, rows):
        """Places (J - 1, 3, F) and the first two axes (J - 1, 3, 2, F) of rows (F, R), the root at the origin."""
        parts, columns = self._layout.parts, rows.t()
        joints, frames = self._layout.joints - 1, len(rows)
        local = _matrices(columns[parts["rotations"]].reshape(joints, 3, 2, frames))
        moving = columns[parts["positions"]].reshape(self._layout.moving, 3, frames)
        places, axes = [], []
        for level, above, own in self._levels:
            arm, turn = self._fixed[level].expand(-1, 3, frames), local[level]
            if own:
                arm = arm.index_copy(0, torch.as_tensor([place for place, _ in own], device=rows.device),
                                     moving[[index for _, index in own]])
            if above is not None:
                parent = torch.cat(axes)[above] if len(axes) > 1 else axes[0][above]
                origin = torch.cat(places)[above] if len(places) > 1 else places[0][above]
                arm = origin + (parent * arm[:, None]).sum(2)
                turn = (parent[:, :, :, None] * turn[:, None]).sum(2)
            places.append(arm)
            axes.append(turn)
        return torch.cat(places)[self._order], torch.cat(axes)[self._order][:, :, :2]


def _matrices(axes):
    """Rotation matrices (J, 3, 3, F) from two columns (J, 3, 2, F) that need not be perpendicular or of unit length."""
    x = _unit(axes[:, :, 0])
    z = _unit(torch.linalg.cross(x, axes[:, :, 1], dim=1))
    return torch.stack([x, torch.linalg.cross(z, x, dim=1), z], dim=2)


def _unit(vectors):
    return vectors * torch.rsqrt((vectors * vectors).sum(1, keepdim=True) + 1e-12)
