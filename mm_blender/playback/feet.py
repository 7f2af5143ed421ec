# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that stay where they stand: the toe is locked while it is in contact, and the leg reaches for it.

Rotations are worked on for K characters at once, (K, 2, …) with left and right. What is decided and measured for each
foot is plain numbers, which for so few is several times faster than arrays. A place on the ground is x + yi.
"""

import math
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
# After so many half-lives less than rounding is left of a lock.
FADED = 16
# A straight leg has no side to bend to: so much of the way forward is added, and the knee bends forward.
FORWARD = 1e-4


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
    """Both legs of a character: which joints they are, and their kinematics.

    chain  (2, C) the joints from the root down to the toes, the last four as PARTS; -1 is one that does nothing
    """

    def __init__(self, character, fixed, moving):
        skeleton = character.skeleton
        self.has_toes = all(character.has(f"{side}_toe") for side in ("left", "right"))
        parts = PARTS if self.has_toes else PARTS[:3]
        self.turning = np.array([[character.joint(f"{side}_{part}") for part in parts] for side in ("left", "right")])
        for side in self.turning:
            if not (skeleton.parents[side[1]] == side[0] and skeleton.parents[side[2]] == side[1]):
                raise MotionError(f'"{skeleton.names[side[2]]}" does not hang from "{skeleton.names[side[1]]}" and '
                                  f'"{skeleton.names[side[0]]}" directly: feet cannot be held on this skeleton.')
        lines = [_down_to(skeleton, side[-1]) + [-1] * (not self.has_toes) for side in self.turning]
        most = max(len(line) for line in lines)
        self.chain = np.array([line[:1] + [-1] * (most - len(line)) + line[1:] for line in lines])
        self._gather = np.maximum(self.chain, 0).ravel()
        self._idle = np.argwhere(self.chain < 0)
        self._still = np.tile(np.eye(4), (2, most, 1, 1))
        self._still[..., :3, 3] = np.where(self.chain[..., None] > 0, fixed[self.chain], 0)
        self._moving = [(column, side, level) for column, joint in enumerate(moving)
                        for side, level in np.argwhere(self.chain == joint)]
        self.lengths = np.linalg.norm(self._still[:, -3:, :3, 3], axis=-1).sum(axis=-1)  # (2,) from hip to toe

    def rotations(self, rotations):
        """Those of the chains, (K, 2, C, 4), of all (K, J, 4)."""
        found = rotations.take(self._gather, axis=1).reshape(len(rotations), *self.chain.shape, 4)
        for side, level in self._idle:
            found[:, side, level] = (1, 0, 0, 0)
        return found

    def forward(self, roots, positions, rotations):
        """The frames (K, 2, C, 4, 4) of the chains' joints in the world, from roots (K, 3), the positions (K, M, 3) of
        the moving joints and the chains' own rotations (K, 2, C, 4), of which the first is the root's."""
        frames = np.empty((*rotations.shape, 4))
        frames[:] = self._still
        frames[..., :3, :3] = quat.to_matrix(rotations)
        frames[:, :, 0, :3, 3] = roots[:, None]
        for column, side, level in self._moving:
            frames[:, side, level, :3, 3] = positions[:, column]
        for level in range(1, frames.shape[2]):
            frames[:, :, level] = frames[:, :, level - 1] @ frames[:, :, level]
        return frames


class Foot:
    """One foot: whether its toe is locked, where it is shown, and what is left of what it did before.

    locked  whether it is held at `point`, a place on the ground
    """

    def __init__(self):
        self.locked, self.point = False, 0j
        self._far, self._wait = False, 0.0
        self._drop, self._sinking = 0.0, 0.0
        self._lift, self._rising = 0.0, 0.0
        self._shown, self._velocity = None, (0j, 0.0)  # place and height

    def release(self, contact, lock, dt):
        """Let go if it should no longer stand or is too far away; whether it was held until now."""
        end = self.locked and (not contact or self._far or not lock.on)
        self._wait = STEP if end and self._far else self._wait - dt
        self.locked = self.locked and not end
        return end

    def hold(self, toe, hip, contact, ground, length, lock, dt):
        """Where the toe should be (x, y, z): locked while in contact, and not under the ground.

        toe, hip  where the released pose has them
        contact   whether the source says that the foot stands
        ground    how high the toe is when it stands
        length    from the hip to the toe
        """
        place, height = complex(toe[0], toe[1]), toe[2]
        before = self._shown or (place, height)
        velocity, climb = self._velocity
        pace = abs(velocity)
        if contact and not self.locked and pace < lock.speed and self._wait < 1e-6 and lock.on:
            self.locked = True
            # It comes to rest within two frames, half of its speed in each, and sinks to the ground.
            self.point = before[0] + velocity * (dt / 2)
            self._drop, self._sinking = before[1] - self._lift - ground, climb - self._rising
        dragging = (contact or height < ground - SUNK) and not self.locked and lock.on
        self._raise(pace if dragging else None, lock, dt)
        if self.locked:
            self._drop, self._sinking = spring.towards_number(self._drop, self._sinking, 0.0, lock.halflife, dt)
            self._far = (_apart(place - self.point, height - ground) > lock.release
                         or _apart(complex(hip[0], hip[1]) - self.point, hip[2] - ground) > length)
            place, height = self.point, ground + self._drop
        height = max(height + self._lift, ground)
        self._shown, self._velocity = (place, height), ((place - before[0]) / dt, (height - before[1]) / dt)
        return place.real, place.imag, height

    def _raise(self, pace, lock, dt):
        """Lift a foot that would drag, more the faster it is, and one that steps; lower it otherwise."""
        goal = 0.0 if pace is None else max(min(pace * lock.lift, HIGHEST), STEP_HEIGHT * (self._wait > STEP / 2))
        self._lift, self._rising = spring.towards_number(self._lift, self._rising, goal, LIFT_HALFLIFE, dt)


class Feet:
    """Holds the toes of K characters where they touch the ground.

    What a held leg differs from the motion is not taken back in space but joint by joint, as in a transition: near a
    straight leg a small way of the foot is a large one of the knee, which would pop.
    """

    def __init__(self, legs, count, ground, lock=None):
        self.legs, self.lock = legs, lock or Lock()
        self.ground = ground  # (2,) how high the toes are when they stand
        self.pairs = [(Foot(), Foot()) for _ in range(count)]
        self._part = slice(-4, None) if legs.has_toes else slice(-4, -1)  # of the chain: what turns
        shape = (count, *legs.turning.shape, 3)
        self._left, self._fading = np.zeros((2, *shape)), 0.0  # turns and their speeds; seconds until they are gone
        alike = quat.identity(shape[:-1])
        self._before = self._now = alike, alike  # the legs as the motion has them and as they are shown
        self._bones, self._ways = np.empty((count, 2, 5, 3)), np.tile(OLD, (count, 2, 2, 1))
        self._swings = quat.identity((count, 2, 5)).astype(np.float64)

    @property
    def locked(self):
        """(K, 2) which feet are held."""
        return np.array([[foot.locked for foot in pair] for pair in self.pairs])

    def plant(self, roots, positions, rotations, contacts, dt):
        """Turn the legs in `rotations` (K, J, 4, changed in place) so that feet stay where they stand; where the toes
        are, (K, 2, 3) in the world.

        roots      (K, 3) in the world; the first of the rotations is the root's own
        positions  (K, M, 3) of the moving joints
        contacts   (K, 2) whether the source says that each foot stands
        """
        contacts = contacts.tolist()
        self._release(contacts, dt)
        chains = self.legs.rotations(rotations)
        motion = chains[:, :, self._part]
        released = self._with_what_is_left(motion, dt)
        if released is not motion:
            chains = chains.copy()
            chains[:, :, self._part] = released
        frames = self.legs.forward(roots, positions, chains)
        toes = self._hold(frames, contacts, dt)
        shown = self.reach(frames, chains[:, :, -4:], toes)[:, :, :self.legs.turning.shape[1]]
        rotations[:, self.legs.turning] = shown
        self._before, self._now = self._now, (motion, shown)
        return toes

    def reach(self, frames, rotations, goals):
        """The rotations (K, 2, 4, 4) of the legs, turned so that the toes come to goals (K, 2, 3).

        The foot keeps its direction, unless the leg is too short: then its heel rises. The knee stays in its plane.
        """
        joints, bones = frames[:, :, -4:, :3, 3], self._bones
        np.subtract(joints[:, :, 1:3], joints[:, :, :1], out=bones[:, :, :2])
        np.subtract(goals, joints[:, :, 0], out=bones[:, :, 2])
        np.subtract(joints[:, :, 3], joints[:, :, 2], out=bones[:, :, 3])
        np.multiply(frames[:, :, 0, :3, 1], FORWARD, out=bones[:, :, 4])
        products = (bones @ bones.swapaxes(-1, -2)).reshape(-1, 25).tolist()
        self._ways[:, :, 3:] = np.reshape([bent(leg, self.lock.extension, self.legs.has_toes) for leg in products],
                                          (-1, 2, 3, 5))
        directions = self._ways @ bones
        self._swings[:, :, 1:4] = _swing(directions[:, :, :3], directions[:, :, 3:])
        # A joint turns by its own bone's swing after taking back that of the one above, seen from there.
        turns = quat.mul(quat.inv(self._swings[:, :, :-1]), self._swings[:, :, 1:])
        turns[..., 1:] = (turns[..., None, 1:] @ frames[:, :, -5:-1, :3, :3])[..., 0, :]
        return quat.mul(turns, rotations)

    def _release(self, contacts, dt):
        for index, (pair, stand) in enumerate(zip(self.pairs, contacts)):
            for side in (0, 1):
                if pair[side].release(stand[side], self.lock, dt):
                    before, now = (_turned(motion[index, side], shown[index, side])
                                   for motion, shown in (self._before, self._now))
                    self._left[:, index, side] = now, (now - before) / dt
                    self._fading = FADED * self.lock.halflife

    def _with_what_is_left(self, rotations, dt):
        """The rotations (K, 2, P, 4) of the legs with what is left of earlier locks, which decays."""
        if self._fading <= 0:
            self._left[:] = 0
            return rotations
        self._fading -= dt
        self._left = spring.decayed(self._left, self.lock.halflife, dt)
        return quat.mul(quat.from_scaled_angle_axis(self._left[0]), rotations)

    def _hold(self, frames, contacts, dt):
        points = frames[:, :, -4:, :3, 3].tolist()
        lengths, ground = self.legs.lengths.tolist(), self.ground.tolist()
        return np.array([
            [foot.hold(joints[3], joints[0], contact, low, length, self.lock, dt)
             for foot, joints, contact, low, length in zip(pair, both, stand, ground, lengths)]
            for pair, both, stand in zip(self.pairs, points, contacts)])


# What thigh, shin and foot (from toe to ankle) are made of, as bent() writes it.
OLD = np.array([[1.0, 0, 0, 0, 0], [-1, 1, 0, 0, 0], [0, 0, 0, -1, 0]])


def bent(products, extension, has_toes=True):
    """How thigh, shin and foot (from toe to ankle) lie when the leg reaches for its goal: each as shares of five
    vectors, of which the products with each other are given, row by row.

    Those are: from the hip to the knee u, to the ankle o and to the goal of the toe n; from the ankle to the toe s; a
    little way forward e. The leg is never straighter than the share `extension` of its length, unless it was before.
    """
    (uu, uo, un, us, ue, _, oo, on, os, oe, _, _, nn, ns, ne, _, _, _, ss, se, _, _, _, _, ee) = products
    upper, lower, old, foot = math.sqrt(uu), math.sqrt(max(uu + oo - 2 * uo, 0)), math.sqrt(oo), math.sqrt(ss)
    goal, flat = math.sqrt(nn), math.sqrt(max(nn - 2 * ns + ss, 0))  # from the hip to toe and ankle, the foot unturned
    room = max((upper + lower) * extension - old, 1e-6)
    # With a foot to turn about the toe the leg slows down before it is as long as it may be.
    longest = old + room * (math.tanh((flat - old) / room) if has_toes else 1.0)
    if flat <= longest or not has_toes:
        a, b, way = 1.0, -1.0, flat
    else:  # the heel rises: the ankle turns about the toe until it is within reach
        along = min(max((ss + nn - longest * longest) / (2 * goal), -foot), foot)
        flat_along = ns / goal
        b = -math.sqrt(max(ss - along * along, 0) / max(ss - flat_along * flat_along, 1e-18))
        a = 1 - (flat_along * b + along) / goal
        way = math.sqrt(max(nn + ss - 2 * goal * along, 0))
    # From the hip to the ankle it is a n + b s now, as long as `way`; the knee is found in the triangle.
    way = max(way, 1e-9)
    reach = max(min(way, longest, upper + lower), abs(upper - lower) * 1.001 + 1e-6)
    ahead = (uu - lower * lower + reach * reach) / (2 * reach)
    height = math.sqrt(max(uu - ahead * ahead, 0))
    # It bends to the side that it was on, which is turned along with the line from hip to ankle.
    bow, bowed = (uo + oe) / oo, uu + 2 * ue + ee
    across = height / math.sqrt(max(bowed - bow * (uo + oe), 1e-24))
    turn = a * on + b * os
    lean = (a * (un + ne) + b * (us + se) - turn * bow) / way / max(1 + turn / (way * old), 1e-6)
    on_way, on_old = (ahead - across * lean) / way, -across * (bow + lean / old)
    thigh = (across, on_old, a * on_way, b * on_way, across)
    rest = reach / way - on_way
    return thigh, (-across, -on_old, a * rest, b * rest, -across), (0.0, 0.0, a - 1, b, 0.0)


def _swing(old, new):
    """The shortest turns from old directions (…, 3) to new ones of the same length: twice that to what lies halfway."""
    pairs = old[..., :, None] * (old + new)[..., None, :]
    q = pairs.reshape(-1, 9).dot(HALFWAY)
    q[:, 0] += 1e-30  # no direction, no turn
    q /= np.sqrt((q * q).dot(np.ones(4)))[:, None]
    return q.reshape(*old.shape[:-1], 4)


# What each pair of components adds to the quaternion (a · b, a × b).
HALFWAY = np.zeros((3, 3, 4))
HALFWAY[..., 0] = np.eye(3)
HALFWAY[..., 1:] = np.cross(np.eye(3)[:, None], np.eye(3)[None])
HALFWAY = HALFWAY.reshape(9, 4)


def _turned(motion, shown):
    """(…, 3) by what shown rotations differ from those of the motion."""
    return quat.to_scaled_angle_axis(quat.absolute(quat.mul(shown, quat.inv(motion))))


def _apart(way, height):
    return math.hypot(way.real, way.imag, height)


def _down_to(skeleton, joint):
    line = []
    while joint >= 0:
        line.insert(0, int(joint))
        joint = skeleton.parents[joint]
    return line
