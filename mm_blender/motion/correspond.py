# SPDX-License-Identifier: GPL-3.0-or-later
"""Which joint of a character follows which of another, and how it stands in the other's pose."""

from dataclasses import replace

import numpy as np

from ..errors import MotionError
from . import quat
from .character import FINGERS
from .sole import sole_of
from .stance import SIDES, soles

NEEDED = ("hips", *(f"{side}_{part}" for side in SIDES for part in ("thigh", "shin", "foot")))
# An elbow that is bent by less (radians) does not tell where it bends to: then it is to the front.
STRAIGHT = 0.1


def check(which, character):
    """The character; fails if the source or the target (which) lacks what retargeting needs."""
    if character.four_legged:
        raise MotionError(f"The {which} walks on four legs, and motion is only put onto other characters from two legs "
                          "to two: bake and drive it with motion of its own bones.")
    missing = next((role for role in NEEDED if not character.has(role)), None)
    if missing:
        raise MotionError(f'The {which} has no bone with the role "{missing}", which retargeting needs: choose one in '
                          "the Character panel (or with --role).")
    if not character.has("root") or character.joint("root") != 0:
        raise MotionError(f'The {which} has no root above its bone "{character.skeleton.names[0]}".')
    return character


def limbs(character, parts):
    """(2, P) the joints of these parts on the left and the right, or None if one is missing."""
    roles = [[f"{side}_{part}" for part in parts] for side in SIDES]
    if not all(character.has(role) for side in roles for role in side):
        return None
    return np.array([[character.joint(role) for role in side] for side in roles])


def correspondence(source, target):
    """Of each joint of the target the source's (Jt,) that it follows, another one (Jt,), and how much that (Jt,)."""
    found = driven(source, target)
    parents = target.skeleton.parents
    for joint in range(1, len(parents)):
        found.setdefault(joint, found[parents[joint]])
    rows = [found[joint] for joint in range(len(parents))]
    return tuple(np.array(column) for column in zip(*rows))


def driven(source, target):
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
    """driven() for a chain: by the share of its length up to a joint's end."""
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

def with_feet(source, target, stance, own):
    """The target and its Stance with feet of the shape that the source's have, where nothing tells how they are."""
    known = [target.has(f"{side}_toe") or any(sole_of(target, side)) for side in SIDES]
    if all(known):
        return target, own
    (hips, feet), (own_hips, own_feet) = (limbs(one, ("thigh", "foot")).T for one in (source, target))
    scale = np.ptp([own.positions[joints, 2].mean() for joints in (own_hips, own_feet)]) / np.ptp(
        [stance.positions[joints, 2].mean() for joints in (hips, feet)])
    ways = scale * (soles(source, stance.positions, stance.rotations) - stance.positions[feet])
    # Down to the ground, where that is about where it should be.
    down = scale * stance.heights - own.positions[own_feet, 2]
    ways[:, 2] = np.where((down < ways[:, 2] / 3) & (down > 3 * ways[:, 2]), down, ways[:, 2])
    ends = {target.skeleton.names[own_feet[at]]: tuple(quat.inv_rotate(own.rotations[own_feet[at]], ways[at]).tolist())
            for at in (0, 1) if not known[at] and ways[at].any()}
    target = replace(target, skeleton=replace(target.skeleton, ends={**target.skeleton.ends, **ends}))
    return target, replace(own, heights=soles(target, own.positions, own.rotations)[:, 2])


def aligned(source, target, stance, own):
    """(Jt, 4) how the target's joints are turned when it stands as the source does in its stance."""
    swings = _swings(source, target, stance, own)
    parents = target.skeleton.parents
    carried = quat.identity((len(parents),)).astype(np.float64)
    own_source = driven(source, target)
    for joint in range(1, len(parents)):
        # A bone of the trunk stands as it is: its direction is a matter of how a rig is built, not of posture.
        carried[joint] = swings.get(joint, (1, 0, 0, 0) if joint in own_source and joint not in _below_hands(target)
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

    for at, side in enumerate(SIDES):
        upper, lower, end = (f"{side}_{part}" for part in ("upper_arm", "forearm", "hand"))
        # An arm without length points nowhere: it goes along with what it hangs from.
        if known(upper, lower) and min(map(np.linalg.norm, both(upper, lower))) > 1e-6:
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
        feet = [soles(character, pose.positions, pose.rotations)[at] - pose.positions[character.joint(end)]
                for character, pose in ((source, stance), (target, own))]
        if all(foot.any() for foot in feet):
            swing = quat.from_yaw(np.subtract(*map(quat.yaw, feet)))
            if target.has(toe):
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
