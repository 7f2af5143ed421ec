# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion files (BVH, FBX, glTF) as Actions of an armature."""

import math
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import bpy
import numpy as np

import addon_utils  # isort: skip (it is there once bpy is)

from ...errors import MotionError, MotionWarning
from ...files import check_regular
from ...matching.bake import Progress
from ...motion import bvh, quat
from .. import actions
from ..actions import bone_of
from ..rig import armatures
from ..rig.building import blender_names, build_armature, carried, object_mode, on_bones
from ..rig.character import fill_roles
from . import clips, sampling
from .fcurves import key_points
from .keyframes import write_action

SUFFIXES = (".bvh", ".fbx", ".glb", ".gltf")
FINE_RATE = 120  # frames per second while Blender's importers run: keys at 24, 30 and 60 fall on whole frames
ORIGIN = "motion_file"  # custom property of an imported Action: the file, and when it was last changed
_UNIT_NAMES = {1.0: "metres", 0.01: "centimetres", 0.001: "millimetres", 0.3048: "feet", 0.0254: "inches"}


@dataclass
class Imported:
    """What came in.

    armature  name of the armature that has the Actions (the first one, where files differ)
    target    name of the armature that it drives from now on, or ""
    actions   names of the new Actions
    units     in which unit the BVH files were read, in words
    said      sentence → names of the files that it is about
    """

    armature: str = ""
    target: str = ""
    actions: list = field(default_factory=list)
    units: str = ""
    said: dict = field(default_factory=dict)

    def say(self, path, sentence):
        self.said.setdefault(str(sentence), []).append(path.name)

    @property
    def notes(self):
        """Sentences on files that were left out, and on what was odd in others."""
        return [sentence if sentence.startswith(names[0]) else f"{_listed(names)}: {sentence}"
                for sentence, names in self.said.items()]

    def headline(self):
        count = len(self.actions)
        if not count:
            return "No motion imported"
        made = f"{count} Actions" if count > 1 else f'Action "{self.actions[0]}"'
        return (f'{made} imported onto "{self.armature}"' + (f", read in {self.units}" if self.units else "")
                + (f': its Target is "{self.target}"' if self.target else ""))

    def summary(self):
        notes = self.notes
        return "; ".join([self.headline(), *(notes if len(notes) < 2 else [f"{len(notes)} notes"])])


def motion_files(folder, names=()):
    """The chosen files of a folder, or all motion files in it."""
    folder = Path(folder)
    if names:
        return [folder / name for name in names]
    if not folder.is_dir():
        raise MotionError(f'There is no folder "{folder}".')
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
    if not found:
        raise MotionError(f'There are no BVH, FBX or glTF files in "{folder}".')
    return found


def import_steps(paths, ob=None, units=None):
    """A generator for jobs, a step for each file: yields Progress, returns Imported.

    Files become Actions of ob if it has their bones, otherwise of an armature that is made for them. A file that
    cannot be read is left out with a note. Nothing half-made is left of it, and files that came before it stay, as
    they do when the generator is closed.

    units  metres per unit of the BVH files; None to guess
    """
    before = ob.name if ob is not None else ""
    result, known = Imported(), [before] if before else []
    name = paths[0].stem if len(paths) == 1 else paths[0].parent.name
    if units is None:
        yield Progress(0.0, "Measuring")
        units = _guess([path for path in paths if path.suffix.lower() == ".bvh"])
    if any(path.suffix.lower() == ".bvh" for path in paths):
        result.units = _UNIT_NAMES.get(units, f"units of {units:.4g} m")
    for index, path in enumerate(paths):
        yield Progress(index / len(paths), f"{index + 1} of {len(paths)}: {path.name}")
        try:
            _import(path, units, known, name, result)
        except MotionError as error:
            result.say(path, error)
    _aim(result, before)
    return result


def _import(path, units, known, name, result):
    candidates = [ob for ob in map(bpy.data.objects.get, known)
                  if ob is not None and ob.type == "ARMATURE" and ob.library is None]
    origin = _origin(path)
    if any(clip.action and clip.action.get(ORIGIN) == origin for ob in candidates for clip in ob.mm.clips):
        raise MotionError("It is in the list of clips already and was left out.")
    if path.suffix.lower() not in SUFFIXES:
        raise MotionError("This is not a BVH, FBX or glTF file.")
    read = _import_bvh if path.suffix.lower() == ".bvh" else _import_scene
    with _in_window(), _only(set()) as kept, warnings.catch_warnings(record=True) as odd:
        warnings.simplefilter("always", MotionWarning)
        ob, made, words = read(path, units, candidates, name)
        kept.update({ob, ob.data, *made})
        for action in made:
            action.use_fake_user = True
            action[ORIGIN] = origin
        _list(path, ob, made, result)
    for sentence in (*(warning.message for warning in odd), *words):
        result.say(path, sentence)
    if ob.name not in known:
        known.append(ob.name)
    result.armature = result.armature or ob.name
    result.actions += [action.name for action in made]


