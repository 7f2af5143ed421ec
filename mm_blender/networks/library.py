# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks as driving takes them: what a Library is for a database, beside it or in its place."""

from dataclasses import replace

import numpy as np

from ..errors import MotionError
from ..playback.protocols import Choice
from .file import find_latents, load, load_latents
from .matchers import DecompressedMatcher, LearnedMatcher

# Motion Matching, with the Decompressor, and learned altogether.
METHODS = ("mm", "dmm", "lmm")


def library_for(method, path, library=None, rate=None):
    """The Library of a method, of the networks in a file and of the BakedLibrary of a database, if there is one: only
    Learned Motion Matching goes without, and at another rate."""
    networks, latents = load(path), None
    if library is not None:
        networks = ordered_as(networks, library.database, path)
        latents = (load_latents if method == "dmm" else find_latents)(path, library.database)
        if networks.schema.size != library.database.schema.size:
            raise MotionError(f'The networks "{path}" were trained on other features: train them anew.')
        if latents is not None and latents.shape[1] != networks.latents:
            raise MotionError(f'"{path}" is damaged: train it anew (its latents do not fit its networks).')
    if method == "dmm":
        return DecompressedLibrary(library, networks, latents)
    return LearnedLibrary(networks, latents, rate)


def ordered_as(networks, database, path=""):
    """Networks with their joints in the order that a database has them: another armature may hold them in another."""
    mine, names = networks.skeleton, database.skeleton.names
    if mine.names == names:
        return networks
    moving = database.moving[database.moving != 0]
    if sorted(mine.names) != sorted(names) or mine.names[0] != names[0] or {
            mine.names[joint] for joint in networks.moving} != {names[joint] for joint in moving}:
        raise MotionError(f'The networks "{path}" were trained on another character: train them anew.')
    order, parts = np.array([mine.index(name) for name in names]), networks.layout.parts
    there = [networks.moving.tolist().index(order[joint]) for joint in moving]
    columns = np.concatenate([_blocks(order[1:] - 1, 6), parts["positions"].start + _blocks(np.array(there), 3),
                              np.arange(parts["travel"].start, networks.layout.size)]).astype(int)
    weights = networks.decompressor
    matrix, biases = weights.layers[-1]
    decompressor = replace(weights, layers=(*weights.layers[:-1], (matrix[:, columns], biases[columns])),
                           centre=weights.centre[columns], span=weights.span[columns])
    return replace(networks, character=database.character, moving=moving, fixed=networks.fixed[order],
                   decompressor=decompressor)


def _blocks(indices, size):
    """The numbers in blocks of a size."""
    return (indices[:, None] * size + np.arange(size)).ravel()


class DecompressedMotion:
    """A BakedMotion whose poses come from the Decompressor."""

    def __init__(self, motion, networks, latents):
        self.database, self.moving = motion.database, motion.moving
        self._motion, self._networks = motion, networks
        states = np.concatenate([motion.features, latents], axis=1, dtype=np.float32)
        self._states = np.clip(states, *networks.limits)  # what the Decompressor has never seen it makes anything of

    def matcher(self, search, count, begin=None):
        frames = 0 if begin is None else begin
        return DecompressedMatcher(self._motion, search, count, self._networks, self._states, frames)

    def stance(self, limbs):
        return self._motion.stance(limbs)


class DecompressedLibrary:
    """The Library of a Database whose frames are searched for, but whose poses are decompressed."""

    method, retarget = "dmm", None

    def __init__(self, library, networks, latents):
        """library: the BakedLibrary of the database; latents: (N, Z) of its frames."""
        self.baked, self.database, self.speeds = library, library.database, library.speeds
        self.motion = DecompressedMotion(library.motion, networks, latents)

    @property
    def standing(self):
        return self.baked.standing

    def choice(self, query="", still=0):
        return self.baked.choice(query, still)

    def begin(self, where, query=""):
        return self.baked.begin(where, query)

    def weigh(self, schema):
        return self.baked.weigh(schema)

    def clip_of(self, frame):
        return self.baked.clip_of(frame)

    def whole(self):
        return self.baked.whole()


class LearnedMotion:
    """The Motion of Networks; it may be played at another rate than it was learned at."""

    def __init__(self, networks, rate=None):
        self.database, self.moving = replace(networks, rate=rate or networks.rate), networks.moving
        self._networks = networks

    def matcher(self, search, count, begin=None):
        matcher = LearnedMatcher(self._networks, count, begin, self._networks.rate / self.database.rate)
        for index in range(count):
            matcher.allow(index, search)
        return matcher

    def stance(self, limbs):
        limbs.fronts = self.database.fronts.astype(float)
        return self.database.heights.astype(float)


class LearnedLibrary:
    """The Library of Networks; what a tag query leaves to choose from are combinations of tags."""

    method, baked, retarget = "lmm", None, None
    standing = None  # the networks know where to begin

    def __init__(self, networks, latents=None, rate=None):
        """latents: (N, Z) of the frames of a database from which characters may come over, if there is one.
        rate: frames per second that are played, or None for that of the data."""
        self.motion, self.speeds = LearnedMotion(networks, rate), networks.speeds
        self.database = self.motion.database
        self._networks, self._choices, self._latents = networks, {}, latents

    def choice(self, query="", still=0):
        if query not in self._choices:
            allowed, trouble = self.database.allowed(query)
            self._choices[query] = Choice(allowed, allowed, trouble)
        return self._choices[query]

    def begin(self, where, query=""):
        if where.networks is self._networks:
            return where.state
        if self._latents is not None and where.frame >= 0:
            state = np.concatenate([where.features, self._latents[where.frame]], dtype=np.float32)
            return np.clip(state, *self._networks.limits)
        matcher = self.motion.matcher(self.choice(query).search, 1)
        matcher.match([0], where.features[None], must=np.array([True]))
        return matcher.states()[0]

    def weigh(self, schema):
        return False

    def clip_of(self, frame):
        return "", 0.0

    def whole(self):
        return self.database
