# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that stay where they stand: the toe is locked while it is in contact, and the leg reaches for it.

Everything is (K, 2, …): K characters, left and right.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import MotionError
from ..motion import quat, spring

PARTS = ("thigh", "shin", "foot", "toe")


# A foot that was let go steps for so many seconds, so high (m), before it is held again.
STEP, STEP_HEIGHT = 0.25, 0.06
# A free foot that a transition would drag so far under the ground (m) is lifted over it.
SUNK = 0.005
# Half-life in seconds and largest height (m) of the lift of a foot that would drag.
LIFT_HALFLIFE, HIGHEST = 0.08, 0.08


@dataclass(frozen=True)
class Lock:
    """How feet are held.

    speed      a foot in contact is locked once it is slower than this (m/s)
    release    a foot that the body has left behind so far (m) is let go, and steps to where it should be
    halflife   seconds in which what is left of a lock decays
    lift       seconds: a foot that should stand and still moves is lifted by its speed times this, so it does not drag
    extension  legs are never straighter than this share of their length, unless the motion itself has them so
    """

    on: bool = True
    speed: float = 1.2
    release: float = 0.2
    halflife: float = 0.1
    lift: float = 0.04
    extension: float = 0.985


class Legs:
    """Both legs of a character: which joints they are, and their kinematics seen from the root."""

    def __init__(self, character, fixed, moving):
        skeleton = character.skeleton
        self.has_toes = all(character.has(f"{side}_toe") for side in ("left", "right"))
        parts = PARTS if self.has_toes else (*PARTS[:3], "foot")
        self.joints = np.array([[character.joint(f"{side}_{part}") for part in parts] for side in ("left", "right")])
        self.turning = self.joints if self.has_toes else self.joints[:, :3]
        for side in self.joints:
            if not (skeleton.parents[side[1]] == side[0] and skeleton.parents[side[2]] == side[1]):
                raise MotionError(f'"{skeleton.names[side[2]]}" does not hang from "{skeleton.names[side[1]]}" and '
                                  f'"{skeleton.names[side[0]]}" directly: feet cannot be held on this skeleton.')
        needed = {joint for side in self.joints for joint in _above(skeleton, side[3])}
        self.order = np.array(sorted(needed - {0}))
        place = {int(joint): index for index, joint in enumerate(self.order)}
        parents = [place.get(int(skeleton.parents[joint]), -1) for joint in self.order]
        self.levels = _levels(parents)
        self.at = np.vectorize(place.get)(self.joints)  # (2, 4) into order
        self.fixed = fixed[self.order]
        self._moving = [(column, place[int(joint)]) for column, joint in enumerate(moving) if int(joint) in place]
        bones = np.linalg.norm(fixed[self.joints[:, 1:]], axis=-1) * (self.joints[:, 1:] != self.joints[:, :-1])
        self.lengths = bones.sum(axis=-1)  # (2,) from hip to toe

    def forward(self, positions, rotations):
        """Places (K, L, 3) and rotation matrices (K, L, 3, 3) of the joints in `order`, seen from the root; from the
        positions (K, M, 3) of the moving joints and all rotations (K, J, 4)."""
        count = len(rotations)
        places = np.broadcast_to(self.fixed, (count, *self.fixed.shape)).copy()
        for column, index in self._moving:
            places[:, index] = positions[:, column]
        turns = quat.to_matrix(rotations[:, self.order])
        for below, above in self.levels:
            parent = turns[:, above]
            places[:, below] = places[:, above] + (parent @ places[:, below, :, None])[..., 0]
            turns[:, below] = parent @ turns[:, below]
        return places, turns


