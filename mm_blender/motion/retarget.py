# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of one character on another: poses by the roles of their bones, travel and height by the length of legs.

All is seen from the roots, which both face +Y and stand on the ground. Equations are those of section 3.2.3 of Motion
Matching in Unity and VR, with poses in which both characters stand instead of T-poses. Where both are the same body,
with other names, axes or in another size, joint follows joint (see same_body.py).
"""

import numpy as np

from ..errors import MotionError
from . import quat
from .correspond import aligned, check, correspondence, driven, limbs, with_feet
from .same_body import facing_alike, joints_alike, stance_alike
from .skeleton import Skeleton
from .stance import STEP, ends_of, from_root, rest_stance, toes_of

# A foot is exactly where the source has it, by its scale, up to this height (share of the leg) above where it stands;
# from the second height on the leg has exactly the source's angles.
LOW, HIGH = 0.02, 0.12
# From this height (share of the leg) on a foot has no say in how high the hips are. Heels count so many times: when one
# rises, it is the lengths of feet that differ, not those of legs.
NEAR, HEEL = 0.4, 2.0
# Legs and arms are never straighter than this share of their length, unless they are in the source.
EXTENSION = 0.995
# The share of what they may get longer up to which they do so freely.
SOFT = 0.3
# How far (share of its length) a knee is before its leg at least when it is asked to which side it bends.
BENT = 0.02
# The body sinks at most so much (share of the leg) to let a foot reach the place where it stands, and by what its feet
# are shorter than the source's, which do not reach as far while the heel is up, and its hips are wider (beyond such a
# share, by which people differ): they carry thighs further away as they turn.
DEEPEST, WIDER = 0.0047, 0.05
# Seconds before and after a contact in which a foot comes to where it is held, and leaves.
EASE = 0.2
_NONE = quat.identity()[:, None]
# So many seconds of a loop before and after it are looked at.
AROUND = 1.5
# Of fewer numbers a call costs more than they do.
FEW_NUMBERS = 8192


def followers(source, target):
    """The names of those joints of a target that move along with a source, both Characters with a root: all where
    they are the same body; otherwise those that follow one of its joints, toes, with which feet stand, and what carries
    the hips."""
    for which, character in (("source", source), ("target", target)):
        check(which, character)
    skeleton = target.skeleton
    if joints_alike(source, facing_alike(source, target)) is not None:
        return skeleton.names
    carrying = _carrying(target, limbs(target, ("thigh",))[:, 0])
    joints = {*driven(source, target), *toes_of(target).tolist(), *skeleton.ancestors(carrying)}
    return tuple(skeleton.names[joint] for joint in sorted(joints))


class Retarget:
    """From poses of a source to those of a target, both Characters with a root (see prepare.root.rooted()).

    scale   the target's legs, as a share of the source's: what lengths of travel are multiplied with
    hands   how much hands keep their height above the ground, by the scale (1), instead of their arms' angles (0)
    moving  the joint of the target that has a place of its own, beside the root: mostly the hips, or what they hang
            from where they are connected to it
    higher  by how much (m) the target's hips are higher than the source's by their scale
    fronts    (2, 3) where the target's knees bend to, seen from its thighs
    standing  (2, 2) how high toe and ankle of the target's feet are while they stand
    """

    def __init__(self, source, target, hands=0.0, source_stance=None, target_stance=None):
        for which, character in (("source", source), ("target", target)):
            check(which, character)
        turned = facing_alike(source, target)
        stance, same = source_stance or rest_stance(source), joints_alike(source, turned)
        self._is_same_body = same is not None
        target = turned if self._is_same_body else target
        if self._is_same_body:
            own = stance_alike(source, target, stance, same)
            self._after = own.rotations
            self._joints, others, shares = same, same, np.zeros(len(same))
        else:
            own = target_stance or rest_stance(target)
            self._after = aligned(source, target, stance, own)
            self._joints, others, shares = correspondence(source, target)
        self._blended = np.flatnonzero(shares > 0)
        self._others, self._shares = others[self._blended], shares[self._blended].astype(np.float32)[:, None]
        target, own = with_feet(source, target, stance, own)
        self.source, self.target, self.hands = source, target, hands
        # Equation 3.22: what leads from the source's joint to the target's.
        back = quat.inv(stance.rotations)
        self._lead = _constant(quat.mul(back[self._joints], self._after))
        self._other_lead = _constant(quat.mul(back[self._others], self._after[self._blended]))
        self._levels = [(level, source.skeleton.parents[level]) for level in source.skeleton.levels[1:]]
        self._above = _doubled(np.maximum(source.skeleton.parents, 0))
        self._parents = target.skeleton.parents[1:]
        self._measure(stance, own)

    # What poses become

    def rotations(self, rotations):
        """Local rotations (…, Jt, 4) of the target with the source's angles, from those of the source (…, Js, 4)."""
        shape = rotations.shape[:-2]
        turns = self._mapped(self._forward(_first(rotations.reshape(-1, *rotations.shape[-2:]))))
        return np.ascontiguousarray(self._locals(turns).transpose(2, 1, 0)).reshape(*shape, -1, 4)

    def poses(self, positions, rotations, moving=None):
        """Local positions (…, 3) of the moving joint and local rotations (…, Jt, 4) of the target.

        positions  (…, M, 3) local ones of the source's joints `moving` (M,), or of all
        rotations  (…, Js, 4) local ones of the source
        """
        shape = rotations.shape[:-2]
        positions, rotations = (part.reshape(-1, *part.shape[-2:]) for part in (positions, rotations))
        place, rotations = self._solved(positions, rotations, moving)
        rotations = np.ascontiguousarray(rotations.transpose(2, 1, 0))
        return np.ascontiguousarray(place.T).reshape(*shape, 3), rotations.reshape(*shape, -1, 4)

    def travel(self, travel):
        """Velocities (…, 3) of the root: right, forward, turning."""
        return travel * self._travel

    def clip(self, clip):
        """A Clip of the source, with a root, on the target; feet stay exactly where they stand (where both are the same
        body, they do what the source's do)."""
        if not clip.skeleton.same_joints(self.source.skeleton):
            raise MotionError(f'Clip "{clip.name}" has another skeleton than the character that it is retargeted from.')
        skeleton = self.target.skeleton
        more, margin = _more_of(clip)
        held = None if self._is_same_body or more.contacts is None else _Held(more, self.scale, self._deepest)
        place, rotations = self._solved(more.positions, more.rotations, held=held)
        frames = slice(margin, margin + len(clip))
        positions = np.repeat(skeleton.positions[None], len(clip), axis=0)
        positions[:, 0], positions[:, self.moving] = clip.positions[:, 0] * self.scale, place.T[frames]
        rotations = np.ascontiguousarray(rotations[:, :, frames].transpose(2, 1, 0))
        rotations[:, 0] = clip.rotations[:, 0]
        return clip.with_changes(skeleton=skeleton, positions=positions, rotations=quat.unroll(rotations),
                                 contacts=None if more.contacts is None else more.contacts[frames])

    def _solved(self, positions, rotations, moving=None, held=None):
        """The moving joint's place (3, F) and local rotations (4, Jt, F) of the target."""
        source_turns = self._forward(_first(rotations))
        turns = self._mapped(source_turns)
        marks = self._points(source_turns, positions, moving)
        joints = self._limbs.points(turns)
        joints = joints.reshape(3, -1, 4, joints.shape[-1])  # of each limb
        hips = self._half_scale * (marks[:, 0] + marks[:, 1])
        place = self._at_rest + hips - 0.5 * (joints[:, 0, 0] + joints[:, 1, 0])
        if not self._is_same_body:  # whose hands and feet are where they should be
            ways = self._ways(place, joints[:, :2], marks[:, 2:6], held)
            self._legs.turn(turns, joints[:, :2], ways)
            if self.hands:
                self._arms.turn(turns, joints[:, 2:], self._hands_ways(place, joints[:, 2:, 2], marks[:, 6:]))
        if self._above_moving is not None:
            above, back = self._above_moving
            place = quat.rotate(back, place - above, axis=0)
        return place, self._locals(turns)

    def _forward(self, rotations):
        """The source's joints (4, Js, F) as seen from the root; may be changed in place."""
        rotations[:, 0] = _NONE
        if rotations.size < FEW_NUMBERS:  # twice as many levels with each step: fewer calls
            for above in self._above:
                rotations = quat.mul(rotations.take(above, axis=1), rotations, axis=0)
            return rotations
        for level, parents in self._levels:
            rotations[:, level] = quat.mul(rotations.take(parents, axis=1), rotations.take(level, axis=1), axis=0)
        return rotations

    def _mapped(self, source):
        """The target's joints (4, Jt, F), seen from the root: equation 3.20, between two joints where there are other
        numbers of them."""
        turns = quat.mul(source.take(self._joints, axis=1), self._lead, axis=0)
        if len(self._blended):
            own, other = turns[:, self._blended], quat.mul(source.take(self._others, axis=1), self._other_lead, axis=0)
            mixed = own + self._shares * (np.where((own * other).sum(axis=0) < 0, -other, other) - own)
            turns[:, self._blended] = mixed / np.sqrt((mixed * mixed).sum(axis=0))
        return turns

    def _locals(self, turns):
        above = quat.inv(turns.take(self._parents, axis=1), axis=0)
        turns[:, 1:] = quat.mul(above, turns[:, 1:], axis=0)
        return turns

    def _points(self, turns, positions, moving):
        """Where hips and toes (and hands) of the source are, (3, P, F)."""
        if moving is None:
            return self._marks.points(turns, {joint: positions[:, joint].T for joint in self._marks.joints
                                              if joint < positions.shape[1]})
        return self._marks.points(turns, {joint: positions[:, at].T for at, joint in enumerate(moving.tolist())})

    def _ways(self, place, legs, source, held):
        """Ways (3, 2, F) on which the legs bring the feet to where they should be; the moving joint's place (3, F)
        moves by what the standing feet have in common: hips may go another way, limbs should not.

        On the ground it is the ankle that is where the source has it, by its scale: the lengths of feet may differ. The
        height is that of the toe, higher where a shorter foot is on its tip.

        legs    (3, 2, 4, F) hip, knee, ankle and toe as the angles have them, seen from the moving joint
        source  (3, 4, F) ankles and toes of the source
        """
        ways = self._feet + self._feet_scale * source[:, :2] - place[:, None]
        high = source[2, 2:] - self._heights
        heels = source[2, :2] - self._heels
        ways[2] += self.scale * (high + self._toes_up * np.maximum(heels, 0))
        ways[:2] -= legs[:2, :, 2]
        ways[2] -= legs[2, :, 3]
        high *= self._per_leg
        weight = _eased(np.clip((HIGH - high) / (HIGH - LOW), 0, 1))
        if held is not None:
            ways, weight = held.held(ways, weight, place, legs[:, :, 3], self.standing[:, :1])
        near = _eased(np.clip(1 - np.maximum(high, heels * self._per_leg * HEEL) / NEAR, 0, 1))
        shift = (near * ways).sum(axis=1) / np.maximum(near.sum(axis=0), 1)
        if held is not None:
            shift = np.stack([held.smoothed(part) for part in shift])
            shift[2] -= held.sinking(self._legs.missing(legs, ways - shift[:, None]))
        place += shift
        ways -= shift[:, None]
        ways *= weight
        if held is not None:
            np.maximum(ways[2], self.standing[:, :1] - legs[2, :, 3] - place[2], out=ways[2])
        return ways

    def _hands_ways(self, place, hands, source):
        """Ways (3, 2, F) to the height of the source's hands."""
        ways = np.zeros_like(hands)
        ways[2] = self.hands * (self.scale * source[2] - hands[2] - place[2])
        return ways

    # What both measure

    def _measure(self, stance, own):
        """Lengths of both characters in the same pose: the source's stance."""
        source, target = self.source, self.target
        (skeleton, own_soles), (source_skeleton, source_soles) = map(_with_soles, (target, source))
        legs, arms = limbs(target, ("thigh", "shin", "foot")), limbs(target, ("upper_arm", "forearm", "hand"))
        if arms is None or limbs(source, ("hand",)) is None:
            self.hands = 0.0
        carrying = _carrying(target, legs[:, 0])
        self.moving = _movable(target, carrying)
        ends = [[*leg, sole] for leg, sole in zip(legs, own_soles)]
        self._limbs = _Paths(skeleton, [*ends, *([*arm, arm[-1]] for arm in arms)] if self.hands else ends, carrying)
        self._legs = _Limbs(target, legs, self._after, driven(source, target))
        self._arms = _Limbs(target, arms, self._after, driven(source, target)) if self.hands else None
        self.fronts = self._legs.fronts[..., 0].T
        thighs, ankles = (limbs(source, (part,))[:, 0] for part in ("thigh", "foot"))
        hands = limbs(source, ("hand",))[:, 0] if self.hands else []
        self._marks = _Paths(source_skeleton, [[*thighs, *ankles, *source_soles, *hands]], 0)
        # Where the target's joints are, in the pose of the source's stance, seen from the middle of the hips.
        near = self._limbs.points(_first(self._after[None]))[:, :8, 0].reshape(3, 2, 4).astype(np.float64)
        near -= near[:, :, :1].mean(axis=1, keepdims=True)
        hips = stance.positions[thighs].mean(axis=0)
        tall, source_tall = -near[2, :, 2].mean(), hips[2] - stance.positions[ankles, 2].mean()
        if not (tall > 0 and source_tall > 0):
            raise MotionError("The legs of source and target cannot be compared: in the pose in which it should stand "
                              f"the {'target' if source_tall > 0 else 'source'} has its feet above its hips.")
        self.scale = float(tall / source_tall)
        self.standing = np.stack([own.heights, own.positions[legs[:, 2], 2]], axis=-1).astype(np.float32)
        at = np.array([*own.positions[legs[:, 0], :2].mean(axis=0), self.standing[:, 1].mean() + tall])
        feet = near[:, :, 2] + at[:, None] - self.scale * stance.positions[ankles].T
        feet[2] = own.heights
        self._place_as(at - self.scale * hips, feet, stance.heights, source_tall)
        self._heels = stance.positions[ankles, 2].astype(np.float32)[:, None]
        sizes = [np.linalg.norm(one.positions[at], axis=-1).mean() for one, at in (
            (source_skeleton, source_soles), (skeleton, own_soles))]
        # By how much, and by which share, the target's feet are shorter than those of the source by its scale.
        known = (source_soles != ankles).all() and (own_soles != legs[:, 2]).all()
        shorter = max(self.scale * sizes[0] - sizes[1], 0.0) if known else 0.0
        self._toes_up = shorter / max(self.scale * sizes[0], 1e-9)
        across = stance.positions[thighs[1]] - stance.positions[thighs[0]]
        wider = np.linalg.norm(near[:, 1, 0]) - self.scale * np.linalg.norm(across) / 2 - WIDER * tall
        self._deepest = DEEPEST * tall + shorter + max(wider, 0.0)
        parent, between = skeleton.parents[self.moving], skeleton.path(self.moving, carrying)
        above = from_root(*skeleton.rest)[0][parent] + quat.rotate(
            self._after[skeleton.parents[between]], skeleton.positions[between]).sum(axis=0)
        above = above, quat.inv(self._after[parent])
        self._above_moving = tuple(part.astype(np.float32)[:, None] for part in above) if parent or between else None

    def _place_as(self, hips, feet, heights, leg):
        self.higher, self._at_rest = float(hips[2]), hips.astype(np.float32)[:, None]
        self._feet, self._heights = feet.astype(np.float32)[..., None], heights.astype(np.float32)[:, None]
        self._feet_scale = np.array([self.scale, self.scale, 0], dtype=np.float32)[:, None, None]
        self._half_scale, self._per_leg = np.float32(self.scale / 2), np.float32(1 / leg)
        self._travel = np.array([self.scale, self.scale, 1], dtype=np.float32)


