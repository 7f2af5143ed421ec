# SPDX-License-Identifier: GPL-3.0-or-later
"""Which joint plays which role: by the rig family's own names, by name, and by shape where names say nothing."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from . import quat
from .character import Character
from .families import recognise
from .sides import find_pairs, split_side

# A name without its side, number and rig prefix → role. "toebase" comes in as "toe": see _NOISE. Of several sided ones
# that are there the first in the row is meant, of the trunk's the lowest.
_MIDDLE = {
    "hips": ("hips", "hip", "pelvis"),
    "spine": ("spine", "torso", "abdomen", "waist", "lowerback"),
    "chest": ("chest", "upperchest", "thorax", "ribcage"),
    "neck": ("neck",),
    "head": ("head",),
}
_SIDES = {
    "shoulder": ("clavicle", "clav", "collar", "shoulder", "scapula"),
    "upper_arm": ("upperarm", "uparm", "humerus", "arm", "shldr", "frontthigh", "frontupperleg"),
    "forearm": ("forearm", "lowerarm", "lowarm", "radius", "elbow", "frontshin", "frontlowerleg"),
    "hand": ("hand", "wrist", "frontfoot", "fpaw", "frontpaw"),
    "thigh": ("thigh", "upleg", "upperleg", "femur", "hindthigh", "rearthigh"),
    "shin": ("shin", "calf", "lowerleg", "lowleg", "tibia", "knee", "leg", "hindshin", "rearshin"),
    "foot": ("foot", "ankle", "hindfoot", "rearfoot", "hindpaw"),
    "toe": ("toe", "toes", "ball", "hindtoe"),
}
# Older BVH files name joints by the joint, not the bone: hip, shoulder. Only where the usual names are missing.
_SECOND_CHOICE = {"thigh": ("hip", "leg"), "upper_arm": ("shoulder",)}
ROOT_WORDS = {"root", "simulation", "trajectory", "reference", "master", "motion", "ground", "rootmotion", "traj"}
_NOISE = {"def", "org", "bip", "c", "mixamorig", "valvebiped", "cc", "base", "bone", "joint", "jnt", "bn", "skl",
          "bend"}

# Hands that come down to this share of the hips' height are walked on (a cat's heels are at 0.37); the percentile of
# heights that counts for that.
LOW_HANDS, LOW = 0.4, 20

CERTAIN, LIKELY, GUESS = "certain", "likely", "guess"


@dataclass(frozen=True, eq=False)
class Found:
    """What find_roles() makes of a skeleton.

    character   with the roles that were found
    family      the name of the rig family that it belongs to, or ""
    confidence  role → how sure: "certain" (the family has it so), "likely" (by name), "guess" (by shape)
    """

    character: Character
    family: str
    confidence: dict


def find_character(skeleton):
    """The character that a skeleton most likely is. Roles that cannot be found are absent."""
    return find_roles(skeleton).character


def find_roles(skeleton):
    """The same, and how sure it is: a known family's names count most, then names as such, then the shape."""
    family, own = recognise(skeleton.names)
    own = {role: skeleton.index(name) for role, name in own.items()}
    named, shape = _by_name(skeleton), {}
    if family:
        # Its trunk is left to the tree, for names mislead: Rigify's hips are called "spine".
        named = {role: joint for role, joint in named.items() if role not in _MIDDLE and joint not in own.values()}
    elif not any(role.endswith("thigh") for role in named):
        shape = _by_shape(skeleton)
    roles = {**shape, **named, **own}
    confidence = {**dict.fromkeys(shape, GUESS), **dict.fromkeys(named, LIKELY), **dict.fromkeys(own, CERTAIN)}
    known = dict(roles)
    _complete_trunk(skeleton, roles)
    _complete_root(skeleton, roles)
    # What the tree tells is as sure as the limbs that it starts from.
    sure = CERTAIN if family else GUESS if shape else LIKELY
    confidence = {role: confidence[role] if known.get(role) == joint else sure for role, joint in roles.items()}
    character = Character(skeleton, {role: skeleton.names[joint] for role, joint in roles.items()},
                          find_mirror(skeleton), rest_forward(skeleton, roles))
    return Found(character, family, confidence)


