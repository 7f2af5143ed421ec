# SPDX-License-Identifier: GPL-3.0-or-later
"""What an armature plays from: its database or its networks, read when they are new or have changed."""

import math
import os
import threading

import bpy

from ...errors import MotionError
from ...matching import database
from ...matching.tags import EXCLUDE
from ...networks import provenance
from ...networks.library import library_for
from ...playback.library import BakedLibrary
from ..jobs import baking, training
from ..reading import clips
from ..reading.features import schema_of
from ..rig import targets
from ..rig.armatures import skeleton_of

METHODS = {"MM": "Motion Matching", "DMM": "Decompressed", "LMM": "Learned"}

_libraries = {}  # path of a database → (the file's time and size, BakedLibrary)
_learned = {}  # path of networks, method → (the file's time and size, the BakedLibrary or None, what is played)


def library_of(ob):
    """The Library of an armature's database, retargeted where the armature that is posed has another skeleton."""
    library = _baked_library(ob)
    try:
        return targets.retargeted(library, ob)
    except MotionError as error:
        if targets.posed(ob) == ob and (sentence := _why_not_ours(ob, library)):
            raise MotionError(f"{sentence} ({error})") from error
        raise


def played_library(ob, base=None):
    """What an armature plays with its method; base: library_of(ob) where it is known."""
    base, method = base or library_of(ob), ob.mm.drive.method
    if method == "MM" and base.baked is not None:
        return targets.like(base, base.baked, ob)
    if trouble := method_trouble(ob, method):
        raise MotionError(trouble)
    if method == "MM":  # the database is back, but it was not there in the beginning
        raise MotionError("Motion Matching is there from the next drive on.")
    return targets.like(base, _learned_library(ob, method, base.baked), ob)


def last_read(ob):
    """The Library that an armature plays from as it was read last, or None before it was."""
    if (known := targets.known(ob)) is not None:
        return known
    try:
        found = _libraries.get(baking.database_path(ob)) or _learned.get((training.networks_path(ob), "LMM"))
    except MotionError:
        return None
    return found[-1] if found is not None else None


def method_trouble(ob, method):
    """Why an armature cannot be driven with a method, as a sentence; empty if it can."""
    try:
        known, path = baking.database_path(ob), training.networks_path(ob)
    except MotionError as error:
        return str(error)
    baked = os.path.isfile(known)
    if method == "MM":
        return "" if baked else f'There is no database "{known}": bake one.'
    if not os.path.isfile(path):
        return "There are no networks yet: train them in the panel Train."
    if baked and not provenance.belong(path, known):
        return "The networks were trained on other motion: train them again."
    if method == "DMM" and not baked:
        return f'There is no database "{known}", whose frames the Decompressor shows: bake one.'
    if method == "DMM" and not provenance.know(path, known):
        return "Decompressed needs networks that were trained on this very database: train them."
    return ""


def is_ready(ob):
    """Whether there is something that the armature can play: baked by itself, learned, or a file of another one."""
    bake = ob.mm.bake
    return (bool(bake.key) or (ob.mm.drive.method == "LMM" and not method_trouble(ob, "LMM"))
            or (bool(bake.path.strip()) and not method_trouble(ob, "MM")))


def weigh(library, ob):
    """Let the weights of an armature's features count, and the sliders that scale them; a sentence if they cannot.
    Networks have learned with the weights that they were trained with, and a file of another armature has its own."""
    if library.baked is None or not targets.baked_by(ob, library.baked.database):
        return ""
    try:
        schema = schema_of(ob)
    except MotionError as error:
        return str(error)
    if not schema.same_features(library.database.schema):
        return "The features have changed since the last bake: bake again to use them."
    library.weigh(schema)
    return ""


def avoid(library, ob):
    """Leave out what an armature's artist has excluded since the bake: tags, and clips that are disabled; whether
    anything changed. Networks play what they have learned."""
    if library.baked is None or not targets.baked_by(ob, library.baked.database):
        return False
    return library.baked.avoid(excluded_since(ob))