class Feet:
    """Holds the toes of K characters where they touch the ground. Each frame: release(), hold(), reach().

    What a held leg differs from the motion is not taken back in space but joint by joint, as in a transition: near a
    straight leg a small way of the foot is a large one of the knee, which would pop.
    """

    def __init__(self, legs, count, lock=None):
        self.legs, self.lock = legs, lock or Lock()
        self.locked = np.zeros((count, 2), dtype=bool)
        self.points = np.zeros((count, 2, 3))
        self._far, self._wait = np.zeros((count, 2), dtype=bool), np.zeros((count, 2))
        self._left, self._spins = (np.zeros((count, *legs.turning.shape, 3)) for _ in range(2))
        self._turned, self._turning = (np.zeros_like(self._left) for _ in range(2))
        self._drop, self._sinking = np.zeros((count, 2)), np.zeros((count, 2))
        self._lift, self._rising = np.zeros((count, 2)), np.zeros((count, 2))
        self._shown, self._velocity = None, np.zeros((count, 2, 3))

    def release(self, rotations, contacts, dt):
        """Let go of feet that should no longer stand or are too far away, and lay what is left of earlier locks over
        the rotations (K, J, 4), in place. contacts: (K, 2) whether the source says that each foot stands."""
        end = self.locked & (~contacts | self._far | (not self.lock.on))
        self._wait = np.where(end & self._far, STEP, np.maximum(self._wait - dt, 0))
        self.locked = self.locked & ~end
        self._left[end], self._spins[end] = self._turned[end], self._turning[end]
        self._left, self._spins = spring.decay(self._left, self._spins, self.lock.halflife, dt)
        joints = self.legs.turning
        rotations[:, joints] = quat.mul(quat.from_scaled_angle_axis(self._left), rotations[:, joints])

    def hold(self, toes, hips, contacts, ground, dt):
        """Where the toes should be, (K, 2, 3) in the world: locked while in contact, not under the ground (2,).

        toes, hips  (K, 2, 3) where the released pose has them
        """
        lock = self.lock
        if self._shown is None:
            self._shown = toes.copy()
        pace = _length(self._velocity[..., :2])[..., 0]
        begin = contacts & ~self.locked & (pace < lock.speed) & (self._wait == 0) & lock.on
        self.locked = self.locked | begin
        # It comes to rest within two frames, half of its speed in each, and sinks to the ground.
        stop = self._shown + self._velocity * (dt / 2)
        stop[..., 2] = ground
        self.points = np.where(begin[..., None], stop, self.points)
        self._drop = np.where(begin, self._shown[..., 2] - self._lift - ground, self._drop)
        self._sinking = np.where(begin, self._velocity[..., 2] - self._rising, self._sinking)
        self._drop, self._sinking = spring.decay(self._drop, self._sinking, lock.halflife, dt)
        self._raise((contacts | (toes[..., 2] < ground - SUNK)) & ~self.locked & lock.on, pace, dt)
        shown = np.where(self.locked[..., None], self.points, toes)
        shown[..., 2] += self._lift + self.locked * self._drop
        shown[..., 2] = np.maximum(shown[..., 2], ground)
        self._far = _length(toes - self.points)[..., 0] > lock.release
        self._far |= _length(hips - self.points)[..., 0] > self.legs.lengths
        self._velocity, self._shown = (shown - self._shown) / dt, shown
        return shown

    def _raise(self, dragging, pace, dt):
        """Lift feet that would drag, more the faster they are, and those that step; lower the others."""
        goals = np.maximum(np.minimum(pace * self.lock.lift, HIGHEST), STEP_HEIGHT * (self._wait > STEP / 2)) * dragging
        self._lift, self._rising = spring.towards(self._lift, self._rising, goals, LIFT_HALFLIFE, dt)

    def remember(self, rotations, shown, dt):
        """What the legs that are shown (K, J, 4) differ from those of the motion."""
        joints = self.legs.turning
        turn = quat.mul(shown[:, joints], quat.inv(rotations[:, joints]))
        turned = quat.to_scaled_angle_axis(quat.absolute(turn))
        self._turning, self._turned = (turned - self._turned) / dt, turned

    def reach(self, places, turns, rotations, goals):
        """Turn the legs in `rotations` (K, J, 4, changed in place) so that the toes come to goals (K, 2, 3), all seen
        from the root. The foot keeps its direction, unless the leg is too short: then its heel rises. The knee stays
        in its plane."""
        at, joints = self.legs.at, self.legs.joints
        hip, knee, ankle, toe = (places[:, at[:, part]] for part in range(4))
        flat = ankle + goals - toe
        longest = self._longest(hip, knee, ankle, flat)
        target = heel_up(hip, flat, goals, longest)
        new_knee, new_ankle = two_bones(hip, knee, ankle, target, longest)
        # Thigh, shin and foot at once: small arrays cost by the call.
        old = quat.from_matrix(turns[:, at])
        swing = quat.between(np.stack([knee - hip, ankle - knee, flat - goals], axis=2),
                             np.stack([new_knee - hip, new_ankle - new_knee, target - goals], axis=2))
        new = quat.mul(swing, old[:, :, :3])
        above = quat.mul(old[:, :, 0], quat.inv(rotations[:, joints[:, 0]]))  # what the thigh hangs from
        parents = np.concatenate([above[:, :, None], new[:, :, :2]], axis=2)
        rotations[:, joints[:, :3]] = quat.mul(quat.inv(parents), new)
        if self.legs.has_toes:
            rotations[:, joints[:, 3]] = quat.mul(quat.inv(new[:, :, 2]), old[:, :, 3])

    def _longest(self, hip, knee, ankle, target):
        """(K, 2, 1) how far from the hip the ankle may get; with toes to turn about it slows down before."""
        old, most = _length(ankle - hip), (_length(knee - hip) + _length(ankle - knee)) * self.lock.extension
        room = np.maximum(most - old, 1e-6)
        if not self.legs.has_toes:
            return old + room
        return old + room * np.tanh(np.maximum(_length(target - hip) - old, 0) / room)


