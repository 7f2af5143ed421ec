# SPDX-License-Identifier: GPL-3.0-or-later
"""A character that is being driven: its armature, what it plays, and how it was before."""

from dataclasses import dataclass

import bpy
import numpy as np

from ...control.intent import beyond_dead_zone
from ...control.stick import NAMES, Recording
from ...errors import MotionError
from ...playback.columns import Columns
from ..reading.reference import found_again
from ..rig import targets
from ..rig.restore import ArmatureBefore
from .posing import Poser


@dataclass(eq=False)
class Paths:
    """What the viewport can show of the driven character, in the world.

    desired, desired_facings  (T, 3), (T,) where the stick leads, from the simulated root on
    matched                   (T, 3) where the frame that is playing leads, from the root on
    toes, held                (L, 3), (L,) of its limbs
    root, yaw                 of the character
    simulated, simulated_yaw  of the point that the stick moves
    """

    desired: np.ndarray
    desired_facings: np.ndarray
    matched: np.ndarray
    toes: np.ndarray
    held: np.ndarray
    root: np.ndarray
    yaw: float
    simulated: np.ndarray
    simulated_yaw: float


class DrivenCharacter:
    """A character that takes part: its armature by name, and its place in a group.

    owner  whose settings count: the armature itself, or the one whose Target it is
    stick  that steered it last, or None
    """

    def __init__(self, owner, group, index):
        ob = targets.posed(owner)
        self.name, self.uid = ob.name, ob.session_uid
        self._owner_name, self.owner_uid = owner.name, owner.session_uid
        self.group, self.index, self.waits = group, index, ""
        self.player, self.database = group.player, group.library.database
        self.stick, self._heading = None, 0.0
        self._input = Columns([("seconds", float), ("stick", float, len(NAMES)), ("gait", np.int32),
                               ("heading", float)])
        self._gaits = []  # the names of those that were asked for
        self.before, self.poser, self.trouble = None, None, ""
        self.rebind(ob)
        if self.trouble:
            raise MotionError(self.trouble)

    def rebind(self, ob):
        """Look at the armature anew. A state from before driving, which undo may bring, is what Esc restores then."""
        try:
            self.poser = Poser(ob, self.database, self.poser)
            self.trouble = ""
        except MotionError as error:
            self.trouble = str(error)
        if self.before is None or not ob.mm.drive.driving:
            controlled = self.poser is not None and self.poser.controls is not None
            self.before = ArmatureBefore(ob, self.poser.controls.switches if controlled else ())
        ob.mm.drive.driving = True

    def fetch(self, active=None):
        """The armature object, also after it was renamed; None if it is gone. active: most often it is this one"""
        ob = bpy.data.objects.get(self.name) if active is None else active
        if ob is None or ob.session_uid != self.uid:
            ob = found_again(bpy.data.objects, self.name, self.uid)
            self.name = ob.name if ob is not None else self.name
        return ob

    def owner(self):
        """The armature object with the settings; None if it is gone."""
        if self.owner_uid == self.uid:
            return self.fetch()
        ob = found_again(bpy.data.objects, self._owner_name, self.owner_uid)
        self._owner_name = ob.name if ob is not None else self._owner_name
        return ob

    def fetch_both(self, active=None):
        """The armature object, as fetch() has it; None if it or the one with the settings is gone."""
        ob = self.fetch(active)
        return ob if self.owner_uid == self.uid or self.owner() is not None else None

    @property
    def guide(self):
        return self.player.guides[self.index]

    @property
    def body(self):
        return self.player.bodies[self.index]

    @property
    def speeds(self):
        """The Speeds of the motion that it plays."""
        return self.group.libraries[self.index].speeds

    def unheard(self):
        """Why it stands though the hand wants it to go, as a sentence; empty if it does not."""
        intent = self.guide.intent
        if self.stick is None or intent.velocity or not beyond_dead_zone(self.stick.move).any():
            return ""
        return (f"The motion has nothing that goes this way at a {intent.gait}: bake clips of it, or set Own Speeds in "
                "the panel Speeds.")

    def missing_name(self):
        """The name of what is gone of it."""
        return self.name if self.fetch() is None else self._owner_name

    def is_of(self, ob):
        """Whether an armature is the one that is posed, or the one with the settings."""
        return ob.session_uid in (self.uid, self.owner_uid)

    def clip(self, ob):
        """What it has played."""
        return self.group.record.clip(self.index).with_changes(skeleton=self.poser.skeleton(ob))

    def hear(self, seconds, stick, heading):
        """What steers it from now on; heading: the yaw that the stick's forward means."""
        if (stick, heading) != (self.stick, self._heading):
            self.stick, self._heading = stick, heading
            self._note(seconds)

    def _note(self, seconds):
        if self.stick.gait not in self._gaits:
            self._gaits.append(self.stick.gait)
        self._input.add((seconds, self.stick.numbers, self._gaits.index(self.stick.gait), self._heading))

    def recording(self, end):
        """What has steered it, as a Recording seen from the world until so many seconds; None if nothing has."""
        if self.stick is None:
            return None
        self._note(end)
        times, sticks, gaits, headings = map(self._input.column, ("seconds", "stick", "gait", "heading"))
        for first in (NAMES.index("move_x"), NAMES.index("face_x")):
            sticks[:, first:first + 2] = _turned(sticks[:, first:first + 2], headings)
        return Recording.changes(times, sticks, [self._gaits[gait] for gait in gaits])

    def why_it_waits(self, ob, context):
        """Why its armature cannot be shown moving at present, as a sentence; empty if it can."""
        if self.trouble:
            return self.trouble
        if ob.mode == "EDIT":
            return f'Waiting: leave Edit Mode of "{ob.name}" to go on.'
        if ob.name not in context.view_layer.objects:
            return f'Waiting: "{ob.name}" is not in this scene.'
        return ""

    def can_be_posed(self, ob):
        """Whether its bones are known as they are now. If not it waits; it is looked at again with the next beat."""
        try:
            self.poser.look(ob)
            self.group.floors[self.index] = self.poser.floor
        except MotionError as error:
            self.trouble = self.waits = str(error)
        return not self.waits

    def paths(self):
        """Paths as of now."""
        player, index, group = self.player, self.index, self.group
        height, lift = player.heights[index] + self.poser.floor, (0.0, 0.0, self.poser.floor)
        desired, facings = group.desired(index, np.concatenate([[0.0], group.ahead()]))
        matched = np.concatenate([player.positions[index:index + 1], group.matched(index)])
        (place, yaw), (simulated, simulated_yaw) = self.body.root, self.guide.root
        return Paths(_at_height(desired, height), facings, _at_height(matched, height), player.toes[index] + lift,
                     player.feet.locked[index], _point(place, height), yaw, _point(simulated, height), simulated_yaw)


def _point(place, height):
    return np.array([place.real, place.imag, height])


def _at_height(places, height):
    return np.column_stack([places, np.full(len(places), height)])


def _turned(vectors, yaws):
    """Vectors (N, 2) that are seen from yaws (N,), as the world sees them."""
    (x, y), cos, sin = vectors.T, np.cos(yaws), np.sin(yaws)
    return np.column_stack([cos * x - sin * y, sin * x + cos * y])