def excluded_since(ob):
    """What is excluded now as (source, start, end), in seconds of the source: a database that was baked without it has
    none of it."""
    rate, stretches, used = clips.fps(bpy.context.scene), [], set()
    playing = [clip for clip in ob.mm.clips if clip.action is not None and not clip.use_nla]
    for clip in playing:
        name = clip.action.name
        used |= {name} if clip.use else set()
        stretches += [(name, min(tag.start, tag.end) / rate, max(tag.start, tag.end) / rate)
                      for tag in clip.action.mm.tags if tag.name == EXCLUDE]
    unused = dict.fromkeys(clip.action.name for clip in playing if clip.action.name not in used)
    return [*stretches, *((name, -math.inf, math.inf) for name in unused)]


def baked_library_steps(ob):
    """A generator that yields while the database of an armature is read beside it, and returns its BakedLibrary: large
    ones take a second or two, in which Blender goes on."""
    path = baking.database_path(ob)
    signature, found = _signature_of(path, ob), []

    def read():
        try:
            found.append(BakedLibrary(database.load(path)))
        except MotionError as error:
            found.append(error)

    yield
    if _libraries.get(path, (None,))[0] != signature:
        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(0.005)
            yield
        if isinstance(found[0], MotionError):
            raise found[0]
        if _libraries.get(path, (None,))[0] != signature:  # nobody has read it meanwhile
            targets.drop(_libraries.get(path, (None, None))[1])
            _libraries[path] = signature, found[0]
    return _libraries[path][1]


def forget():
    """Free the memory of all databases and networks."""
    _libraries.clear()
    _learned.clear()
    targets.forget()


def _why_not_ours(ob, library):
    """What else than its rest pose is why an armature cannot play a database, in a sentence; empty if nothing is."""
    name, database = os.path.basename(baking.database_path(ob)), library.database
    if not targets.baked_by(ob, database):
        whose = f"of {database.owner}" if database.owner else "of another character"
        return (f'{name} is the database {whose}, and its motion cannot be put onto "{ob.name}": bake "{ob.name}" to a '
                "file of its own.")
    lacking = set(skeleton_of(ob).names) - set(database.skeleton.names)
    bones = ", ".join(f'"{bone}"' for bone in sorted(lacking)[:3])
    return f'The bones of "{ob.name}" have changed since it was baked ({bones}): bake again.' if lacking else ""


def _baked_library(ob):
    """The Library of an armature's database; of its networks, where that is gone and they are to be played. Files are
    read when they are new or have changed."""
    path = baking.database_path(ob)
    try:
        signature = _signature_of(path, ob)
    except MotionError:
        if ob.mm.drive.method == "LMM" and not method_trouble(ob, "LMM"):
            return _learned_library(ob, "LMM", None)
        raise
    if _libraries.get(path, (None,))[0] != signature:
        targets.drop(_libraries.get(path, (None, None))[1])
        _libraries[path] = signature, BakedLibrary(database.load(path))
    return _libraries[path][1]


def _learned_library(ob, method, usual):
    path = training.networks_path(ob)
    try:
        signature = _signature(path)
    except OSError as error:
        raise MotionError(f'The networks "{path}" cannot be read ({error.strerror}): train them.') from error
    if _learned.get((path, method), (None, None))[:2] != (signature, usual):
        targets.drop(_learned.get((path, method), (None, None, None))[2])
        _learned[path, method] = signature, usual, library_for(method.lower(), path, usual)
    return _learned[path, method][2]


def _signature_of(path, ob):
    try:
        return _signature(path)
    except OSError as error:
        raise MotionError(f'The database "{path}" cannot be read ({error.strerror}): bake "{ob.name}".') from error


def _signature(path):
    """What changes with a file."""
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size
