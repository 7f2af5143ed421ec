# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature and one of its Actions, kept by session_uid, which outlives undo and renaming: undo replaces everything
that Python holds, and a name may be another one's by now."""

from dataclasses import dataclass

import bpy

from ...errors import MotionError
from .. import actions


@dataclass(frozen=True)
class Reference:
    object_name: str
    action_name: str = ""
    slot_name: str = ""
    object_uid: int = 0
    action_uid: int = 0

    @classmethod
    def of(cls, ob, action=None, slot=None):
        if action is None:
            return cls(ob.name, object_uid=ob.session_uid)
        slot = slot or actions.slot_for(action, ob)
        return cls(ob.name, action.name, slot.identifier if slot is not None else "", ob.session_uid,
                   action.session_uid)

    def fetch(self):
        """The object, its Action and slot (None where there is none) as they are now."""
        ob = found_again(bpy.data.objects, self.object_name, self.object_uid)
        if ob is None or ob.type != "ARMATURE":
            raise MotionError(f'The armature "{self.object_name}" is gone since reading began: start again.')
        if not self.action_name:
            return ob, None, None
        action = found_again(bpy.data.actions, self.action_name, self.action_uid)
        slot = actions.slot_named(action, self.slot_name) if action is not None and self.slot_name else None
        if action is None or (self.slot_name and slot is None):
            raise MotionError(f'The Action "{self.action_name}" is gone since reading began: start again.')
        return ob, action, slot


def found_again(blocks, name, uid):
    """The object, Action or scene that had a name; None if it is gone."""
    found = blocks.get(name)  # most often it still has
    if found is None or found.session_uid != uid:
        found = next((other for other in blocks if other.session_uid == uid), None)
    return found
