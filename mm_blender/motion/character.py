# SPDX-License-Identifier: GPL-3.0-or-later
"""A character: a skeleton, and what its joints mean."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..errors import MotionError
from . import quat
from .sides import split_side
from .skeleton import Skeleton
from .sole import sole_of

SIDED = ("shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
ROLES = ("root", "hips", "spine", "chest", "neck", "head",
         *(f"left_{part}" for part in SIDED), *(f"right_{part}" for part in SIDED))

# Metres that a person's leg is long from hip to ankle, and how many times longer or shorter one counts as such, too.
PERSON, LIKE_PEOPLE = 0.85, 8.0
# By so much more of a leg's height than its last joint no paw is from the ground.
PAW = 0.1
LEG, FORE_LEG = ("thigh", "shin", "foot", "toe"), ("upper_arm", "forearm", "hand")
FINGERS = ("thumb", "index", "middle", "ring", "pinky")
_FINGER_WORDS = {"little": "pinky", "pinkie": "pinky", "mid": "middle"}
_PALM = {"metacarpal", "palm", "meta", "carpal"}


class Limb(NamedTuple):
    """What a character stands on.

    name     as a person calls it, such as "left leg"
    roles    from the root of the limb to its tip: thigh, shin, foot and toe, or their like of an arm; the toe may be
             missing, and there may be further joints between them
    contact  the role of the joint that touches the ground
    end      where on that joint, in its own frame: its own place, or, of feet without toes and of paws, its end
    tag      ranges of a clip in which it stands can be tagged `contact.` and this
    bends    whether it has all that it takes to reach for a place, each part below the one before
    """

    name: str
    roles: tuple
    contact: str
    end: tuple
    tag: str
    bends: bool = True


@dataclass(frozen=True, eq=False)
class Character:
    """The common language between rigs: which joint plays which role.

    roles    role → joint name; a role that the rig does not have is absent. "root" is present only when the rig has a
             bone that carries the character over the ground
    mirror   joint name → name of the joint on the other side (a joint in the middle is its own)
    forward  the axis of the root bone that points where the character faces, such as "+Y"; used with a root bone only
    connected  names of joints that begin where their parents end, and cannot be anywhere else
    four_legged  whether it walks on its arms, too: then paws are where the bones of hands and feet end
    """

    skeleton: Skeleton
    roles: dict = field(default_factory=dict)
    mirror: dict = field(default_factory=dict)
    forward: str = "+Y"
    connected: frozenset = frozenset()
    four_legged: bool = False

    @cached_property
    def leg(self):
        """How long its legs are from hip to ankle (m), on average; 0 where it has none."""
        places, found = self.skeleton.rest[0], []
        for side in ("left", "right"):
            line = [places[self.joint(role)] for part in LEG[:3] if self.has(role := f"{side}_{part}")]
            if len(line) > 1:
                found.append(float(np.linalg.norm(np.diff(line, axis=0), axis=-1).sum()))
        return sum(found) / max(len(found), 1)

    @property
    def size(self):
        """How many times as large as a person it is, by its legs: what is measured in metres and is meant for people is
        multiplied by it. One that is like a cat or a giant counts as a person: what is much smaller or larger is so
        by its units."""
        size = self.leg / PERSON
        return 1.0 if not size or 1 / LIKE_PEOPLE <= size <= LIKE_PEOPLE else size

    def joint(self, role):
        """The index of the joint that plays a role, or a sentence that says which one is missing."""
        name = self.roles.get(role)
        if name is None:
            raise MotionError(f'No bone has the role "{role}": choose one in the Character panel (or with --role).')
        if name not in self.skeleton.names:
            raise MotionError(f'The role "{role}" is given to the bone "{name}", which the skeleton does not have.')
        return self.skeleton.index(name)

    def has(self, role):
        return self.roles.get(role) in self.skeleton.names

    @property
    def limbs(self):
        """The Limbs that it stands on: its legs, and the fore legs of one that walks on four. Left comes before
        right."""
        kinds = (("hind leg", LEG, ""), ("fore leg", FORE_LEG, ".fore")) if self.four_legged else (("leg", LEG, ""),)
        found = []
        for kind, parts, mark in kinds:
            for side in ("left", "right"):
                contact = next((f"{side}_{part}" for part in parts[:1:-1] if self.has(f"{side}_{part}")), None)
                if contact is not None:
                    roles = tuple(f"{side}_{part}" for part in parts)
                    end = self._paw(roles[0], contact) if self.four_legged else self._sole(contact, side)
                    line = roles[:roles.index(contact) + 1]
                    bends = len(line) > 2 and all(self._hangs(*each) for each in pairwise(line))
                    found.append(Limb(f"{side} {kind}", roles, contact, end, side + mark, bends))
        return tuple(found)

    def _sole(self, contact, side):
        """Where on its contact joint a leg stands."""
        return (0.0, 0.0, 0.0) if contact == f"{side}_toe" else sole_of(self, side)

    def _paw(self, top, contact):
        """Where on the contact joint of a limb that hangs from a top its paw is: where the bone ends. Importers guess
        that where a file has no ends. Up in the air no paw ends of a limb that hangs down at rest: then it is the joint
        itself."""
        joint, (places, turns) = self.joint(contact), self.skeleton.rest
        end = self.skeleton.ends.get(self.roles[contact], (0.0, 0.0, 0.0))
        x, y, leg = places[self.joint(top)] - places[joint] if self.has(top) else (0.0, 0.0, 0.0)
        rise = float(quat.rotate(turns[joint], np.array(end))[2])
        return (0.0, 0.0, 0.0) if leg > math.hypot(x, y) and rise > PAW * leg else end

    def _hangs(self, upper, lower):
        """Whether the joint of a role is below that of another one."""
        return (self.has(upper) and self.has(lower)
                and self.joint(upper) in self.skeleton.ancestors(self.joint(lower))[1:])

    def contact_roles(self):
        """The roles of the joints whose contact with the ground is followed: toes, or feet where there are no toes."""
        return tuple(limb.contact for limb in self.limbs)

    def contact_places(self, positions, rotations):
        """(F, C, 3) where its limbs touch the ground when they stand, from where its joints are in the world, (F, J, 3)
        and (F, J, 4)."""
        joints = [self.joint(limb.contact) for limb in self.limbs]
        ends = np.array([limb.end for limb in self.limbs], dtype=np.float32).reshape(-1, 3)
        return positions[:, joints] + quat.rotate(rotations[:, joints], ends)

    def chain(self, name):
        """The joints (indices, parents first) of a part that has more or fewer of them from rig to rig; [] if there is
        no such part.

        spine                  from above the hips up to where the arms fork, that joint (the chest) included. Without
                               arms up to the chest, or to what the neck or head hangs from
        neck                   from above the spine's last joint up to the head, the head itself not included
        left_thumb, left_index, left_middle, left_ring, left_pinky, right_…
                               the joints of a finger, from the one nearest to the hand, without the palm's
        """
        if name in ("spine", "neck"):
            return self._trunk()[name == "neck"]
        side, _, finger = name.partition("_")
        if side not in ("left", "right") or finger not in FINGERS:
            raise MotionError(f'There is no chain "{name}".')
        return self._finger(self.joint(f"{side}_hand"), finger) if self.has(f"{side}_hand") else []

    def _trunk(self):
        """The joints of the spine and those of the neck."""
        skeleton = self.skeleton
        if not self.has("hips"):
            return [], []
        hips, top = self.joint("hips"), self._fork()
        if top is None:
            return [], []
        # Some rigs hang hips and spine side by side from a bone in the middle of the body.
        spine = skeleton.path(skeleton.fork(hips, top), top)
        end = next((self.joint(role) for role in ("head", "neck") if self.has(role)), top)
        neck = skeleton.path(top, end)
        return spine, neck[:-1] if self.has("head") else neck

    def _fork(self):
        """The joint that the arms hang from, or the one below the neck where they hang from that; None without any."""
        parents = self.skeleton.parents
        arms = [next((self.joint(f"{side}_{part}") for part in ("shoulder", "upper_arm") if self.has(f"{side}_{part}")),
                     None) for side in ("left", "right")]
        above = [int(parents[self.joint(role)]) for role in ("neck", "head") if self.has(role)]
        if None not in arms:
            fork = self.skeleton.fork(*(max(int(parents[arm]), 0) for arm in arms))
            return above[0] if self.has("neck") and self.joint("neck") in self.skeleton.ancestors(fork) else fork
        found = [self.joint("chest")] if self.has("chest") else above
        return found[0] if found and found[0] >= 0 else None

    def _finger(self, hand, finger):
        skeleton, chain = self.skeleton, []
        for joint in range(hand + 1, len(skeleton)):
            below = hand in skeleton.ancestors(joint) and (not chain or chain[-1] in skeleton.ancestors(joint))
            if below and _finger_of(skeleton.names[joint]) == finger:
                chain.append(joint)
        return chain


def _finger_of(name):
    """Which finger a joint belongs to by its name, or None: LeftHandIndex1, f_index.01.L, finger2-1.L, L Finger12."""
    _, words = split_side(name)
    named = [finger for word in words if (finger := _FINGER_WORDS.get(word, word)) in FINGERS]
    if named or "finger" not in words or _PALM & set(words):
        return named[0] if named and not _PALM & set(words) else None
    # finger2-1 is a finger and a joint, counted from 1; of Finger12 the first digit is the finger, counted from 0.
    numbers = [word for word in words[words.index("finger"):] if word.isdigit()]
    count = int(numbers[0]) - 1 if len(numbers) > 1 else int(numbers[0][0]) if numbers else -1
    return FINGERS[count] if 0 <= count < len(FINGERS) else None
