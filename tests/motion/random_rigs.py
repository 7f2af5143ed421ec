# SPDX-License-Identifier: GPL-3.0-or-later
"""Bipeds and quadrupeds that nobody built: Hypothesis draws their bones, proportions and names."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from mm_blender.motion import quat
from mm_blender.motion.character import FORE_LEG, LEG
from mm_blender.motion.skeleton import Skeleton

# What parts are called: the words of one row go together.
_LEGS = (("thigh", "shin", "foot", "toe"), ("thigh", "calf", "foot", "ball"), ("UpLeg", "Leg", "Foot", "ToeBase"),
         ("upper_leg", "lower_leg", "foot", "toes"), ("hip", "knee", "ankle", "toe"),
         ("femur", "tibia", "foot", "toes"), ("leg1", "leg2", "foot", "toe"))
_ARMS = (("clavicle", "upperarm", "lowerarm", "hand"), ("Shoulder", "Arm", "ForeArm", "Hand"),
         ("shoulder", "upper_arm", "forearm", "hand"), ("collar", "shoulder", "elbow", "wrist"),
         ("clavicle", "humerus", "radius", "hand"))
_FORE_LEGS = ("shoulder", "front_thigh", "front_shin", "front_foot")
_TRUNKS = (("hips", "spine", "neck", "head"), ("pelvis", "spine", "neck", "head"), ("Hips", "Spine", "Neck", "Head"))
_SIDES = {"{0}.{1}": ("L", "R"), "{0}_{1}": ("l", "r"), "{1}_{0}": ("Left", "Right"), "{1} {0}": ("L", "R")}


class Rig(NamedTuple):
    """A skeleton, and role → joint as it was built; told: whether its names tell."""

    skeleton: Skeleton
    roles: dict
    told: bool


class _Tree:
    def __init__(self):
        self.names, self.parents, self.places, self.roles = [], [], [], {}

    def add(self, name, parent, place, role=None):
        """Its name; of several that are called the same the later ones are numbered."""
        taken, count = name, 0
        while name in self.names:
            count += 1
            name = f"{taken}.{count:03}"
        self.names.append(name)
        self.parents.append(-1 if parent is None else self.names.index(parent))
        self.places.append(np.array(place, dtype=float))
        if role:
            self.roles[role] = name
        return name

    def place(self, name):
        return self.places[self.names.index(name)]

    def skeleton(self, names):
        places = np.array(self.places)
        local = places - places[self.parents]
        local[0] = places[0]
        return Skeleton(names, self.parents, local, quat.identity((len(names),)))


@st.composite
def rigs(draw, told=None):
    """A Rig. told: whether names tell what is what; drawn unless given. Feet may hang from the root, as IK has them,
    only where names tell."""
    tree, told = _Tree(), draw(st.booleans()) if told is None else told
    four, root = draw(st.booleans()), draw(st.booleans())
    prefix = draw(st.sampled_from(("", "mixamorig:", "DEF-", "b_")))
    style = draw(st.sampled_from(sorted(_SIDES)))
    words = draw(st.sampled_from(_TRUNKS))
    size = draw(st.sampled_from((0.003, 1.0, 1.0, 40.0)))
    long = draw(st.floats(0.8, 1.25))

    def called(word, side=None):
        return prefix + (word if side is None else style.format(word, _SIDES[style][side]))

    top = tree.add(called("root"), None, (0, 0, 0), "root") if root else None
    hub = draw(st.booleans()) and not four and told
    high = 1.0 * long if not four else 0.7 * long
    above = tree.add(called("cog"), top, (0, 0.0, high)) if hub else top
    hips = tree.add(called(words[0]), above, (0, 0.0, high), "hips")
    spine, at = above if hub else hips, tree.place(hips)
    step = np.array([0, -0.16, 0.01]) if four else np.array([0, 0, 0.13])
    count = draw(st.integers(1, 5))
    for index in range(count):
        at = at + step * 3 / count
        role = "spine" if index == 0 else None
        spine = tree.add(called(f"{words[1]}{index}"), spine, at, role)
        if index == count - 1 and count > 1:
            tree.roles["chest"] = spine
    neck = spine
    for index in range(draw(st.integers(0, 2))):
        at = at + (np.array([0, -0.08, 0.08]) if four else np.array([0, 0, 0.06]))
        neck = tree.add(called(f"{words[2]}{index}"), neck, at, None if index else "neck")
    tree.add(called(words[3]), neck, at + (np.array([0, -0.1, 0.08]) if four else np.array([0, 0, 0.08])), "head")
    legs, arms = draw(st.sampled_from(_LEGS)), draw(st.sampled_from(_ARMS)) if not four else _FORE_LEGS
    toes, shoulder = draw(st.booleans()), draw(st.booleans()) or "shoulder" in arms[1:]
    elbow = draw(st.floats(0.42, 0.55)) * high
    twist, loose = draw(st.booleans()) and told, draw(st.booleans()) and told and root
    for side, sign in (("left", 1), ("right", -1)):
        places = _leg(tree.place(hips), sign, four, toes)
        above = hips
        for index, part in enumerate(LEG[:4 if toes else 3]):
            if twist and part == "shin":
                above = tree.add(called(f"{legs[0]}_twist", sign < 0), above, (places[0] + places[1]) / 2)
            above = tree.add(called(legs[index], sign < 0), top if loose and part == "foot" else above, places[index],
                             f"{side}_{part}")
        places, above = _arm(tree.place(spine), sign, four, high, elbow), spine
        for index, part in enumerate(("shoulder", *FORE_LEG)):
            if part == "shoulder" and not shoulder:
                continue
            above = tree.add(called(arms[index], sign < 0), above, places[index], f"{side}_{part}")
    for index in range(draw(st.integers(0, 3)) * told):
        tree.add(called(draw(st.sampled_from(("sword", "pole_target", "cape", "tail", "hair", "prop")))),
                 draw(st.sampled_from([top or hips, hips, spine])), (0.3 * index, 0.2, 0.5 * high))
    tree.places = [place * size for place in tree.places]
    names = tree.names if told else [f"Bone.{joint:03}" for joint in range(len(tree.names))]
    called_now = dict(zip(tree.names, names))
    return Rig(tree.skeleton(names), {role: called_now[name] for role, name in tree.roles.items()}, told)


def _leg(hips, sign, four, toes):
    x = 0.1 * sign
    if four and not toes:
        return [np.array(place) for place in ((x, hips[1], 0.95 * hips[2]), (x, hips[1] - 0.1, 0.5 * hips[2]),
                                              (x, hips[1] + 0.05, 0.02))]
    if four:  # a heel in the air, behind
        y, z = hips[1], hips[2]
        return [np.array(place) for place in ((x, y, 0.95 * z), (x, y - 0.1, 0.6 * z), (x, y + 0.12, 0.3 * z),
                                              (x, y + 0.05, 0.02))]
    return [np.array(place) for place in ((x, 0, 0.95 * hips[2]), (x, -0.01, 0.5 * hips[2]), (x, 0.02, 0.08),
                                          (x, -0.12, 0.02))]


def _arm(chest, sign, four, high, elbow):
    x = 0.1 * sign
    if four:
        y = chest[1]
        return [np.array(place) for place in ((x / 2, y, high), (x, y + 0.02, 0.8 * high), (x, y + 0.04, elbow),
                                              (x, y, 0.03))]
    z = chest[2] + 0.04
    return [np.array(place) for place in ((0.04 * sign, 0, z), (0.18 * sign, 0, z), (0.44 * sign, 0.01, z - 0.02),
                                          (0.68 * sign, 0, z - 0.05))]
