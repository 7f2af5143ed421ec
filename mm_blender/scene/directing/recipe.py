# SPDX-License-Identifier: GPL-3.0-or-later
"""How a take was directed, kept on its Action: the settings, and what its keys were when they were written."""

import json

import bpy

from ...errors import MotionError
from ..reading import sampling
from ..rig import targets

VERSION = 1
# What is no part of the direction itself.
_PASSED_OVER = {"rna_type", "mark_index", "update", "take"}


def note(ob, action, seed=None):
    """Note on a take that was just written how it was made, and what its keys are; seed: if not that of the
    settings."""
    action.mm.recipe = text_of(ob, seed)
    stamp(ob, action)


def stamp(ob, action):
    """Note what the keys of a take are: whatever differs later was edited by hand."""
    action.mm.written = sampling.fingerprint(targets.posed(ob), action)


def text_of(ob, seed=None):
    """The direction of an armature as it is set now, as JSON; seed: if another one."""
    direct = _values_of(ob.mm.direct)
    if seed is not None:
        direct["seed"] = seed
    return json.dumps({"version": VERSION, "direct": direct, "method": ob.mm.drive.method})


def seed_of(action):
    """The seed with which a take was made; 0 where that cannot be read, or where there is none."""
    try:
        return int(json.loads(action.mm.recipe)["direct"]["seed"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return 0


def is_directed(action):
    """Whether an Action is a take that was directed."""
    return action is not None and bool(action.mm.recipe)


def is_edited(ob, action):
    """Whether keys of a take were changed since it was written."""
    return action.mm.written != sampling.fingerprint(targets.posed(ob), action)


def recall(ob, action):
    """Let the Direct panel be as it was when a take was made; sentences about what is not there any more."""
    try:
        recipe = json.loads(action.mm.recipe)
        version, values, method = recipe["version"], recipe["direct"], recipe["method"]
        if version > VERSION:
            raise MotionError(f'The take "{action.name}" was made by a newer Motion Matching: update the extension.')
        missing = _set_values(ob.mm.direct, values)
        ob.mm.drive.method = method
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MotionError(f'How the take "{action.name}" was made cannot be read: direct it anew.') from error
    ob.mm.direct.take = action
    return [f'The object "{name}" is not in this file any more.' for name in missing]


def _values_of(group):
    """The settings of a group as JSON has them; objects by their names."""
    found = {}
    for prop in group.bl_rna.properties:
        if prop.identifier in _PASSED_OVER:
            continue
        value = getattr(group, prop.identifier)
        if prop.type == "COLLECTION":
            value = [_values_of(item) for item in value]
        elif prop.type == "POINTER":
            value = value.name if value is not None else ""
        elif getattr(prop, "is_array", False):
            value = list(value)
        found[prop.identifier] = value
    return found


def _set_values(group, values):
    """Give a group such settings; the names of objects that are gone."""
    missing = []
    for name, value in values.items():
        prop = group.bl_rna.properties.get(name)
        if prop is None:  # of another version
            continue
        if prop.type == "COLLECTION":
            items = getattr(group, name)
            items.clear()
            for one in value:
                missing += _set_values(items.add(), one)
        elif prop.type == "POINTER":
            ob = bpy.data.objects.get(value) if value else None
            missing += [value] if value and ob is None else []
            setattr(group, name, ob)
        else:
            setattr(group, name, value)
    return missing
