# SPDX-License-Identifier: GPL-3.0-or-later
"""A character that is being driven: its armature, what it plays, and how it was before."""

from dataclasses import dataclass, replace

import bpy
import numpy as np

from ..control.intent import beyond_dead_zone
from ..control.stick import Recording
from ..errors import MotionError
from . import targets
from .before import ArmatureBefore
from .posing import Poser


@dataclass(eq=False)
class Paths:
    """What the viewport can show of the driven character, in the world.

    desired, desired_facings  (T, 3), (T,) where the stick leads, from the simulated root on
    matched                   (T, 3) where the frame that is playing leads, from the root on
    toes, held                (2, 3), (2,)
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


class Puppet:
    """A character that takes part: its armature by name, and its place on a Stage.

    owner  whose settings count: the armature itself, or the one whose Target it is
    """

    def __init__(self, owner, stage, index):
        ob = targets.posed(owner)
        self.name, self.uid = ob.name, ob.session_uid
        self._owner_name, self.owner_uid = owner.name, owner.session_uid
        self.stage, self.index, self.waits = stage, index, ""
        self.player, self.database = stage.player, stage.library.database
        self.input = []  # (seconds, Stick, yaw that its forward meant)
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
            ob = _fetch(self.name, self.uid)
            self.name = ob.name if ob is not None else self.name
        return ob

    def owner(self):
        """The armature object with the settings; None if it is gone."""
        if self.owner_uid == self.uid:
            return self.fetch()
        ob = _fetch(self._owner_name, self.owner_uid)
        self._owner_name = ob.name if ob is not None else self._owner_name
        return ob

    def fetch_both(self, active=None):
        """The armature object, as fetch() has it; None if it or the one with the settings is gone."""
        ob = self.fetch(active)
        return ob if self.owner_uid == self.uid or self.owner() is not None else None

    def unheard(self):
        """Why it stands though the hand wants it to go, as a sentence; empty if it does not."""
        intent = self.stage.intents[self.index]
        if not self.input or intent is None or intent.velocity or not beyond_dead_zone(self.input[-1][1].move).any():
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
        return self.stage.film.clip(self.index).with_changes(skeleton=self.poser.skeleton(ob))

    def recording(self, end):
        """What has steered it, as a Recording seen from the world until so many seconds; None if nothing has."""
        if not self.input:
            return None
        moments = [*self.input, (end, *self.input[-1][1:])]
        sticks = [_in_world(stick, heading) for _, stick, heading in moments]
        return Recording.of([seconds for seconds, _, _ in moments], sticks)

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
            self.stage.floors[self.index] = self.poser.floor
        except MotionError as error:
            self.trouble = self.waits = str(error)
        return not self.waits

    def paths(self):
        """Paths as of now."""
        player, index, stage = self.player, self.index, self.stage
        height, lift = player.heights[index] + self.poser.floor, (0.0, 0.0, self.poser.floor)
        desired, facings = stage.desired(index, np.concatenate([[0.0], stage.ahead()]))
        matched = np.concatenate([player.positions[index:index + 1], stage.matched(index)])
        root, simulated = (np.array([*where.positions[index], height]) for where in (player, player.simulation))
        return Paths(_at_height(desired, height), facings, _at_height(matched, height), player.toes[index] + lift,
                     player.feet.locked[index], root, float(player.yaws[index]), simulated,
                     float(player.simulation.yaws[index]))


def _fetch(name, uid):
    ob = bpy.data.objects.get(name)
    if ob is None or ob.session_uid != uid:
        ob = next((other for other in bpy.data.objects if other.session_uid == uid), None)
    return ob


def _at_height(places, height):
    return np.column_stack([places, np.full(len(places), height)])


def _in_world(stick, heading):
    """The Stick whose forward is the world's Y axis."""
    turn = np.array([[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]])
    (move_x, move_y), (face_x, face_y) = (turn @ stick.move).tolist(), (turn @ stick.face).tolist()
    return replace(stick, move_x=move_x, move_y=move_y, face_x=face_x, face_y=face_y)
