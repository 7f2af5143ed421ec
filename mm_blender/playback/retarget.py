# SPDX-License-Identifier: GPL-3.0-or-later
"""A library on another character: what its matcher plays becomes poses of the target before anything else sees them.

So transitions, root and feet are those of the target, whatever plays: Motion Matching, with the Decompressor, learned.
"""

from dataclasses import fields, replace
from functools import cached_property

import numpy as np

from ..errors import MotionError
from ..matching.features import Normalisation
from ..motion import quat
from ..motion.correspond import check
from ..motion.retarget import Retarget
from ..motion.stance import Stance, find_stance, seen_from_root
from .matcher import Motion, MotionMatcher
from .pose import Pose

# Features that are lengths: they grow with the legs.
LENGTHS = ("trajectory_position", "trajectory_height", "bone_position", "bone_velocity")


def retargeted(library, target, hands=0.0, target_stance=None):
    """A RetargetedLibrary that plays on the target, a Character with a root (prepare.root.rooted())."""
    source = check("source", character_of(library.database))
    return RetargetedLibrary(library, Retarget(source, target, hands, stance_of(library), target_stance))


def character_of(database):
    """The character of a Database (or Networks), with bones as long as they are in its motion."""
    return replace(database.character, skeleton=replace(database.skeleton, positions=database.fixed))


def stance_of(library):
    """How the character of a library stands."""
    database, character = library.database, character_of(library.database)
    if hasattr(database, "ranges"):
        return find_stance(character, database)
    # Networks begin with someone who stands.
    pose = library.motion.matcher(library.choice().search, 1).pose()
    places = character.skeleton.positions[None].copy()
    places[:, library.motion.moving] = pose.positions
    positions, rotations = seen_from_root(character.skeleton, places, pose.rotations)
    return Stance(positions[0], rotations[0], database.heights[:, 0].astype(float))


class RetargetedLibrary:
    """What a Library is, on another character.

    library   what is played: a Library, or one of networks
    retarget  the Retarget from its character to the target
    """

    def __init__(self, library, retarget):
        if not library.database.skeleton.same_joints(retarget.source.skeleton):
            raise MotionError("The database has another skeleton than the character that it is retargeted from.")
        self.library, self.retarget = library, retarget
        self.choice, self.begin = library.choice, library.begin
        self.speeds = _scaled_speeds(library.speeds, retarget.scale)
        # Frames of a database are retargeted once; what networks make is not known before.
        known = isinstance(library.motion, Motion)
        self.motion = (RetargetedFrames if known else RetargetedMotion)(library.motion, retarget)
        self.database = self.motion.database

    @property
    def standing(self):
        return self.library.standing

    def weigh(self, schema):
        return self.library.weigh(schema)


class RetargetedMotion:
    """A library's motion, whose poses are those of the target."""

    def __init__(self, motion, retarget):
        self._motion, self._retarget = motion, retarget
        self.database, self.moving = _View(motion.database, retarget), np.array([retarget.moving])

    def matcher(self, search, count, begin=None):
        return RetargetedMatcher(self._motion.matcher(search, count, begin), self._motion.moving, self._retarget,
                                 np.float32(1 / self.database.rate))

    def stance(self, limbs):
        """(L, 2) how high toe and ankle of each limb are while it stands. The limbs learn where their knees bend to."""
        limbs.fronts = self._retarget.fronts.astype(float)
        return self._retarget.standing.astype(float)


