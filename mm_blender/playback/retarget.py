# SPDX-License-Identifier: GPL-3.0-or-later
"""A library on another character: what its matcher plays becomes poses of the target before anything else sees them.

So transitions, root and feet are those of the target, whatever plays: Motion Matching, with the Decompressor, learned.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..errors import MotionError
from ..matching.features import Normalisation
from ..matching.schema import Schema
from ..motion import quat
from ..motion.character import Character
from ..motion.correspond import check
from ..motion.retarget import Retarget
from ..motion.stance import Stance, find_stance, seen_from_root
from .matcher import MotionMatcher
from .pose import Pose


def retargeted(library, target, hands=0.0, target_stance=None):
    """A RetargetedLibrary that plays on the target, a Character with a root (prepare.root.rooted())."""
    source = check("source", character_of(library.database))
    return RetargetedLibrary(library, Retarget(source, target, hands, stance_of(library), target_stance))


def character_of(database):
    """The character of a motion (Facts), with bones as long as they are in it."""
    return replace(database.character, skeleton=replace(database.skeleton, positions=database.fixed))


def stance_of(library):
    """How the character of a library stands."""
    whole, character = library.whole(), character_of(library.database)
    if whole.ranges:
        return find_stance(character, whole.clips())
    # Networks begin with someone who stands.
    pose = library.motion.matcher(library.choice().search, 1).pose()
    places = character.skeleton.positions[None].copy()
    places[:, library.motion.moving] = pose.positions
    positions, rotations = seen_from_root(character.skeleton, places, pose.rotations)
    return Stance(positions[0], rotations[0], whole.heights[:, 0].astype(float))


class RetargetedLibrary:
    """The Library of another one's motion on another character.

    library   what is played
    retarget  the Retarget from its character to the target
    """

    def __init__(self, library, retarget):
        if not library.database.skeleton.same_joints(retarget.source.skeleton):
            raise MotionError("The database has another skeleton than the character that it is retargeted from.")
        self.library, self.retarget = library, retarget
        self.database = _on_target(library.database, retarget)
        self.speeds = library.speeds.scaled(retarget.scale)
        # Frames of a database are retargeted once; what networks make is not known before.
        kind = RetargetedFrames if library.baked is library else RetargetedMotion
        self.motion = kind(library.motion, retarget, self.database)

    @property
    def standing(self):
        return self.library.standing

    @property
    def method(self):
        return self.library.method

    @property
    def baked(self):
        return self.library.baked

    def choice(self, query="", still=0):
        return self.library.choice(query, still)

    def begin(self, where, query=""):
        return self.library.begin(where, query)

    def weigh(self, schema):
        return self.library.weigh(schema)

    def clip_of(self, frame):
        return self.library.clip_of(frame)

    def whole(self):
        whole, retarget, facts = self.library.whole(), self.retarget, self.database
        changes = {"character": facts.character, "fixed": facts.fixed, "normalisation": facts.normalisation}
        if not whole.ranges:
            return replace(whole, **changes, moving=self.motion.moving, heights=retarget.standing,
                           fronts=retarget.fronts)
        clips = [retarget.clip(clip) for clip in whole.clips()]
        return replace(whole, **changes, moving=facts.moving,
                       rotations=np.concatenate([clip.rotations for clip in clips]),
                       positions=np.concatenate([clip.positions[:, facts.moving] for clip in clips]),
                       contacts=np.concatenate([clip.contacts for clip in clips]))


@dataclass(frozen=True, eq=False)
class OnTarget:
    """The Facts of a motion that another character plays."""

    character: Character
    rate: float
    schema: Schema
    normalisation: Normalisation
    fixed: np.ndarray
    moving: np.ndarray
    tags: tuple | dict

    @property
    def skeleton(self):
        return self.character.skeleton


class RetargetedMotion:
    """A library's motion, whose poses are those of the target."""

    def __init__(self, motion, retarget, facts):
        """facts: those of the motion on the target."""
        self._motion, self._retarget = motion, retarget
        self.database, self.moving = facts, np.array([retarget.moving])

    def matcher(self, search, count, begin=None):
        return RetargetedMatcher(self._motion.matcher(search, count, begin), self._motion.moving, self._retarget,
                                 np.float32(1 / self.database.rate))

    def stance(self, limbs):
        limbs.fronts = self._retarget.fronts.astype(float)
        return self._retarget.standing.astype(float)


