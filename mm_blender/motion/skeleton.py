# SPDX-License-Identifier: GPL-3.0-or-later
"""A skeleton: named joints in a tree, their rest pose, and forward kinematics over all frames at once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import MotionError
from ..limits import check_joints
from . import quat


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Joints with parents before children.

    names      J unique names
    parents    (J,) index of each joint's parent, -1 for the root (joint 0, the only one)
    positions  (J, 3) rest position of each joint in its parent's frame, metres
    rotations  (J, 4) rest rotation of each joint in its parent's frame
    """

    names: tuple
    parents: np.ndarray
    positions: np.ndarray
    rotations: np.ndarray

    def __post_init__(self):
        set_ = object.__setattr__
        set_(self, "names", tuple(self.names))
        set_(self, "parents", np.asarray(self.parents, dtype=np.int32))
        set_(self, "positions", np.asarray(self.positions, dtype=np.float32))
        set_(self, "rotations", np.asarray(self.rotations, dtype=np.float32))
        _check(self)

    def __len__(self):
        return len(self.names)

    def index(self, name):
        return self.names.index(name)

    @cached_property
    def levels(self):
        """The tree level by level, without the root: index arrays, each holding joints whose parents came before."""
        depth = np.zeros(len(self), dtype=int)
        for joint, parent in enumerate(self.parents[1:], start=1):
            depth[joint] = depth[parent] + 1
        return [np.flatnonzero(depth == level) for level in range(1, depth.max() + 1)]

    @cached_property
    def rest(self):
        """Positions (J, 3) and rotations (J, 4) of the rest pose in the character's space."""
        positions, rotations = forward(self, self.positions[None], self.rotations[None])
        return positions[0], rotations[0]

    def children(self, joint):
        return np.flatnonzero(self.parents == joint)

    def ancestors(self, joint):
        """A joint and all joints above it, from the joint upwards."""
        chain = []
        while joint >= 0:
            chain.append(int(joint))
            joint = self.parents[joint]
        return chain

    def fork(self, one, other):
        """The lowest joint that is above, or is, each of two joints."""
        above = set(self.ancestors(other))
        return next(joint for joint in self.ancestors(one) if joint in above)

    def path(self, top, bottom):
        """The joints below top down to bottom; empty when bottom does not lie below top."""
        chain = self.ancestors(bottom)
        return chain[:chain.index(top)][::-1] if top in chain else []

    def carrying(self, joints):
        """Some joints with all that they hang from: which these are (P,), and a Skeleton of only these."""
        kept = np.array(sorted({above for joint in joints for above in self.ancestors(joint)}))
        parents = np.where(kept > 0, np.searchsorted(kept, self.parents[kept]), -1)
        return kept, Skeleton([self.names[joint] for joint in kept], parents, self.positions[kept],
                              self.rotations[kept])

    def same_joints(self, other):
        """Whether the two have the same names and the same tree (bone lengths may differ)."""
        return self.names == other.names and np.array_equal(self.parents, other.parents)


def forward(skeleton, positions, rotations):
    """Local transforms (F, J, 3), (F, J, 4) to character space: equations 3 and 4 of Learned Motion Matching."""
    positions, rotations = _components_first(positions), _components_first(rotations)
    for level in skeleton.levels:
        parents = skeleton.parents[level]
        turn = rotations[:, parents]
        positions[:, level] = positions[:, parents] + quat.rotate(turn, positions[:, level], axis=0)
        rotations[:, level] = quat.mul(turn, rotations[:, level], axis=0)
    return _frames_first(positions), _frames_first(rotations)


def forward_velocities(skeleton, positions, rotations, velocities, spins):
    """Forward kinematics with velocities (F, J, 3) and angular velocities (F, J, 3), both local to the parent.

    Returns global positions, rotations, velocities, angular velocities: equations 3 to 6 of Learned Motion Matching.
    Equation 5 turns the joint's arm with the *parent's* angular velocity; printed with the joint's own index it does
    not agree with finite differences.
    """
    positions, rotations, velocities, spins = map(_components_first, (positions, rotations, velocities, spins))
    for level in skeleton.levels:
        parents = skeleton.parents[level]
        turn, spin = rotations[:, parents], spins[:, parents]
        arm = quat.rotate(turn, positions[:, level], axis=0)
        positions[:, level] = positions[:, parents] + arm
        rotations[:, level] = quat.mul(turn, rotations[:, level], axis=0)
        velocities[:, level] = (velocities[:, parents] + quat.rotate(turn, velocities[:, level], axis=0)
                                + quat.cross(spin, arm, axis=0))
        spins[:, level] = spin + quat.rotate(turn, spins[:, level], axis=0)
    return tuple(map(_frames_first, (positions, rotations, velocities, spins)))


def backward(skeleton, global_positions, global_rotations):
    """Character-space transforms (F, J, …) back to local ones: the inverse of forward()."""
    positions, rotations = _components_first(global_positions), _components_first(global_rotations)
    parents = skeleton.parents[1:]
    turn = quat.inv(rotations[:, parents], axis=0)
    positions[:, 1:] = quat.rotate(turn, positions[:, 1:] - positions[:, parents], axis=0)
    rotations[:, 1:] = quat.mul(turn, rotations[:, 1:], axis=0)
    return _frames_first(positions), _frames_first(rotations)


def _components_first(array):
    """A copy (C, J, F) of an array (F, J, C): with a number of all frames in one row the arithmetic is quick."""
    return np.array(np.transpose(array), order="C")


def _frames_first(array):
    return np.ascontiguousarray(array.transpose())


def _check(skeleton):
    count = len(skeleton.names)
    if count == 0:
        raise MotionError("The skeleton has no joints.")
    check_joints("The skeleton", count)
    if len(set(skeleton.names)) != count:
        twice = next(name for name in skeleton.names if skeleton.names.count(name) > 1)
        raise MotionError(f'The skeleton has two joints named "{twice}": give each joint a name of its own.')
    shapes = (skeleton.parents.shape, skeleton.positions.shape, skeleton.rotations.shape)
    if shapes != ((count,), (count, 3), (count, 4)):
        raise MotionError(f"The skeleton's {count} names do not fit its arrays {shapes}.")
    roots = np.flatnonzero(skeleton.parents < 0)
    if len(roots) != 1 or roots[0] != 0:
        named = ", ".join(f'"{skeleton.names[joint]}"' for joint in roots) or "none"
        raise MotionError(f"A skeleton has one root, and it comes first; here: {named}.")
    if (skeleton.parents >= np.arange(count)).any():
        raise MotionError("In a skeleton every parent comes before its children.")
