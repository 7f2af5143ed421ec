# SPDX-License-Identifier: GPL-3.0-or-later
"""Raw clips of one character as clean clips of another."""

from contextlib import suppress
from dataclasses import replace
from functools import cached_property

from ..errors import MotionError
from ..motion.correspond import check
from ..motion.retarget import Retarget
from ..motion.stance import find_stance
from .clean import clean
from .legs import check_legs
from .root import rooted


class Onto:
    """The way of a character's clips onto another one: cleaned as what they are, then retargeted.

    character  the Character whose clips they are
    target   the Character that they come onto, with a root, and how it stands, as target_of() has them
    samples  gives raw clips of the character, from which is seen how it stands
    """

    def __init__(self, character, target, recipe, samples=lambda: (), hands=0.0):
        self.character, self._target, self._recipe = character, target, recipe
        self._samples, self._hands = samples, hands

    def __getstate__(self):
        """Another process gets the way ready made; where there is none each clip hears why there as well."""
        with suppress(MotionError):
            _ = self.retarget
        return self.__dict__

    @cached_property
    def retarget(self):
        own = check("source", rooted(self.character, self._recipe))
        clips = [piece.clip for raw in self._samples() for piece in clean(raw, self.character, self._recipe)]
        return Retarget(own, self._target[0], self._hands, find_stance(own, clips), self._target[1])

    def clean(self, raw, recipe, speed=1.0, travel=None):
        """As prepare.clean.clean(): the pieces of a raw clip, on the target."""
        return [replace(piece, clip=self.retarget.clip(piece.clip))
                for piece in self.before(raw, recipe, speed, travel)]

    def before(self, raw, recipe, speed=1.0, travel=None):
        """The pieces of a raw clip as they are without the target."""
        pieces = clean(raw, self.character, recipe, speed, travel)
        for piece in pieces:
            check_legs(piece.clip, self.character)
        return pieces


def target_of(character, clips, recipe):
    """A character with a root, and how it stands in its raw clips, if it has any: what an Onto takes."""
    own = check("target", rooted(character, recipe))
    return own, find_stance(own, [piece.clip for raw in clips for piece in clean(raw, character, recipe)])
