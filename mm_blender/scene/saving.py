# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies beside the .blend goes along when that is saved in another place: databases, and networks beside them."""

import os
import shutil

import bpy
from bpy.app.handlers import persistent

from ..errors import MotionError
from ..files import replacing
from ..matching import database
from . import training
from .baking import beside, database_path


def take_along(ob, folder):
    """Have the files of an armature, whose path is relative to the .blend, in the folder where that will be, too. Where
    they cannot be there, or are being made, the path leads to where they are from now on."""
    here = database_path(ob)
    there = os.path.normpath(os.path.join(folder, os.path.relpath(here, beside())))
    if here == there or not _is_its_own(ob, here):
        return
    networks = training.own_networks_path(ob)
    try:
        if training.job_of(networks) is None and _copied(here, there):
            if os.path.isfile(networks):
                _copy(networks, os.path.splitext(there)[0] + training.SUFFIX)
            return
    except (OSError, MotionError) as error:
        print(f"Motion Matching: {os.path.basename(here)} stays where it is, in {os.path.dirname(here)}: {error}")
    ob.mm.bake.path = here


def _is_its_own(ob, path):
    """Whether a file is what an armature has baked, or was given to play. Names are no sign: before a file is saved for
    the first time all of them share a folder."""
    bake = ob.mm.bake
    if not os.path.isfile(path):
        return False
    if not bake.key:
        return bake.is_property_set("path") and not len(ob.mm.clips)
    try:
        return database.read_key(path) == bake.key
    except MotionError:  # it cannot be read
        return False


def _copied(here, there):
    """Whether a database is in another place as well, now or since long; not if another one is there."""
    if os.path.exists(there):
        return database.read_key(here) == database.read_key(there)
    _copy(here, there)
    return True


def _copy(here, there):
    """Copy a file, whole or not at all; one that is there stays."""
    if os.path.exists(there):
        return
    os.makedirs(os.path.dirname(there), exist_ok=True)
    with replacing(there) as part:
        shutil.copyfile(here, part)


@persistent
def _before_saving(path, *_):
    if not path:  # the startup file
        return
    for ob in bpy.data.objects:
        if ob.type == "ARMATURE" and ob.library is None and ob.mm.bake.path.strip().startswith("//"):
            take_along(ob, os.path.dirname(os.path.abspath(path)))


def register():
    bpy.app.handlers.save_pre.append(_before_saving)


def unregister():
    bpy.app.handlers.save_pre.remove(_before_saving)