def _doubled(above):
    """What each joint (J,) hangs from, then the joint two above it, four above, and so on: tables up to the first."""
    steps = []
    while above.any():
        steps.append(above)
        above = above[above]
    return steps


def _carrying(target, thighs):
    """The joint of the target from which hips, legs and spine hang."""
    skeleton = target.skeleton
    joint = skeleton.fork(*thighs)
    for other in [target.joint("hips"), *target.chain("spine")[:1]]:
        joint = skeleton.fork(joint, other)
    if joint == 0:
        raise MotionError(f'Hips and legs of the target hang from its root "{skeleton.names[0]}" one by one: they need '
                          "a bone that carries them all.")
    return joint


def _movable(target, joint):
    """A joint, or the next one above it that can have a place of its own."""
    skeleton = target.skeleton
    while skeleton.names[joint] in target.connected and skeleton.parents[joint] > 0:
        joint = int(skeleton.parents[joint])
    if skeleton.names[joint] in target.connected:
        raise MotionError(f'The bone "{skeleton.names[joint]}" of the target is connected to its root '
                          f'"{skeleton.names[0]}", so hips cannot rise and sink: disconnect it in Edit Mode.')
    return joint


def _with_soles(character):
    """The skeleton of a character with a joint more for each sole that is none, and the soles' joints (2,)."""
    skeleton, ends = character.skeleton, ends_of(character)
    found, more = toes_of(character), np.flatnonzero(ends.any(axis=1))
    if not len(more):
        return skeleton, found
    feet = found[more]
    found[more] = np.arange(len(skeleton), len(skeleton) + len(more))
    return Skeleton([*skeleton.names, *(f"sole of {skeleton.names[foot]}" for foot in feet)],
                    [*skeleton.parents, *feet], np.concatenate([skeleton.positions, ends[more]]),
                    np.concatenate([skeleton.rotations, quat.identity((len(more),))])), found


