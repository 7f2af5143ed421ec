# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking the active character: its settings, the file, and whether the file is still up to date."""

import json
import os
from dataclasses import asdict, replace

import bpy

from ..errors import MotionError
from ..matching import database
from ..matching.bake import bake, database_key, foundation_key, source_key
from ..prepare.onto import Onto, target_of
from ..prepare.recipe import Recipe
from ..steps import Progress, mapped, run
from . import clips
from .character import character_of
from .facts import Facts, known
from .features import schema_of
from .fingerprints import hashed
from .sampling import scene_rate
from .settings import MM_Bake

SUFFIX, NAME = ".mmdb", "motion"
# So many clips of another armature are looked at to see how it stands.
SAMPLES = 3


def recipe_of(ob):
    """The engine's Recipe for the armature's bake settings."""
    settings = ob.mm.bake
    values = {name: getattr(settings, name) for name in asdict(Recipe())}
    return Recipe(**{name: round(value, 5) if isinstance(value, float) else value for name, value in values.items()})


def database_path(ob):
    """Where the database is, as an absolute path."""
    path = ob.mm.bake.path.strip()
    if not path:
        raise MotionError(f'"{ob.name}" has no database file: choose one in the Bake panel.')
    if path.startswith("//"):
        path = os.path.join(beside(), path[2:])
    if path.endswith(("/", os.sep)):
        path += NAME
    path = os.path.abspath(bpy.path.abspath(path))
    return path if path.lower().endswith(SUFFIX) else path + SUFFIX


def beside():
    """The folder that relative paths begin in: that of the .blend, or, while it was never saved, one of the extension's
    own; without a window one of this run alone, since several may run at once."""
    if bpy.data.filepath:
        return os.path.dirname(bpy.data.filepath)
    return bpy.app.tempdir if bpy.app.background else own_folder("databases")


def bake_steps(ob, scene):
    """A generator for jobs: yields Progress, writes the file, returns the Database."""
    return _bake_steps(ob.name, scene.name)  # names: the artist may undo before the first step, and references die


def report(ob):
    """What the last bake said, as a dict; empty before the first one."""
    try:
        return json.loads(ob.mm.bake.report)
    except ValueError:  # empty, or not ours
        return {}


def changes(ob, scene, facts=None):
    """What has changed since the last bake, as sentences; empty when the database is up to date."""
    facts = facts or Facts()
    try:
        if sentence := file_trouble(ob):
            return [sentence]
        character, recipe, schema = character_of(ob), recipe_of(ob), schema_of(ob)
        sources = [_source_of(ob, clip, scene, facts) for clip in clips.enabled(ob)
                   if not clips.unusable(ob, clip, facts)]
    except MotionError as error:
        return [str(error)]
    if database_key(sources, foundation_key(character, recipe), schema) == ob.mm.bake.key:
        return []
    return _differences(report(ob).get("made_from", {}), _made_from(sources, character, recipe, schema, scene))


def file_trouble(ob):
    """Why the file is not the one that was baked, in one sentence; empty when it is."""
    path = database_path(ob)
    name = os.path.basename(path)
    if not os.path.isfile(path):
        return f"The file {name} is missing"
    return "" if database.read_key(path) == ob.mm.bake.key else f"The file {name} holds another bake"


def _bake_steps(name, scene_name):
    ob, _ = _fetch(name, scene_name)
    path = database_path(ob)
    _check_path(ob, path)
    if not clips.enabled(ob):
        raise MotionError(f'"{name}" has no clips to bake: add some in the Clips panel, or enable those in the list.')
    character, schema, recipe = character_of(ob), schema_of(ob), recipe_of(ob)
    sources, left_out = yield from _sources(name, scene_name)
    if not sources:
        raise MotionError(left_out[0])
    previous, unreadable = _previous(path)
    result = yield from mapped(bake(sources, character, schema, recipe, previous),
                               lambda step: Progress(0.1 + 0.85 * step.share, step.text))
    result.notes["left_out"] = left_out + result.notes["left_out"]
    yield Progress(0.96, f"Writing {os.path.basename(path)}")
    ob, scene = _fetch(name, scene_name)
    _save(result, path, unreadable)
    made_from = _made_from(sources, character, recipe, schema, scene)
    report = json.dumps({**result.report(), "made_from": made_from})
    for each in [*(other for other in _baked_into(path, ob) if _shares(ob, other)), ob]:
        each.mm.bake.key, each.mm.bake.report = result.key, report
    return result


def _sources(name, scene_name):
    """The sources of all enabled clips, and why some have none: fingerprints take a while, so it yields Progress."""
    facts, sources, left_out, index, told, ways = Facts(), [], [], 0, set(), {}
    while True:
        ob, scene = _fetch(name, scene_name)
        used = clips.enabled(ob)  # the artist may add or remove clips meanwhile
        if index >= len(used):
            return sources, left_out
        yield Progress(0.1 * index / len(used), "Looking for changes")
        ob, scene = _fetch(name, scene_name)
        used = clips.enabled(ob)
        if index < len(used):
            try:
                sources.append(_source_of(ob, used[index], scene, facts, ways))
            except MotionError as error:
                left_out.append(str(error))
            action = used[index].action
            if action is not None and action.session_uid not in told:  # a second time it may be old news
                known.learn(facts, action)
                told.add(action.session_uid)
        index += 1