def _aim(result, before):
    """A rig without motion of its own that was active is what the motion is for, if it has an armature of its own."""
    ob, made = (bpy.data.objects.get(name) for name in (before, result.armature))
    if None in (ob, made) or ob == made or len(ob.mm.clips) or ob.mm.bake.key or made.mm.drive.target:
        return
    made.mm.drive.target, result.target = ob, ob.name


def _list(path, ob, made, result):
    """Put new Actions on the armature's list of clips, and let it play one if it plays nothing."""
    clips.add_clips(ob, made, look=True)
    if not len(ob.mm.roles):
        try:
            fill_roles(ob)
        except MotionError as error:
            result.say(path, error)
    if ob.animation_data is None or ob.animation_data.action is None:
        actions.assign(ob, made[0])


def _listed(names, most=3):
    """The first names of a list in words."""
    more = [f"{len(names) - most} more"] if len(names) > most + 1 else names[most:]
    *first, last = [*names[:most], *more]
    return f"{', '.join(first)} and {last}" if first else last


def _origin(path):
    try:
        return f"{path.resolve()} {path.stat().st_mtime_ns}"
    except OSError:
        raise MotionError("There is no such file.") from None


# BVH: our own reader

def _guess(paths, most=5):
    """Metres per unit: from the median height of the characters in some of the files, which are one source's."""
    some = [paths[index] for index in np.unique(np.linspace(0, len(paths) - 1, most).astype(int))] if paths else []
    heights = []
    for path in some:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MotionWarning)
            try:
                heights.append(bvh.height(bvh.read(path)))
            except MotionError:
                continue  # it is read again, and then said
    return bvh.guess_units(float(np.median(heights))) if heights else 1.0


def _import_bvh(path, units, candidates, name):
    clip = bvh.read(path, units)
    clip = clip.with_changes(skeleton=blender_names(clip.skeleton))
    ob, shown, words = _shown_by(candidates, [clip])
    if ob is None:
        ob = build_armature(clip.skeleton, name)
        shown = [on_bones(ob, clip)[0]]
    return ob, [write_action(ob, shown[0], path.stem)], words


def _shown_by(candidates, read, bone_frames=False):
    """The first armature that can show all the clips or None, the clips as it shows them, and words on what is odd."""
    reasons = []
    for ob in candidates:
        try:
            shown = [on_bones(ob, clip, bone_frames) for clip in read]
        except MotionError as error:
            reasons.append(str(error))
            continue
        return ob, [clip for clip, _ in shown], _apart(reasons) + sorted({f"{word}." for _, word in shown if word})
    return None, [], _apart(reasons)


def _apart(reasons):
    return [f"it has an armature of its own. {reasons[0]}"] if reasons else []


# FBX and glTF: Blender's importers bring a whole scene, of which the motion is kept

def _import_scene(path, _units, candidates, _name):
    known, known_actions = set(bpy.data.objects), set(bpy.data.actions)
    with _undisturbed():
        _call_importer(path)
        # The importers give no transforms before Blender has updated.
        bpy.context.view_layer.update()
        found = [ob for ob in bpy.data.objects if ob not in known and ob.type == "ARMATURE"]
        if not found:
            raise MotionError("It has no armature.")
        new = [action for action in bpy.data.actions if action not in known_actions]
        read = [pair for ob in found for pair in _clips(ob, new)]
        bpy.data.batch_remove(new)  # and with them the names that ours shall have
    if not read:
        raise MotionError("It has no motion of its armature's bones.")
    source = read[0][0]
    ob, shown, words = _shown_by([*candidates, source], [clip for owner, clip in read if owner == source], True)
    if ob is None:
        raise MotionError(words[0])
    if ob == source:
        ob.animation_data_clear()
    names = [path.stem if len(shown) == 1 else f"{path.stem} {clip.name}" for clip in shown]
    return ob, [write_action(ob, clip, name) for clip, name in zip(shown, names)], words