class _Paths:
    """Where some joints are, seen from one that they hang from: the sum of the ways down to them."""

    def __init__(self, skeleton, ends, top):
        paths = [skeleton.path(top, end) for row in ends for end in row]
        self.joints = sorted({joint for path in paths for joint in path})
        self._parents = skeleton.parents[self.joints]
        self._ways = _constant(skeleton.positions[self.joints])
        self._sums = np.array([[joint in path for joint in self.joints] for path in paths], dtype=np.float32)

    def points(self, turns, moving=None):
        """(3, P, F) for joints that are turned (4, J, F); moving: local positions (3, F) of some joints."""
        ways = self._ways
        if moving:
            ways = np.repeat(ways, turns.shape[-1], axis=-1)
            for joint, place in moving.items():
                if joint in self.joints:
                    ways[:, self.joints.index(joint)] = place
        return self._sums @ _turned(turns.take(self._parents, axis=1), ways)


class _Limbs:
    """Two limbs of the target, joints (2, 3), that bend to bring their ends somewhere.

    fronts  (3, 2, 1) where knees (or elbows) bend to where limbs are straight: ahead, seen from their upper bones
    """

    def __init__(self, target, joints, after, own_source):
        skeleton, upper = target.skeleton, joints[:, 0]
        self._upper, self.fronts = upper, _constant(quat.inv_rotate(after[upper], np.array([0.0, 1.0, 0.0])))[..., 0]
        self.fronts = self.fronts[..., None]
        # The bones themselves, and what is carried by them without a source of its own: twist bones.
        riding = [(joint, which) for which, bone in enumerate(joints[:, :2].T.ravel())
                  for joint in _carried_by(skeleton, bone, own_source)]
        self._riding, self._which = (np.array(column) for column in zip(*riding))
        places = skeleton.rest[0][joints]
        self._sizes = _Sizes(np.linalg.norm(np.diff(places, axis=1), axis=-1).T.astype(np.float32)[..., None])

    def missing(self, joints, ways):
        """(2, F) how much lower the body would have to be for limbs to reach along such ways softly."""
        limb = joints[:, :, 2] - joints[:, :, 0]
        x, y, z = limb + ways
        old = np.sqrt(_dot(limb, limb))
        reach = old + SOFT * np.maximum(self._sizes.longest * EXTENSION - old, 0)
        return np.maximum(-z - np.sqrt(np.maximum(reach * reach - x * x - y * y, 0)), 0)

    def turn(self, turns, joints, ways):
        """Turn the bones (4, J, F) so that the ends of the limbs, joints (3, 2, 3 or 4, F), go along ways (3, 2, F)."""
        upper, lower = joints[:, :, 1] - joints[:, :, 0], joints[:, :, 2] - joints[:, :, 1]
        fronts = _turned(turns.take(self._upper, axis=1), self.fronts)
        swings = _bent(upper, lower, ways, fronts, self._sizes)
        turned = quat.mul(swings.take(self._which, axis=1), turns.take(self._riding, axis=1), axis=0)
        turns[:, self._riding] = turned