def walks_on_four(character, positions):
    """Whether a character walks on its hands, too, in positions (F, J, 3) of its joints in the world: most of the time
    they are nearly as low as its feet, and its trunk lies rather than stands."""
    roles = ("left_hand", "right_hand", "left_foot", "right_foot", "hips", "chest")
    if not all(character.has(role) for role in roles):
        return False
    *ends, hips, chest = (positions[:, character.joint(role)] for role in roles)
    heights = np.array([np.percentile(end[:, 2], LOW) for end in ends])  # while they stand
    ground, tall = heights.min(), np.median(hips[:, 2]) - heights.min()
    lies = np.median(np.abs(chest - hips)[:, 2]) < 0.6 * np.median(np.linalg.norm(chest - hips, axis=-1))
    return bool(lies and (heights - ground < LOW_HANDS * tall).all())


def find_mirror(skeleton):
    """joint name → name of the joint on the other side: by the names, or where none has a side, by the rest pose."""
    pairs = find_pairs(skeleton.names)
    if any(name != other for name, other in pairs.items()):
        return pairs
    shape = _shape_pairs(skeleton.rest[0])
    return {name: skeleton.names[shape.get(joint, joint)] for joint, name in enumerate(skeleton.names)}


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
    if "root" not in roles or facing is None or not stands(skeleton, roles):
        return ""
    axes = quat.to_matrix(skeleton.rest[1][roles["root"]]).T
    towards = axes @ facing
    best = int(np.abs(towards).argmax())
    return f"{'+' if towards[best] > 0 else '-'}{'XYZ'[best]}"


def stands(skeleton, roles):
    """Whether the rest pose is a standing one: some files' zero pose is not a pose at all."""
    positions = skeleton.rest[0]
    height = {role: positions[joint][2] for role, joint in roles.items()}
    order = [height[role] for role in ("left_foot", "left_shin", "left_thigh", "head") if role in height]
    return len(order) >= 3 and bool((np.diff(order) > 0).all())


# By name

def _by_name(skeleton):
    cores, roles = _cores(skeleton), {}
    for side, table in (("", _MIDDLE), ("left", _SIDES), ("right", _SIDES)):
        for part, names in table.items():
            # Parents come first: of several with one name it is the one nearest to the root.
            found = [cores.index((side, name)) for name in names if (side, name) in cores]
            if found:
                roles[f"{side}_{part}" if side else part] = found[0] if side else min(found)
    for side in ("left", "right"):
        for part, below in (("thigh", "shin"), ("upper_arm", "forearm")):
            _second_choice(cores, roles, side, part, below)
        # Below an ankle what is called the foot is its front half.
        foot, ankle = roles.get(f"{side}_foot"), (side, "ankle")
        if ankle in cores[:foot] and cores.index(ankle) in skeleton.ancestors(foot):
            roles.setdefault(f"{side}_toe", foot)
            roles[f"{side}_foot"] = cores.index(ankle)
    return roles


def _second_choice(cores, roles, side, part, below):
    if f"{side}_{part}" in roles or f"{side}_{below}" not in roles:
        return
    found = [cores.index((side, name)) for name in _SECOND_CHOICE[part] if (side, name) in cores]
    found = [joint for joint in found if joint < roles[f"{side}_{below}"]]
    if found:
        roles[f"{side}_{part}"] = found[0]
        if roles.get(f"{side}_shoulder") == found[0]:
            del roles[f"{side}_shoulder"]


def _cores(skeleton):
    """Of each joint the side ("left", "right", "") and what is left of its name: ("left", "upleg") for
    "mixamorig:LeftUpLeg". What nearly all names have in common says nothing."""
    split = [split_side(name) for name in skeleton.names]
    counts = Counter(word for _, words in split for word in set(words))
    common = {word for word, count in counts.items() if count > 0.8 * len(split) and len(split) > 4}
    skip = _NOISE | common
    return [(side, "".join(word for word in words if not word.isdigit() and word not in skip)) for side, words in split]


# The trunk, by the tree: names alone mislead (Rigify's hips are called "spine").

