# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare: while a character is driven, a copy beside it follows the same input with another method.

The copy is made of objects that are marked: wherever they turn up when nobody compares, also after an undo or in a file
that was saved meanwhile, they are removed.
"""

import bpy
import numpy as np

from ..rig import controls, targets
from ..rig.copies import copies_of
from .group import DrivenGroup
from .posing import Poser

# How far to its right the copy stands, as a share of the character's height.
BESIDE = 0.6


def other_method(method):
    """What a copy plays beside a character that plays with this method."""
    return "LMM" if method == "MM" else "MM"


def copy_trouble(ob):
    """Why no copy can be made of what an armature's settings drive, as a sentence; empty if one can."""
    if targets.posed(ob) != ob:
        return "Copies are made of armatures that are driven with their own motion, not of a Target."
    if controls.is_control_rig(ob):
        return "A control rig cannot be copied: compare on the armature that has the motion."
    return ""


def remove_copies(besides=()):
    """Remove all copies, except those with these session_uids."""
    copies = [ob for ob in bpy.data.objects if ob.mm.drive.copied and ob.session_uid not in besides]
    for ob in copies:
        bpy.data.objects.remove(ob)
    return bool(copies)


class Copy:
    """The copy of a character that is driven.

    method  what it plays
    apart   centimetres between its joints and those of the character, both seen from their roots: now, and so far
    """

    def __init__(self, character, ob):
        self.character, self.method, self.apart = character, other_method(ob.mm.drive.method), (0.0, 0.0)
        self._sum, self._count = 0.0, 0
        try:
            copies = _copies(ob, self.method)
            self.uids = [copy.session_uid for copy in copies]
            self.group = _CopyGroup([copies[0]])
            self.poser = Poser(copies[0], self.group.library.database)
            self._begin()
        except Exception:
            remove_copies()
            raise

    def fetch(self):
        """The armature of the copy; None if it is gone."""
        return next((ob for ob in bpy.data.objects if ob.session_uid == self.uids[0]), None)

    def belongs_to(self, character, ob):
        """Whether it is what should be compared now."""
        method = other_method(ob.mm.drive.method)
        return self.character is character and self.method == method and self.fetch() is not None

    def prepare(self, ob, context):
        """Take over the settings of the armature that it is a copy of."""
        self.group.prepare(ob, context)
        self.group.heed({0: ob})

    def go_on(self, stick, heading, seconds):
        """Follow the same hand; after the character did."""
        self.group.guides[0].steer(stick, heading)
        self.group.advance(seconds)
        self._keep_beside()
        between = self.group.player.bodies[0].joints() - self.character.body.joints()
        apart = 100 * float(np.linalg.norm(between, axis=-1)[1:].mean())
        self._sum, self._count = self._sum + apart, self._count + 1
        self.apart = apart, self._sum / self._count

    def show(self):
        if (ob := self.fetch()) is not None:
            self.poser.look(ob)
            self.group.poser.write([(self.poser, ob, 0)], *self.group.live.shown())

    def end(self):
        """Remove it."""
        self.group.clear()
        remove_copies()

    def _begin(self):
        """Stand beside the character and go on with what it is playing."""
        player, index = self.character.player, self.character.index
        place, yaw = player.roots[index]
        height = float(self.group.library.database.skeleton.rest[0][:, 2].max())
        self._offset = BESIDE * height * np.array([np.cos(yaw), np.sin(yaw)])
        self.group.place(np.array([[place.real, place.imag]]) + self._offset, np.array([yaw]),
                         player.heights[index:index + 1])
        self._keep_beside()
        self.group.begin_at([player.matcher.where(index)])

    def _keep_beside(self):
        """What the stick moves is the same for both."""
        self.group.guides[0].follow(self.character.guide, complex(*self._offset))


class _CopyGroup(DrivenGroup):
    """Obstacles count where the character is, and not beside it."""

    def surround(self, ground=None, obstacles=None):
        super().surround(ground)


def _copies(ob, method):
    """Copies of an armature and of the meshes that hang from it, the armature first."""
    copies = copies_of(ob, "Compare")
    for original, copy in copies.items():
        copy.mm.drive.copied, copy.mm.drive.driving = True, False
        for collection in original.users_collection:
            if collection.library is None and collection.override_library is None:
                collection.objects.link(copy)
        if not copy.users_collection:
            bpy.context.scene.collection.objects.link(copy)
    copies[ob].mm.drive.method = method
    return list(copies.values())