def _carried_by(skeleton, joint, own_source):
    """A joint and those that hang from it but have no source of their own."""
    carried = [joint]
    for below in range(joint + 1, len(skeleton)):
        if skeleton.parents[below] in carried and below not in own_source:
            carried.append(below)
    return carried


def _bent(upper, lower, way, front, sizes):
    """The swings (4, 4, F) of the upper bones (3, 2, F) of limbs, and of the lower ones, so that the ends go along a
    way (3, 2, F).

    The joint between them stays on its side: where the limb is straight, on the side that front points to.
    """
    limb = upper + lower
    ends = np.stack((limb, limb + way), axis=1)
    lengths = np.sqrt(_dot(ends, ends)) + 1e-6
    (old, far), (was, along) = lengths, (ends / lengths).swapaxes(0, 1)
    # It slows down before it is as long as it may be.
    room = np.maximum(sizes.longest * EXTENSION - old, 1e-5)
    reach = np.where(far > old, old + room * np.tanh((far - old) / room), far)
    reach = np.minimum(np.maximum(reach, sizes.shortest), sizes.longest * 0.99999)
    side = upper - was * _dot(upper, was)
    bend = sizes.bent - _dot(side, front)
    if bend.max() > 0:
        side = side + np.maximum(bend, 0) * (front - was * _dot(front, was))
    # The side turns along with the limb, by the shortest way.
    side = side - (was + along) * (_dot(side, along) / (1 + _dot(was, along) + 1e-6))
    ahead = (sizes.difference / reach + reach) / 2
    across = np.sqrt(np.maximum(sizes.square - ahead * ahead, 0) / (_dot(side, side) + 1e-12))
    new_upper = ahead * along + across * side
    # The shortest turns: twice those to what lies halfway.
    old, new = (np.concatenate(pair, axis=1) for pair in ((upper, lower), (new_upper, reach * along - new_upper)))
    swings = _DOT_AND_CROSS.dot((old[:, None] * new).reshape(9, -1)).reshape(4, *old.shape[1:])
    swings[0] += sizes.squares
    return swings / np.sqrt(_dot(swings, swings))


