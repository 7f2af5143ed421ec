# SPDX-License-Identifier: GPL-3.0-or-later
"""Legs: their kinematics, and how they turn to bring the toe somewhere.

Rotations are worked on for K characters at once, (K, 2, …) with left and right. How a single leg bends is worked out in
plain numbers, which for so few is several times faster than arrays.
"""

import math

import numpy as np

from ..errors import MotionError
from ..motion import quat

PARTS = ("thigh", "shin", "foot", "toe")
# How far (m) a knee is at least before its leg when it is asked which way it bends: blends can bend a leg back.
BENT = 0.02
# The share of the foot's length by which a leg gets longer as the heel rises, before the foot is let go.
STRETCH = 0.85


# What each pair of a quaternion's components adds to the frame of an unturned joint; as quat.to_matrix() has it.
_ONES = np.eye(4)
TO_FRAME = np.zeros((4, 4, 4, 4))
TO_FRAME[..., :3, :3] = (quat.to_matrix(_ONES[:, None] + _ONES) - quat.to_matrix(_ONES)[:, None] - quat.to_matrix(_ONES)
                         + np.eye(3)) / 2
TO_FRAME = TO_FRAME.reshape(16, 16)


# The same for a rotation matrix, with the one of its diagonal as the sum of the squares.
_TO_MATRIX = TO_FRAME.reshape(4, 4, 4, 4)[..., :3, :3] + _ONES[..., None, None] * np.eye(3)
_TO_MATRIX = np.ascontiguousarray(_TO_MATRIX.reshape(16, 9).T.astype("f4"))
# What each pair of components of two rotations adds to turners(): taken back the first, the turn, and the second.
_TURNERS = quat.mul(quat.mul(quat.inv(_ONES)[:, None], _ONES)[:, None], _ONES[:, None]).reshape(16, 16).astype("f4")


