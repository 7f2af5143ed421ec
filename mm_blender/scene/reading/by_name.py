# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature and one of its Actions, kept by name: undo replaces everything that Python holds."""

from dataclasses import dataclass

import bpy

from ...errors import MotionError
from .. import actions


@dataclass(frozen=True)
class ByName:
    object_name: str
    action_name: str = ""
    slot_name: str = ""
    object_file: str | None = None  # the library that it is linked from
    action_file: str | None = None

    @classmethod
    def of(cls, ob, action=None, slot=None):
        if action is None:
            return cls(ob.name, object_file=_file(ob))
        slot = slot or actions.slot_for(action, ob)
        return cls(ob.name, action.name, slot.identifier if slot is not None else "", _file(ob), _file(action))

    def fetch(self):
        """The object, its Action and slot (None where there is none) as they are now."""
        ob = bpy.data.objects.get((self.object_name, self.object_file))
        if ob is None or ob.type != "ARMATURE":
            raise MotionError(f'The armature "{self.object_name}" is gone or renamed since reading began: start again.')
        if not self.action_name:
            return ob, None, None
        action = bpy.data.actions.get((self.action_name, self.action_file))
        slot = actions.slot_named(action, self.slot_name) if action is not None and self.slot_name else None
        if action is None or (self.slot_name and slot is None):
            raise MotionError(f'The Action "{self.action_name}" is gone or renamed since reading began: start again.')
        return ob, action, slot


def _file(block):
    """ByName are unique within one file only."""
    return block.library.filepath if block.library is not None else None
