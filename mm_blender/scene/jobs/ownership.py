# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an armature's database is, and whose: a bake replaces only what is its own.

Each armature has an id, which is kept in the .blend and in the file that it bakes, there with its name and its .blend.
A copy carries the id along, and so does another .blend: they use the file, and bake into one of their own.
"""

import itertools
import os
import re
import shutil
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import bpy

from ...errors import MotionError
from ...files import only_us
from ...matching import database
from ...networks import provenance
from ...owner import Owner
from ..own_folder import own_folder

SUFFIX, NETWORKS, NAME = ".mmdb", ".mmnet", "motion"
UNSAVED = "unsaved"  # what stands for the name of a .blend that has none
EARLIER = "//motion.mmdb"  # where earlier versions baked if the artist chose nothing
FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f]')  # in file names, on one system or another
RECOVERY = re.compile(r"(.+_)?\d+_autosave\.blend|quit\.blend")  # what Blender calls them
LONGEST = 80  # bytes of a name that becomes a part of a file name
# Files that were never saved keep their databases so many days, in a folder for each run of Blender; the latest runs
# longer than that, in case somebody has set the clock.
DAYS, RUNS = 30, 20
KEPT = "kept"  # the file that marks a folder whose databases a saved .blend may use: they are kept for good

_RUN = f"{time.strftime('%Y-%m-%d')}-{uuid.uuid4().hex[:8]}"
_given = {}  # session_uid of an armature → the id that it got in this session: undo does not take it away


@dataclass(frozen=True)
class Whose:
    """What is found where an armature has its database.

    word   "ours"; "copied" (of this armature, that is a copy of another one or in another .blend); "another's";
           "nobody's" (from a shell or an earlier version); "absent"; "unreadable"
    """

    word: str
    key: str = ""
    owner: Owner | None = None
    trouble: str = ""

    @property
    def is_used(self):
        """Whether it is played, and not written."""
        return self.word in ("copied", "another's", "nobody's")


# Where

def database_path(ob):
    """Where the database is, as an absolute path."""
    bake = ob.mm.bake
    path = bake.path.strip() or (EARLIER if bake.key and not bake.owner else "")
    return _absolute(ob, path) if path else own_path(ob)


def own_path(ob):
    """Where the database of an armature is if the artist chooses nothing: named after .blend and armature, where there
    is nothing yet but what is its own."""
    stem = os.path.join(beside(), f"{stem_of(blend())}_{_safe(ob.name)}")
    taken = {database_path(other) for other in _armatures() if other != ob and other.mm.bake.path.strip()}
    names = (f"{stem}{number}{SUFFIX}" for number in numbers())
    return next(path for path in names if path not in taken and may_be_ours(ob, path))


def beside():
    """The folder that relative paths begin in: that of the .blend, or, while it was never saved, one for this run of
    Blender, which outlives a crash (without a window that of the run's other temporary files)."""
    return os.path.dirname(blend()) if blend() else provisional_folder()


def blend():
    """The .blend that is open; empty if it was never saved, or only by Blender itself, before a crash."""
    return "" if is_for_recovery(bpy.data.filepath) else bpy.data.filepath


def is_for_recovery(path):
    """Whether a .blend is what Blender itself has saved, to be recovered after a crash or the next time."""
    folder, name = os.path.split(os.path.normpath(path))
    return bool(RECOVERY.fullmatch(name)) and folder == os.path.dirname(os.path.normpath(bpy.app.tempdir))


def provisional_folder():
    """Where files lie that are made before their .blend is saved for the first time."""
    return bpy.app.tempdir if bpy.app.background else os.path.join(own_folder("databases"), _RUN)


def is_provisional(path):
    """Whether a file lies where those of .blend files lie that were never saved, of this run of Blender or another."""
    roots = provisional_folder(), own_folder("databases")
    return any(root and os.path.normpath(path).startswith(os.path.join(os.path.normpath(root), "")) for root in roots)


def is_outside(ob):
    """Whether a relative path leads out of the folder of the .blend."""
    return is_relative(ob.mm.bake.path.strip()) and os.path.relpath(database_path(ob), beside()).startswith("..")


def is_relative(path):
    """Whether a path begins in the folder of the .blend: also as people write it, without the two slashes. Blender's
    working folder is nobody's choice."""
    return path.startswith("//") or not os.path.isabs(path)


def in_setting(ob, path):
    """A path as it stands in the settings: as the artist wrote it, or else beginning in the folder of the .blend where
    it lies in there. One that begins nowhere yet is written out."""
    written = ob.mm.bake.path.strip()
    saved = bool(blend())
    if written and _absolute(ob, written) == path and (saved or not is_relative(written)):
        return written
    inside = saved and os.path.dirname(path) == os.path.normpath(beside())
    return f"//{os.path.basename(path)}" if inside else path


def stem_of(blend):
    """The name of a .blend as file names begin with it."""
    return _safe(os.path.splitext(os.path.basename(blend))[0] or UNSAVED)


def numbers():
    """What is appended to a name that is taken: nothing at first."""
    return itertools.chain([""], (f".{number:03d}" for number in itertools.count(1)))


# Whose

def whose(ob, path=None):
    """Whose the database is that an armature has, or another file."""
    path = path or database_path(ob)
    try:
        state = os.stat(path)
    except OSError:
        return Whose("absent")
    key, owner, trouble = _about(path, state.st_mtime_ns, state.st_size, state.st_ino)
    if trouble:
        return Whose("unreadable", trouble=trouble)
    if owner is None:
        return Whose("nobody's", key)
    if owner.id != _carried(ob):
        return Whose("another's", key, owner)
    is_ours = not _is_copy(ob) and (is_this_blend(owner.blend) if owner.blend else _is_this_session(ob, path))
    return Whose("ours" if is_ours else "copied", key, owner)


def said(ob):
    """A sentence about a file that an armature uses and does not write; empty if it is its own."""
    found, name = whose(ob), os.path.basename(database_path(ob))
    if not found.is_used:
        return ""
    if found.word == "nobody's":
        return f"{name} comes from a shell or an earlier version and belongs to nobody: it is played, not changed."
    return f"{name} is the database of {found.owner}: it is played, not changed."


def bake_path(ob, replace=False, own_file=False):
    """Where a bake goes: into a file of the armature's own, unless another one is to be replaced."""
    path, found = database_path(ob), whose(ob)
    if replace:
        return path
    if (own_file and found.is_used) or found.word == "copied":
        return own_path(ob)
    if found.is_used:
        raise MotionError(f'{said(ob)} Bake "{ob.name}" to a file of its own, or replace this one.')
    if is_provisional(path) and os.path.dirname(path) != os.path.normpath(beside()):
        return own_path(ob)  # it was recovered, perhaps in two Blenders, or could not go along
    return path


def owner_of(ob):
    """The Owner that a file of an armature names: with its id, or a new one if it has none, or that of another one."""
    identity = "" if _is_copy(ob) else _carried(ob)
    return Owner(identity or uuid.uuid4().hex, ob.name, blend())


def claim(ob, owner, path):
    """A file that names this Owner is the armature's from now on."""
    bake = ob.mm.bake
    bake.path = in_setting(ob, path)
    bake.owner, bake.is_copy = owner.id, False
    _given[ob.session_uid] = owner.id


def adopt(ob):
    """Let the database that an armature uses, and that is nobody's, be its own."""
    path, owner = database_path(ob), owner_of(ob)
    if whose(ob).word != "nobody's":
        raise MotionError(f'"{ob.name}" can adopt only a database that belongs to nobody.')
    with only_us(path):
        database.give(path, owner)
    claim(ob, owner, path)


def tell_copies():
    """Mark those that are copies, for later: in a saved file nothing tells which one was there first."""
    for ob in _armatures():
        if ob.mm.bake.owner and not ob.mm.bake.is_copy and _is_copy(ob):
            ob.mm.bake.is_copy = True


def make_room(path):
    """The folder of a .blend that was never saved is made when it is needed; what others have left long ago goes."""
    folder = Path(path).parent
    if folder.name != _RUN or folder.is_dir():
        return
    with suppress(OSError):
        folder.mkdir(parents=True)
        runs = [(max(each.stat().st_mtime for each in (other, *other.rglob("*"))), other)
                for other in folder.parent.glob("????-??-??-????????")]
        for changed, other in sorted(runs)[:-RUNS]:
            if changed < time.time() - DAYS * 24 * 3600 and not any(other.rglob(KEPT)):
                shutil.rmtree(other, ignore_errors=True)


def keep(path):
    """A .blend is saved that uses a file which is not beside it: its folder stays."""
    if is_provisional(path):
        with suppress(OSError):
            Path(path).with_name(KEPT).touch()


def _armatures():
    return [ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob.library is None]


def _carried(ob):
    return ob.mm.bake.owner or _given.get(ob.session_uid, "")


def _is_copy(ob):
    """Whether another armature had the id before."""
    if ob.mm.bake.is_copy or not (identity := _carried(ob)):
        return ob.mm.bake.is_copy
    return any(other.session_uid < ob.session_uid and not other.mm.bake.is_copy and other.mm.bake.owner == identity
               for other in _armatures())


def is_this_blend(known):
    """Whether what was the .blend of a database is this one: it may have been renamed, or its folder moved."""
    here = blend()
    if are_one(known, here):
        return True
    there = os.path.join(os.path.dirname(here), re.split(r"[/\\]", known)[-1])
    return not os.path.exists(known) and (not here or not os.path.exists(there) or are_one(there, here))


def may_be_anothers(found):
    """Whether what is ours names a .blend by another name: this one was renamed, or it is a copy of one that was."""
    return found.word == "ours" and found.owner.blend != "" and not are_one(found.owner.blend, blend())


def _is_this_session(ob, path):
    """Whether a file of a .blend that was never saved is of this one: many may begin with the same startup file."""
    return is_provisional(path) or ob.session_uid in _given


def are_one(path, other):
    try:
        return os.path.samefile(path, other)
    except OSError:
        return path == other


def may_be_ours(ob, path):
    """Whether a file and the networks beside it are an armature's own, or not there."""
    networks = os.path.splitext(path)[0] + NETWORKS
    if (word := whose(ob, path).word) != "absent" or not os.path.exists(networks):
        return word in ("ours", "absent")
    trained_for = provenance.owner(networks)
    return trained_for is not None and trained_for.id == _carried(ob) and not _is_copy(ob)


@lru_cache(maxsize=64)
def _about(path, *_state):
    """The key and the Owner in a file, or why it cannot be read."""
    try:
        return *database.read_about(path), ""
    except MotionError as error:
        return "", None, str(error)


def _absolute(ob, path):
    if path.endswith(("/", os.sep)):
        path += NAME
    if not path.lower().endswith(SUFFIX):
        path += SUFFIX
    if not is_relative(path):
        return os.path.abspath(path)
    path = path.removeprefix("//")
    here = os.path.normpath(os.path.join(beside(), path))
    linked = ob if ob.library is not None else getattr(ob.override_library, "reference", None)
    if linked is None or linked.library is None or os.path.exists(here):
        return here
    there = os.path.join(os.path.dirname(bpy.path.abspath(linked.library.filepath)), path)
    return os.path.normpath(there) if ob.library is not None or os.path.exists(there) else here


def _safe(name):
    """A name as a part of a file name on any system."""
    short = FORBIDDEN.sub("_", name).encode(errors="ignore")[:LONGEST].decode(errors="ignore")
    return short.strip(" .") or "_"
