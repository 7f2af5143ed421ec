# SPDX-License-Identifier: GPL-3.0-or-later
"""Which joint plays which role: by the rig family's own names, by name, and by shape where names say nothing."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from . import quat
from .character import FORE_LEG, LEG, ROLES, Character
from .families import SIDES, recognise
from .sides import find_pairs, split_side
from .skeleton import Skeleton

# A name without its side, number and rig prefix → role. "toebase" comes in as "toe": see _NOISE. Of several sided ones
# that are there the first in the row is meant, of the trunk's the lowest.
_MIDDLE = {
    "hips": ("hips", "hip", "pelvis", "腰"),
    "spine": ("spine", "torso", "abdomen", "waist", "lowerback", "stomach", "ab", "上半身"),
    "chest": ("chest", "upperchest", "thorax", "ribcage"),
    "neck": ("neck", "首"),
    "head": ("head", "頭"),
}
_SIDES = {
    "shoulder": ("clavicle", "clav", "collar", "shoulder", "scapula", "collarbone", "armcollarbone", "肩"),
    "upper_arm": ("upperarm", "uparm", "humerus", "arm", "shldr", "frontthigh", "frontupperleg", "uarm", "armupperarm",
                  "腕"),
    "forearm": ("forearm", "lowerarm", "lowarm", "radius", "elbow", "frontshin", "frontlowerleg", "farm", "armforearm",
                "ひじ", "肘"),
    "hand": ("hand", "wrist", "frontfoot", "fpaw", "frontpaw", "armpalm", "palm", "手首"),
    "thigh": ("thigh", "upleg", "upperleg", "femur", "hindthigh", "rearthigh", "legthigh", "backupperleg", "足d", "足"),
    "shin": ("shin", "calf", "lowerleg", "lowleg", "tibia", "knee", "leg", "hindshin", "rearshin", "legcalf",
             "backlowerleg", "ひざd", "膝d", "ひざ", "膝"),
    "foot": ("foot", "ankle", "hindfoot", "rearfoot", "hindpaw", "legankle", "backfoot", "足首d", "足首"),
    "toe": ("toe", "toes", "ball", "hindtoe", "toebase", "legdigit", "足先ex", "つま先"),
}
# Older BVH files name joints by the joint, not the bone: hip, shoulder. Only where the usual names are missing.
_SECOND_CHOICE = {"thigh": ("hip", "leg"), "upper_arm": ("shoulder",)}
# Names that are only numbered from the top of a limb down to its tip, and where they begin, in this order: of three or
# more bones called "arm" the first is the upper arm.
_NUMBERED = {"leg": ("thigh", "shin", "foot", "toe"), "arm": ("upper_arm", "forearm", "hand"), "foot": ("foot", "toe")}
ROOT_WORDS = {"root", "simulation", "trajectory", "reference", "master", "motion", "ground", "rootmotion", "traj",
              "skeleton", "armature", "localroot", "humanoidrootpart", "全ての親"}
_NOISE = {"def", "org", "bip", "c", "m", "mixamorig", "valvebiped", "cc", "base", "bone", "joint", "jnt", "bn", "skl",
          "skeleton", "bend"}

# Hands that come down to this share of the hips' height are walked on (a cat's heels are at 0.37); the percentile of
# heights that counts for that.
LOW_HANDS, LOW = 0.4, 20
# An animal's elbow is higher than this share of where its fore leg begins, and its wrist is not.
ELBOW = 0.36

SURENESS = CERTAIN, LIKELY, GUESS = "certain", "likely", "guess"


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


def find_character(skeleton: Skeleton) -> Character:
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
    elif not _is_whole(named, LEG[:3]) and _is_whole(found := _by_shape(skeleton), LEG[:3]):
        named, shape = _without_limbs(named, found), found
    roles = {**shape, **named, **own}
    confidence = {**dict.fromkeys(shape, GUESS), **dict.fromkeys(named, LIKELY), **dict.fromkeys(own, CERTAIN)}
    _stand_on_shins(skeleton, roles, confidence)
    known = dict(roles)
    _complete_trunk(skeleton, roles)
    _complete_root(skeleton, roles)
    # What the tree tells is as sure as the limbs that it starts from.
    sure = CERTAIN if family else GUESS if shape else LIKELY
    confidence = {role: confidence[role] if known.get(role) == joint else sure for role, joint in roles.items()}
    roles = _one_each(roles, confidence)
    character = Character(skeleton, {role: skeleton.names[joint] for role, joint in roles.items()},
                          find_mirror(skeleton), rest_forward(skeleton, roles))
    return Found(character, family, {role: confidence[role] for role in roles})


def _stand_on_shins(skeleton, roles, confidence):
    """A leg of two bones ends with its lower one, with which it stands."""
    for shin, foot in ((f"{side}_shin", f"{side}_foot") for side in SIDES):
        if shin in roles and foot not in roles and not len(skeleton.children(roles[shin])):
            roles[foot], confidence[foot] = roles.pop(shin), confidence[shin]


def _one_each(roles, confidence):
    """The roles, of which a joint has the surest one only; limbs come before the trunk."""
    order = {role: (SURENESS.index(confidence[role]), -ROLES.index(role)) for role in roles}
    taken = {roles[role]: role for role in sorted(roles, key=order.get, reverse=True)}
    return {role: joint for role, joint in roles.items() if taken[joint] == role}


def _is_whole(roles, parts):
    return all(f"{side}_{part}" in roles for side in SIDES for part in parts)


def _without_limbs(named, shape):
    """What names tell without limbs of which the shape tells more: a limb is one guess from its top to its tip, or
    else one bone may end up as its thigh and its shin."""
    gone = {f"{side}_{part}" for parts in (LEG, ("shoulder", *FORE_LEG)) for side in SIDES for part in parts
            if _is_whole(shape, parts[-3:] if parts[0] == "shoulder" else parts[:3])}
    taken = {shape[role] for role in gone if role in shape}
    return {role: joint for role, joint in named.items() if role not in gone and joint not in taken}


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
    for side, table in (("", _MIDDLE), *((side, _SIDES) for side in SIDES)):
        for part, names in table.items():
            # Parents come first: of several with one name it is the one nearest to the root.
            found = [cores.index((side, name)) for name in names if (side, name) in cores]
            if found:
                roles[f"{side}_{part}" if side else part] = found[0] if side else min(found)
    for side in SIDES:
        for word, parts in _NUMBERED.items():
            _deal_out(skeleton, [joint for joint, core in enumerate(cores) if core == (side, word)], side, parts, roles)
        for part, below in (("thigh", "shin"), ("upper_arm", "forearm")):
            _second_choice(skeleton, cores, roles, side, part, below)
        # Below an ankle what is called the foot is its front half.
        foot, ankle = roles.get(f"{side}_foot"), (side, "ankle")
        if ankle in cores[:foot] and cores.index(ankle) in skeleton.ancestors(foot):
            roles[f"{side}_toe"] = foot
            roles[f"{side}_foot"] = cores.index(ankle)
        for parts in (LEG[:3], FORE_LEG):
            _complete_limb(skeleton, cores, roles, side, parts)
    return roles


def _deal_out(skeleton, joints, side, parts, roles):
    """Let joints with one name, of which each hangs from the one before, be the parts of a limb, one after the other,
    if the first of these has no other name."""
    line = [joint for joint in joints if joint in skeleton.ancestors(joints[-1])]
    named = {role: joint for role, joint in roles.items() if joint not in line}
    parts = [f"{side}_{part}" for part in parts]
    if len(line) < 2 or parts[0] in named or (len(parts) > 2 and parts[1] in named):
        return
    for role, joint in zip(parts, line):
        if role not in named:
            roles[role] = joint


def _complete_limb(skeleton, cores, roles, side, parts):
    """A part that has no name that is known, between others that have: what lies there."""
    upper, middle, end = (f"{side}_{part}" for part in parts)
    taken = set(roles.values())
    if middle not in roles and upper in roles and end in roles:
        places = skeleton.rest[0]
        inner = [joint for joint in skeleton.path(roles[upper], roles[end])[:-1] if joint not in taken]
        if inner:
            roles[middle] = max(inner, key=lambda joint: min(np.linalg.norm(places[joint] - places[roles[other]])
                                                             for other in (upper, end)))
    if upper not in roles and middle in roles:
        above = int(skeleton.parents[roles[middle]])
        if above >= 0 and cores[above][0] == side and above not in taken:
            roles[upper] = above
    if end not in roles and middle in roles:
        below = [joint for joint in skeleton.children(roles[middle]).tolist() if joint not in taken]
        if len(below) == 1 and cores[below[0]][0] == side:
            roles[end] = below[0]


def _second_choice(skeleton, cores, roles, side, part, below):
    if f"{side}_{part}" in roles or f"{side}_{below}" not in roles:
        return
    found = [cores.index((side, name)) for name in _SECOND_CHOICE[part] if (side, name) in cores]
    found = [joint for joint in found if joint in skeleton.ancestors(roles[f"{side}_{below}"])[1:]]
    if found:
        roles[f"{side}_{part}"] = found[0]
        if roles.get(f"{side}_shoulder") == found[0]:
            del roles[f"{side}_shoulder"]
            above = int(skeleton.parents[found[0]])
            if cores[above][0] == side and cores[above][1] in _SIDES["shoulder"]:
                roles[f"{side}_shoulder"] = above


def _cores(skeleton):
    """Of each joint the side ("left", "right", "") and what is left of its name: ("left", "upleg") for
    "mixamorig:LeftUpLeg". What nearly all names have in common says nothing."""
    split = [split_side(name) for name in skeleton.names]
    counts = Counter(word for _, words in split for word in set(words))
    common = {word for word, count in counts.items() if count > 0.8 * len(split) and len(split) > 4}
    # A word that is there twice counts once (shoulder_L0_shoulder_jnt), and what says nothing may be the whole name.
    own = [(side, dict.fromkeys(word for word in words if not word.isdigit() and word not in common))
           for side, words in split]
    return [(side, "".join([word for word in words if word not in _NOISE] or words)) for side, words in own]


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
        # Some rigs hang hips and spine side by side from a bone in the middle of the body.
        path = skeleton.path(skeleton.fork(roles["hips"], fork), fork)
        if path:
            if roles.get("spine") not in path or roles["spine"] == roles["hips"]:
                roles["spine"] = path[0]
            # Some rigs hang the arms from the neck.
            roles["chest"] = path[-2] if fork == roles.get("neck") and len(path) > 1 else fork
            if roles["chest"] == roles["spine"]:
                del roles["chest"]
            _complete_neck(skeleton, roles, fork)
    if roles.get("spine") == roles["hips"]:
        del roles["spine"]


def _complete_neck(skeleton, roles, fork):
    if "head" not in roles:
        below = roles.get("neck", fork)
        head = _head(skeleton, roles, below if fork in skeleton.ancestors(below) else fork)
        if head not in (fork, below):
            roles["head"] = head
    if "neck" not in roles and "head" in roles:
        path = skeleton.path(fork, roles["head"])
        if len(path) > 1:
            roles["neck"] = path[0]


def _head(skeleton, roles, fork):
    """The end of the chain above the arms: by its name (Rigify's spine.006), or where it branches into a face."""
    cores = _cores(skeleton)
    arms = {joint for role, joint in roles.items() if role.endswith(("shoulder", "upper_arm"))}
    # A neck that nothing else is called like ends below the head.
    joint = fork
    named = bool(cores[fork][1]) and (fork != roles.get("neck") or cores.count(cores[fork]) > 1)
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
    if four and is_arm:  # a shoulder blade is as long as what follows; elbows are halfway up, wrists near the ground
        heights = skeleton.rest[0][limb, 2] - skeleton.rest[0][:, 2].min()
        return 1 if len(limb) > 4 or (len(limb) == 4 and heights[2] > ELBOW * heights[0]) else 0
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
