# SPDX-License-Identifier: GPL-3.0-or-later
"""From an armature's settings to characters that play: libraries, speeds, the ground and what stands in the way."""

import math
import os
from dataclasses import astuple
from functools import lru_cache

from ...control.gaits import USUAL
from ...control.speeds import Speeds
from ...control.stick_guide import StickGuide
from ...errors import MotionError
from ...matching import database
from ...networks import provenance
from ...networks.library import library_for
from ...playback.contact import Lock
from ...playback.group import Cast
from ...playback.inertialise import Blend
from ...playback.library import BakedLibrary
from ...playback.limbs import Limbs
from ...playback.player import Drive
from ...playback.root import Sync
from ..jobs import baking, training
from ..reading.features import schema_of
from ..rig import targets
from ..rig.armatures import floor, skeleton_of
from .commands import Heeded, commands_of
from .posing import Ensemble
from .start_pose import standing
from .surroundings import Surroundings

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
        signature = _signature(path)
    except OSError as error:
        if ob.mm.drive.method == "LMM" and not method_trouble(ob, "LMM"):
            return _learned_library(ob, "LMM", None)
        raise MotionError(f'The database "{path}" cannot be read ({error.strerror}): bake "{ob.name}".') from error
    if _libraries.get(path, (None,))[0] != signature:
        targets.drop(_libraries.get(path, (None, None))[1])
        _libraries[path] = signature, BakedLibrary(database.load(path))
    return _libraries[path][1]


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


def _signature(path):
    """What changes with a file."""
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


def speeds_of(ob):
    """The Speeds at full stick: the artist's own, or those of the database or the networks; None before either was
    read."""
    measured, own = measured_speeds(ob), own_ways(ob)
    return measured if own is None else (measured or Speeds()).with_ways(own)


def measured_speeds(ob):
    """The Speeds of the database or the networks, or None before either was read."""
    if (known := targets.known(ob)) is not None:
        return known.speeds
    try:
        found = _libraries.get(baking.database_path(ob)) or _learned.get((training.networks_path(ob), "LMM"))
    except MotionError:
        return None
    return found[-1].speeds if found is not None else None


def own_ways(ob):
    """{name of a gait: speeds forward, sideways and backward} that the artist has set, or None."""
    ways = {gait: tuple(getattr(*there)) for gait, there in own_settings(ob).items()}
    _check_numbers(ways)
    return ways or None


def own_settings(ob):
    """{name of a gait: (what has the speeds that the artist has set, how they are called there)}; empty where all are
    measured."""
    settings = ob.mm.drive
    if not settings.own_speeds:
        return {}
    return {gait: (settings, gait) for gait in USUAL} | {gait.name: (gait, "speeds") for gait in settings.gaits}


def own_as_measured(ob):
    """Let the artist's own speeds begin with those of the motion, which is read if it has not been yet."""
    settings = ob.mm.drive
    settings.gaits.clear()
    for gait in library_of(ob).speeds.gaits:
        if gait.name in USUAL:
            setattr(settings, gait.name, gait.ways)
        else:
            own = settings.gaits.add()
            own.name, own.speeds = gait.name, gait.ways
    settings.own_speeds = True


def settings_of(ob):
    """The engine's Drive for an armature's settings."""
    settings = ob.mm.drive
    blend = _known(Blend, kind=settings.blend, halflife=settings.blend_halflife, duration=settings.blend_duration,
                   overshoot=settings.overshoot, fade=settings.blend_fade)
    sync = _known(Sync, position=settings.root_position, facing=settings.root_facing, halflife=settings.root_halflife,
                  share=settings.root_share, radius=settings.root_radius, angle=settings.root_angle)
    lock = _known(Lock, on=settings.lock_feet, release=settings.lock_release, halflife=settings.lock_halflife)
    return _known(Drive, search_every=settings.search_every, stay=settings.stay, blend=blend, sync=sync, lock=lock)


def halflives_of(ob):
    """How soon the stick's point follows, as a StickGuide has it, for an armature's settings."""
    settings = ob.mm.drive
    halflives = {"velocity": settings.velocity_halflife, "facing": settings.facing_halflife}
    _check_numbers(halflives)
    return tuple(halflives.values())


def shared(ob):
    """What armatures on one Stage have in common."""
    settings, own = ob.mm.drive, own_ways(ob) or {}
    around = [found and found.session_uid for found in (settings.obstacles, settings.ground)]
    return (library_of(ob), astuple(settings_of(ob)), halflives_of(ob), tuple(own.items()), settings.query,
            floor(targets.posed(ob)), *around)


@lru_cache(maxsize=32)
def _known(made, /, **values):
    """An object with these values, the same one each time: settings are looked at often, and seldom change."""
    _check_numbers(values)
    return made(**values)


def _check_numbers(values):
    """Fails for settings (name → value) that are no numbers, as scripts and drivers can make them."""
    for name, value in values.items():
        numbers = value if isinstance(value, tuple) else (value,)
        if not all(math.isfinite(number) for number in numbers if isinstance(number, float)):
            raise MotionError(f'The setting "{name.replace("_", " ")}" of the Drive panel is not a number: set it '
                              "anew.")


