# SPDX-License-Identifier: GPL-3.0-or-later
"""Rig families: what well-known rigs call their bones, one JSON file for each.

name        what the artist reads
sides       how left and right are spelt where a name has %
prefix      what may stand before every name, a regular expression; a namespace ("rig:") may always
known_by    bones by which a rig of this family is known: all must be there
roles       role → bone, or several of which the first that is there is meant. Roles of both sides are written once. The
            trunk may be left out: where legs and arms fork tells it, however many bones a spine has
controls    of a control rig, the FK controls: known_by and roles as above, and
  more        patterns (* and ?) of further controls that are posed: the rest of the spine, fingers
  ik          role → the control that leads the limb's end there when IK is on; knees and elbows are the poles
  properties  bone → property → its value while FK controls are posed
  ik_properties  the same with which IK, when it is on, listens to the controls in `ik`
"""

import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path

SIDES = ("left", "right")


@dataclass(frozen=True)
class ControlNames:
    """The controls of a control rig that are there.

    family      the family's name
    roles       role → control; the spine's are only in `bones`, for the tree tells which of them is the chest
    bones       all controls to pose, those of the roles included
    ik          role → IK control; "left_shin" and "left_forearm" are the poles of knee and elbow
    properties  (bone, custom property, its value while FK controls are posed)
    ik_properties  the same with which IK listens to `ik`
    """

    family: str
    roles: dict
    bones: tuple
    ik: dict
    properties: tuple
    ik_properties: tuple


def recognise(names):
    """The name of the family whose bones these are, and role → name; ("", {}) where there is none.

    A set of controls is recognised like a set of bones.
    """
    family, roles = _recognised(tuple(names))
    return family, dict(roles)


def find_controls(names):
    """The controls among an armature's bones, or None where they are of no control rig that is known."""
    return _controls(tuple(names))


# Panels ask again with every redraw, and a control rig has hundreds of bones: the last answers are kept.

@lru_cache(maxsize=16)
def _recognised(names):
    best = "", {}
    for family in _families():
        for naming in (family, family.get("controls", {})):
            found = _roles(family, naming, names)
            if len(found) > len(best[1]):
                best = family["name"], found
    return best


@lru_cache(maxsize=16)
def _controls(names):
    for family in _families():
        naming = family.get("controls", {})
        if roles := _roles(family, naming, names):
            more = [name for pattern in naming["more"] for _, one in _sided("", pattern, family)
                    for name in names if fnmatchcase(name, one)]
            bones = dict.fromkeys([*roles.values(), *more])
            properties, ik_properties = (
                tuple((bone, key, value) for pattern, values in naming.get(kind, {}).items()
                      for _, bone in _sided("", pattern, family) if bone in names for key, value in values.items())
                for kind in ("properties", "ik_properties"))
            return ControlNames(family["name"], roles, tuple(name for name in names if name in bones),
                                _found(family, naming["ik"], names, ""), properties, ik_properties)
    return None


@cache
def _families():
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(Path(__file__).parent.glob("*.json"))]


def _roles(family, naming, names):
    """role → name in one of a family's two namings; {} where it is not that family."""
    if not naming:
        return {}
    prefix = naming.get("prefix", "")
    known = _plain(names, prefix)
    if not all(bone.lower() in known for bone in naming["known_by"]):
        return {}
    return _found(family, naming["roles"], names, prefix)


def _found(family, table, names, prefix):
    known, found = _plain(names, prefix), {}
    for role, bones in table.items():
        for bone in [bones] if isinstance(bones, str) else bones:
            for full, one in _sided(role, bone, family):
                if one.lower() in known:
                    found.setdefault(full, known[one.lower()])
    return found


def _plain(names, prefix):
    """What is left of each name without namespace and prefix, in small letters → the name nearest to the root."""
    plain = {}
    for name in names:
        plain.setdefault(re.sub(f"^(?:{prefix})", "", name.rpartition(":")[2], flags=re.IGNORECASE).lower(), name)
    return plain


def _sided(role, bone, family):
    """Role and bone for the left and the right, or as they are where they have no side."""
    if "%" not in bone:
        return [(role, bone)]
    return [(f"{side}_{role}", bone.replace("%", spelling)) for side, spelling in zip(SIDES, family["sides"])]
