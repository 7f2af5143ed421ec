# SPDX-License-Identifier: GPL-3.0-or-later
"""What characters play from, written out: a Library, its Motion, and the Matcher that plays it.

There are several of each: frames of a database, these with the Decompressor, what networks have learned, and each of
them on another character. Whoever drives characters knows these protocols and never asks which one it has.
"""

from typing import NamedTuple, Protocol

import numpy as np

from ..control.speeds import Speeds
from ..matching.features import Normalisation
from ..matching.schema import Schema
from ..motion.character import Character
from ..motion.skeleton import Skeleton


class Facts(Protocol):
    """What is known of a motion before any of it is played: a Database says it, and so do Networks.

    fixed   (J, 3) local positions of all joints
    moving  (M,) joints that have positions of their own; the root may be among them
    tags    their names
    """

    character: Character
    skeleton: Skeleton
    rate: float
    schema: Schema
    normalisation: Normalisation
    fixed: np.ndarray
    moving: np.ndarray
    tags: tuple | dict


class Where(NamedTuple):
    """What a character is playing: what another matcher goes on from.

    features  (D,) normalised
    frame     of the database, or -1
    state     (D + Z) features and latents, or None
    networks  whose latents they are, or None
    """

    features: np.ndarray
    frame: int
    state: np.ndarray | None = None
    networks: object = None


class Choice(NamedTuple):
    """What a tag query leaves to choose from.

    wanted   what a character that plays something else leaves as soon as it can: frames (N,), or combinations of tags
             (U,)
    search   what Matcher.allow() takes: a Search among the frames that may be entered, or combinations of tags (U,)
    trouble  a sentence if the query cannot be heeded
    """

    wanted: np.ndarray
    search: object
    trouble: str


class Matcher(Protocol):
    """What a Player needs of whatever plays its K characters: frames of a database, what networks have learned, or
    both. Each frame it calls advance(), match() for those that are due, and then asks what is shown.

    frames  (K,) of the database, that are playing; -1 for what was learned
    costs   (K,) what that which is playing cost at the last search (equation 1 of Learned Motion Matching)
    starved (K,) who stands at a clip's end because the search may enter no frame at all
    faded   indices of those that the last match() lets go over by themselves
    """

    frames: np.ndarray
    costs: np.ndarray
    starved: np.ndarray
    faded: tuple | list

    def allow(self, index, search, wanted=None):
        """Let a character search with a Search of its own, as the choice() of its library has it; what is not wanted
        is left as soon as it finds something that is."""

    def advance(self):
        """One frame on; (K,) who came to the end of a clip and has to search."""

    def match(self, who, queries, stay=0.0, must=None, fade=0.0):
        """Search for the characters `who` (indices) with their queries (len(who), D); who jumped, as indices.

        stay: how much better another frame has to be, as a share of the cost of going on
        must: for each of them whether it cannot stay because its clip ends; nor can those in frames that are not wanted
        fade: seconds in which those that jump are to go over by themselves, if this matcher can do that: they are
              `faded`. All others show what they have jumped to at once, for the Player to smooth
        """

    def pose(self):
        """The Pose of this frame, before any offset."""

    def coming(self, who):
        """Positions, rotations and travel (W, N, …), as in a Pose, of this frame and those that follow for characters
        `who` (indices) if they do not jump: as many as are known, at most matcher.AHEAD."""

    def contacts(self):
        """[character][limb] whether each one stands."""

    def features(self):
        """(K, D) normalised features of what is playing."""

    def tags(self, index):
        """The names of the tags that hold for a character."""

    def where(self, index):
        """The Where of a character: what another matcher goes on from."""


class Motion(Protocol):
    """What a Player plays.

    moving  (M,) the joints that a Pose has positions of: those below the root that have positions of their own
    """

    database: Facts
    moving: np.ndarray

    def matcher(self, search, count, begin=None):
        """A Matcher that plays it for so many characters, all with this `search` of a Choice.

        begin: what begin() or `standing` of its library say, (K, …) or one for all; None for where it begins by itself
        """

    def stance(self, limbs):
        """(L, 2) how high toe and ankle of each of the Limbs are while it stands; the ankle before the heel leaves the
        ground. The limbs learn meanwhile where their knees bend to.
        """


class Library(Protocol):
    """What characters play from: a motion, and what of it may be chosen.

    speeds    at full stick
    standing  with what a character begins that stands, as Motion.matcher() takes it
    method    "mm", "dmm" or "lmm"
    baked     the BakedLibrary of the database whose frames are played, with their own poses or decompressed, on this
              character or another one; None where networks alone say what comes
    retarget  the Retarget to another character, or None where the motion's own plays it
    """

    database: Facts
    motion: Motion
    speeds: Speeds
    standing: object
    method: str
    baked: object
    retarget: object

    def choice(self, query="", still=0):
        """The Choice that a tag query leaves; still: to one who GOES, COMES_TO_REST or STANDS, which networks make
        nothing of."""

    def begin(self, where, query=""):
        """With what a character goes on that is somewhere (Where), as Motion.matcher() takes it."""

    def weigh(self, schema):
        """Take over the weights of a schema that has the same channels; whether anything changed. Networks keep the
        weights that they have learned with."""

    def clip_of(self, frame):
        """The name of the clip that a frame, as a Matcher has it, comes from, and where in it, in seconds of the
        source; an empty name for what was learned."""

    def whole(self):
        """The Database or the Networks with all that they say, as the character that plays: takes are compared with
        it. For another character each pose is worked out, which takes a while."""
