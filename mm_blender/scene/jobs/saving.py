# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies beside the .blend goes along when that is saved in another place or under another name: databases, and
networks beside them. So each .blend has files of its own, and what is baked in one is not changed in another."""

import os
import shutil
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from ...errors import MotionError
from ...files import replacing
from ...matching import database
from . import ownership, training
from .ownership import NETWORKS, UNSAVED, database_path, whose

_before = {}  # armature's name → its path, while a copy of the file is written

_stays = {}  # session_uid of an armature → why its database did not go along the last time


def why_it_stays(ob):
    """A sentence about a database that could not go along when the .blend was last saved; empty if there is none."""
    return _stays.get(ob.session_uid, "")


def take_along(ob, blend):
    """Have the files of an armature, whose path is empty or relative to the .blend, where that will be, too. Where they
    cannot be there, or are being made, the path leads to where they are from now on."""
    here, found = database_path(ob), whose(ob)
    there = _there(here, blend)
    if found.word in ("absent", "unreadable") or (there == here and found.word != "ours"):
        return
    if not os.path.isdir(os.path.dirname(blend)):  # it will not be saved
        return
    is_outside, why = ownership.is_outside(ob), ""
    if training.job_of(training.own_networks_path(ob)) is not None:
        why = "its networks are being trained, so save again afterwards"
    try:
        there = here if is_outside or why else _copied(here, there, found, blend)
    except (OSError, MotionError) as error:
        there, why = here, str(getattr(error, "strerror", None) or error).rstrip(".")
    if why and not is_outside:
        ownership.keep(here)
        _stays[ob.session_uid] = f"{os.path.basename(here)} stays where it is, in {os.path.dirname(here)}: {why}."
        print(f"Motion Matching: {_stays[ob.session_uid]}")
    ob.mm.bake.path = here if there == here else f"//{os.path.relpath(there, os.path.dirname(blend))}"


def _there(here, blend):
    """Where a file is to be for a .blend that is saved: at the same place beside it. If it is named after the .blend
    that it was beside, it is named after the new one."""
    folder, old = os.path.dirname(blend), ownership.stem_of(ownership.blend())
    place, name = os.path.split(here)
    if not ownership.is_provisional(here):
        folder = os.path.join(folder, os.path.relpath(place, ownership.beside()))
    for stem in (old, UNSAVED):
        if name.startswith(f"{stem}_"):
            name = f"{ownership.stem_of(blend)}_{name.removeprefix(f'{stem}_')}"
            break
    return os.path.normpath(os.path.join(folder, name))


def _copied(here, there, found, blend):
    """Where a database is as well, now or since long: there, or beside what is there already."""
    stem = os.path.splitext(there)[0]
    for number in ownership.numbers():
        there = f"{stem}{number}{ownership.SUFFIX}"
        if os.path.exists(there):
            if there != here and _is_one_of(there, found, blend):
                return there
        elif not os.path.exists(f"{stem}{number}{NETWORKS}"):
            break
    os.makedirs(os.path.dirname(there), exist_ok=True)
    with ExitStack() as otherwise:  # both or neither
        otherwise.callback(Path(there).unlink, missing_ok=True)
        if found.owner is not None and _is_here(found.owner):
            database.give(here, replace(found.owner, blend=blend), there)
        else:
            _copy(here, there)
        networks = os.path.splitext(here)[0] + NETWORKS
        if os.path.isfile(networks):
            _copy(networks, os.path.splitext(there)[0] + NETWORKS)
        otherwise.pop_all()
    return there


def _is_one_of(path, found, blend):
    """Whether a file is the database that goes along, and that of this .blend if it has one."""
    try:
        key, owner = database.read_about(path)
    except MotionError:  # it cannot be read
        return False
    return key == found.key and (owner == found.owner or (None not in (owner, found.owner)
                                 and owner.id == found.owner.id and ownership.are_one(owner.blend, blend)))


def _is_here(owner):
    """Whether a character of this .blend has baked a file."""
    return (not owner.blend or ownership.is_this_blend(owner.blend)) and any(
        ob.mm.bake.owner == owner.id for ob in bpy.data.objects if ob.type == "ARMATURE")


def _sign(ob, blend):
    """A file that lies where the artist wanted it, and was baked before there was a .blend, says which one it is of."""
    found = whose(ob)
    if found.word == "ours" and not found.owner.blend:
        with suppress(MotionError):  # it is played all the same
            database.give(database_path(ob), replace(found.owner, blend=blend))


def _copy(here, there):
    """Copy a file, whole or not at all."""
    with replacing(there) as part:
        shutil.copyfile(here, part)


@persistent
def _before_saving(path, *_):
    if not path or ownership.is_for_recovery(path):  # the startup file has no path
        return
    _before.clear()
    _stays.clear()
    ownership.tell_copies()
    blend = os.path.abspath(path)
    for ob in bpy.data.objects:
        written = ob.mm.bake.path.strip()
        if ob.type != "ARMATURE" or ob.library is not None or not (written or ob.mm.bake.key):
            continue
        _before[ob.name] = ob.mm.bake.path
        is_relative = not written or ownership.is_relative(written)
        if ownership.is_provisional(database_path(ob)) or (
                is_relative and not ownership.are_one(blend, ownership.blend())):
            take_along(ob, blend)
        else:
            _sign(ob, blend)


@persistent
def _after_saving(path, *_):
    """In a copy of the file paths lead to the copies of databases. This file keeps its own."""
    if not path or ownership.are_one(path, bpy.data.filepath):
        _before.clear()
    _as_before()


@persistent
def _after_failing(*_):
    _stays.clear()
    _as_before()


def _as_before():
    for name, path in _before.items():
        if (ob := bpy.data.objects.get((name, None))) is not None and ob.mm.bake.path != path:
            ob.mm.bake.path = path
    _before.clear()


_HANDLERS = (("save_pre", _before_saving), ("save_post", _after_saving), ("save_post_fail", _after_failing))


def register():
    for happening, handler in _HANDLERS:
        getattr(bpy.app.handlers, happening).append(handler)


def unregister():
    for happening, handler in _HANDLERS:
        getattr(bpy.app.handlers, happening).remove(handler)
