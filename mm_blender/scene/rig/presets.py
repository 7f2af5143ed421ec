# SPDX-License-Identifier: GPL-3.0-or-later
"""Bone roles as presets: one JSON file each in the extension's own folder, for all armatures with the same bones."""

import json
import re
from pathlib import Path

from ...errors import MotionError
from ...files import replacing
from ...motion.character import ROLES
from ...text import read_json
from ..own_folder import own_folder
from ..settings import AXES
from .character import role_entry

VERSION, ENDING = 1, ".roles.json"
_UNSAFE = re.compile(r'[\\/:*?"<>|.\x00-\x1f]')  # what a file's name cannot have somewhere


def folder():
    return Path(own_folder("roles"))


def names():
    """The names of all presets, in order."""
    return sorted((path.name.removesuffix(ENDING) for path in folder().glob(f"*{ENDING}")), key=str.lower)


def save(ob, name):
    """Write the armature's roles into the preset with this name, which may be there already; returns its name."""
    name = _UNSAFE.sub("_", name).strip()[:60]
    if not name.strip("_"):
        raise MotionError("Give the preset a name.")
    roles = {entry.name: entry.bone for entry in ob.mm.roles if entry.bone}
    if not roles:
        raise MotionError(f'"{ob.name}" has no bone roles to save: press Find Bones first.')
    content = {"version": VERSION, "roles": roles, "forward": ob.mm.forward}
    with replacing(_path(name)) as temporary:
        temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
    return name


def load(ob, name):
    """Give the armature the roles of a preset. Where one of its bones is missing, nothing is changed."""
    roles, forward = _read(name)
    missing = [bone for bone in roles.values() if bone not in ob.data.bones]
    if missing:
        others = f" (and {len(missing) - 1} others)" if len(missing) > 1 else ""
        raise MotionError(f'The preset "{name}" names the bone "{missing[0]}"{others}, which "{ob.name}" does not '
                          "have: it is for another rig.")
    for role in ROLES:
        role_entry(ob, role).bone = roles.get(role, "")
    ob.mm.forward = forward


def remove(name):
    path = _path(name)
    if not path.exists():
        raise MotionError(f'There is no preset "{name}".')
    try:
        path.unlink()
    except OSError as error:
        raise MotionError(f'The preset "{name}" could not be removed: {error.strerror or error}.') from error


def _path(name):
    return folder() / (name + ENDING)


def _read(name):
    """Roles and forward axis of a preset, or a sentence where it has none that can be used."""
    if not _path(name).exists():
        raise MotionError(f'There is no preset "{name}".')
    try:
        content = read_json(_path(name))
        version, roles, forward = int(content["version"]), content["roles"], content["forward"]
        known = set(roles) <= set(ROLES) and all(isinstance(bone, str) for bone in roles.values())
        known = known and forward in AXES
    except (MotionError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        version, known = 0, False
    if version > VERSION:
        raise MotionError(f'The preset "{name}" was made by a newer Motion Matching: update the extension.')
    if not known:
        raise MotionError(f'The preset "{name}" is damaged: remove it and save it anew.')
    return roles, forward
