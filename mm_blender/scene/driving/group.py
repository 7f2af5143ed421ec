# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters that are driven together: they share a database, settings, and what is around them."""

from dataclasses import astuple

from ...control.stick_guide import StickGuide
from ...errors import MotionError
from ...playback.group import Group
from ...playback.limbs import Limbs
from ..rig import targets
from ..rig.armatures import floor
from .commands import Heeded, commands_of
from .drive_settings import halflives_of, settings_of
from .libraries import METHODS, avoid, library_of, played_library, weigh
from .own_speeds import own_ways, speeds_of
from .posing import GroupPoser
from .start_pose import start_poses
from .surroundings import Surroundings


class DrivenGroup(Group):
    """Characters that share a database, with the settings of one of them and its surroundings.

    began     seconds after the beginning of driving
    poser  shows them on their armatures
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
        self.poser, self._heeded = GroupPoser(), Heeded(len(obs))
        self._weigh(obs[0])  # what takes long is done before the first frame
        place, shown = start_poses(obs, self.player.motion, self.player.feet.standing[:, 1])
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
        if avoid(self.library, ob):
            self.ask_again()
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

    def ask(self, index, gait, query="", still=0):
        try:
            super().ask(index, gait, query, still)
        except MotionError as error:  # a tag query that is still being typed
            super().ask(index, gait, still=still)
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


def shared(ob):
    """What armatures in one group have in common."""
    settings, own = ob.mm.drive, own_ways(ob) or {}
    around = [found and found.session_uid for found in (settings.obstacles, settings.ground)]
    return (library_of(ob), astuple(settings_of(ob)), halflives_of(ob), tuple(own.items()), settings.query,
            floor(targets.posed(ob)), *around)


def drive_arguments(ob, depsgraph, library=None):
    """What drive() needs to let an armature drive where it stands, with its settings and surroundings."""
    settings, library = ob.mm.drive, library or library_of(ob)
    weigh(library, ob)
    avoid(library, ob)
    motion, ground = library.motion, floor(targets.posed(ob))
    limbs = Limbs(motion.database.character, motion.database.fixed, motion.moving)
    place, shown = start_poses([ob], motion, motion.stance(limbs)[:, 1])
    surroundings = Surroundings(settings.obstacles, settings.ground, [ground])
    surroundings.stand_at(ground + place[2].item(0))
    surroundings.refresh(depsgraph)
    return {"settings": settings_of(ob), "speeds": speeds_of(ob), "query": settings.query, "place": place,
            "shown": shown, "ground": surroundings.ground, "halflives": halflives_of(ob),
            "commands": commands_of(ob, library.database.schema, ground),
            "obstacles": surroundings.obstacles if settings.obstacles else None}
