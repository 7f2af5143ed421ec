# SPDX-License-Identifier: GPL-3.0-or-later
"""A clip in the mirror: left becomes right, whatever the bones' rolls and whatever the rest pose.

A reflection is minus a half turn, so the signs of two reflections cancel and quaternions are enough. With M the
reflection of the world in X = 0, M_r the one of the rest pose in its own plane of symmetry, B the rest rotations and
p the partner of joint j, the mirrored rotation in the world is M R_p S_j with S_j = B_p⁻¹ M_r B_j: a joint at rest
whose partner is at rest stays at rest. As S_p S_j = 1, mirroring twice changes nothing.
"""

import numpy as np

from ..errors import MotionError
from ..motion import quat
from ..motion.clip import Tag
from ..motion.sides import find_pairs, swap_side
from ..motion.skeleton import backward

__all__ = ["SUFFIX", "find_pairs", "mirror"]

SUFFIX = " (mirrored)"
HALF_TURN = np.array([0, 1, 0, 0], dtype=np.float32)  # minus the reflection in X = 0


def mirror(clip, pairs):
    """The mirror image of a clip with a root, in the plane X = 0; pairs: joint name → name on the other side.

    Bones keep their lengths; joints that move in their parents (the hips, on the root) are reflected as they move.
    Contacts, and tags and curves with a side in their names, change sides.
    """
    partner = _partners(clip, pairs)
    turns = _turns(clip, partner)
    alike = partner[clip.skeleton.parents] == clip.skeleton.parents[partner]
    alike[0] = partner[0] == 0
    positions, rotations = _of_partners(clip, partner, alike)
    above = turns[clip.skeleton.parents]
    above[0] = HALF_TURN
    return clip.with_changes(
        name=clip.name.removesuffix(SUFFIX) if clip.name.endswith(SUFFIX) else clip.name + SUFFIX,
        positions=_positions(clip, partner, alike, above, positions),
        rotations=quat.unroll(quat.mul(quat.mul(quat.inv(above), rotations), turns)),
        tags=tuple(Tag(swap_side(tag.name), tag.start, tag.end) for tag in clip.tags),
        contacts=None if clip.contacts is None else clip.contacts[:, _other_side(clip.contacts.shape[1])],
        curves={swap_side(name): curve for name, curve in clip.curves.items()})


def _other_side(count):
    """For each of so many limbs the column of its partner: left comes before right (Character.limbs). A limb alone, the
    last one, is its own."""
    columns = np.arange(count) ^ 1
    return np.minimum(columns, count - 1)


def _partners(clip, pairs):
    """(J,) the index of each joint's partner."""
    names = clip.skeleton.names
    partner = np.array([names.index(other) if (other := pairs.get(name, name)) in names else joint
                        for joint, name in enumerate(names)])
    if (partner == np.arange(len(names))).all():
        raise MotionError(f'Clip "{clip.name}" cannot be mirrored: no two bones are each other\'s left and right. '
                          "Name them alike, such as thigh.L and thigh.R, or switch mirroring off.")
    wrong = np.flatnonzero(partner[partner] != np.arange(len(names)))
    if len(wrong):
        first, other = names[wrong[0]], names[partner[wrong[0]]]
        raise MotionError(f'Clip "{clip.name}" cannot be mirrored: the other side of bone "{first}" is "{other}", '
                          f'but the other side of "{other}" is "{names[partner[partner[wrong[0]]]]}".')
    return partner


def _turns(clip, partner):
    """(J, 4) each joint's S (see above), negated to be a rotation; the root's own is the reflection of its X axis."""
    rest = clip.skeleton.rest[1].astype(np.float64)
    plane = np.concatenate([[0], _normal(clip, partner)])
    turns = quat.mul(quat.inv(rest[partner]), quat.mul(plane, rest)).astype(np.float32)
    turns[0] = HALF_TURN
    return quat.normalize(turns)


def _normal(clip, partner):
    """The unit normal (3,) of the plane that divides left from right in the rest pose."""
    rest = clip.skeleton.rest[0].astype(np.float64)
    across = rest[partner] - rest
    scatter = across.T @ across
    if np.trace(scatter) < 1e-8:
        raise MotionError(f'Clip "{clip.name}" cannot be mirrored: in the rest pose left and right bones lie on each '
                          "other, so the plane between them is unknown.")
    normal = np.linalg.eigh(scatter)[1][:, -1]
    # Rigs are built along an axis. Bones that are not quite alike (a real actor's) must not tilt the plane.
    axis = np.eye(3)[np.abs(normal).argmax()]
    return axis if abs(normal @ axis) > np.cos(np.radians(5)) else normal


def _of_partners(clip, partner, alike):
    """Local positions and rotations of every joint's partner, seen from the partner of its parent.

    Mostly that is the partner's parent; `alike` (J,) says where.
    """
    if alike.all():
        return clip.positions[:, partner], clip.rotations[:, partner]
    positions, rotations = clip.globals()
    return backward(clip.skeleton, positions[:, partner], rotations[:, partner])


def _positions(clip, partner, alike, above, positions):
    """Positions in the parents: fixed joints keep their own place, moving ones take the image of their partner's."""
    rest = clip.skeleton.positions
    still = (np.ptp(clip.positions, axis=0).max(-1) < 1e-4) & alike
    still[0] = False
    fixed = (still & still[partner])[:, None]
    image = -quat.rotate(quat.inv(above), positions - fixed * rest[partner])
    return image + fixed * rest
