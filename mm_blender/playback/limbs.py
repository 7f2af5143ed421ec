# SPDX-License-Identifier: GPL-3.0-or-later
"""The limbs that a character stands on: which joints they are, where they are, and how their joints turn.

A limb is named like a leg, whatever it is: its thigh hangs from the hip (of an arm that is walked on, the upper arm
from the shoulder), then come shin, foot and toe. The toe is what stands on the ground: a joint, or a place on the foot
where that is the last joint. What lies between them (a bone that twists, a fourth segment of an animal's leg) keeps its
angles, as if it were grown together with what it hangs from.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..motion import quat

# The share of the foot's length by which a limb gets longer as the heel rises, before the foot is let go.
STRETCH = 0.85
# The percentile of an ankle's heights while the foot stands that is taken for its standing height.
LOW = 5


class Posed(NamedTuple):
    """Limbs as the motion has them, seen from their character's root, each (…, L, 3): the hip's place, the ways from
    hip to knee, knee to ankle and ankle to toe, where the knee bends to, and the toe's place."""

    hip: np.ndarray
    thigh: np.ndarray
    shin: np.ndarray
    foot: np.ndarray
    front: np.ndarray
    toe: np.ndarray


class Limbs:
    """The L limbs of a character.

    joints      (L, 4) thigh, shin, foot and toe; -1 where the toe is no joint of its own, and of limbs that do not bend
    bends       [L] whether it can reach for a place
    lengths     [L] from hip to toe, at most; no end of one that does not bend
    turns_foot  [L] whether the foot can turn about the toe: not where they are the same place
    carried     (J,) which joints neither belong to the limbs nor carry them
    fronts      (L, 3) where each knee bends to, seen from its thigh
    size        of the character, as Character has it
    """

    def __init__(self, character, fixed, moving):
        skeleton = character.skeleton
        self.joints = np.array([_joints_of(limb, character) for limb in character.limbs], dtype=int).reshape(-1, 4)
        self.bends = [limb.bends for limb in character.limbs]
        # The lines from below the root to each of the four: what hangs from the hips is the first of them. All of a
        # limb that does not bend is its hip.
        parts = [[skeleton.path(above, joint) if joint >= 0 else [] for above, joint in pairwise([0, *joints])]
                 if limb.bends else [skeleton.path(0, character.joint(limb.contact)), [], [], []]
                 for limb, joints in zip(character.limbs, self.joints.tolist())]
        longest = [max([1, *map(len, part)]) for part in zip(*parts)] or [1] * 4
        # Level by level, the root left out: everything is seen from there. Where a line is shorter than others, joints
        # that do nothing come before it.
        lines = np.array([[joint for part, most in zip(limb, longest) for joint in [-1] * (most - len(part)) + part]
                          for limb in parts], dtype=int).reshape(-1, sum(longest)).T
        self._line, self._idle = np.maximum(lines, 0), lines < 0
        self._offsets = np.where(self._idle[..., None], 0, fixed[self._line]).astype(np.float32)
        # Where each of the four ends among the levels.
        self._ends = np.cumsum(longest) - 1
        # A toe that is no joint is where the foot ends.
        ends = np.array([limb.end for limb in character.limbs]).reshape(-1, 3)
        self._offsets[-1] = np.where(self.joints[:, 3:] < 0, ends, self._offsets[-1])
        self._moving = [(column, *np.nonzero(lines == joint)) for column, joint in enumerate(moving)]
        bones = np.linalg.norm(self._bones_at_rest(skeleton), axis=-1)
        self.lengths = np.where(self.bends, bones.T @ [1, 1, STRETCH], np.inf).tolist()
        self.turns_foot = (bones[-1] > 0).tolist()
        above, below = {0, *lines.flat}, set(self.joints.flat)
        self.carried = np.array([joint not in above and not below & set(skeleton.ancestors(joint))
                                 for joint in range(len(skeleton))])
        self.fronts, self.size = np.zeros((len(self), 3)), character.size

    def __len__(self):
        return len(self.joints)

    def seen_from_root(self, positions, rotations):
        """The limbs (…, L, 6, 3) of poses, in the order of Posed; and how joints are turned, seen from the root: (…, L,
        2, 4, 4), of what thigh, shin, foot and toe hang from, and of themselves.

        positions (…, M, 3) of the moving joints, rotations (…, J, 4)
        """
        # Levels first, then limbs and components, then poses: what is worked out at once lies together.
        batch = rotations.shape[:-2]
        turns = rotations.reshape(-1, *rotations.shape[-2:])[:, self._line].transpose(1, 3, 2, 0)
        turns[self._idle.nonzero()[0], :, self._idle.nonzero()[1]] = quat.identity()[:, None]
        ways = np.repeat(self._offsets.transpose(0, 2, 1)[..., None], turns.shape[-1], axis=-1)
        for column, levels, limbs in self._moving:
            ways[levels, :, limbs] = positions[..., column, :].reshape(-1, 3).T
        for level in range(1, len(turns)):
            ways[level] = quat.rotate(turns[level - 1], ways[level], axis=0)
            turns[level] = quat.mul(turns[level - 1], turns[level], axis=0)
        front = quat.rotate(turns[self._ends[0]], np.broadcast_to(self.fronts.T[..., None], ways[-1].shape), axis=0)
        hip, *bones = self._sums(ways)
        posed = np.stack([hip, *bones, front, hip + sum(bones)])
        own, above = turns[self._ends], turns[self._ends - 1]
        if self._ends[0] == 0:  # the thighs hang from the root
            above[0] = _unturned_like(above[0])
        return (posed.transpose(3, 2, 0, 1).reshape(*batch, len(self), 6, 3).astype(np.float32),
                np.stack([above, own]).transpose(4, 3, 0, 1, 2).reshape(*batch, len(self), 2, 4, 4))

    def _sums(self, ways):
        """What the ways (levels, …) of hip, thigh, shin and foot are in all."""
        begin = 0
        for end in (self._ends + 1).tolist():
            yield ways[begin] if end == begin + 1 else ways[begin:end].sum(axis=0)
            begin = end

    def _bones_at_rest(self, skeleton):
        """(3, L, 3) thigh, shin and foot, each from its joint to the next, with bones as the rest pose has them."""
        still = skeleton.rotations[self._line]
        still[self._idle] = quat.identity()
        ways, found, begin = self._offsets, [], self._ends[0] + 1
        for end in (self._ends[1:] + 1).tolist():
            way, turn = ways[begin], still[begin]
            for level in range(begin + 1, end):
                way, turn = way + quat.rotate(turn, ways[level]), quat.mul(turn, still[level])
            found.append(way)
            begin = end
        return np.array(found)

    def stance(self, positions, rotations, contacts):
        """(L, 2) how high toe and ankle of each limb are over the root while it stands, in such poses with contacts
        (F, L); the ankle before the heel leaves the ground. The limbs learn meanwhile where their knees bend to."""
        limbs, turns = self.seen_from_root(positions, rotations)
        posed = Posed(*np.moveaxis(limbs.astype(float), -2, 0))
        self.fronts = _fronts(posed, turns[..., 1, 0, :])
        toes, ankles = posed.toe[..., 2], (posed.toe - posed.foot)[..., 2]
        heights = np.zeros((len(self), 2))
        for limb, stands in enumerate(contacts.T):
            if stands.any():
                heights[limb] = np.median(toes[stands, limb]), np.percentile(ankles[stands, limb], LOW)
        return heights


