# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers that describe each frame of a clip: the kinds that there are, and their measurement."""

import numpy as np

from .bone import BoneDirection, BoneFacing, BonePosition, BoneVelocity
from .clip_scene import ClipScene
from .kind import Kind, Place
from .normalisation import Normalisation
from .property import PropertyFeature
from .tag import TagFeature
from .trajectory import TrajectoryDirection, TrajectoryHeight, TrajectoryPosition

__all__ = ["KINDS", "ClipScene", "Kind", "Normalisation", "Place", "known", "measure"]

# In the order of Blender's menu. Files of Blender number them: a new one comes last.
KINDS = {kind.name: kind for kind in (
    BonePosition(), BoneVelocity(), BoneDirection(), TrajectoryPosition(), TrajectoryDirection(), TrajectoryHeight(),
    TagFeature(), PropertyFeature(), BoneFacing())}


def measure(clip, character, schema, tracks=None):
    """The features (F, D) of a prepared clip, in metres and metres per second, all seen from each frame's root; tracks:
    as a ClipScene has them."""
    scene = ClipScene(clip, character, schema.reach, tracks)
    columns = [KINDS[channel.kind].measure(scene, channel) for channel in schema.channels]
    return np.concatenate(columns, axis=1).astype(np.float32)


def known(count, rate, schema):
    """(F,) whether every time that the schema looks at lies within a clip of that many frames that is not a loop;
    elsewhere the motion is extrapolated."""
    before, after = (int(np.ceil(reach * rate - 1e-3)) for reach in schema.reach)
    frames = np.arange(count)
    return (frames >= before) & (frames < count - after)
