# SPDX-License-Identifier: GPL-3.0-or-later
"""Walking forward with an armature's Target, and where its bones and feet go meanwhile."""

import math

import bpy
import numpy as np

from mm_blender.scene import driving


def drive(source, seconds=2.0, watch=None):
    """Walk forward for so long."""
    session = driving.start(bpy.context, [source])
    session.keyboard.press("W", "forward")
    go(session, seconds, watch)
    return session


def go(session, seconds, watch=None):
    for _ in range(round(seconds * 30)):
        session.tick(bpy.context, 1 / 30)
        bpy.context.view_layer.update()
        if watch is not None:
            watch(session)


def place(ob, bone, end="head"):
    return np.array(ob.matrix_world @ getattr(ob.pose.bones[bone], end))


class Feet:
    """How feet that are held move, and how low they come."""

    def __init__(self, ob, bones, end="head"):
        self._ob, self._bones, self._end, self._before = ob, bones, end, [None, None]
        self.slides, self.lowest = [], math.inf

    def __call__(self, session):
        for side, bone in enumerate(self._bones):
            now, held = place(self._ob, bone, self._end), session.paths.held[side]
            if held and self._before[side] is not None:
                self.slides.append(30 * np.linalg.norm((now - self._before[side])[:2]))
            self._before[side], self.lowest = now if held else None, min(self.lowest, now[2])
