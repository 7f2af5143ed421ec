# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking the active character: its settings, the file, and whether the file is still up to date."""

import json
import os
from dataclasses import asdict

import bpy

from ..errors import MotionError
from ..matching import database
from ..matching.bake import Progress, bake, database_key, foundation_key, source_key
from ..prepare.recipe import Recipe
from . import clips, sampling
from .character import character_of
from .features import schema_of

SUFFIX = ".mmdb"


def recipe_of(ob):
    """The engine's Recipe for the armature's bake settings."""
    settings = ob.mm.bake
    values = {name: getattr(settings, name) for name in asdict(Recipe())}
    return Recipe(**{name: round(value, 5) if isinstance(value, float) else value for name, value in values.items()})


def database_path(ob):
    """Where the database is, as an absolute path. Beside a .blend that was never saved there is no place: then it
    goes to the extension's own folder."""
    path = ob.mm.bake.path.strip()
    if not path:
        raise MotionError(f'"{ob.name}" has no database file: choose one in the Bake panel.')
    if path.startswith("//") and not bpy.data.filepath:
        path = os.path.join(_own_folder(), path[2:])
    path = bpy.path.abspath(path)
    return path if path.lower().endswith(SUFFIX) else path + SUFFIX


def bake_steps(ob, scene):
    """A generator for jobs: yields Progress, writes the file, returns the Database."""
    name, scene_name, path = ob.name, scene.name, database_path(ob)
    used = clips.enabled(ob)
    if not used:
        raise MotionError(f'"{name}" has no clips to bake: add some in the Clips panel, or enable those in the list.')
    character, schema, recipe = character_of(ob), schema_of(ob), recipe_of(ob)
    _check_folder(path)
    sources, left_out = [], []
    for index in range(len(used)):
        yield Progress(0.1 * index / len(used), "Looking for changes")
        ob, scene = _fetch(name, scene_name)
        try:
            sources.append(clips.source_of(ob, clips.enabled(ob)[index], scene))
        except MotionError as error:
            left_out.append(str(error))
    if not sources:
        raise MotionError(left_out[0])
    baking = bake(sources, character, schema, recipe, _previous(path))
    result = yield from _scaled(baking, 0.1, 0.95)
    result.notes["left_out"] = left_out + result.notes["left_out"]
    yield Progress(0.96, f"Writing {os.path.basename(path)}")
    result.save(path)
    made_from = _keys(sources, foundation_key(character, recipe))
    _remember(_fetch(name, scene_name)[0], result, made_from)
    return result


def report(ob):
    """What the last bake said, as a dict; empty before the first one."""
    return json.loads(ob.mm.bake.report) if ob.mm.bake.report else {}


def changes(ob, scene, fingerprint=sampling.fingerprint):
    """What has changed since the last bake, as sentences; empty when the database is up to date.

    fingerprint: how an Action is hashed; freshness.py passes one that remembers.
    """
    path = database_path(ob)
    if not os.path.isfile(path):
        return [f"The file {os.path.basename(path)} is missing"]
    try:
        foundation, schema = foundation_key(character_of(ob), recipe_of(ob)), schema_of(ob)
        sources = [clips.source_of(ob, clip, scene, fingerprint) for clip in clips.enabled(ob)]
    except MotionError as error:
        return [str(error)]
    if database_key(sources, foundation, schema) == ob.mm.bake.key:
        return []
    before, now = report(ob).get("made_from", {}), _keys(sources, foundation)
    changed = [name for name in now if name in before and now[name] != before[name]]
    if changed and len(changed) == len(before):
        return ["The character or the bake settings changed"]
    return [*(f'Clip "{name}" changed' for name in changed),
            *(f'Clip "{name}" was added' for name in now if name not in before),
            *(f'Clip "{name}" was removed' for name in before if name not in now)] \
        or ["The features or the order of the clips changed"]


def _keys(sources, foundation):
    return {source.name: source_key(source, foundation) for source in sources}


def _scaled(steps, low, high):
    """The same steps with their shares squeezed between low and high."""
    while True:
        try:
            progress = next(steps)
        except StopIteration as end:
            return end.value
        try:
            yield Progress(low + (high - low) * progress.share, progress.text)
        except GeneratorExit:
            steps.close()
            raise


def _fetch(name, scene_name):
    ob, scene = bpy.data.objects.get(name), bpy.data.scenes.get(scene_name)
    if ob is None or scene is None:
        raise MotionError(f'"{name}" was renamed or deleted while it was baked: bake again.')
    return ob, scene


def _previous(path):
    """The database that is there already, to take unchanged clips over from; None if there is none that can be read."""
    if not os.path.isfile(path):
        return None
    try:
        return database.load(path)
    except MotionError:
        return None


def _check_folder(path):
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise MotionError(f'The folder "{folder}" does not exist: create it, or choose another file.')


def _remember(ob, result, made_from):
    ob.mm.bake.key = result.key
    ob.mm.bake.report = json.dumps({**result.report(), "made_from": made_from})


def _own_folder():
    package = __package__.partition(".mm_blender")[0]
    try:
        return bpy.utils.extension_path_user(package, path="databases", create=True)
    except ValueError:  # not installed as an extension: run from a source folder
        return bpy.app.tempdir