class Legs:
    """Both legs of a character: which joints they are, and their kinematics.

    chain    (2, C) the joints from the root down to the toes, the last four as PARTS; -1 is one that does nothing
    carried  (J,) which joints neither belong to the legs nor carry them
    fronts   (2, 3) where each knee bends to, seen from its thigh
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
        most += most % 2
        self.chain = np.array([line[:1] + [-1] * (most - len(line)) + line[1:] for line in lines])
        self._gather = np.maximum(self.chain, 0).ravel()
        self._idle = np.argwhere(self.chain < 0).tolist()
        self._still = np.tile(np.eye(4), (2, most, 1, 1))  # the joints' frames without their rotations
        self._still[..., :3, 3] = np.where(self.chain[..., None] > 0, fixed[self.chain], 0)
        # A joint that both legs hang from is in both chains.
        self._moving = [(column, slice(sides.argmax(), 2 - sides[::-1].argmax()), level)
                        for column, joint in enumerate(moving)
                        for level, sides in enumerate((self.chain == joint).T) if sides.any()]
        # From hip to toe, at most.
        self.lengths = (np.linalg.norm(self._still[:, -3:, :3, 3], axis=-1) @ [1, 1, STRETCH]).tolist()
        above, legs = {joint for line in lines for joint in line}, set(self.turning.flat)
        self.carried = np.array([joint not in above and not legs & set(_down_to(skeleton, joint))
                                 for joint in range(len(skeleton))])
        # The same without the root, for seen_from_root(): both legs level by level.
        below = self.chain.T[1:]
        self._below, self._idle_below = np.maximum(below, 0).ravel(), np.argwhere(below < 0).tolist()
        self._ways = self._still[:, 1:, :3, 3].transpose(2, 1, 0)[..., None, None].astype(np.float32)
        self._bearers = np.array([*range(most - 2), most - 5])
        self.fronts = np.zeros((2, 3))

    def rotations(self, rotations):
        """Those of the chains, (K, 2, C, 4), of all (K, J, 4)."""
        found = rotations.take(self._gather, axis=1).reshape(len(rotations), *self.chain.shape, 4)
        for side, level in self._idle:
            found[:, side, level] = (1, 0, 0, 0)
        return found

    def forward(self, roots, positions, rotations):
        """The frames (K, 2, C, 4, 4) of the chains' joints in the world, from roots (K, 3), the positions (K, M, 3) of
        the moving joints and the chains' own rotations (K, 2, C, 4), of which the first is the root's."""
        pairs = rotations[..., :, None] * rotations[..., None, :]
        frames = pairs.reshape(-1, 16).dot(TO_FRAME).reshape(*rotations.shape, 4) + self._still
        frames[:, :, 0, :3, 3] = roots[:, None]
        for column, sides, level in self._moving:
            frames[:, sides, level, :3, 3] = positions[:, None, column]
        # Two levels at once: a pair's own product first, then both after what comes before.
        frames[:, :, 1::2] = frames[:, :, ::2] @ frames[:, :, 1::2]
        for level in range(2, frames.shape[2], 2):
            frames[:, :, level:level + 2] = frames[:, :, level - 1:level] @ frames[:, :, level:level + 2]
        return frames

    def seen_from_root(self, positions, rotations):
        """Of both legs the hip's place, thigh, shin and foot from joint to joint, where the knee bends to and the toe's
        place, (K, N, 2, 6, 3), all seen from the root; and the turners of their joints, (K, N, 8, 4, 4).

        positions (K, N, M, 3) of the moving joints, rotations (K, N, J, 4)
        """
        shape, levels = rotations.shape[:2], self.chain.shape[1] - 1
        # Components first, then levels of the chains, then sides: what is worked out at once lies together.
        turns = rotations.transpose(3, 2, 0, 1).take(self._below, axis=1).reshape(4, levels, -1)
        for level, side in self._idle_below:
            turns.reshape(4, levels, 2, -1)[:, level, side] = _ONES[:, :1]
        # Two levels at once: a pair's own product first, then both after what comes before.
        turns[:, 1:-1:2] = quat.mul(turns[:, :-1:2], turns[:, 1:-1:2], axis=0)
        for level in range(2, levels, 2):
            turns[:, level:level + 2] = quat.mul(turns[:, level - 1:level], turns[:, level:level + 2], axis=0)
        ways = np.empty((3, levels + 2, 2, *shape), dtype=np.float32)
        ways[:, :-2], ways[:, -2] = self._ways, self.fronts.T[..., None, None]
        for column, sides, level in self._moving:
            ways[:, level - 1, sides] = positions[:, :, column].transpose(2, 0, 1)[:, None]
        # All are turned as what they hang from: the first from the root, the front from the thigh.
        ways = ways.reshape(3, levels + 2, -1)
        bearers = turns.take(self._bearers, axis=1)
        matrices = _TO_MATRIX.dot((bearers[:, None] * bearers).reshape(16, -1)).reshape(3, 3, levels, -1)
        ways[:, 1:-1] = np.einsum("ijln,jln->iln", matrices, ways[:, 1:-1])
        ways[:, -1], ways[:, -6] = np.add.reduce(ways[:, :-2], axis=1), np.add.reduce(ways[:, :-5], axis=1)
        legs, found = ways[:, -6:].reshape(3, 6, 2, *shape), turners(turns[:, -5:-1], turns[:, -4:])
        found = found.reshape(4, 2, *shape, 4, 4).transpose(2, 3, 1, 0, 4, 5)
        # What one frame has lies together.
        return np.ascontiguousarray(legs.transpose(3, 4, 2, 1, 0)), found.reshape(*shape, 8, 4, 4)

    def find_fronts(self, frames):
        """The fronts of such frames (F, 2, C, 4, 4) of a motion: across the thigh, away from where the shin goes."""
        thigh, shin = np.moveaxis(np.diff(frames[:, :, -4:-1, :3, 3], axis=2), 2, 0)
        across = thigh * ((shin * thigh).sum(-1) / np.maximum((thigh * thigh).sum(-1), 1e-18))[..., None] - shin
        self.fronts = (across[:, :, None] @ frames[:, :, -4, :3, :3])[:, :, 0].mean(axis=0)
        self.fronts /= np.maximum(np.linalg.norm(self.fronts, axis=-1, keepdims=True), 1e-9)  # stiff knees have none


NONE = (1.0, 0.0, 0.0, 0.0)  # no swing


def swung(leg, goal, extension, has_toes=True, pitch=0.0):
    """The swings of thigh, shin and foot, quaternions in the world, that bring the toe of a leg to its goal.

    The foot keeps its direction but for its pitch; where the leg is too short its heel rises. The knee stays in its
    plane. The leg is never straighter than the share `extension` of its length, unless it was before.

    leg    as seen_from_root() has it; the knee bends to its front if the leg is straight, or bent the wrong way
    pitch  the angle by which the foot turns about the toe, its ankle up
    """
    # Written out here and below: functions of vectors, max() and min() would cost more than what they do.
    hip, thigh, shin, foot, front, _ = leg
    (a, b, c), (d, e, f), (u, v, w) = thigh, shin, hip
    leg = x, y, z = a + d, b + e, c + f
    upper, lower, old = math.hypot(a, b, c), math.hypot(d, e, f), math.hypot(x, y, z) or 1e-9  # folded flat
    new_foot = _pitched(foot, pitch) if pitch and has_toes else foot
    x, y, z = goal
    way = x, y, z = x - u, y - v, z - w
    far = math.dist(way, new_foot)
    room = (upper + lower) * extension - old
    room = room if room > 1e-6 else 1e-6
    # With a foot to turn about the toe the leg slows down before it is as long as it may be.
    longest = old + room * (math.tanh((far - old) / room) if has_toes else 1.0)
    if far > longest and has_toes:
        new_foot = _heel_up(way, new_foot, longest)
        far = math.dist(way, new_foot)
    a, b, c = new_foot
    way = x - a, y - b, z - c
    new_thigh, new_shin = _bent(thigh, leg, way, front, upper, lower, old, far if far > 1e-9 else 1e-9, longest)
    return _swing(thigh, new_thigh), _swing(shin, new_shin), NONE if new_foot is foot else _swing(foot, new_foot)


def _pitched(foot, angle):
    """A foot, from ankle to toe, turned so that its ankle is higher."""
    level = math.hypot(foot[0], foot[1])
    cos, sin = math.cos(angle), math.sin(angle)
    share = cos + foot[2] * sin / max(level, 1e-6)
    return foot[0] * share, foot[1] * share, foot[2] * cos - level * sin


def _heel_up(way, foot, longest):
    """The foot, from ankle to toe, turned about the toe until the ankle is within reach of the hip.

    way   from the hip to the toe
    """
    (x, y, z), (a, b, c) = way, foot
    far, square = math.hypot(x, y, z) or 1e-9, a * a + b * b + c * c
    size, flat_along = math.sqrt(square), (x * a + y * b + z * c) / far
    along = min(max((square + far * far - longest * longest) / (2 * far), -size), size)
    side = math.sqrt(max(square - along * along, 0) / max(square - flat_along * flat_along, 1e-18))
    more = (along - flat_along * side) / far
    return side * a + more * x, side * b + more * y, side * c + more * z


def _bent(thigh, leg, way, front, upper, lower, old, far, longest):
    """Thigh and shin that reach along a way from the hip, as far as they may.

    leg                     from the hip to the ankle
    upper, lower, old, far  lengths of thigh, shin, leg and way
    """
    (a, b, c), (d, e, f), (x, y, z), (u, v, w) = thigh, leg, way, front
    reach, square, more = min(far, longest, upper + lower), upper * upper, upper * upper - lower * lower
    shortest = (upper - lower if upper > lower else lower - upper) * 1.001 + 1e-6
    reach = reach if reach > shortest else shortest
    ahead = (more + reach * reach) / (2 * reach)
    across = square - ahead * ahead
    # The knee is on the side of the leg where it was: that side is turned along with the leg, by the shortest way.
    along = (more + old * old) / (2 * old * old)
    a, b, c = a - along * d, b - along * e, c - along * f
    bend = BENT - (a * u + b * v + c * w)
    if bend > 0:
        along = bend * (d * u + e * v + f * w) / (old * old)
        a, b, c = a + bend * u - along * d, b + bend * v - along * e, c + bend * w - along * f
    turned, size = 1 + (d * x + e * y + f * z) / (old * far), math.hypot(a, b, c)
    lean = (a * x + b * y + c * z) / far / (turned if turned > 1e-6 else 1e-6)
    across = math.sqrt(across) / (size if size > 1e-12 else 1e-12) if across > 0 else 0.0
    on_leg, on_way, share = -across * lean / old, (ahead - across * lean) / far, reach / far
    a, b, c = (across * a + on_leg * d + on_way * x, across * b + on_leg * e + on_way * y,
               across * c + on_leg * f + on_way * z)
    return (a, b, c), (share * x - a, share * y - b, share * z - c)


def _swing(old, new):
    """The shortest turn from a direction to another of the same length: twice that to what lies halfway."""
    (a, b, c), (d, e, f) = old, new
    w, x, y, z = a * (a + d) + b * (b + e) + c * (c + f) + 1e-30, b * f - c * e, c * d - a * f, a * e - b * d
    share = 1 / math.hypot(w, x, y, z)
    return w * share, x * share, y * share, z * share


def turns_of(thigh, shin, foot):
    """How thigh, shin, foot and toe turn for these swings, 16 numbers: each by that of its own bone, after taking back
    that of the bone above; the toe keeps its direction."""
    (a, b, c, d), (w, x, y, z) = thigh, shin
    lower = (a * w + b * x + c * y + d * z, a * x - b * w - c * z + d * y,
             a * y + b * z - c * w - d * x, a * z - b * y + c * x - d * w)
    if foot is NONE:
        return *thigh, *lower, w, -x, -y, -z, *NONE
    a, b, c, d = foot
    return (*thigh, *lower, w * a + x * b + y * c + z * d, w * b - x * a - y * d + z * c,
            w * c + x * d - y * a - z * b, w * d - x * c + y * b - z * a, a, -b, -c, -d)


def turners(above, own):
    """(…, 4, 4) what each component of a turn makes of each component of a joint's rotation: own (4, …) is where it is
    turned to as seen from where the turn is given, above (4, …) the same of the joint that it hangs from."""
    pairs = above[:, None] * own
    return pairs.reshape(16, -1).T.dot(_TURNERS).reshape(*own.shape[1:], 4, 4)


def turned(turners, turns):
    """Rotations (K, 8, 1, 4) of the joints of both legs after such turns (K, 8, 1, 4)."""
    return turns @ turners


def _down_to(skeleton, joint):
    line = []
    while joint >= 0:
        line.insert(0, int(joint))
        joint = skeleton.parents[joint]
    return line
