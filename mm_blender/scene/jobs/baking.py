# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking the active character: its settings, the file, and whether the file is still up to date."""

import json
import os
import shutil
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace

import bpy

from ... import records
from ...errors import MotionError
from ...files import only_us, replacing
from ...matching import database
from ...matching.bake import bake, database_key, foundation_key, source_key
from ...prepare.onto import Onto, target_of
from ...prepare.recipe import Recipe
from ...steps import Progress, mapped, run
from ..reading import clips
from ..reading.facts import Facts, known
from ..reading.features import schema_of
from ..reading.fingerprints import hashed
from ..reading.reference import found_again
from ..reading.sampling import scene_rate
from ..rig.character import character_of
from ..settings import MM_Bake
from . import ownership
from .ownership import NETWORKS, database_path

# So many clips of another armature are looked at to see how it stands.
SAMPLES = 3


def recipe_of(ob):
    """The engine's Recipe for the armature's bake settings."""
    settings = ob.mm.bake
    values = {name: getattr(settings, name) for name in asdict(Recipe())}
    return Recipe(**{name: round(value, 5) if isinstance(value, float) else value for name, value in values.items()})


def bake_steps(ob, scene, replace=False, own_file=False):
    """A generator for jobs: yields Progress, writes the file, returns the Database.

    replace   bake into the file that is chosen even if it is not the armature's own; that one is kept beside it
    own_file  bake into a file of the armature's own if the chosen one is not
    """
    return _bake_steps(Baked.of(ob, scene), {"replace": replace, "own_file": own_file})


def report(ob):
    """What the last bake said, as a dict; empty before the first one."""
    try:
        said = records.from_text(ob.mm.bake.report)
    except ValueError:  # empty, or not ours
        return {}
    return said if isinstance(said, dict) else {}


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
    arcs = ob.mm.bake.arcs
    if database_key(sources, foundation_key(character, recipe), schema, arcs) == ob.mm.bake.key:
        return []
    return _differences(report(ob).get("made_from", {}), _made_from(sources, character, recipe, schema, arcs, scene))


def file_trouble(ob):
    """Why the file is not the one that was baked, in one sentence; empty when it is."""
    found, name = ownership.whose(ob), os.path.basename(database_path(ob))
    if found.word == "absent":
        return f"The file {name} is missing"
    if found.trouble:
        raise MotionError(found.trouble)
    return "" if found.key == ob.mm.bake.key else f"The file {name} holds another bake"


@dataclass(frozen=True)
class Baked:
    """Whom a bake is for: the artist may undo or rename it before the next step, and references die."""

    name: str
    uid: int
    scene_name: str
    scene_uid: int

    @classmethod
    def of(cls, ob, scene):
        return cls(ob.name, ob.session_uid, scene.name, scene.session_uid)

    def fetch(self):
        """The armature object and the scene as they are now."""
        ob = found_again(bpy.data.objects, self.name, self.uid)
        scene = found_again(bpy.data.scenes, self.scene_name, self.scene_uid)
        if ob is None or scene is None:
            gone = f'"{self.name}"' if ob is None else f'The scene "{self.scene_name}"'
            raise MotionError(f"{gone} was deleted during the bake: bake again.")
        return ob, scene


def _bake_steps(baked, choice):
    ob, _ = baked.fetch()
    if not clips.enabled(ob):
        raise MotionError(f'"{ob.name}" has no clips to bake: add some in the Clips panel, or enable those in the '
                          "list.")
    with ExitStack() as meanwhile:
        path = _claimed_path(ob, choice, meanwhile)
        character, schema, recipe, arcs = character_of(ob), schema_of(ob), recipe_of(ob), ob.mm.bake.arcs
        sources, left_out = yield from sources_of(baked)
        if not sources:
            raise MotionError(left_out[0])
        ob, _ = baked.fetch()
        result = yield from mapped(bake(sources, character, schema, recipe, _previous(ob), arcs=arcs),
                                   lambda step: Progress(0.1 + 0.85 * step.share, step.text))
        result.notes["left_out"] = left_out + result.notes["left_out"]
        yield Progress(0.96, f"Writing {os.path.basename(path)}")
        ob, scene = baked.fetch()
        if ownership.bake_path(ob, **choice) != path:  # the .blend was saved elsewhere meanwhile
            path = _claimed_path(ob, choice, meanwhile)
        owner, before = ownership.owner_of(ob), len(result.notes["warnings"])
        result = replace(result, owner=owner)
        _save(result, ob, path)
        ownership.claim(ob, owner, path)
        made_from = _made_from(sources, character, recipe, schema, arcs, scene)
        said = {**result.report(), "made_from": made_from, "kept": result.notes["warnings"][before:]}
        ob.mm.bake.key, ob.mm.bake.report = result.key, json.dumps(said)
    return result


def _claimed_path(ob, choice, meanwhile):
    """Where the bake goes; nobody else writes there meanwhile."""
    path = ownership.bake_path(ob, **choice)
    ownership.make_room(path)
    _check_path(path)
    meanwhile.enter_context(only_us(path))
    return path