def turned(swings, turns):
    """The local rotations (K, L, 4, 4) of thigh, shin, foot and toe after swings of them and of what carries the thigh,
    seen from the root: what lies between two of them swings with the upper one.

    swings  (K, L, 5, 4)
    turns   (K, L, 2, 4, 4) how the joints were turned before, as seen_from_root() has it
    """
    return quat.inv_mul(quat.mul(swings[:, :, :-1], turns[:, :, 0]), quat.mul(swings[:, :, 1:], turns[:, :, 1]))


def _joints_of(limb, character):
    """Thigh, shin, foot and toe of a limb; -1 for a toe that is no joint, and for all of one that does not bend."""
    toe = limb.roles[3] if len(limb.roles) > 3 and character.has(limb.roles[3]) else None
    return [*map(character.joint, limb.roles[:3]), character.joint(toe) if toe else -1] if limb.bends else [-1] * 4


def _unturned_like(turns):
    still = np.zeros_like(turns)
    still[0] = 1
    return still


def _fronts(limbs, turns):
    """(L, 3) where the knees bend to in poses (F, L): across the thigh, away from where the shin goes, seen from the
    thigh, which is turned so (F, L, 4)."""
    thigh, shin = limbs.thigh, limbs.shin
    across = thigh * ((shin * thigh).sum(-1) / np.maximum((thigh * thigh).sum(-1), 1e-18))[..., None] - shin
    fronts = quat.inv_rotate(turns, across).mean(axis=0)
    return fronts / np.maximum(np.linalg.norm(fronts, axis=-1, keepdims=True), 1e-9)  # stiff knees have none