def _complete_trunk(skeleton, roles):
    legs = [roles[f"{side}_thigh"] for side in ("left", "right") if f"{side}_thigh" in roles]
    arms = [roles.get(f"{side}_shoulder", roles.get(f"{side}_upper_arm")) for side in ("left", "right")]
    arms = [joint for joint in arms if joint is not None]
    if len(legs) == 2:
        common = _above(skeleton, *legs)
        named = roles.get("hips")
        if named is None or named not in skeleton.ancestors(common):
            roles["hips"] = common
    if "hips" not in roles:
        return
    if len(arms) == 2:
        fork = _above(skeleton, *arms)
        path = skeleton.path(roles["hips"], fork)
        if path:
            if roles.get("spine") not in path or roles["spine"] == roles["hips"]:
                roles["spine"] = path[0]
            if roles.get("chest") not in path or roles["chest"] == roles["spine"]:
                # Some rigs hang the arms from the neck.
                roles["chest"] = path[-2] if fork == roles.get("neck") and len(path) > 1 else fork
            if roles["chest"] == roles["spine"]:
                del roles["chest"]
            _complete_neck(skeleton, roles, fork)
    if roles.get("spine") == roles["hips"]:
        del roles["spine"]


def _complete_neck(skeleton, roles, fork):
    if "head" not in roles and (head := _head(skeleton, roles, fork)) != fork:
        roles["head"] = head
    if "neck" not in roles and "head" in roles:
        path = skeleton.path(fork, roles["head"])
        if len(path) > 1:
            roles["neck"] = path[0]


def _head(skeleton, roles, fork):
    """The end of the chain above the arms: by its name (Rigify's spine.006), or where it branches into a face."""
    cores = _cores(skeleton)
    arms = {joint for role, joint in roles.items() if role.endswith(("shoulder", "upper_arm"))}
    joint, named = fork, bool(cores[fork][1])
    sizes = np.ones(len(skeleton), dtype=int)
    for child in range(len(skeleton) - 1, 0, -1):
        sizes[skeleton.parents[child]] += sizes[child]
    while len(after := [child for child in skeleton.children(joint)
                        if child not in arms and (not named or cores[child] == cores[fork])]):
        largest = max(after, key=lambda child: sizes[child])
        if not named and joint != fork and sizes[largest] < 0.6 * (sizes[joint] - 1):
            break
        joint = int(largest)
    return joint


def _complete_root(skeleton, roles):
    """Joint 0, or the one that the family names, where it is not the hips but carries them over the ground."""
    hips, root = roles.get("hips"), roles.pop("root", 0)
    if hips in (None, root) or root not in skeleton.ancestors(hips):
        return
    positions = skeleton.rest[0]
    feet = [positions[roles[role]][2] for role in ("left_foot", "right_foot") if role in roles]
    on_ground = feet and positions[root, 2] < max(feet) + 0.02 * np.ptp(positions[:, 2])
    if root or _cores(skeleton)[0][1] in ROOT_WORDS or (on_ground and stands(skeleton, roles)):
        roles["root"] = root


# By shape: a standing rest pose, left and right mirrored

def _by_shape(skeleton):
    positions = skeleton.rest[0]
    pairs = _shape_pairs(positions)
    ends = [joint for joint in pairs if joint < pairs[joint] and not any(child in pairs for child in
                                                                         skeleton.children(joint).tolist())]
    reach = {joint: _length(skeleton, _limb(skeleton, joint, pairs[joint])) for joint in ends}
    floor = positions[:, 2].min() + 0.1 * np.ptp(positions[:, 2])
    low = [joint for joint in ends if positions[joint][2] < floor]
    legs = _longest_limbs(skeleton, low, pairs, reach)[:2]
    if not legs:
        return {}
    four = len(legs) == 2
    forward = _forward(skeleton, legs, pairs)
    legs.sort(key=lambda joint: positions[joint] @ forward)  # of four feet the hind ones carry the hips
    arms = legs[1:] or _longest_limbs(skeleton, [joint for joint in ends if joint not in low], pairs, reach)[:1]
    left, roles = np.array([-forward[1], forward[0], 0.0]), {}  # up × forward
    for limbs, parts in ((legs[:1], ("thigh", "shin", "foot", "toe")), (arms, ("upper_arm", "forearm", "hand"))):
        for end in (end for limb in limbs for end in (limb, pairs[limb])):
            side = "left" if (positions[end] - positions[pairs[end]]) @ left > 0 else "right"
            limb = _undivided(skeleton, _limb(skeleton, end, pairs[end]))
            first = _first_bone(skeleton, limb, parts[0] == "upper_arm", four)
            if first == 0 and limb[0] not in pairs and len(limb) > len(parts):
                first = 1  # in the middle of the body no arm begins, but a collarbone may
            roles.update({f"{side}_{part}": joint for part, joint in zip(parts, limb[first:])})
            if first > 0 and parts[0] == "upper_arm":
                roles[f"{side}_shoulder"] = limb[first - 1]
    return roles if stands(skeleton, roles) else {}


