# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of one character on another: poses by the roles of their bones, travel and height by the length of legs.

All is seen from the roots, which both face +Y and stand on the ground. Equations are those of section 3.2.3 of Motion
Matching in Unity and VR, with poses in which both characters stand instead of T-poses.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import MotionError
from . import quat
from .character import FINGERS
from .skeleton import backward, forward

SIDES = ("left", "right")
NEEDED = ("hips", *(f"{side}_{part}" for side in SIDES for part in ("thigh", "shin", "foot")))
# An elbow that is bent by less (radians) does not tell where it bends to: then it is to the front.
STRAIGHT = 0.1
# A foot is exactly where the source has it, by its scale, up to this height (share of the leg) above where it stands;
# from the second height on the leg has exactly the source's angles.
LOW, HIGH = 0.02, 0.12
# From this height (share of the leg) on a foot has no say in how high the hips are.
NEAR = 0.4
# Legs and arms are never straighter than this share of their length, unless they are in the source.
EXTENSION = 0.995
# How far (share of its length) a knee is before its leg at least when it is asked to which side it bends.
BENT = 0.02
# A rest pose whose feet are further (share of the hips' height) from the ground has its origin elsewhere.
OFF_GROUND = 0.2
# So many frames of a motion are looked at, about, to see how someone stands.
SAMPLES = 6000
# A foot that stands higher or lower by more (m) stands on something else than the ground.
STEP = 0.06
# So many frames in contact at least tell how a foot stands.
FLAT = 5
# Seconds before and after a contact in which a foot comes to where it is held, and leaves.
EASE = 0.2


@dataclass(frozen=True, eq=False)
class Stance:
    """A pose in which a character stands, seen from its root.

    positions  (J, 3) of the joints
    rotations  (J, 4) of the joints
    heights    (2,) of the left and the right toe while it stands: of feet where there are no toes
    """

    positions: np.ndarray
    rotations: np.ndarray
    heights: np.ndarray

    def bearing(self, heights):
        """The same, so high that toes are at these heights (2,), on average."""
        up = np.array([0, 0, np.mean(heights) - np.mean(self.heights)])
        return Stance(self.positions + up, self.rotations, np.asarray(heights))


def rest_stance(character):
    """The rest pose of a character with a root as a Stance."""
    return stance_in(character, *character.skeleton.rest)


def stance_in(character, positions, rotations):
    """A pose of a character with a root, positions (J, 3) and rotations (J, 4) in its space, as a Stance."""
    positions, rotations = _from_root(positions, rotations)
    if not _stands(character, positions):
        raise MotionError(f'The character with the bone "{character.roles["hips"]}" does not stand in its rest pose: '
                          "give a pose in which it does.")
    toes = _toes(character)
    lowest = positions[toes, 2].min()
    # Files often have their origin in the hips.
    if abs(lowest) > OFF_GROUND * (positions[character.joint("hips"), 2] - lowest):
        positions[:, 2] -= lowest
    return Stance(positions, rotations, positions[toes, 2])


