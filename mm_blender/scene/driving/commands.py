# SPDX-License-Identifier: GPL-3.0-or-later
"""What the artist commands of features in the panel Drive: a value, a switch, or an object to look at."""

import bpy

from ...errors import MotionError
from ...matching.features import KINDS, Place
from ..reading.features import channel_of, is_complete


def commandable(ob):
    """The entries of an armature's features that the panel can command."""
    return [entry for entry in ob.mm.features.channels if KINDS[entry.kind].commanded and is_complete(entry)]


def commands_of(ob, schema, floor):
    """{label: command} for an armature, of features that the schema of a motion has; floor: how high its ground is."""
    known, found = {channel.label for channel in schema.channels}, {}
    for entry in commandable(ob):
        label, how = channel_of(entry).label, KINDS[entry.kind].commanded
        if label in known and how == "target" and entry.target is not None:
            if entry.target.users_scene:  # one that was deleted is still pointed to
                found[label] = _place(entry.target, floor)
        elif label in known and how != "target" and entry.commanded:
            found[label] = entry.value if how == "value" else float(entry.on)
    return found


class Heeded:
    """What the panel has commanded of the characters of a group, so that it can be lifted again.

    sentences  what could not be heeded
    """

    def __init__(self, count):
        self.sentences, self._labels, self._targets = [], [()] * count, []

    def heed(self, group, obs):
        """Command what the settings of armatures say: {index: armature}."""
        self.sentences, self._targets = [], []
        for index, ob in obs.items():
            commands = commands_of(ob, group.library.database.schema, group.floors[index])
            for label in set(self._labels[index]) - set(commands):
                group.command(index, label)
            self._labels[index] = tuple(commands)
            for label, command in commands.items():
                self._command(group, index, label, command)
            self._targets += [(index, channel_of(entry).label, entry.target.name) for entry in commandable(ob)
                              if entry.target is not None and channel_of(entry).label in commands]

    def follow(self, group):
        """Look where the targets are now."""
        for index, label, name in self._targets:
            if (target := bpy.data.objects.get(name)) is not None:
                self._command(group, index, label, _place(target, group.floors[index]))

    def _command(self, group, index, label, command):
        try:
            group.command(index, label, command)
        except MotionError as error:
            self.sentences = list(dict.fromkeys([*self.sentences, str(error)]))


def _place(target, floor):
    x, y, z = target.matrix_world.translation
    return Place(x, y, z - floor)