def _undivided(skeleton, limb):
    """A limb without the middles of bones that were cut in two so that they can twist: both of its long bones are."""
    bones = np.diff(skeleton.rest[0][limb], axis=0)
    lengths = np.linalg.norm(bones, axis=-1)
    middles, at = [], 0
    while at < len(bones) - 1:
        both = lengths[at] + lengths[at + 1]
        straight = np.linalg.norm(bones[at] + bones[at + 1]) > 0.9999 * both
        cut = straight and abs(lengths[at] - lengths[at + 1]) < 0.03 * both and both > 0.15 * lengths.sum()
        if cut:
            middles.append(at + 1)
        at += 2 if cut else 1
    return [joint for index, joint in enumerate(limb) if index not in middles] if len(middles) > 1 else limb


def _first_bone(skeleton, limb, is_arm, four):
    """Which joint of a limb is its thigh or upper arm."""
    lengths = np.linalg.norm(np.diff(skeleton.rest[0][limb], axis=0), axis=-1)
    if len(lengths) < 2:
        return 0
    if four and is_arm:
        return 1 if len(limb) > 4 else 0  # a shoulder blade is as long as what follows
    if four:
        return int((lengths > 0.7 * lengths.max()).argmax())  # three long bones down to the toes
    return int((lengths[:-1] + lengths[1:]).argmax())


def _longest_limbs(skeleton, ends, pairs, reach):
    """Of the ends that share a limb (toes, heel, fingers) the one farthest out, the longest limb first."""
    chosen = []
    for end in sorted(ends, key=lambda joint: -reach[joint]):
        limb = _limb(skeleton, end, pairs[end])
        if not any({limb[0], pairs.get(limb[0])} & set(_limb(skeleton, other, pairs[other])) for other in chosen):
            chosen.append(end)
    return chosen


def _shape_pairs(positions):
    """joint → the joint that is its mirror image; left and right lie along X, or Y for a rig that looks along X."""
    size = max(np.ptp(positions, axis=0).max(), 1e-6)
    best = {}
    for axis in (0, 1):
        flipped = positions * np.where(np.arange(3) == axis, -1, 1)
        apart = np.linalg.norm(positions[:, None] - flipped[None], axis=-1)
        apart[np.abs(positions[:, axis]) < 0.01 * size] = np.inf
        nearest = apart.argmin(axis=1)
        pairs = {int(joint): int(other) for joint, other in enumerate(nearest)
                 if apart[joint, other] < 0.03 * size and nearest[other] == joint}
        best = max(best, pairs, key=len)
    return best


def _forward(skeleton, legs, pairs):
    """The direction (3,) in which the toes point; without toes the rest pose faces -Y."""
    positions = skeleton.rest[0]
    limbs = [_limb(skeleton, end, pairs[end]) for leg in legs for end in (leg, pairs[leg])]
    toes = sum((positions[limb[-1]] - positions[limb[-2]] for limb in limbs if len(limb) > 3), np.zeros(3))
    toes = toes * np.array([1, 1, 0])
    return toes if np.linalg.norm(toes) > 0.02 * np.ptp(positions[:, 2]) else np.array([0, -1.0, 0])


def _limb(skeleton, end, other):
    """The joints from below the common ancestor of two ends down to the first end."""
    return skeleton.path(_above(skeleton, end, other), end)


def _length(skeleton, joints):
    return float(np.linalg.norm(np.diff(skeleton.rest[0][joints], axis=0), axis=-1).sum())


def _above(skeleton, one, other):
    """The lowest joint that is above both of two joints, or joint 0."""
    joint = skeleton.fork(one, other)
    return joint if joint not in (one, other) else max(int(skeleton.parents[joint]), 0)