def _source_of(ob, clip, scene, facts, ways=None):
    """The engine's Source for a clip. That of an armature with another skeleton comes through retargeting.

    ways  where these are gathered: armature → the Onto of all of its clips; without it sources are only compared
    """
    source, armature = clips.source_of(ob, clip, scene, facts), clips.armature_of(ob, clip)
    if not clips.is_foreign(ob, armature, facts):
        return source
    character = character_of(armature)
    mark = hashed([source.fingerprint, foundation_key(character, Recipe()), armature.mm.stance, ob.mm.stance])
    if ways is None:
        return replace(source, fingerprint=mark)
    onto, samples = ways.get(armature.session_uid, (None, []))
    if onto is None:
        recipe = recipe_of(ob)
        target = target_of(character_of(ob), [], recipe)
        onto = Onto(character, target, recipe, lambda: [run(read()) for read in samples])
        ways[armature.session_uid] = onto, samples
    if len(samples) < SAMPLES:
        samples.append(source.read)
    return replace(source, fingerprint=mark, onto=onto)


def _made_from(sources, character, recipe, schema, scene):
    """What a database was made from, part by part, to tell later which of them has changed."""
    return {"character": foundation_key(character, Recipe()), "settings": asdict(recipe), "features": schema.to_json(),
            "clips": [[source.name, source_key(source, "")] for source in sources], "rate": scene_rate(scene)}


def _differences(before, now):
    """The parts that differ, as sentences."""
    now = json.loads(json.dumps(now))  # as the other one was: tuples became lists
    before = {"rate": now["rate"], **before}  # was not written down in the beginning
    if before.keys() != now.keys():
        return ["It was baked by another version"]
    sentences = [] if before["character"] == now["character"] else [
        "The character changed: its rest pose, its roles, its size or its height"]
    names = [MM_Bake.bl_rna.properties[name].name for name, value in now["settings"].items()
             if before["settings"].get(name) != value]
    if names:
        sentences.append(f"Settings changed: {', '.join(names)}")
    if before["features"] != now["features"]:
        sentences.append("The features changed")
    old, new = [tuple(clip) for clip in before["clips"]], [tuple(clip) for clip in now["clips"]]
    old_names, new_names = [name for name, _ in old], [name for name, _ in new]
    if before["rate"] == now["rate"]:
        sentences += [f'Clip "{name}" changed' for name, key in new if (name, key) not in old and name in old_names]
    else:
        sentences.append("The scene's frame rate changed from {:g} to {:g}: all clips are of another length".format(
            before["rate"], now["rate"]))
    sentences += [f'Clip "{name}" was added' for name in new_names if name not in old_names]
    sentences += [f'Clip "{name}" was removed' for name in old_names if name not in new_names]
    return sentences or ["The order of the clips changed" if sorted(old) == sorted(new) else "The clips changed"]


def _previous(path):
    """The database that is there already, to take unchanged clips over from, and why it cannot be read."""
    if not os.path.isfile(path):
        return None, ""
    try:
        return database.load(path), ""
    except MotionError as error:
        return None, str(error)


def _save(result, path, unreadable):
    """Write the file. One that is there and that nobody can read, but that nobody said to delete, is kept beside it."""
    if not unreadable:
        result.save(path)
        return
    aside, number = f"{path}.unreadable", 2
    while os.path.exists(aside):
        aside, number = f"{path}.unreadable{number}", number + 1
    result.notes["warnings"].append(f"{unreadable} It was kept as {os.path.basename(aside)}.")
    try:
        os.replace(path, aside)
    except OSError as error:
        raise MotionError(f"{unreadable} It cannot be moved out of the way: choose another file.") from error
    try:
        result.save(path)
    except MotionError:
        os.replace(aside, path)
        raise


def _check_path(ob, path):
    """What would go wrong after all the work is said before it."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise MotionError(f'The folder "{folder}" does not exist: create it, or choose another file.')
    if os.path.isdir(path):
        raise MotionError(f'"{path}" is a folder: choose a file name in the Bake panel.')
    if not os.access(folder, os.W_OK):
        raise MotionError(f'The folder "{folder}" is read-only: choose another file in the Bake panel.')
    for other in _baked_into(path, ob):
        if not _shares(ob, other) and other.users_scene:
            raise MotionError(f'"{other.name}" has its database in {os.path.basename(path)} already: '
                              f'choose another file for "{ob.name}" in the Bake panel.')


def _shares(ob, other):
    """Whether an armature is a copy of another one and has its database: with the same bones, and as many clips (the
    Action that is played may have been copied along)."""
    return (ob.mm.bake.key == other.mm.bake.key and len(ob.mm.clips) == len(other.mm.clips)
            and ob.data.bones.keys() == other.data.bones.keys())


def _baked_into(path, ob):
    """Other armatures that have their database in a file."""
    return [other for other in bpy.data.objects if other.type == "ARMATURE" and other != ob and other.mm.bake.key
            and other.mm.bake.path.strip() and database_path(other) == path]


def _fetch(name, scene_name):
    ob, scene = bpy.data.objects.get((name, None)), bpy.data.scenes.get(scene_name)
    if ob is None or scene is None:
        raise MotionError(f'"{name}" was renamed or deleted while it was baked: bake again.')
    return ob, scene


def own_folder(name):
    """A folder of the extension's own, for what has no place beside the .blend."""
    package = __package__.partition(".mm_blender")[0]
    try:
        return bpy.utils.extension_path_user(package, path=name, create=True)
    except ValueError:  # not installed as an extension: run from a source folder
        return bpy.app.tempdir