def heel_up(hip, ankle, toe, longest):
    """Ankles (…, 3) brought within reach of the hips by turning the foot about the toe, where they are not already."""
    foot, up = ankle - toe, hip - toe
    size, away = _length(foot), np.maximum(_length(up), 1e-9)
    up = up / away
    along = np.clip((size ** 2 + away ** 2 - longest ** 2) / (2 * away), -size, size)
    side = foot - up * (foot * up).sum(-1, keepdims=True)
    side = side / np.maximum(_length(side), 1e-9)
    raised = toe + up * along + side * np.sqrt(np.maximum(size ** 2 - along ** 2, 0))
    return np.where((_length(ankle - hip) > longest + 1e-7) & (size > 1e-6), raised, ankle)


def two_bones(hip, knee, ankle, target, longest):
    """New positions of knee and ankle (…, 3) of legs that reach for a target: exact where it is not beyond the longest
    reach (…, 1) from the hip."""
    upper, lower = _length(knee - hip), _length(ankle - knee)
    old, way = ankle - hip, target - hip
    reach = np.clip(_length(way), np.abs(upper - lower) * 1.001 + 1e-6, np.minimum(longest, upper + lower))
    ahead = way / np.maximum(_length(way), 1e-9)
    side = knee - hip - old * (((knee - hip) * old).sum(-1, keepdims=True) / np.maximum((old * old).sum(
        -1, keepdims=True), 1e-12))
    # A straight leg has no side to bend to: then the knee bends forward.
    side = side + np.array([0.0, 1e-4, 0.0])
    side = quat.rotate(quat.between(old, way), side)
    side -= ahead * (side * ahead).sum(-1, keepdims=True)
    side /= np.maximum(_length(side), 1e-12)
    along = (upper ** 2 - lower ** 2 + reach ** 2) / (2 * reach)
    height = np.sqrt(np.maximum(upper ** 2 - along ** 2, 0))
    return hip + ahead * along + side * height, hip + ahead * reach


def _length(vectors):
    return np.sqrt((vectors * vectors).sum(-1, keepdims=True))


def _above(skeleton, joint):
    line = []
    while joint >= 0:
        line.append(int(joint))
        joint = skeleton.parents[joint]
    return line


def _levels(parents):
    """Pairs of index arrays: joints, and what they hang from; those that hang from the root itself are at its foot."""
    depth = []
    for parent in parents:
        depth.append(0 if parent < 0 else depth[parent] + 1)
    depth, parents = np.array(depth), np.array(parents)
    return [(below := np.flatnonzero(depth == level), parents[below]) for level in range(1, depth.max() + 1)]