class RetargetedFrames(RetargetedMotion):
    """A BakedMotion on the target: each clip is worked out when one of its frames is wanted first. So the feet of whole
    clips are held, and then it takes no time."""

    def __init__(self, motion, retarget, facts):
        super().__init__(motion, retarget, facts)
        self.following, self.ends, self.bounds, self.near = motion.following, motion.ends, motion.bounds, motion.near
        self.features, self.tags, self.range_of_frame = motion.features, motion.tags, motion.range_of_frame
        self.contacts = motion.contacts.copy()
        self._travel = retarget.travel(motion.travel)
        count, joints = len(motion.following), len(retarget.target.skeleton)
        # The system gives memory to those parts only that are written.
        self._places = np.empty((count, 1, 3), dtype=np.float32)
        self._rotations = np.empty((count, joints, 4), dtype=np.float32)
        self._known, self._hands = np.zeros(len(motion.bounds), dtype=bool), retarget.hands

    def matcher(self, search, count, begin=None):
        return MotionMatcher(self, search, count, 0 if begin is None else begin)

    def coming(self, frames):
        frames = self._motion.following_frames(frames)
        self._work_out(frames)
        return tuple(table.take(frames, axis=0) for table in (self._places, self._rotations, self._travel))

    def at(self, frames):
        self._work_out(frames)
        later = self.following.take(frames)
        before = np.where(later == frames, np.maximum(frames - 1, 0), frames)  # a clip's last frame goes on as it came
        dt = np.float32(1 / self.database.rate)
        places, turns = ([table.take(which, axis=0) for which in (frames, before, later)]
                         for table in (self._places, self._rotations))
        return Pose(places[0], turns[0], (places[2] - places[1]) / dt, quat.shortest_turn(*turns[1:]) / dt,
                    self._travel.take(frames, axis=0), self.contacts.take(frames, axis=0))

    def _work_out(self, frames):
        """The clips of these frames, if they are not known."""
        if self._hands != self._retarget.hands:
            self._known[:], self._hands = False, self._retarget.hands
        ranges = self.range_of_frame.take(frames)
        if self._known.take(ranges).all():
            return
        for index in np.unique(ranges[~self._known.take(ranges)]).tolist():
            clip, (first, last, _) = self._retarget.clip(self._motion.database.clip(index)), self.bounds[index]
            self._places[first:last + 1] = clip.positions[:, [self._retarget.moving]]
            self._rotations[first:last + 1] = clip.rotations
            self.contacts[first:last + 1] = clip.contacts
            self._known[index] = True


class RetargetedMatcher:
    """A matcher whose poses are those of the target; all else is its own."""

    def __init__(self, matcher, moving, retarget, dt):
        self._matcher, self._moving, self._retarget, self._dt = matcher, moving, retarget, dt
        self._known = None  # what all of them play from now on, once somebody asked

    @property
    def frames(self):
        return self._matcher.frames

    @property
    def costs(self):
        return self._matcher.costs

    @property
    def starved(self):
        return self._matcher.starved

    @property
    def faded(self):
        return self._matcher.faded

    def allow(self, index, search, wanted=None):
        self._matcher.allow(index, search, wanted)

    def advance(self):
        self._known = None
        return self._matcher.advance()

    def match(self, who, queries, stay=0.0, must=None, fade=0.0):
        self._known = None
        return self._matcher.match(who, queries, stay, must, fade)

    def contacts(self):
        return self._matcher.contacts()

    def features(self):
        return self._matcher.features()

    def tags(self, index):
        return self._matcher.tags(index)

    def where(self, index):
        return self._matcher.where(index)

    def pose(self):
        pose, retarget = self._matcher.pose(), self._retarget
        if self._known is None:
            self._known = self._on_target(np.arange(len(pose.travel)))
        places, turns = (part[:, :2] for part in self._known[:2])
        if places.shape[1] < 2:  # a step on, as the velocities are
            later = quat.mul(quat.from_scaled_angle_axis(pose.spins * self._dt), pose.rotations)
            later = retarget.poses(pose.positions + pose.velocities * self._dt, later, self._moving)
            places, turns = (np.stack([now[:, 0], then], axis=1) for now, then in zip((places[:, :, 0], turns), later))
            places = places[:, :, None]
        return Pose(places[:, 0], turns[:, 0], (places[:, 1] - places[:, 0]) / self._dt,
                    quat.shortest_turn(turns[:, 0], turns[:, 1]) / self._dt, retarget.travel(pose.travel),
                    pose.contacts)

    def coming(self, who):
        if self._known is not None:
            return tuple(part[who] for part in self._known)
        return self._on_target(who)

    def _on_target(self, who):
        """What coming() tells."""
        positions, rotations, travel = self._matcher.coming(who)
        places, turns = self._retarget.poses(positions, rotations, self._moving)
        return places[:, :, None], turns, self._retarget.travel(travel)


def _on_target(facts, retarget):
    return OnTarget(retarget.target, facts.rate, facts.schema, _scaled(facts, retarget),
                    retarget.target.skeleton.positions, np.array([0, retarget.moving], dtype=np.int32), facts.tags)


def _scaled(facts, retarget):
    """The Normalisation that makes of lengths of the target what the source's own makes of the source's."""
    own, schema = facts.normalisation, facts.schema
    mean, scale = own.mean.copy(), own.scale.copy()
    for channel, part in zip(schema.channels, schema.slices):
        mean[part], scale[part] = channel.about.resized(mean[part], scale[part], retarget.scale, retarget.higher)
    return Normalisation(mean, scale)
