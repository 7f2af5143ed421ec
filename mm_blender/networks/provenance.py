# SPDX-License-Identifier: GPL-3.0-or-later
"""What networks were trained on, without loading them: whether they belong to a database or to a character."""

import os
from functools import lru_cache

import numpy as np

from .. import archive
from ..errors import MotionError
from ..matching import database as databases
from ..matching.schema import Schema
from ..owner import owner_in
from . import file as networks

# How far the same rest pose may be apart in two versions of Blender (metres, and differences of quaternions), and the
# same features in their mean and scale (as a part of the scale): a scene at another rate resamples the motion.
REST, FEATURES = 1e-3, 0.02
_ARRAYS = ("parents", "rest_positions", "rest_rotations", "mean", "scale")


def belong(path, database):
    """Whether the networks in a file were trained on the database in another one, or on one that is as good as it."""
    mine, other = _about(path, networks.KIND, networks.VERSION), _about(database, databases.KIND, databases.VERSION)
    if mine is None or other is None:
        return False
    if mine["key"] == other["key"]:
        return True
    return (mine["features"] == other["features"] and _same_joints(mine, other)
            and np.allclose(mine["mean"] / mine["scale"], other["mean"] / mine["scale"], atol=FEATURES)
            and np.allclose(mine["scale"], other["scale"], rtol=FEATURES))


def know(path, database):
    """Whether the networks in a file were trained on the frames of the database in another one, as far as can be seen
    without loading them: load_latents() knows for sure."""
    mine, other = _about(path, networks.KIND, networks.VERSION), _about(database, databases.KIND, databases.VERSION)
    return belong(path, database) and (mine["key"] == other["key"] or mine["frames"] == other["frames"])


def fit(path, skeleton, schema):
    """Whether the networks in a file move the joints of this skeleton, and know its features: no database is needed."""
    mine = _about(path, networks.KIND, networks.VERSION)
    return mine is not None and mine["features"] == _features(schema) and _same_joints(mine, {
        "names": skeleton.names, "parents": skeleton.parents, "rest_positions": skeleton.positions,
        "rest_rotations": skeleton.rotations})


def names(path):
    """The joints that the networks in a file move; none if there are none."""
    about = _about(path, networks.KIND, networks.VERSION)
    return about["names"] if about else ()


def owner(path):
    """The Owner of the networks in a file; None if they are nobody's, or if there are none."""
    about = _about(path, networks.KIND, networks.VERSION)
    return about["owner"] if about else None


def figures(path):
    """How good the networks in a file are, as plain values; empty if there are none."""
    about = _about(path, networks.KIND, networks.VERSION)
    return about["figures"] if about else {}


def _about(path, kind, version):
    """What a file says of its origin; None if there is no such file, or nothing that can be read."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return _read(os.fspath(path), state.st_mtime_ns, state.st_size, kind, version)


@lru_cache(maxsize=32)
def _read(path, _changed, _size, kind, version):
    try:
        header, arrays = archive.read(path, kind, version, _ARRAYS, ("latents",))
        names, schema = tuple(header["names"]), Schema.from_json(header["schema"])
        frames = len(arrays.pop("latents")) if "latents" in arrays else header["ranges"][-1]["stop"]
        joints = len(names)
        shapes = [(joints,), (joints, 3), (joints, 4), (schema.size,), (schema.size,)]
        if [arrays[name].shape for name in _ARRAYS] != shapes:
            return None
        return {"key": header["key"], "names": names, "features": _features(schema), "frames": frames,
                "figures": dict(header.get("figures", {})), "owner": owner_in(header), **arrays}
    except (MotionError, ArithmeticError, LookupError, TypeError, ValueError):
        return None


def _features(schema):
    """What is measured, whatever it is called and however much it counts."""
    return [(channel.kind, channel.of, tuple(round(time, 3) for time in channel.times)) for channel in schema.channels]


def _same_joints(one, other):
    """In any order. The root's rest pose is where the armature stands, which means nothing."""
    names = one["names"]
    if sorted(names) != sorted(other["names"]):
        return False
    order = [other["names"].index(name) for name in names]
    above = [[about["names"][parent] if parent >= 0 else "" for parent in about["parents"]] for about in (one, other)]
    if above[0] != [above[1][joint] for joint in order]:
        return False
    below = np.flatnonzero(one["parents"] >= 0)
    places, turns = ((one[part][below], other[part][order][below]) for part in ("rest_positions", "rest_rotations"))
    # Rotations up to their sign, which means nothing either.
    turned = np.abs(np.sum(turns[0] * turns[1], axis=-1))
    return bool(np.allclose(*places, atol=REST) and (turned > 1 - REST).all())
