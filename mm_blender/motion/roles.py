# SPDX-License-Identifier: GPL-3.0-or-later
"""Which joint plays which role: found by name, and by shape where names say nothing."""

import re

import numpy as np

from . import quat
from .character import Character
from .sides import find_pairs, split_side

# A name without its side, number and rig prefix → role. "toebase" comes in as "toe": see _NOISE.
_MIDDLE = {
    "hips": {"hips", "hip", "pelvis"},
    "spine": {"spine", "torso", "abdomen", "waist", "lowerback"},
    "chest": {"chest", "upperchest", "thorax", "ribcage"},
    "neck": {"neck"},
    "head": {"head"},
}
_SIDES = {
    "shoulder": {"shoulder", "clavicle", "collar", "scapula"},
    "upper_arm": {"upperarm", "arm", "uparm", "humerus", "frontthigh", "frontupperleg"},
    "forearm": {"forearm", "lowerarm", "lowarm", "elbow", "frontshin", "frontlowerleg"},
    "hand": {"hand", "wrist", "frontfoot", "forefoot", "fpaw", "frontpaw"},
    "thigh": {"thigh", "upleg", "upperleg", "femur", "hindthigh", "rearthigh"},
    "shin": {"shin", "calf", "leg", "lowerleg", "lowleg", "knee", "hindshin", "rearshin"},
    "foot": {"foot", "ankle", "hindfoot", "rearfoot", "hindpaw"},
    "toe": {"toe", "toes", "ball", "rtoe", "hindtoe"},
}
# Older BVH files name joints by the joint, not the bone: hip, shoulder. Only where the usual names are missing.
_SECOND_CHOICE = {"thigh": {"hip"}, "upper_arm": {"shoulder"}}
_ROOT = {"root", "simulation", "trajectory", "reference", "master", "motion", "ground", "rootmotion"}
_NOISE = {"def", "org", "bip", "j", "mixamorig", "valvebiped", "cc", "base", "bone", "joint", "jnt", "bn", "skl"}


def find_character(skeleton):
    """The character that a skeleton most likely is. Roles that cannot be found are absent."""
    roles = _by_name(skeleton)
    mirror = find_pairs(skeleton.names)
    if not any(role.endswith("thigh") for role in roles):
        roles, mirror = {**_by_shape(skeleton), **roles}, _pairs_by_shape(skeleton, mirror)
    _complete_trunk(skeleton, roles)
    if (root := _root(skeleton, roles)) is not None:
        roles["root"] = root
    return Character(skeleton, {role: skeleton.names[joint] for role, joint in roles.items()}, mirror,
                     rest_forward(skeleton, roles))


def rest_facing(skeleton, roles):
    """The direction (3,) that the rest pose faces, level, or None where it cannot be told; roles → joint index."""
    sides = [(f"left_{part}", f"right_{part}") for part in ("thigh", "shin", "foot", "upper_arm")]
    pair = next(((left, right) for left, right in sides if left in roles and right in roles), None)
    if pair is None:
        return None
    positions = skeleton.rest[0]
    right = positions[roles[pair[1]]] - positions[roles[pair[0]]]
    forward = np.array([-right[1], right[0], 0.0])  # up × right
    length = np.linalg.norm(forward)
    return forward / length if length > 1e-6 else None


def rest_forward(skeleton, roles):
    """Which axis of the root bone points where the rest pose faces, or "" where the rest pose does not tell."""
    facing = rest_facing(skeleton, roles)
    if "root" not in roles or facing is None or not _stands(skeleton, roles):
        return ""
    axes = quat.to_matrix(skeleton.rest[1][roles["root"]]).T
    towards = axes @ facing
    best = int(np.abs(towards).argmax())
    return f"{'+' if towards[best] > 0 else '-'}{'XYZ'[best]}"


def _stands(skeleton, roles):
    """Whether the rest pose is a standing one: some files' zero pose is not a pose at all."""
    positions = skeleton.rest[0]
    height = {role: positions[joint][2] for role, joint in roles.items()}
    order = [height[role] for role in ("left_foot", "left_shin", "left_thigh", "head") if role in height]
    return len(order) >= 3 and bool((np.diff(order) > 0).all())


# By name