class _Sizes:
    """What lengths (2, 2, 1) of the upper bones of two limbs, and of the lower ones, say about how they bend."""

    def __init__(self, lengths):
        upper, lower = lengths
        self.longest, self.shortest = upper + lower, np.abs(upper - lower) * 1.001 + 1e-6
        self.square, self.difference = upper * upper, upper * upper - lower * lower
        self.squares, self.bent = np.concatenate(lengths * lengths) + 1e-12, BENT * upper


# What each of the nine pairs of components adds to the product of two vectors, and to their cross product.
_DOT_AND_CROSS = np.concatenate([np.eye(3)[None], np.cross(np.eye(3)[:, None], np.eye(3)).transpose(2, 0, 1)]).reshape(
    4, 9).astype(np.float32)


class _Held:
    """Where the feet of a clip are held: each contact at one place, to which a foot comes and from which it leaves."""

    def __init__(self, clip, scale, deepest):
        """scale: of the target; deepest: how far it may sink."""
        self._step, self._deepest = STEP * scale, deepest
        self._contacts, self._ease = clip.contacts, max(1, round(EASE * clip.rate))
        self._places = clip.positions[:, 0].T * scale
        self._turns = np.ascontiguousarray(clip.rotations[:, 0].T)

    def smoothed(self, rise):
        """A curve (F,) without what is shorter than it takes a foot to come down."""
        window = np.hanning(2 * self._ease + 1)[1:-1]
        padded = np.pad(rise, self._ease - 1, mode="edge")
        return np.convolve(padded, window / window.sum(), "valid").astype(np.float32)

    def sinking(self, missing):
        """(F,) how deep the body sinks so that the feet that stand, (2, F), are within reach."""
        missing = np.where(self._contacts.T, missing, 0)
        padded = np.pad(np.minimum(missing, self._deepest).max(axis=0), self._ease)
        deepest = np.max([padded[at:at + missing.shape[1]] for at in range(2 * self._ease + 1)], axis=0)
        return self.smoothed(deepest)

    def held(self, ways, weight, place, toes, standing):
        """Ways (3, 2, F) and their weights (2, F) as they become.

        place     (3, F) of the moving joint: it rises where the clip has the ground deeper than others
        toes      (3, 2, F) seen from there
        standing  (2, 1) how high toes are when they stand
        """
        goals = ways + toes + place[:, None]
        floor = self._floor(goals[2], standing)
        goals[2] += floor
        place[2] += np.mean(floor)
        world = quat.rotate(self._turns[:, None], goals, axis=0) + self._places[:, None]
        shift, weight = np.zeros_like(world), weight.copy()
        for side in range(2):
            spans = _spans(self._contacts[:, side])
            for start, stop in spans:
                stand = world[:, side, start:stop].mean(axis=1)
                if abs(stand[2] - standing[side, 0]) < self._step:
                    stand[2] = standing[side, 0]
                shift[:, side, start:stop] = stand[:, None] - world[:, side, start:stop]
            shift[:, side] = _carried(shift[:, side], spans, self._ease)
            full = _carried(self._contacts[:, side].astype(np.float32)[None], spans, self._ease)[0]
            weight[side] = np.maximum(weight[side], full)
        goals += quat.rotate(quat.inv(self._turns, axis=0)[:, None], shift, axis=0)
        return goals - toes - place[:, None], weight

    def _floor(self, heights, standing):
        """(2, 1) by how much toes at such heights (2, F) have to be raised to stand at theirs (2, 1) on average: clips
        differ in where they have the ground."""
        if not self._contacts.any(axis=0).all():
            return 0.0
        off = [[float(np.median(standing[side] - heights[side, self._contacts[:, side]]))] for side in (0, 1)]
        return np.where(np.abs(off) < self._step, off, 0).astype(np.float32)


