# SPDX-License-Identifier: GPL-3.0-or-later
"""Two legs on a root that goes along straight lines and arcs, known at any time: small, quick and exact."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from mm_blender.matching.bake import Source
from mm_blender.motion import quat
from mm_blender.motion.character import Character
from mm_blender.motion.clip import Clip
from mm_blender.motion.skeleton import Skeleton

NAMES = ("root", "hips", "thigh.L", "foot.L", "thigh.R", "foot.R")
SKELETON = Skeleton(NAMES, [-1, 0, 1, 2, 1, 4],
                    [[0, 0, 0], [0, 0, 1], [-0.1, 0, -0.05], [0, 0, -0.9], [0.1, 0, -0.05], [0, 0, -0.9]],
                    quat.identity((6,)))
ROLES = {"root": "root", "hips": "hips", "left_thigh": "thigh.L", "left_foot": "foot.L", "right_thigh": "thigh.R",
         "right_foot": "foot.R"}
MIRROR = {"root": "root", "hips": "hips", "thigh.L": "thigh.R", "thigh.R": "thigh.L", "foot.L": "foot.R",
          "foot.R": "foot.L"}


@pytest.fixture(scope="session")
def character():
    return Character(SKELETON, ROLES, MIRROR, "+Y")


@pytest.fixture(scope="session")
def walk():
    return make_walk


@pytest.fixture(scope="session")
def source():
    return make_source


def make_walk(name="walk", seconds=2.0, rate=60.0, forward=1.2, right=0.0, turn=0.0, swing=0.5, cadence=1.0, **fields):
    """Root velocity in m/s seen from the root, turning speed in radians per second, legs that swing `cadence` times a
    second by `swing` radians, hips that go up and down twice as often. The cycle closes after 1 / cadence."""
    times = np.arange(round(seconds * rate) + 1) / rate
    phase = 2 * np.pi * cadence * times
    ahead, across = np.array([right, forward]), np.array([-forward, right])
    angle = turn * times[:, None]
    path = times[:, None] * ahead if turn == 0 else (np.sin(angle) * ahead + (1 - np.cos(angle)) * across) / turn
    positions = np.repeat(SKELETON.positions[None], len(times), axis=0)
    positions[:, 0, :2] += path
    positions[:, 1, 2] += 0.04 * swing * np.cos(2 * phase)
    rotations = quat.identity((len(times), len(NAMES)))
    rotations[:, 0] = quat.from_yaw(turn * times)
    for joint, sign in ((2, 1), (4, -1)):
        rotations[:, joint] = quat.from_angle_axis(sign * swing * np.sin(phase), [1.0, 0, 0])
    return Clip(name, SKELETON, rate, positions, rotations, **fields)


def make_source(clip, reads=None, warns=(), **settings):
    """A source that returns the clip; appends its name to `reads` whenever it is read."""
    found = []

    def read():
        yield 0.0
        if reads is not None:
            reads.append(clip.name)
        yield 0.5
        found.extend(warns)
        return clip

    contents = hashlib.sha256(clip.positions.tobytes() + clip.rotations.tobytes() + repr(clip.tags).encode())
    return replace(Source(clip.name, read, contents.hexdigest(), warnings=found), **settings)