def _by_name(skeleton):
    roles = {}
    for joint, name in enumerate(skeleton.names):
        side, core = _core(name)
        table = _SIDES if side else _MIDDLE
        for part, names in table.items():
            role = f"{side}_{part}" if side else part
            if core in names:
                roles.setdefault(role, joint)  # parents come first: of several, the one nearest to the root
    for part, names in _SECOND_CHOICE.items():
        for joint, name in enumerate(skeleton.names):
            side, core = _core(name)
            below = {"thigh": "shin", "upper_arm": "forearm"}[part]
            if side and core in names and f"{side}_{part}" not in roles and f"{side}_{below}" in roles:
                roles[f"{side}_{part}"] = joint
                if roles.get(f"{side}_shoulder") == joint:
                    del roles[f"{side}_shoulder"]
    return roles


def _core(name):
    """The side ("left", "right", "") and what is left of a name: "mixamorig:LeftUpLeg" → ("left", "upleg")."""
    side, words = split_side(name)
    words = [word for word in words if not word.isdigit() and word not in _NOISE]
    return side, re.sub(r"\d+", "", "".join(words))


# The trunk, by the tree: names alone mislead (Rigify's hips are called "spine").

def _complete_trunk(skeleton, roles):
    legs = [roles[f"{side}_thigh"] for side in ("left", "right") if f"{side}_thigh" in roles]
    arms = [roles.get(f"{side}_shoulder", roles.get(f"{side}_upper_arm")) for side in ("left", "right")]
    arms = [joint for joint in arms if joint is not None]
    if len(legs) == 2:
        common = _common_ancestor(skeleton, *legs)
        named = roles.get("hips")
        if named is None or named not in _ancestors(skeleton, common):
            roles["hips"] = common
    if "hips" not in roles:
        return
    if len(arms) == 2:
        fork = _common_ancestor(skeleton, *arms)
        path = _path(skeleton, roles["hips"], fork)
        if path:
            if roles.get("spine") not in path or roles["spine"] == roles["hips"]:
                roles["spine"] = path[0]
            if roles.get("chest") not in path and fork != roles["spine"]:
                roles["chest"] = fork
            if roles.get("chest") == roles["spine"]:
                del roles["chest"]
            _complete_neck(skeleton, roles, fork)
    if roles.get("spine") == roles["hips"]:
        del roles["spine"]


def _complete_neck(skeleton, roles, fork):
    if "head" not in roles:
        chain, core = [], _core(skeleton.names[fork])
        joint = fork
        while (after := [c for c in skeleton.children(joint) if _core(skeleton.names[c]) == core]):
            joint = int(after[0])
            chain.append(joint)
        if chain:
            roles["head"] = chain[-1]
    if "neck" not in roles and "head" in roles:
        path = _path(skeleton, fork, roles["head"])
        if len(path) > 1:
            roles["neck"] = path[0]


def _root(skeleton, roles):
    """Joint 0, where it is not the hips but carries them over the ground."""
    hips = roles.get("hips")
    if hips in (None, 0) or 0 not in _ancestors(skeleton, hips):
        return None
    if _core(skeleton.names[0])[1] in _ROOT:
        return 0
    positions = skeleton.rest[0]
    feet = [positions[roles[role]][2] for role in ("left_foot", "right_foot") if role in roles]
    height = np.ptp(positions[:, 2])
    on_ground = feet and positions[0, 2] < max(feet) + 0.02 * height
    return 0 if on_ground and _stands(skeleton, roles) else None


# By shape: a standing rest pose, left and right mirrored

def _by_shape(skeleton):
    positions = skeleton.rest[0]
    pairs = _shape_pairs(positions)
    ends = [joint for joint in pairs if joint < pairs[joint] and not len(skeleton.children(joint))]
    if not ends:
        return {}
    reach = {joint: _length(skeleton, _limb(skeleton, joint, pairs[joint])) for joint in ends}
    floor = positions[:, 2].min() + 0.1 * np.ptp(positions[:, 2])
    low = [joint for joint in ends if positions[joint][2] < floor]
    legs = _longest_limbs(skeleton, low, pairs, reach)[:2]
    head = _highest_in_the_middle(positions, pairs)
    if len(legs) == 2:  # four feet: the hind ones are farther from the head
        legs.sort(key=lambda joint: -np.linalg.norm((positions[joint] - positions[head])[:2]))
    arms = legs[1:] or _longest_limbs(skeleton, [joint for joint in ends if joint not in low], pairs, reach)[:1]
    roles = {"head": head}
    left = _left_of(skeleton, legs[0], pairs[legs[0]]) if legs else None
    for limbs, parts, before in ((legs[:1], ("thigh", "shin", "foot", "toe"), None),
                                 (arms, ("upper_arm", "forearm", "hand"), "shoulder")):
        for end in (end for limb in limbs for end in (limb, pairs[limb])):
            side = "left" if (positions[end] - positions[pairs[end]]) @ left > 0 else "right"
            _name_limb(skeleton, roles, end, pairs[end], side, parts, before)
    return roles