class RetargetedFrames(RetargetedMotion):
    """The Motion of a database, on the target: each clip is worked out when one of its frames is wanted first. So the
    feet of whole clips are held, and then it takes no time."""

    def __init__(self, motion, retarget):
        super().__init__(motion, retarget)
        self.following, self.ends, self.bounds, self.near = motion.following, motion.ends, motion.bounds, motion.near
        self._range_of_frame = motion.database.range_of_frame
        self._travel = retarget.travel(motion.travel)
        count, joints = len(motion.database), len(retarget.target.skeleton)
        # The system gives memory to those parts only that are written.
        self._places = np.empty((count, 1, 3), dtype=np.float32)
        self._rotations = np.empty((count, joints, 4), dtype=np.float32)
        self.database.contacts = motion.database.contacts.copy()  # short feet stand for less long
        self._known, self._hands = np.zeros(len(motion.database.ranges), dtype=bool), retarget.hands

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
                    self._travel.take(frames, axis=0), self.database.contacts.take(frames, axis=0))

    def _work_out(self, frames):
        """The clips of these frames, if they are not known."""
        if self._hands != self._retarget.hands:
            self._known[:], self._hands = False, self._retarget.hands
        ranges = self._range_of_frame.take(frames)
        if self._known.take(ranges).all():
            return
        for index in np.unique(ranges[~self._known.take(ranges)]).tolist():
            clip, part = self._retarget.clip(self._motion.database.clip(index)), self.database.ranges[index]
            self._places[part.start:part.stop] = clip.positions[:, [self._retarget.moving]]
            self._rotations[part.start:part.stop] = clip.rotations
            self.database.contacts[part.start:part.stop] = clip.contacts
            self._known[index] = True


class RetargetedMatcher:
    """A matcher whose poses are those of the target; all else is its own."""

    def __init__(self, matcher, moving, retarget, dt):
        self.matcher, self._moving, self._retarget, self._dt = matcher, moving, retarget, dt
        self._known = None  # what all of them play from now on, once somebody asked

    def __getattr__(self, name):
        return getattr(self.matcher, name)

    def advance(self, *step):
        self._known = None
        return self.matcher.advance(*step)

    def match(self, *asked, **more):
        self._known = None
        return self.matcher.match(*asked, **more)

    def pose(self):
        pose, retarget = self.matcher.pose(), self._retarget
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
        positions, rotations, travel = self.matcher.coming(who)
        places, turns = self._retarget.poses(positions, rotations, self._moving)
        return places[:, :, None], turns, self._retarget.travel(travel)


class _View:
    """A Database (or Networks) as it is on the target: all of its poses are worked out only if somebody asks for
    them."""

    def __init__(self, database, retarget):
        self._database, self._retarget = database, retarget
        self.character, self.skeleton = retarget.target, retarget.target.skeleton
        self.fixed, self.moving = self.skeleton.positions, np.array([0, retarget.moving], dtype=np.int32)
        self.normalisation = _scaled(database, retarget)
        self.heights, self.fronts = retarget.standing, retarget.fronts  # as Networks have them

    def __len__(self):
        return len(self._database)

    def __getattr__(self, name):
        if name.startswith("__"):  # whoever copies or stores it asks for these before there is anything
            raise AttributeError(name)
        return getattr(self._whole if name in _OF_POSES and hasattr(self._database, "ranges") else self._database, name)

    @cached_property
    def _whole(self):
        return _whole(self._database, self._retarget)


def _whole(database, retarget):
    """A Database with all of its frames on the target."""
    clips = [retarget.clip(database.clip(index)) for index in range(len(database.ranges))]
    moving = np.array([0, retarget.moving], dtype=np.int32)
    return replace(database, character=retarget.target, fixed=retarget.target.skeleton.positions, moving=moving,
                   rotations=np.concatenate([clip.rotations for clip in clips]),
                   positions=np.concatenate([clip.positions[:, moving] for clip in clips]),
                   contacts=np.concatenate([clip.contacts for clip in clips]),
                   normalisation=_scaled(database, retarget))


# What a Database tells of its poses.
_OF_POSES = {"rotations", "positions", "velocities", "local_positions", "clip", "before_jolts", "barred", "report",
             "pose_nbytes", "nbytes", "save"}


def _scaled_speeds(speeds, scale):
    return replace(speeds, **{field.name: tuple(scale * speed for speed in getattr(speeds, field.name))
                              for field in fields(speeds)})


def _scaled(database, retarget):
    """The Normalisation that makes of lengths of the target what the source's own makes of the source's."""
    own, schema = database.normalisation, database.schema
    mean, scale = own.mean.copy(), own.scale.copy()
    for channel, part in zip(schema.channels, schema.slices):
        if channel.kind in LENGTHS:
            mean[part] *= retarget.scale
            scale[part] *= retarget.scale
        if channel.kind == "trajectory_height":
            mean[part] += retarget.higher
    return Normalisation(mean, scale)