def _clips(ob, new):
    """(armature, Clip) for every new Action that moves its bones; as it was made, whatever the scene's rate."""
    for action in new:
        for slot in actions.slots(action) or [None]:
            moved = {bone_of(curve.data_path)[0] for curve in actions.fcurves(action, ob, slot)} - {None}
            if not moved or any(name not in ob.data.bones for name in moved):
                continue
            names = [bone.name for bone in armatures.with_ancestors(ob, moved)]
            clip = sampling.finished(sampling.read_action(ob, action, slot, bones=names))
            yield ob, _uncarried(ob, _thinned(clip, action, ob, slot))


def _thinned(clip, action, ob, slot):
    """The clip without the frames that lie between all keys, at 24 frames per second or more."""
    times = np.unique(np.concatenate([key_points(curve)[:, 0] for curve in actions.fcurves(action, ob, slot)]))
    frames = np.rint(times - times[0]).astype(int)
    if np.abs(frames - (times - times[0])).max() > 0.01:
        return clip
    step = math.gcd(*frames.tolist())
    step = max(stride for stride in (1, 2, 4, 5) if step % stride == 0 and clip.rate / stride >= 24)
    return clip.with_changes(rate=clip.rate / step, positions=clip.positions[::step], rotations=clip.rotations[::step],
                             curves={})


def _uncarried(ob, clip):
    """The motion without the place and heading of the object that it was read from."""
    heading, place = carried(ob)
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[:, 0] = quat.inv_rotate(heading, positions[:, 0] - place)
    rotations[:, 0] = quat.mul(quat.inv(heading), rotations[:, 0])
    return clip.with_changes(positions=positions, rotations=rotations)


def _call_importer(path):
    check_regular(path, math.inf)
    if path.suffix.lower() == ".fbx" and "fbx_import" in dir(bpy.ops.wm):
        module, call = None, lambda: bpy.ops.wm.fbx_import(filepath=str(path))
    elif path.suffix.lower() == ".fbx":
        module, call = "io_scene_fbx", lambda: bpy.ops.import_scene.fbx(filepath=str(path))
    else:
        module, call = "io_scene_gltf2", lambda: bpy.ops.import_scene.gltf(filepath=str(path))
    with _enabled(module):
        try:
            answer = call()
        except RuntimeError as error:
            raise MotionError(f"Blender cannot read it ({str(error).strip().splitlines()[-1]}).") from error
    if "FINISHED" not in answer:
        raise MotionError("Blender cannot read it.")


@contextmanager
def _enabled(module):
    """An add-on that ships with Blender, switched on where it is off."""
    was_on = module is None or addon_utils.check(module)[1]
    if not was_on and addon_utils.enable(module) is None:
        raise MotionError(f'Blender\'s add-on "{module}" reads such files, and it cannot be enabled here.')
    try:
        yield
    finally:
        if not was_on:
            addon_utils.disable(module)


@contextmanager
def _undisturbed():
    """Whatever an importer does to the scene's rate, range and selection is undone; inside, the rate is fine."""
    scene = bpy.context.scene
    render = scene.render
    frame, subframe = scene.frame_current, scene.frame_subframe
    names = ((render, "fps"), (render, "fps_base"), (scene, "frame_start"), (scene, "frame_end"))
    before = [(owner, name, getattr(owner, name)) for owner, name in names]
    with object_mode():
        render.fps, render.fps_base = FINE_RATE, 1.0
        try:
            yield
        finally:
            for owner, name, value in before:
                setattr(owner, name, value)
            if (scene.frame_current, scene.frame_subframe) != (frame, subframe):
                scene.frame_set(frame, subframe=subframe)


@contextmanager
def _only(kept):
    """Of everything that comes into the file inside the block only what is added to the set stays; nothing on error."""
    before = everything()
    try:
        yield kept
    except BaseException:
        kept.clear()
        raise
    finally:
        gone = everything() - before - kept
        if gone:
            bpy.data.batch_remove(list(gone))


def everything():
    owners = [getattr(bpy.data, prop.identifier) for prop in bpy.data.bl_rna.properties if prop.type == "COLLECTION"]
    # Shape keys go with their meshes.
    return {one for owner in owners for one in owner if not isinstance(one, bpy.types.Key)}


@contextmanager
def _in_window():
    """Inside a timer there may be no window in the context, and operators ask for one."""
    windows = bpy.context.window_manager.windows
    if bpy.context.window is not None or not len(windows):
        yield
        return
    with bpy.context.temp_override(window=windows[0]):
        yield