def find_stance(character, clips):
    """How a character with a root stands, from its clean clips or its Database: the rest pose if it stands in it, or
    else the mean of the frames in which it is most upright and still, arms hanging. Feet and ground as in the clips."""
    clips = [clips.clip(index) for index in range(len(clips.ranges))] if hasattr(clips, "ranges") else list(clips)
    stands = _stands(character, _from_root(*character.skeleton.rest)[0])
    if not clips or (stands and not any(clip.contacts is not None and clip.contacts.any() for clip in clips)):
        return rest_stance(character)
    frames = _Frames(character, clips)
    stance = rest_stance(character) if stands else frames.mean(frames.score().argsort()[:max(20, len(frames) // 100)])
    return frames.flat(stance).bearing(frames.heights)


def _stands(character, positions):
    """Whether this is a pose in which a character stands: some files' zero pose is a line."""
    for side in SIDES:
        joints = [character.joint(f"{side}_{part}") for part in ("foot", "shin", "thigh")]
        steps = np.diff(positions[joints], axis=0)
        if (steps[:, 2] < 0.5 * np.linalg.norm(steps, axis=-1)).any():
            return False
    return True


class _Frames:
    """Some frames of clips, seen from the root."""

    def __init__(self, character, clips):
        self._character = character
        step = max(1, sum(map(len, clips)) // SAMPLES)
        rotations, positions, moved, contacts = [], [], [], []
        for clip in clips:
            frames = np.arange(0, max(len(clip) - 1, 1), step)
            now, later = (seen_from_root(clip.skeleton, clip.positions[some], clip.rotations[some])
                          for some in (frames, np.minimum(frames + 1, len(clip) - 1)))
            positions.append(now[0])
            rotations.append(now[1])
            moved.append(np.linalg.norm(later[0] - now[0], axis=-1).mean(axis=-1) * clip.rate)
            contacts.append(np.zeros((len(frames), 2), dtype=bool) if clip.contacts is None else clip.contacts[frames])
        self.positions, self.rotations, self._moved, self._contacts = map(
            np.concatenate, (positions, rotations, moved, contacts))

    def __len__(self):
        return len(self.positions)

    @property
    def heights(self):
        """(2,) of toes while they stand: on the lowest ground, where there are several."""
        toes = self.positions[:, _toes(self._character), 2]
        stands = [column[contact] if contact.any() else np.sort(column)[:len(column) // 10 + 1]
                  for column, contact in zip(toes.T, self._contacts.T)]
        heights = np.array([np.median(column) if np.ptp(np.percentile(column, (10, 90))) < STEP
                            else np.percentile(column, 10) for column in stands])
        return np.minimum(heights, heights.min() + STEP / 2)

    def score(self):
        """(F,) how little each frame looks like someone who stands."""
        place = {role: self.positions[:, self._character.joint(role)] for role in self._character.roles
                 if self._character.has(role)}
        tall = np.percentile(place["hips"][:, 2], 95)
        score = self._moved / 0.2 + 10 * np.abs(1 - place["hips"][:, 2] / tall) + (~self._contacts).sum(axis=1)
        score += np.abs(place["left_foot"] - place["right_foot"])[:, 1] / (0.3 * tall)
        if "head" in place:
            score += 3 * np.linalg.norm((place["head"] - place["hips"])[:, :2], axis=-1) / tall
        for side in SIDES:
            if f"{side}_hand" in place and f"{side}_upper_arm" in place:
                arm = place[f"{side}_hand"] - place[f"{side}_upper_arm"]
                score += 2 * (1 + arm[:, 2] / np.maximum(np.linalg.norm(arm, axis=-1), 1e-6))
        return score

    def mean(self, frames):
        """The Stance that these have in common."""
        skeleton = self._character.skeleton
        turns = _mean(self.rotations[frames])
        places = skeleton.positions.astype(np.float64)
        hips = self._character.joint("hips")
        places, _ = forward(skeleton, places[None], backward(skeleton, places[None], turns[None])[1])
        places = places[0] + self.positions[frames, hips].mean(axis=0) - places[0, hips]
        places[0] = 0
        return Stance(places, turns, places[_toes(self._character), 2])

    def flat(self, stance):
        """The stance with feet that are flat on the ground, as they are in these frames: in a rest pose they may be
        turned along with legs that are apart."""
        character, turns, places = self._character, stance.rotations.copy(), stance.positions.copy()
        for side, contacts in zip(SIDES, self._contacts.T):
            if not (character.has(f"{side}_toe") and contacts.sum() >= FLAT):
                continue
            foot, toe = joints = character.joint(f"{side}_foot"), character.joint(f"{side}_toe")
            rise = np.where(contacts, self.positions[:, foot, 2] - self.positions[:, toe, 2], np.inf)
            frames = rise.argsort()[:max(FLAT, contacts.sum() // 3)]
            back = quat.from_yaw(-quat.yaw(self.positions[frames, toe] - self.positions[frames, foot]))
            heading = quat.from_yaw(quat.yaw(stance.positions[toe] - stance.positions[foot]))
            for joint in joints:
                turns[joint] = quat.mul(heading, _mean(quat.mul(back, self.rotations[frames, joint])))
            places[toe] = places[foot] + quat.rotate(turns[foot], character.skeleton.positions[toe])
        return Stance(places, turns, places[_toes(character), 2])


def _mean(turns):
    """The rotations (…, 4) in the middle of near ones (F, …, 4)."""
    turns = np.asarray(turns, dtype=np.float64)
    return quat.normalize(np.where((turns * turns[:1]).sum(axis=-1, keepdims=True) < 0, -turns, turns).mean(axis=0))


def seen_from_root(skeleton, positions, rotations):
    """Positions (F, J, 3) and rotations (F, J, 4) of joints seen from the root, from local ones."""
    positions, rotations = positions.copy(), rotations.copy()
    positions[:, 0], rotations[:, 0] = 0, quat.identity()
    return forward(skeleton, positions, rotations)


class Retarget:
    """From poses of a source to those of a target, both Characters with a root (see prepare.root.rooted()).

    scale   the target's legs, as a share of the source's: what lengths of travel are multiplied with
    hands   how much hands keep their height above the ground, by the scale (1), instead of their arms' angles (0)
    moving  the joint of the target that has a place of its own, beside the root: mostly the hips
    higher  by how much (m) the target's hips are higher than the source's by their scale
    fronts    (2, 3) where the target's knees bend to, seen from its thighs
    standing  (2, 2) how high toe and ankle of the target's feet are while they stand
    """

    def __init__(self, source, target, hands=0.0, source_stance=None, target_stance=None):
        for which, character in (("source", source), ("target", target)):
            _check(which, character)
        self.source, self.target, self.hands = source, target, hands
        stance, own = source_stance or rest_stance(source), target_stance or rest_stance(target)
        self._joints, self._others, self._shares = _correspondence(source, target)
        self._after = _aligned(source, target, stance, own, self._joints)
        # Equation 3.22: what leads from the source's joint to the target's.
        self._lead = _constant(quat.mul(quat.inv(stance.rotations[self._joints]), self._after))
        self._blended = np.flatnonzero(self._shares > 0)
        others = self._others[self._blended]
        self._other_lead = _constant(quat.mul(quat.inv(stance.rotations[others]), self._after[self._blended]))
        self._share = self._shares[self._blended].astype(np.float32)[:, None]
        self._measure(stance, own)

    # What poses become

    def rotations(self, rotations):
        """Local rotations (…, Jt, 4) of the target with the source's angles, from those of the source (…, Js, 4)."""
        shape = rotations.shape[:-2]
        turns = self._turned(_first(rotations.reshape(-1, *rotations.shape[-2:])))
        return self._locals(turns).transpose(2, 1, 0).reshape(*shape, -1, 4)

    def poses(self, positions, rotations, moving=None):
        """Local positions (…, 3) of the moving joint and local rotations (…, Jt, 4) of the target.

        positions  (…, M, 3) local ones of the source's joints `moving` (M,), or of all
        rotations  (…, Js, 4) local ones of the source
        """
        shape = rotations.shape[:-2]
        positions, rotations = (part.reshape(-1, *part.shape[-2:]) for part in (positions, rotations))
        place, rotations = self._solved(positions, rotations, moving)
        return place.T.reshape(*shape, 3), rotations.transpose(2, 1, 0).reshape(*shape, -1, 4)

    def travel(self, travel):
        """Velocities (…, 3) of the root: right, forward, turning."""
        return travel * self._travel

    def clip(self, clip):
        """A Clip of the source, with a root, on the target; feet stay exactly where they stand."""
        if not clip.skeleton.same_joints(self.source.skeleton):
            raise MotionError(f'Clip "{clip.name}" has another skeleton than the character that it is retargeted from.')
        skeleton = self.target.skeleton
        place, rotations = self._solved(clip.positions, clip.rotations, held=_Held(clip, self.scale))
        positions = np.repeat(skeleton.positions[None], len(clip), axis=0)
        positions[:, 0], positions[:, self.moving] = clip.positions[:, 0] * self.scale, place.T
        rotations = rotations.transpose(2, 1, 0)
        rotations[:, 0] = clip.rotations[:, 0]
        return clip.with_changes(skeleton=skeleton, positions=positions, rotations=quat.unroll(rotations))

    def _solved(self, positions, rotations, moving=None, held=None):
        """The moving joint's place (3, F) and local rotations (4, Jt, F) of the target."""
        source_turns = self._forward(_first(rotations))
        turns = self._mapped(source_turns)
        goals = self._points(source_turns, positions, moving)
        joints = self._limbs.points(turns)
        place = self._at_rest[:, None] + self.scale * goals[:, :2].mean(axis=1) - joints[:, [0, 4]].mean(axis=1)
        ways = self._ways(place, joints[:, [2, 6]], joints[:, [3, 7]], goals[:, 2:6], held)
        legs = joints[:, :8].reshape(3, 2, 4, -1)[:, :, :3]
        fronts = quat.rotate(turns[:, self._legs[:, 0]], self._fronts, axis=0)
        self._turn(turns, self._riding_legs, _bent(*legs.transpose(2, 0, 1, 3), ways, fronts))
        if self.hands:
            self._keep_hands(turns, joints[:, 8:].reshape(3, 2, 4, -1) + place[:, None, None], goals[:, 6:])
        above = self._above_moving
        return quat.rotate(above[1][:, None], place - above[0][:, None], axis=0), self._locals(turns)

    def _turned(self, rotations):
        return self._mapped(self._forward(rotations))

    def _forward(self, rotations):
        """The source's joints (4, Js, F) as seen from the root; changed in place."""
        skeleton = self.source.skeleton
        rotations[:, 0] = quat.identity()[:, None]
        for level in skeleton.levels[1:]:
            rotations[:, level] = quat.mul(rotations[:, skeleton.parents[level]], rotations[:, level], axis=0)
        return rotations

    def _mapped(self, source):
        """The target's joints (4, Jt, F), seen from the root: equation 3.20, between two joints where there are other
        numbers of them."""
        turns = quat.mul(source[:, self._joints], self._lead, axis=0)
        if len(self._blended):
            own = turns[:, self._blended]
            other = quat.mul(source[:, self._others[self._blended]], self._other_lead, axis=0)
            mixed = own + self._share * (np.where((own * other).sum(axis=0) < 0, -other, other) - own)
            turns[:, self._blended] = mixed / np.sqrt((mixed * mixed).sum(axis=0))
        return turns

    def _locals(self, turns):
        parents = self.target.skeleton.parents[1:]
        turns[:, 1:] = quat.mul(quat.inv(turns[:, parents], axis=0), turns[:, 1:], axis=0)
        return turns

    def _points(self, turns, positions, moving):
        """Where hips and toes (and hands) of the source are, (3, P, F)."""
        if moving is None:
            return self._marks.points(turns, {joint: positions[:, joint].T for joint in self._marks.joints.tolist()})
        return self._marks.points(turns, {joint: positions[:, at].T for at, joint in enumerate(moving.tolist())})

    def _ways(self, place, ankles, toes, source, held):
        """Ways (3, 2, F) on which the legs bring the feet to where they should be; the moving joint's place (3, F)
        rises or sinks by what the standing feet have in common.

        On the ground it is the ankle that is where the source has it, by its scale: the lengths of feet may differ. The
        height is that of the toe.

        ankles, toes  (3, 2, F) as the angles have them, seen from the moving joint
        source        (3, 4, F) ankles and toes of the source
        """
        goals = self._feet[..., None] + self.scale * np.concatenate([source[:2, :2], source[2:, 2:]])
        goals[:2] += toes[:2] - ankles[:2]
        high = (source[2, 2:] - self._heights[:, None]) / self._leg
        weight = _eased(np.clip((HIGH - high) / (HIGH - LOW), 0, 1))
        if held is not None:
            floor = held.floor(goals[2], self.standing[:, :1])
            goals[2] += floor
            place[2] += np.mean(floor)
            goals, weight = held.goals(goals, weight, self.standing[:, :1])
        ways = goals - toes - place[:, None]
        near = _eased(np.clip(1 - high / NEAR, 0, 1))
        rise = (near * ways[2]).sum(axis=0) / np.maximum(near.sum(axis=0), 1)
        if held is not None:
            rise = held.smoothed(rise)
        place[2] += rise
        ways[2] -= rise
        ways *= weight
        if held is not None:
            np.maximum(ways[2], self.standing[:, :1] - toes[2] - place[2], out=ways[2])
        return ways

    def _keep_hands(self, turns, joints, hands):
        way = np.zeros_like(joints[:, :, 2])
        way[2] = self.hands * (self.scale * hands[2] - joints[2, :, 2])
        fronts = quat.rotate(turns[:, self._arms[:, 0]], self._elbows, axis=0)
        self._turn(turns, self._riding_arms, _bent(*joints[:, :, :3].transpose(2, 0, 1, 3), way, fronts))

    @staticmethod
    def _turn(turns, riding, swings):
        for part, swing in zip(riding, swings):
            for side, joints in enumerate(part):
                turns[:, joints] = quat.mul(swing[:, side, None], turns[:, joints], axis=0)

    # What both measure

    def _measure(self, stance, own):
        """Lengths of both characters in the same pose: the source's stance."""
        source, target = self.source, self.target
        legs = _limbs(target, ("thigh", "shin", "foot"))
        toes = np.array(_toes(target))
        fork = target.skeleton.fork
        self.moving = fork(target.joint("hips"), fork(*legs[:, 0]))
        if self.moving == 0:
            raise MotionError(f'The legs of the target hang from its root "{target.skeleton.names[0]}": hips need a '
                              "bone of their own.")
        self._legs, self._arms = legs, _limbs(target, ("upper_arm", "forearm", "hand"))
        if self._arms is None or _limbs(source, ("hand",)) is None:
            self.hands = 0.0
        arms = self._arms if self.hands else np.zeros((0, 3), dtype=int)
        ends = np.concatenate([np.column_stack([legs, toes]), np.column_stack([arms, arms[:, -1:]])])
        self._limbs = _Paths(target.skeleton, ends.ravel().tolist(), self.moving)
        thighs, ankles = (_limbs(source, (part,))[:, 0] for part in ("thigh", "foot"))
        tips = _limbs(source, ("hand",))[:, 0] if self.hands else []
        # A foot without toes follows the other's foot.
        has_toes = all(target.has(f"{side}_toe") for side in SIDES)
        marks = _toes(source) if has_toes else ankles
        self._marks = _Paths(source.skeleton, [*thighs, *ankles, *marks, *tips], 0)
        # Where the target's joints are, in the pose of the source's stance, seen from the moving joint.
        near = self._limbs.points(_first(self._after[None]))[:, :8, 0].reshape(3, 2, 4)
        middle = near[:, :, 0].mean(axis=1)
        up = stance.positions[thighs].mean(axis=0)
        self.scale = float((middle - near[:, :, 2].mean(axis=1))[2] / (up - stance.positions[ankles].mean(axis=0))[2])
        if not 0 < self.scale < np.inf:
            raise MotionError("The legs of source and target cannot be compared: in the poses in which they stand one "
                              "has its feet above its hips.")
        sole = own.positions[legs[:, 2], 2].mean()  # how high ankles are
        at = np.array([*own.positions[legs[:, 0], :2].mean(axis=0), sole + (middle - near[:, :, 2].mean(axis=1))[2]])
        heights = stance.heights if has_toes else stance.positions[ankles, 2]
        self._at_rest = (at - self.scale * up).astype(np.float32)
        self.higher = float(self._at_rest[2])
        self.standing = np.stack([own.heights, own.positions[legs[:, 2], 2]], axis=-1).astype(np.float32)
        self._feet = near[:, :, 2] - middle[:, None] + at[:, None] - self.scale * stance.positions[ankles].T
        self._feet[2] = own.heights - self.scale * heights
        self._feet, self._heights = self._feet.astype(np.float32), heights.astype(np.float32)
        self._leg = np.float32(up[2] - stance.positions[ankles, 2].mean())
        self._travel = np.array([self.scale, self.scale, 1], dtype=np.float32)
        self._riding_legs = self._riding(legs)
        self._fronts = self._bending(legs)
        self.fronts = self._fronts[..., 0].T
        if self.hands:
            self._riding_arms, self._elbows = self._riding(arms), self._bending(arms)
        skeleton, parent = target.skeleton, target.skeleton.parents[self.moving]
        place = _from_root(*skeleton.rest)[0][parent] if parent else np.zeros(3)
        self._above_moving = place.astype(np.float32), quat.inv(self._after[parent]).astype(np.float32)

    def _riding(self, limbs):
        """Of the upper and the lower bone of limbs (2, 3), for both sides, the joints that turn with it."""
        return [[self._carried_by(joint) for joint in limbs[:, part]] for part in (0, 1)]

    def _carried_by(self, joint):
        """A joint and those below it that have no source of their own: twist bones."""
        parents, carried = self.target.skeleton.parents, [joint]
        own = self._driven
        for below in range(joint + 1, len(parents)):
            if parents[below] in carried and below not in own:
                carried.append(below)
        return np.array(carried)

    @property
    def _driven(self):
        return _mapped_joints(self.source, self.target)

    def _bending(self, limbs):
        """(3, 2, 1) where knees (or elbows) bend to if limbs are straight: ahead, seen from their upper bones."""
        return quat.inv_rotate(self._after[limbs[:, 0]], np.array([0.0, 1.0, 0.0])).T[..., None].astype(np.float32)


class _Paths:
    """Where some joints are, seen from one that they hang from: the sum of the ways down to them."""

    def __init__(self, skeleton, ends, top):
        paths = [skeleton.path(top, end) for end in ends]
        self.joints = np.array(sorted({joint for path in paths for joint in path}))
        self._parents = skeleton.parents[self.joints]
        self._ways = _constant(skeleton.positions[self.joints])
        self._sums = np.array([[joint in path for joint in self.joints] for path in paths], dtype=np.float32)

    def points(self, turns, moving=None):
        """(3, P, F) for joints that are turned (4, J, F); moving: local positions (3, F) of some joints."""
        ways = self._ways
        if moving:
            ways = np.repeat(ways, turns.shape[-1], axis=-1)
            for at, joint in enumerate(self.joints.tolist()):
                if joint in moving:
                    ways[:, at] = moving[joint]
        return self._sums @ quat.rotate(turns[:, self._parents], ways, axis=0)


class _Held:
    """Where the feet of a clip are held: each contact at one place, to which a foot comes and from which it leaves."""

    def __init__(self, clip, scale):
        self._contacts, self._ease = clip.contacts, max(1, round(EASE * clip.rate))
        self._places = clip.positions[:, 0].T * scale
        self._turns = np.ascontiguousarray(clip.rotations[:, 0].T)

    def smoothed(self, rise):
        """A curve (F,) without what is shorter than it takes a foot to come down."""
        window = np.hanning(2 * self._ease + 1)[1:-1]
        padded = np.pad(rise, self._ease - 1, mode="edge")
        return np.convolve(padded, window / window.sum(), "valid").astype(np.float32)

    def floor(self, heights, standing):
        """(2, 1) by how much toes at such heights (2, F) have to be raised to stand at theirs (2, 1) on average: clips
        differ in where they have the ground."""
        if self._contacts is None or not self._contacts.any(axis=0).all():
            return 0.0
        off = [[float(np.median(standing[side] - heights[side, self._contacts[:, side]]))] for side in (0, 1)]
        return np.where(np.abs(off) < STEP, off, 0).astype(np.float32)

    def goals(self, goals, weight, heights):
        """Goals (3, 2, F) and their weights (2, F) as they become; heights (2, 1) that toes have when they stand."""
        if self._contacts is None:
            return goals, weight
        world = quat.rotate(self._turns[:, None], goals, axis=0) + self._places[:, None]
        shift, weight = np.zeros_like(world), weight.copy()
        for side in range(2):
            spans = _spans(self._contacts[:, side])
            for start, stop in spans:
                stand = world[:, side, start:stop].mean(axis=1)
                if abs(stand[2] - heights[side, 0]) < STEP:
                    stand[2] = heights[side, 0]
                shift[:, side, start:stop] = stand[:, None] - world[:, side, start:stop]
            shift[:, side] = _carried(shift[:, side], spans, self._ease)
            full = _carried(self._contacts[:, side].astype(np.float32)[None], spans, self._ease)[0]
            weight[side] = np.maximum(weight[side], full)
        goals = goals + quat.rotate(quat.inv(self._turns, axis=0)[:, None], shift, axis=0)
        return goals, weight


def _spans(mask):
    return np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))).reshape(-1, 2).tolist()


def _carried(values, spans, ease):
    """Values (C, F) that are known within spans: after one they go to zero, and come from there to the next, each in so
    many frames; straight to the next where there are not enough."""
    count, out, begin = values.shape[1], values.copy(), 0
    for start, stop in [*spans, (count, count)]:
        gap, after, before = start - begin + 1, np.arange(1, start - begin + 1), np.arange(start - begin, 0, -1)
        last = values[:, begin - 1:begin] if begin else 0.0
        following = values[:, start:start + 1] if start < count else 0.0
        close = gap < 2 * ease and begin and start < count
        shares = (after / gap, before / gap) if close else (after / ease, before / ease)
        left, coming = (1 - _eased(np.minimum(share, 1)) for share in shares)
        out[:, begin:start] = last * left + following * coming
        begin = stop
    return out


def _eased(share):
    return share * share * (3 - 2 * share)


def _bent(hip, knee, ankle, way, front):
    """The swings (4, 2, F) of the upper and the lower bone of limbs whose ends go along a way; all (3, 2, F).

    The joint between them stays on its side: where the limb is straight, on the side that front points to.
    """
    thigh, shin, leg = knee - hip, ankle - knee, ankle - hip
    upper, lower, old = _size(thigh), _size(shin), _size(leg)
    new = leg + way
    far = np.maximum(_size(new), 1e-6)
    # It slows down before it is as long as it may be.
    room = np.maximum((upper + lower) * EXTENSION - old, 1e-5)
    reach = np.where(far > old, old + room * np.tanh((far - old) / room), far)
    reach = np.clip(reach, np.abs(upper - lower) * 1.001 + 1e-6, np.maximum(upper + lower, 1e-6) * 0.99999)
    along = new / far
    was = leg / np.maximum(old, 1e-6)
    side = thigh - was * (thigh * was).sum(axis=0)
    bend = np.maximum(BENT * upper - (side * front).sum(axis=0), 0)
    side = side + bend * (front - was * (front * was).sum(axis=0))
    # The side turns along with the limb, by the shortest way.
    side = side - (was + along) * ((side * along).sum(axis=0) / np.maximum(1 + (was * along).sum(axis=0), 1e-6))
    side = side / np.maximum(_size(side), 1e-9)
    ahead = (upper * upper - lower * lower + reach * reach) / (2 * reach)
    new_thigh = ahead * along + np.sqrt(np.maximum(upper * upper - ahead * ahead, 0)) * side
    return _swing(thigh, new_thigh), _swing(shin, reach * along - new_thigh)


def _swing(old, new):
    """The shortest turns (4, …) from vectors (3, …) to others of the same length."""
    half = old + new
    swing = np.concatenate([(old * half).sum(axis=0)[None] + 1e-20, quat.cross(old, new, axis=0)])
    return swing / np.sqrt((swing * swing).sum(axis=0))


def _size(vectors):
    return np.sqrt((vectors * vectors).sum(axis=0))


def _first(array):
    """A copy (C, J, F) of an array (F, J, C)."""
    return np.array(array.transpose(2, 1, 0), dtype=np.float32, order="C")


def _constant(table):
    """A table (J, C) as (C, J, 1)."""
    return np.array(table.T[..., None], dtype=np.float32, order="C")


def _from_root(positions, rotations):
    """Positions and rotations (J, …) in the character's space as seen from joint 0."""
    back = quat.inv(rotations[:1])
    return quat.rotate(back, positions - positions[:1]), quat.mul(back, rotations)


# Which joint follows which

def _check(which, character):
    missing = next((role for role in NEEDED if not character.has(role)), None)
    if missing:
        raise MotionError(f'The {which} has no bone with the role "{missing}", which retargeting needs: choose one in '
                          "the Character panel (or with --role).")
    if not character.has("root") or character.joint("root") != 0:
        raise MotionError(f'The {which} has no root above its bone "{character.skeleton.names[0]}".')


def _toes(character):
    return np.array([character.joint(f"{side}_{'toe' if character.has(f'{side}_toe') else 'foot'}") for side in SIDES])


def _limbs(character, parts):
    """(2, P) the joints of these parts on the left and the right, or None if one is missing."""
    roles = [[f"{side}_{part}" for part in parts] for side in SIDES]
    if not all(character.has(role) for side in roles for role in side):
        return None
    return np.array([[character.joint(role) for role in side] for side in roles])


def _correspondence(source, target):
    """Of each joint of the target the source's (Jt,) that it follows, another one (Jt,), and how much that (Jt,)."""
    found = _mapped_joints(source, target)
    parents = target.skeleton.parents
    for joint in range(1, len(parents)):
        found.setdefault(joint, found[parents[joint]])
    rows = [found[joint] for joint in range(len(parents))]
    return tuple(np.array(column) for column in zip(*rows))


def _mapped_joints(source, target):
    """joint of the target → (joint of the source, another one, share of the other one), where it has such."""
    found = {0: (0, 0, 0.0)}
    for role in target.roles:
        if role not in ("root", "spine", "chest", "neck") and target.has(role) and source.has(role):
            joint = source.joint(role)
            found[target.joint(role)] = joint, joint, 0.0
    found |= _along(source, target, "spine", source.joint("hips"))
    below = (source.chain("spine") or [source.joint("hips")])[-1]
    found |= _along(source, target, "neck", below)
    for side in SIDES:
        if source.has(f"{side}_hand") and target.has(f"{side}_hand"):
            for finger in FINGERS:
                found |= _along(source, target, f"{side}_{finger}", source.joint(f"{side}_hand"))
    return found


def _along(source, target, chain, below):
    """_mapped_joints() for a chain: by the share of its length up to a joint's end."""
    mine, other = target.chain(chain), source.chain(chain)
    if not mine or not other:
        return {}
    if len(mine) == len(other):
        return {joint: (same, same, 0.0) for joint, same in zip(mine, other)}
    ends = np.concatenate([[0.0], _shares(source, other)])
    knots = [below, *other]
    found = {}
    for joint, end in zip(mine, _shares(target, mine)):
        after = min(int(np.searchsorted(ends, end - 1e-6)), len(other))
        after = max(after, 1)
        while after < len(other) and ends[after + 1] - ends[after] < 1e-6 and end > 1 - 1e-6:
            after += 1
        span = ends[after] - ends[after - 1]
        share = (end - ends[after - 1]) / span if span > 1e-6 else 1.0
        found[joint] = ((knots[after], knots[after], 0.0) if share > 1 - 1e-6
                        else (knots[after - 1], knots[after], float(share)))
    return found


def _shares(character, chain):
    """(C,) where the bones of a chain end, as shares of its length."""
    skeleton = character.skeleton
    lengths = np.linalg.norm(skeleton.positions, axis=-1)
    last = max(lengths[skeleton.children(chain[-1])], default=0.0)
    ends = np.cumsum([*lengths[chain[1:]], last])
    return ends / ends[-1] if ends[-1] > 1e-6 else np.arange(1, len(chain) + 1) / len(chain)


# Both in the same pose

def _aligned(source, target, stance, own, _joints):
    """(Jt, 4) how the target's joints are turned when it stands as the source does in its stance."""
    swings = _swings(source, target, stance, own)
    parents = target.skeleton.parents
    carried = quat.identity((len(parents),)).astype(np.float64)
    driven = _mapped_joints(source, target)
    for joint in range(1, len(parents)):
        # A bone of the trunk stands as it is: its direction is a matter of how a rig is built, not of posture.
        carried[joint] = swings.get(joint, (1, 0, 0, 0) if joint in driven and joint not in _below_hands(target)
                                    else carried[parents[joint]])
    return quat.mul(carried, own.rotations)


def _below_hands(target):
    hands = {target.joint(f"{side}_hand") for side in SIDES if target.has(f"{side}_hand")}
    return {joint for joint in range(len(target.skeleton)) if hands & set(target.skeleton.ancestors(joint))}


def _swings(source, target, stance, own):
    """joint of the target → how it turns, seen from the root, from its own stance to that of the source."""
    swings = {}

    def direction(character, pose, role, following):
        return pose.positions[character.joint(following)] - pose.positions[character.joint(role)]

    def both(role, following):
        return [direction(character, pose, role, following) for character, pose in ((source, stance), (target, own))]

    def known(*roles):
        return all(character.has(role) for character in (source, target) for role in roles)

    for side in SIDES:
        upper, lower, end = (f"{side}_{part}" for part in ("upper_arm", "forearm", "hand"))
        if known(upper, lower):
            theirs, mine = both(upper, lower)
            fronts = [_front(vector, direction(character, pose, lower, end) if character.has(end) else None)
                      for vector, character, pose in ((theirs, source, stance), (mine, target, own))]
            swing = swings[target.joint(upper)] = _turn_between(mine, fronts[1], theirs, fronts[0])
            if known(end):
                theirs, mine = both(lower, end)
                swing = quat.mul(quat.between(quat.rotate(swing, mine), theirs), swing)
            swings[target.joint(lower)] = swing
            if known(end):
                swings[target.joint(end)] = swing
        upper, lower, end, toe = (f"{side}_{part}" for part in ("thigh", "shin", "foot", "toe"))
        theirs, mine = both(upper, lower)
        swing = swings[target.joint(upper)] = quat.between(mine, theirs)
        theirs, mine = both(lower, end)
        swings[target.joint(lower)] = quat.mul(quat.between(quat.rotate(swing, mine), theirs), swing)
        # Both stand flat on the ground: feet turn to the same side, and keep their own slope.
        swing = quat.identity().astype(np.float64)
        if known(toe):
            swing = quat.from_yaw(np.subtract(*(quat.yaw(vector) for vector in both(end, toe))))
            swings[target.joint(toe)] = swing
        swings[target.joint(end)] = swing
    return swings


def _front(upper, lower):
    """Where an arm's elbow bends to: as it is bent, or ahead."""
    upper = upper / np.linalg.norm(upper)
    if lower is not None and np.linalg.norm(lower) > 1e-6:
        lower = lower / np.linalg.norm(lower)
        across = lower - upper * (upper @ lower)
        if np.linalg.norm(across) > STRAIGHT:
            return across
    return np.array([0.0, 1.0, 0.0]) - upper * upper[1]


def _turn_between(old, old_front, new, new_front):
    """The turn from a direction and what is ahead of it to others."""
    return quat.mul(_axes(new, new_front), quat.inv(_axes(old, old_front)))


def _axes(along, front):
    along = along / np.linalg.norm(along)
    front = front - along * (along @ front)
    if np.linalg.norm(front) < 1e-6:
        front = np.array([0.0, 0.0, 1.0]) - along * along[2]
    front = front / np.linalg.norm(front)
    return quat.from_matrix(np.stack([along, front, np.cross(along, front)], axis=-1).astype(np.float64))