def _more_of(clip):
    """A loop with what comes before and after it, and how many frames these are, so that it closes afterwards too."""
    margin = min(round(AROUND * clip.rate), len(clip) - 1)
    if not clip.loop or margin < 1 or clip.contacts is None:
        return clip, 0
    first, last = ((clip.positions[at, 0], clip.rotations[at, 0]) for at in (0, -1))
    parts = []
    for frames, begin, end in ((slice(-1 - margin, -1), last, first), (slice(1, 1 + margin), first, last)):
        turn = quat.mul(end[1], quat.inv(begin[1]))
        positions, rotations = clip.positions[frames].copy(), clip.rotations[frames].copy()
        positions[:, 0] = end[0] + quat.rotate(turn, positions[:, 0] - begin[0])
        rotations[:, 0] = quat.mul(turn, rotations[:, 0])
        parts.append((positions, rotations, clip.contacts[frames]))
    whole = (clip.positions, clip.rotations, clip.contacts)
    positions, rotations, contacts = map(np.concatenate, zip(parts[0], whole, parts[1]))
    return clip.with_changes(positions=positions, rotations=rotations, contacts=contacts, curves={}, tags=()), margin


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


def _turned(turns, vectors):
    """Vectors (3, J, F) turned by rotations (4, J, F)."""
    if turns.size < FEW_NUMBERS:
        return (quat.to_matrix(turns, axis=0) * vectors).sum(axis=1)
    return quat.rotate(turns, vectors, axis=0)


def _dot(a, b):
    return np.einsum("i...,i...->...", a, b)


def _first(array):
    """A copy (C, J, F) of an array (F, J, C)."""
    return np.array(array.transpose(2, 1, 0), dtype=np.float32, order="C")


def _constant(table):
    """A table (J, C) as (C, J, 1)."""
    return np.array(table.T[..., None], dtype=np.float32, order="C")