def staged(ob, depsgraph, library=None):
    """What drive() needs to let an armature drive where it stands, with its settings and surroundings."""
    settings, library = ob.mm.drive, library or library_of(ob)
    weigh(library, ob)
    motion, ground = library.motion, floor(targets.posed(ob))
    limbs = Limbs(motion.database.character, motion.database.fixed, motion.moving)
    place, shown = standing([ob], motion, motion.stance(limbs)[:, 1])
    surroundings = Surroundings(settings.obstacles, settings.ground, [ground])
    surroundings.stand_at(ground + place[2].item(0))
    surroundings.refresh(depsgraph)
    return {"settings": settings_of(ob), "speeds": speeds_of(ob), "query": settings.query, "place": place,
            "shown": shown, "ground": surroundings.ground, "halflives": halflives_of(ob),
            "commands": commands_of(ob, library.database.schema, ground),
            "obstacles": surroundings.obstacles if settings.obstacles else None}


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


def forget():
    """Free the memory of all databases and networks."""
    _libraries.clear()
    _learned.clear()
    targets.forget()


class Stage(Cast):
    """Characters that share a database, with the settings of one of them and its surroundings.

    began     seconds after the beginning of driving
    ensemble  shows them on their armatures
    refused   why each character does not play with the method that it should, empty if it does
    floors    how high in the world each one's ground is where there is no other: heights are counted from there
    trouble   is kept for each character, too; sentences are for all of them
    """

    def __init__(self, obs, began=0.0):
        library = library_of(obs[0])
        guides = [StickGuide(library.database.rate, library.speeds) for _ in obs]
        super().__init__(library, guides, settings_of(obs[0]))
        self.began, self.sentences, self.refused = began, [], [""] * len(obs)
        self.floors = [floor(targets.posed(ob)) for ob in obs]
        self._surroundings, self._chosen, self._weights, self._mismatch = None, [], [], ""
        self.ensemble, self._heeded = Ensemble(), Heeded(len(obs))
        self._weigh(obs[0])  # what takes long is done before the first frame
        place, shown = standing(obs, self.player.motion, self.player.feet.standing[:, 1])
        self.place(*place)
        for index, pose in shown.items():
            self.begin_from(index, pose)
        self.switch(dict(enumerate(obs)))

    def method(self, index):
        """The name of the method with which a character plays."""
        return METHODS[self.libraries[index].method.upper()]

    def switch(self, obs):
        """Play with the methods that armatures ask for: {index: armature}."""
        libraries = list(self.libraries)
        for index, ob in obs.items():
            try:
                libraries[index], self.refused[index] = played_library(ob, self.library), ""
            except MotionError as error:
                self.refused[index] = str(error)
        self.play(libraries)

    def prepare(self, ob, context):
        """Take over what the artist may have changed: an armature's settings, the meshes."""
        trouble = ""
        try:
            self.player.settings = settings_of(ob)
            speeds, halflives = self.library.speeds.with_ways(own_ways(ob) or {}), halflives_of(ob)
            for guide in self.guides:
                guide.speeds, guide.query, guide.halflives = speeds, ob.mm.drive.query, halflives
        except MotionError as error:  # what was set before stays
            trouble = str(error)
        self._weigh(ob)
        self._look_around(ob, context)
        if self.player.ground is not None and not len(self.record):
            self.place(*self._stood)  # now that it is known on what
        self.sentences = [sentence for sentence in (self._mismatch, trouble) if sentence]
        if self._surroundings is not None:
            self.sentences += self._surroundings.sentences

    def heed(self, obs):
        """Want of features what the panels of armatures command: {index: armature}; after prepare()."""
        self._heeded.heed(self, obs)
        self.sentences += self._heeded.sentences

    def advance(self, seconds):
        self._heeded.follow(self)
        return super().advance(seconds)

    def place(self, positions, yaws, heights=None, speeds=None):
        super().place(positions, yaws, heights, speeds)
        self._stood = positions, yaws, heights, speeds

    def ask(self, index, gait, query=""):
        try:
            super().ask(index, gait, query)
        except MotionError as error:  # a tag query that is still being typed
            super().ask(index, gait)
            self.trouble[index] = str(error)

    def surround(self, ground=None, obstacles=None):
        """What the characters stand on (a Player's ground) and walk around (Obstacles)."""
        self.player.ground = ground
        for guide in self.guides:
            guide.obstacles = obstacles

    def clear(self):
        """No surroundings any more."""
        if self._surroundings is not None:
            self._surroundings.end()
        self._surroundings = None
        self.surround()

    def _look_around(self, ob, context):
        settings = ob.mm.drive
        chosen = [found and found.session_uid for found in (settings.obstacles, settings.ground)]
        if chosen != self._chosen:
            self.clear()
            self._chosen = chosen
            if any(chosen):
                self._surroundings = Surroundings(settings.obstacles, settings.ground, self.floors)
                self._surroundings.begin()
        if self._surroundings is not None:
            heights = self.player.heights if len(self.record) else self._stood[2]
            self._surroundings.stand_at(self.floors[0] + float(heights[0]))
            if self._surroundings.refresh(context.evaluated_depsgraph_get()):
                self.surround(self._surroundings.ground, self._surroundings.obstacles)

    def _weigh(self, ob):
        """The weights of the features and the sliders that scale them, if the features are still those of the bake."""
        features = ob.mm.features
        weights = [0.0] * len(features.channels)
        features.channels.foreach_get("weight", weights)
        weights += features.responsiveness, features.quality
        if weights == self._weights:
            return
        self._weights, self._mismatch = weights, weigh(self.library, ob)
        self.ask_again()
