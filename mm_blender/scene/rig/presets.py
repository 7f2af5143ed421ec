# SPDX-License-Identifier: GPL-3.0-or-later
"""Bone roles as presets, for all armatures with the same bones."""

from ...errors import MotionError
from ...motion.character import ROLES
from ..presets import Presets
from ..settings import AXES
from .character import role_entry

PRESETS = Presets("roles")


def save(ob, name):
    """Write the armature's roles into the preset with this name, which may be there already; returns its name."""
    roles = {entry.name: entry.bone for entry in ob.mm.roles if entry.bone}
    if not roles:
        raise MotionError(f'"{ob.name}" has no bone roles to save: press Find Bones first.')
    return PRESETS.write(name, {"roles": roles, "forward": ob.mm.forward})


def load(ob, name):
    """Give the armature the roles of a preset. Where one of its bones is missing, nothing is changed."""
    roles, forward = PRESETS.read(name, _understood)
    missing = [bone for bone in roles.values() if bone not in ob.data.bones]
    if missing:
        others = f" (and {len(missing) - 1} others)" if len(missing) > 1 else ""
        raise MotionError(f'The preset "{name}" names the bone "{missing[0]}"{others}, which "{ob.name}" does not '
                          "have: it is for another rig.")
    for role in ROLES:
        role_entry(ob, role).bone = roles.get(role, "")
    ob.mm.forward = forward


def _understood(content):
    """Roles and forward axis."""
    roles, forward = content["roles"], content["forward"]
    if not set(roles) <= set(ROLES) or not all(isinstance(bone, str) for bone in roles.values()):
        raise ValueError("roles")
    if forward not in AXES:
        raise ValueError("forward")
    return roles, forward
