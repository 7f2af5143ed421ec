# SPDX-License-Identifier: GPL-3.0-or-later
"""A four-legged animal for tests, whose paws are where its bones end: it trots along Y with paws that stand exactly."""

from functools import partial

import numpy as np

from mm_blender.matching import bake, schema
from mm_blender.motion import quat
from mm_blender.motion.clip import Clip
from mm_blender.motion.roles import find_character, walks_on_four
from mm_blender.motion.skeleton import Skeleton
from mm_blender.playback.limbs import Limbs, Posed, turned
from mm_blender.playback.two_bone import NO_TURN, reach
from mm_blender.prepare.recipe import Recipe
from mm_blender.steps import run

RATE, SPEED, PERIOD, STANDS = 60, 0.7, 0.5, 0.6  # of a stride the share that a paw stands
LOW, HEIGHT = 0.01, 0.05  # of a paw that stands, and how much higher it is lifted
# name: (parent, x, y, z from there); a name that begins with Right stands for both sides
BONES = {
    "Hips": (None, 0, 0, 0.5), "Spine": ("Hips", 0, 0.25, 0.02), "Chest": ("Spine", 0, 0.25, 0),
    "Neck": ("Chest", 0, 0.15, 0.1), "Head": ("Neck", 0, 0.1, 0.1), "Tail": ("Hips", 0, -0.1, 0.05),
    "RightUpLeg": ("Hips", 0.1, 0, -0.02), "RightLeg": ("RightUpLeg", 0, 0.08, -0.2),
    "RightFoot": ("RightLeg", 0, -0.12, -0.2), "RightShoulder": ("Chest", 0.06, 0.02, -0.02),
    "RightArm": ("RightShoulder", 0.04, 0.05, -0.08), "RightForeArm": ("RightArm", 0, -0.1, -0.19),
    "RightHand": ("RightForeArm", 0, 0.06, -0.19),
}
ENDS = {"Foot": (0, 0.04, -0.09), "Hand": (0, 0.03, -0.07)}
TROT = 0.0, 0.5, 0.5, 0.0  # the phases of the limbs: those across from each other go together


def skeleton():
    names, parents, places = [], [], []
    for bone, (parent, *place) in BONES.items():
        for name in (bone, bone.replace("Right", "Left")) if bone.startswith("Right") else (bone,):
            left = name.startswith("Left")
            above = parent.replace("Right", "Left") if left else parent
            names.append(name)
            parents.append(-1 if parent is None else names.index(above))
            places.append((-place[0] if left else place[0], *place[1:]))
    ends = {f"{side}{part}": end for part, end in ENDS.items() for side in ("Left", "Right")}
    return Skeleton(names, parents, places, quat.identity((len(names),)), ends)


def character():
    found = find_character(skeleton())
    assert walks_on_four(found, found.skeleton.rest[0][None])
    return type(found)(found.skeleton, found.roles, found.mirror, found.forward, four_legged=True)


def trot(seconds=4.0, speed=SPEED, name="trot"):
    """A Clip of it, with tags of nothing; speed 0: it stands."""
    animal = character()
    limbs = Limbs(animal, animal.skeleton.positions, np.array([], dtype=int))
    limbs.fronts = np.array([(0, 1, 0), (0, 1, 0), (0, -1, 0), (0, -1, 0)], dtype=float)
    still = quat.identity((1, len(animal.skeleton)))
    seen, turns = limbs.seen_from_root(np.zeros((1, 0, 3)), still)
    posed = [Posed(*limb) for limb in seen[0].tolist()]
    count = round(seconds * RATE) + 1
    positions = np.repeat(animal.skeleton.positions[None], count, axis=0)
    rotations = np.repeat(still, count, axis=0)
    positions[:, 0, 1] = speed * np.arange(count) / RATE
    for frame in range(count):
        goals = [_paw(limb.toe, frame / RATE, phase, speed) - positions[frame, 0] for limb, phase in zip(posed, TROT)]
        swings = [(NO_TURN, *reach(limb, goal, 0.995, 0.0, True), NO_TURN) for limb, goal in zip(posed, goals)]
        used = limbs.joints >= 0
        rotations[frame, limbs.joints[used]] = turned(np.array([swings]), turns)[0][used]
    return Clip(name, animal.skeleton, RATE, positions, rotations)


def _paw(toe, time, phase, speed):
    """Where a paw is in the world, that is there seen from the root when the animal stands."""
    stride = time / PERIOD + phase
    begun, share = np.floor(stride), stride % 1.0
    lands = (begun - phase + STANDS / 2) * PERIOD * speed  # the root is over it in the middle of its stand
    swing = np.clip((share - STANDS) / (1 - STANDS), 0, 1)
    along = lands + PERIOD * speed * (3 * swing ** 2 - 2 * swing ** 3)
    return np.array([toe[0], toe[1] + along, LOW + HEIGHT * np.sin(np.pi * swing) * (speed > 0)])


def animal_motion():
    """A database of it: it stands, and trots."""
    clips = [trot(2.0, 0.0, "stand"), trot()]
    sources = [bake.Source(clip.name, partial(_ready, clip), clip.name, mirror=True, loop=True) for clip in clips]
    return run(bake.bake(sources, character(), schema.load("quadruped"), Recipe()))


def _ready(clip):
    """The work of reading a clip that is already there."""
    yield 1.0
    return clip