def _longest_limbs(skeleton, ends, pairs, reach):
    """Of the ends that share a limb (toes, heel, fingers) the one farthest out, the longest limb first."""
    chosen = []
    for end in sorted(ends, key=lambda joint: -reach[joint]):
        limb = _limb(skeleton, end, pairs[end])
        if not any({limb[0], pairs.get(limb[0])} & set(_limb(skeleton, other, pairs[other])) for other in chosen):
            chosen.append(end)
    return chosen


def _highest_in_the_middle(positions, pairs):
    if pairs:
        one = next(iter(pairs))
        across = positions[one] - positions[pairs[one]]
        middle = np.abs(positions @ across / np.linalg.norm(across)) < 0.02 * np.ptp(positions[:, 2])
    else:
        middle = np.ones(len(positions), dtype=bool)
    return int(np.where(middle, positions[:, 2], -np.inf).argmax())


def _name_limb(skeleton, roles, end, other, side, parts, before):
    """Give the joints of a limb their roles: the two longest bones in a row are the upper and the lower one."""
    limb = _limb(skeleton, end, other)
    positions = skeleton.rest[0][limb]
    lengths = np.linalg.norm(np.diff(positions, axis=0), axis=-1)
    first = int((lengths[:-1] + lengths[1:]).argmax()) if len(lengths) > 1 else 0
    roles.update({f"{side}_{part}": joint for part, joint in zip(parts, limb[first:])})
    if before and first > 0:
        roles[f"{side}_{before}"] = limb[first - 1]


def _shape_pairs(positions):
    """joint → the joint that is its mirror image in the plane between left and right (X, or Y for a rig on its side)."""
    size = max(np.ptp(positions, axis=0).max(), 1e-6)
    best = {}
    for axis in (0, 1):
        flipped = positions * np.where(np.arange(3) == axis, -1, 1)
        apart = np.linalg.norm(positions[:, None] - flipped[None], axis=-1)
        apart[np.abs(positions[:, axis]) < 0.01 * size] = np.inf
        nearest = apart.argmin(axis=1)
        pairs = {int(joint): int(other) for joint, other in enumerate(nearest)
                 if apart[joint, other] < 0.02 * size and nearest[other] == joint}
        best = max(best, pairs, key=len)
    return best


def _pairs_by_shape(skeleton, mirror):
    if any(name != other for name, other in mirror.items()):
        return mirror
    pairs = _shape_pairs(skeleton.rest[0])
    return {name: skeleton.names[pairs.get(joint, joint)] for joint, name in enumerate(skeleton.names)}


def _left_of(skeleton, one, other):
    """The direction (3,) to the left: toes point forward; without toes the rest pose faces -Y."""
    positions = skeleton.rest[0]
    limb = _limb(skeleton, one, other)
    forward = positions[limb[-1]] - positions[limb[-2]] if len(limb) > 3 else np.zeros(3)
    if np.linalg.norm(forward[:2]) < 0.02 * np.ptp(positions[:, 2]):
        forward = np.array([0.0, -1.0, 0.0])
    return np.array([-forward[1], forward[0], 0.0])  # up × forward


def _limb(skeleton, end, other):
    """The joints from below the common ancestor of two ends down to the first end."""
    return _path(skeleton, _common_ancestor(skeleton, end, other), end)


def _length(skeleton, joints):
    return float(np.linalg.norm(np.diff(skeleton.rest[0][joints], axis=0), axis=-1).sum())


# The tree

def _ancestors(skeleton, joint):
    """A joint and all joints above it, from the joint upwards."""
    chain = []
    while joint >= 0:
        chain.append(int(joint))
        joint = skeleton.parents[joint]
    return chain


def _common_ancestor(skeleton, one, other):
    above = set(_ancestors(skeleton, skeleton.parents[other]))
    return next(joint for joint in _ancestors(skeleton, skeleton.parents[one]) if joint in above)


def _path(skeleton, top, bottom):
    """The joints below top down to bottom; empty when bottom does not lie below top."""
    chain = _ancestors(skeleton, bottom)
    return chain[:chain.index(top)][::-1] if top in chain else []
