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
        self._bearers = [*range(most - 2), most - 5]
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
        """Hip, knee, ankle and toe of both legs and where their knees bend to, (K, N, 2, 5, 3), all seen from the root;
        and the turners of their joints, (K, N, 8, 4, 4).

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
        ways = np.empty((3, levels + 1, 2, *shape), dtype=np.float32)
        ways[:, :-1], ways[:, -1] = self._ways, self.fronts.T[..., None, None]
        for column, sides, level in self._moving:
            ways[:, level - 1, sides] = positions[:, :, column].transpose(2, 0, 1)[:, None]
        # All are turned as what they hang from: the first from the root, the last from the thigh.
        ways = ways.reshape(3, levels + 1, -1)
        ways[:, 1:] = np.einsum("ijln,jln->iln", quat.to_matrix(turns.take(self._bearers, axis=1), axis=0), ways[:, 1:])
        ways[:, :-1] = np.add.accumulate(ways[:, :-1], axis=1)
        legs, found = ways[:, -5:].reshape(3, 5, 2, *shape), turners(turns[:, -5:-1], turns[:, -4:])
        found = found.reshape(4, 2, *shape, 4, 4).transpose(2, 3, 1, 0, 4, 5)
        # What one frame has lies together.
        return np.ascontiguousarray(legs.transpose(3, 4, 2, 1, 0)), found.reshape(*shape, 8, 4, 4)

    def find_fronts(self, frames):
        """The fronts of such frames (F, 2, C, 4, 4) of a motion: across the thigh, away from where the shin goes."""
        thigh, shin = np.moveaxis(np.diff(frames[:, :, -4:-1, :3, 3], axis=2), 2, 0)
        across = thigh * ((shin * thigh).sum(-1) / (thigh * thigh).sum(-1))[..., None] - shin
        self.fronts = (across[:, :, None] @ frames[:, :, -4, :3, :3])[:, :, 0].mean(axis=0)
        self.fronts /= np.maximum(np.linalg.norm(self.fronts, axis=-1, keepdims=True), 1e-9)  # stiff knees have none


NONE = (1.0, 0.0, 0.0, 0.0)  # no swing


def swung(leg, goal, extension, has_toes=True, pitch=0.0):
    """The swings of thigh, shin and foot, quaternions in the world, that bring the toe of a leg to its goal.

    The foot keeps its direction but for its pitch; where the leg is too short its heel rises. The knee stays in its
    plane. The leg is never straighter than the share `extension` of its length, unless it was before.

    leg    hip, knee, ankle, toe, and where the knee bends to if the leg is straight, or bent the wrong way
    pitch  the angle by which the foot turns about the toe, its ankle up
    """
    hip, knee, ankle, toe, front = leg
    # Written out: a function for differences would cost more than they do.
    (hip_x, hip_y, hip_z), (knee_x, knee_y, knee_z), (x, y, z) = hip, knee, ankle
    thigh, shin = (knee_x - hip_x, knee_y - hip_y, knee_z - hip_z), (x - knee_x, y - knee_y, z - knee_z)
    leg, foot = (x - hip_x, y - hip_y, z - hip_z), (toe[0] - x, toe[1] - y, toe[2] - z)
    upper, lower, old = math.dist(hip, knee), math.dist(knee, ankle), math.dist(hip, ankle)
    new_foot = _pitched(foot, pitch) if pitch and has_toes else foot
    way = goal[0] - hip_x, goal[1] - hip_y, goal[2] - hip_z
    far = math.dist(way, new_foot)
    room = max((upper + lower) * extension - old, 1e-6)
    # With a foot to turn about the toe the leg slows down before it is as long as it may be.
    longest = old + room * (math.tanh((far - old) / room) if has_toes else 1.0)
    if far > longest and has_toes:
        new_foot = _heel_up(way, new_foot, longest)
        far = math.dist(way, new_foot)
    (x, y, z), (a, b, c) = way, new_foot
    new_thigh, (x, y, z) = _bent(thigh, leg, (x - a, y - b, z - c), front, upper, lower, old, max(far, 1e-9), longest)
    a, b, c = new_thigh
    return (_swing(thigh, new_thigh), _swing(shin, (x - a, y - b, z - c)),
            NONE if new_foot is foot else _swing(foot, new_foot))


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
    far, size = math.hypot(*way), math.hypot(*foot)
    flat_along = (way[0] * foot[0] + way[1] * foot[1] + way[2] * foot[2]) / far
    along = min(max((size * size + far * far - longest * longest) / (2 * far), -size), size)
    side = math.sqrt(max(size * size - along * along, 0) / max(size * size - flat_along * flat_along, 1e-18))
    more = (along - flat_along * side) / far
    return side * foot[0] + more * way[0], side * foot[1] + more * way[1], side * foot[2] + more * way[2]


def _bent(thigh, leg, way, front, upper, lower, old, far, longest):
    """Thigh and leg (from hip to ankle) that reach along a way from the hip, as far as they may.

    upper, lower, old, far  lengths of thigh, shin, leg and way
    """
    (a, b, c), (d, e, f), (x, y, z), (u, v, w) = thigh, leg, way, front
    reach = max(min(far, longest, upper + lower), abs(upper - lower) * 1.001 + 1e-6)
    ahead = (upper * upper - lower * lower + reach * reach) / (2 * reach)
    across = math.sqrt(max(upper * upper - ahead * ahead, 0))
    # The knee is on the side of the leg where it was: that side is turned along with the leg, by the shortest way.
    along, leg_front = (upper * upper - lower * lower + old * old) / (2 * old * old), d * u + e * v + f * w
    bend = max(BENT - (a * u + b * v + c * w) + along * leg_front, 0.0)
    along += bend * leg_front / (old * old)
    a, b, c = a + bend * u - along * d, b + bend * v - along * e, c + bend * w - along * f
    lean = (a * x + b * y + c * z) / far / max(1 + (d * x + e * y + f * z) / (old * far), 1e-6)
    across /= max(math.hypot(a, b, c), 1e-12)
    on_leg, on_way, share = -across * lean / old, (ahead - across * lean) / far, reach / far
    return ((across * a + on_leg * d + on_way * x, across * b + on_leg * e + on_way * y,
             across * c + on_leg * f + on_way * z), (share * x, share * y, share * z))


def _swing(old, new):
    """The shortest turn from a direction to another of the same length: twice that to what lies halfway."""
    (a, b, c), (d, e, f) = old, new
    w, x, y, z = a * (a + d) + b * (b + e) + c * (c + f) + 1e-30, b * f - c * e, c * d - a * f, a * e - b * d
    share = 1 / math.sqrt(w * w + x * x + y * y + z * z)
    return w * share, x * share, y * share, z * share


def turns_of(thigh, shin, foot):
    """How thigh, shin, foot and toe turn for these swings: each by that of its own bone, after taking back that of the
    bone above; the toe keeps its direction."""
    return thigh, _after(thigh, shin), _after(shin, foot), _opposite(foot)


def turners(above, own):
    """(…, 4, 4) what each component of a turn makes of each component of a joint's rotation: own (4, …) is where it is
    turned to as seen from where the turn is given, above (4, …) the same of the joint that it hangs from."""
    pairs = above[:, None] * own
    return pairs.reshape(16, -1).T.dot(_TURNERS).reshape(*own.shape[1:], 4, 4)


def turned(turners, turns):
    """Rotations (K, 8, 1, 4) of the joints of both legs after such turns (K, 8, 1, 4)."""
    return turns @ turners


def _after(back, swing):
    """A swing after taking back another one."""
    if swing is NONE:
        return _opposite(back)
    (a, b, c, d), (w, x, y, z) = back, swing
    return (a * w + b * x + c * y + d * z, a * x - b * w - c * z + d * y,
            a * y + b * z - c * w - d * x, a * z - b * y + c * x - d * w)


def _opposite(swing):
    w, x, y, z = swing
    return w, -x, -y, -z


def _down_to(skeleton, joint):
    line = []
    while joint >= 0:
        line.insert(0, int(joint))
        joint = skeleton.parents[joint]
    return line
