# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo character's body: a person of 1.75 m, its joints, its bones and the soles of its feet."""

from functools import cache

import numpy as np

from .. import quat
from ..skeleton import Skeleton

# Head, tail and parent of each bone, and the direction its Z axis leans to. The body faces Y here, X is its right.
# Sided bones are written for the left and mirrored for the right.
FORWARD, UP = (0, 1, 0), (0, 0, 1)
MIDDLE = (
    ("root", None, (0, 0, 0), (0, 0.3, 0), UP),
    ("hips", "root", (0, 0, 0.95), (0, -0.012, 1.06), FORWARD),
    ("spine", "hips", (0, -0.012, 1.06), (0, -0.02, 1.18), FORWARD),
    ("chest", "spine", (0, -0.02, 1.18), (0, -0.02, 1.32), FORWARD),
    ("upper_chest", "chest", (0, -0.02, 1.32), (0, -0.022, 1.475), FORWARD),
    ("neck", "upper_chest", (0, -0.022, 1.475), (0, 0.002, 1.565), FORWARD),
    ("head", "neck", (0, 0.002, 1.565), (0, 0.012, 1.75), FORWARD),
)
LEFT = (
    ("shoulder", "upper_chest", (-0.025, 0.0, 1.425), (-0.175, -0.025, 1.44), FORWARD),
    ("upper_arm", "shoulder", (-0.175, -0.025, 1.44), (-0.363, -0.035, 1.24), FORWARD),
    ("forearm", "upper_arm", (-0.363, -0.035, 1.24), (-0.535, -0.005, 1.057), FORWARD),
    ("hand", "forearm", (-0.535, -0.005, 1.057), (-0.652, 0.02, 0.93), FORWARD),
    ("thigh", "hips", (-0.09, 0.0, 0.925), (-0.09, 0.015, 0.505), FORWARD),
    ("shin", "thigh", (-0.09, 0.015, 0.505), (-0.09, -0.01, 0.085), FORWARD),
    ("foot", "shin", (-0.09, -0.01, 0.085), (-0.09, 0.13, 0.02), UP),
    ("toe", "foot", (-0.09, 0.13, 0.02), (-0.09, 0.2, 0.02), UP),
)
HEEL = 0.2    # metres from the ball of the foot back to the heel
TOES = 0.07   # metres from the ball of the foot to the tip of the toes
SOLE = 0.02   # metres from the ball of the foot down to the ground
SIDES = (-1, 1)  # left, right along X


@cache
def skeleton():
    """The skeleton. At rest it faces world -Y in a relaxed A-pose; each bone's own Y runs from its head to its tail."""
    names = tuple(bone[0] for bone in _bones())
    parents = [names.index(bone[1]) if bone[1] else -1 for bone in _bones()]
    heads, rotations = upright()
    positions, local = heads.copy(), rotations.copy()
    children, above = np.arange(1, len(names)), np.array(parents[1:])
    positions[1:] = quat.inv_rotate(rotations[above], heads[children] - heads[above])
    local[1:] = quat.inv_mul(rotations[above], rotations[children])
    local[0] = quat.from_yaw(np.pi)
    return Skeleton(names, parents, positions, local)


def tails():
    """(J, 3) where each bone of the rest pose ends, in the space of skeleton().rest."""
    return quat.rotate(quat.from_yaw(np.pi), np.array([bone[3] for bone in _bones()], dtype=float)).astype(np.float32)


@cache
def upright():
    """Positions (J, 3) and rotations (J, 4) of the rest pose in the root's own frame: X right, Y forward."""
    heads = np.array([bone[2] for bone in _bones()], dtype=float)
    along = np.array([bone[3] for bone in _bones()], dtype=float) - heads
    lean = np.array([bone[4] for bone in _bones()], dtype=float)
    y = along / np.linalg.norm(along, axis=-1, keepdims=True)
    x = np.cross(y, lean)
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    return heads, quat.from_matrix(np.stack([x, y, np.cross(x, y)], axis=-1))


@cache
def _bones():
    flip = np.array([-1, 1, 1])
    bones = list(MIDDLE)
    for side, sign in ((".L", 1), (".R", flip)):
        for name, parent, head, tail, lean in LEFT:
            above = parent if parent in {bone[0] for bone in MIDDLE} else parent + side
            bones.append((name + side, above, tuple(np.multiply(head, sign)), tuple(np.multiply(tail, sign)), lean))
    return tuple(bones)
