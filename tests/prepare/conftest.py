# SPDX-License-Identifier: GPL-3.0-or-later
"""A small biped for the tests of preparation: symmetric in shape, its bones rolled any way one likes."""

import numpy as np
import pytest

from mm_blender.motion import quat
from mm_blender.motion.character import SIDED, Character
from mm_blender.motion.clip import Clip
from mm_blender.motion.skeleton import Skeleton, backward

# name: (parent, x, y, z) of a standing rest pose that faces +Y; a name that ends in .R stands for both sides
BODY = {
    "hips": ("root", 0, 0, 1), "spine": ("hips", 0, 0, 1.2), "chest": ("spine", 0, 0.02, 1.4),
    "head": ("chest", 0, 0, 1.6), "thigh.R": ("hips", 0.1, 0, 0.95), "shin.R": ("thigh.R", 0.1, 0.02, 0.5),
    "foot.R": ("shin.R", 0.1, 0, 0.08), "toe.R": ("foot.R", 0.11, 0.15, 0.02),
    "upper_arm.R": ("chest", 0.2, 0, 1.4), "forearm.R": ("upper_arm.R", 0.45, 0.02, 1.38),
    "hand.R": ("forearm.R", 0.7, 0, 1.4),
}


@pytest.fixture(scope="session")
def biped():
    return make_biped


@pytest.fixture(scope="session")
def roles():
    return give_roles


@pytest.fixture(scope="session")
def dance():
    return make_dance


def make_biped(roll=0, turned=None):
    """A skeleton with a root; with `roll` every bone's axes are turned at random, and all but the root by `turned`."""
    rng = np.random.default_rng(roll)
    names, parents, places = ["root"], [-1], [np.zeros(3)]
    for name, (parent, *place) in BODY.items():
        for side in ("R", "L") if name.endswith(".R") else ("",):
            names.append(name[:-1] + side if side else name)
            parents.append(names.index(parent[:-1] + side if parent.endswith(".R") else parent))
            places.append(np.array(place) * ([-1, 1, 1] if side == "L" else 1))
    places = np.array(places)
    rolls = quat.identity((len(names),)) if roll == 0 else quat.normalize(rng.normal(size=(len(names), 4)))
    if turned is not None:
        places, rolls = quat.rotate(turned, places), quat.mul(turned, rolls)
    rolls[0] = quat.identity()
    bare = Skeleton(names, parents, places, rolls)
    positions, rotations = backward(bare, places[None], rolls[None])
    return Skeleton(names, parents, positions[0], rotations[0])


def give_roles(skeleton, root=True):
    """The biped as a character."""
    found = {role: role for role in ("hips", "spine", "chest", "head") if role in skeleton.names}
    found |= {f"{side}_{part}": f"{part}.{side[0].upper()}" for side in ("left", "right") for part in SIDED
              if f"{part}.{side[0].upper()}" in skeleton.names}
    return Character(skeleton, {**found, "root": "root"} if root else found)


def make_dance(skeleton, frames=120, rate=60.0, seed=1, **fields):
    """Smooth random motion of every joint, with the root going and turning on the ground and moving hips."""
    rng = np.random.default_rng(seed)
    count, times = len(skeleton), np.arange(frames) / rate

    def waves(*shape):
        speed, phase = rng.uniform(1, 6, size=shape), rng.uniform(0, 6, size=shape)
        return np.sin(times.reshape(-1, *[1] * len(shape)) * speed + phase)

    rotations = quat.mul(skeleton.rotations, quat.from_scaled_angle_axis(0.6 * waves(count, 3)))
    rotations[:, 0] = quat.from_yaw(2 * waves())
    positions = np.repeat(skeleton.positions[None], frames, axis=0)
    positions[:, 0, :2] = 2 * waves(2) + np.array([1, 3])
    positions[:, 1] += 0.1 * waves(3)
    return Clip("dance", skeleton, rate, positions, rotations, **fields)