def sources_of(baked):
    """The sources of all enabled clips, and why some have none: fingerprints take a while, so it yields Progress."""
    facts, sources, left_out, index, told, ways = Facts(), [], [], 0, set(), {}
    while True:
        ob, scene = baked.fetch()
        used = clips.enabled(ob)  # the artist may add or remove clips meanwhile
        if index >= len(used):
            return sources, left_out
        yield Progress(0.1 * index / len(used), "Looking for changes")
        ob, scene = baked.fetch()
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


def rate_before(ob, scene):
    """The scene's frame rate at the last bake, where it was another one than now and can be set; or None."""
    rate = report(ob).get("made_from", {}).get("rate")
    can_be_set = rate is not None and rate == int(rate) and scene.render.fps_base == 1
    return int(rate) if can_be_set and rate != scene_rate(scene) else None


def _made_from(sources, character, recipe, schema, arcs, scene):
    """What a database was made from, part by part, to tell later which of them has changed."""
    settings = {**asdict(recipe), "arcs": arcs}
    return {"character": foundation_key(character, Recipe()), "settings": settings, "features": schema.to_json(),
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
        sentences.append("The scene's frame rate changed from {:g} to {:g}, as an import may do: all clips are of "
                         "another length".format(
            before["rate"], now["rate"]))
    sentences += [f'Clip "{name}" was added' for name in new_names if name not in old_names]
    sentences += [f'Clip "{name}" was removed' for name in old_names if name not in new_names]
    return sentences or ["The order of the clips changed" if sorted(old) == sorted(new) else "The clips changed"]


def _previous(ob):
    """The database that the armature plays already, to take unchanged clips over from; None if there is none."""
    try:
        return database.load(database_path(ob), to_bake=True)
    except MotionError:
        return None


def _save(result, ob, path):
    """Write the file. One that is there and is not the armature's own, or perhaps that of another .blend too, or that
    nobody can read, is kept beside it, and so are networks of others."""
    found, networks = ownership.whose(ob, path), os.path.splitext(path)[0] + NETWORKS
    with ExitStack() as otherwise:
        if found.trouble:
            aside = _put_aside([path], "{0}{1}.unreadable{2}", otherwise)
            result.notes["warnings"].append(f"{found.trouble} It was kept as {aside}.")
        elif found.is_used:
            aside = _put_aside([path, networks], "{0}.previous{2}{1}", otherwise)
            result.notes["warnings"].append(f"{os.path.basename(path)} was replaced. It was kept as {aside}.")
        elif ownership.may_be_anothers(found) and found.key != result.key:
            aside = _put_aside([path, networks], "{0}.previous{2}{1}", otherwise)
            _copy_back(os.path.join(os.path.dirname(path), os.path.splitext(aside)[0] + NETWORKS), networks)
            result.notes["warnings"].append(f"{os.path.basename(path)} was baked in {found.owner}, which may use it "
                                            f"under another name. It was kept as {aside}.")
        elif found.word == "ours" and found.key not in (ob.mm.bake.key, result.key):
            aside = _put_aside([path, networks], "{0}.previous{2}{1}", otherwise)
            result.notes["warnings"].append(f"{os.path.basename(path)} held what was not baked here. It was kept as "
                                            f"{aside}.")
        elif not ob.mm.bake.key and not ownership.may_be_ours(ob, path):
            aside = _put_aside([networks], "{0}.previous{2}{1}", otherwise)
            result.notes["warnings"].append(f"{os.path.basename(networks)} was there already. It was kept as {aside}.")
        result.save(path)
        otherwise.pop_all()


def _put_aside(paths, name, otherwise):
    """Rename files to names that are free, and back at the end of the stack; the first one's new name."""
    def names(number):
        return [name.format(*os.path.splitext(path), number) for path in paths]

    asides = next(found for found in map(names, ("", *range(2, 1000))) if not any(map(os.path.exists, found)))
    for path, aside in zip(paths, asides):
        if not os.path.exists(path):
            continue
        try:
            os.rename(path, aside)
        except OSError as error:
            raise MotionError(f'"{path}" cannot be moved out of the way: choose another file.') from error
        otherwise.callback(os.replace, aside, path)
    return os.path.basename(asides[0])


def _copy_back(aside, path):
    """Let networks that were put aside be played on, too."""
    if os.path.exists(aside):
        with replacing(path) as part:
            shutil.copyfile(aside, part)


def _check_path(path):
    """What would go wrong after all the work is said before it."""
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise MotionError(f'The folder "{folder}" does not exist: create it, or choose another file.')
    if os.path.isdir(path):
        raise MotionError(f'"{path}" is a folder: choose a file name in the Bake panel.')
    if not os.access(folder, os.W_OK):
        raise MotionError(f'The folder "{folder}" is read-only: choose another file in the Bake panel.')
