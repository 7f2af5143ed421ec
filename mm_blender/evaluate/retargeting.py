# SPDX-License-Identifier: GPL-3.0-or-later
"""What retargeting made of a clip, in figures: do feet stand, do limbs point where they did, is no joint flipped.

Feet are measured by what the source does, its contacts, and by where toes are low; what the retargeter says of feet
has no say here.
"""

import numpy as np

from ..motion.stance import soles
from .feet import LOW, over_the_ground, speeds

LIMBS = _, LEG = (("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot"))
# What is said of feet on average.
FEET = [f"{figure}{whose}" for figure in ("foot_slide", "slide_low", "skating") for whose in ("", "_source")]
# A knee or elbow that is bent by less (sine of the angle) has no side to which it could flip.
BENT = 0.17


def report(retarget, before, after):
    """The figures of what a Retarget made of a clip, as plain values; `…_source` are the source's own."""
    source, target = retarget.source, retarget.target
    shown = before.globals(), after.globals()
    (old, _), (new, _) = shown
    angles, legs, flips = [], [], np.zeros(len(after), dtype=bool)
    for side in ("left", "right"):
        for limb in LIMBS:
            roles = [f"{side}_{part}" for part in limb]
            if all(character.has(role) for character in (source, target) for role in roles):
                ways = [np.diff(points[:, [character.joint(role) for role in roles]], axis=1)
                        for character, points in ((source, old), (target, new))]
                angles.append(_angles(*ways))
                legs += angles[-1:] if limb == LEG else []
                flips |= _flipped(*ways)
    return {"seconds": round(len(after) / after.rate, 2), **_feet(retarget, before, *shown),
            "limb_degrees": _summary(np.concatenate(angles, axis=1)) if angles else {},
            "leg_degrees": _summary(np.concatenate(legs, axis=1)) if legs else {},
            "flipped_frames": int(flips.sum())}


def together(reports):
    """Several reports as one: means by the length of clips, and the largest."""
    seconds = [one["seconds"] for one in reports]

    def mean(name, part=None):
        values = [one[name] if part is None else one[name].get(part, 0.0) for one in reports]
        return _round(np.average(values, weights=np.maximum(seconds, 1e-6)))

    def most(name, part=None):
        return _round(max(one[name] if part is None else one[name].get(part, 0.0) for one in reports))

    return {"clips": len(reports), "seconds": round(sum(seconds), 2), **{name: mean(name) for name in FEET},
            **{name: most(name) for name in ("foot_slide_max", "toe_penetration_mm", "sole_highest_mm")},
            "sole_lowest_mm": -_round(max(-one["sole_lowest_mm"] for one in reports)),
            **{name: {"mean": mean(name, "mean"), "p95": mean(name, "p95"), "max": most(name, "max")}
               for name in ("limb_degrees", "leg_degrees")},
            "flipped_frames": sum(one["flipped_frames"] for one in reports)}


def _feet(retarget, before, old, new):
    """How fast soles slide (cm/s) while the source's are in contact, on average and at most, and while they are low;
    how many low frames have a sole that skates; how far soles are under the ground at most; and between which heights
    over it those are with which the source stands on it (mm).

    old, new  where joints are (F, J, 3) and how they are turned (F, J, 4)
    """
    rate, contacts = before.rate, before.contacts
    contacts = np.zeros((len(before), 2), dtype=bool) if contacts is None else contacts
    theirs, ours = soles(retarget.source, *old), soles(retarget.target, *new)
    stands, figures = contacts[1:] & contacts[:-1], {}
    # A target of another size is measured as if it had the source's.
    for whose, toes, standing in (("", ours / retarget.scale, retarget.standing[:, 0] / retarget.scale),
                                  ("_source", theirs, _standing(theirs, contacts))):
        slides, low = 100 * speeds(toes, rate)[stands], over_the_ground(toes, standing, rate)
        figures |= {f"foot_slide{whose}": _round(slides.mean() if stands.any() else 0.0),
                    f"slide_low{whose}": low["slide"], f"skating{whose}": low["skating"]}
        if not whose:
            figures["foot_slide_max"] = _round(slides.max(initial=0.0))
    heights = 1000 * (ours[..., 2] - retarget.standing[:, 0])
    grounded = heights[contacts & (theirs[..., 2] < _standing(theirs, contacts) + LOW)]
    return {**figures, "toe_penetration_mm": _round(max(0.0, -float(heights.min()))),
            "sole_lowest_mm": _round(grounded.min(initial=0.0)), "sole_highest_mm": _round(grounded.max(initial=0.0))}


def _standing(toes, contacts):
    """(2,) how high toes (F, 2, 3) are while they stand; those that never do, at their lowest."""
    return np.array([np.median(heights[stands]) if stands.any() else heights.min()
                     for heights, stands in zip(toes[..., 2].T, contacts.T)])


def _angles(old, new):
    """Degrees between the directions of bones (F, B, 3)."""
    old, new = (ways / np.maximum(np.linalg.norm(ways, axis=-1, keepdims=True), 1e-9) for ways in (old, new))
    return np.degrees(2 * np.arcsin(np.clip(np.linalg.norm(old - new, axis=-1) / 2, 0, 1)))


def _flipped(old, new):
    """(F,) whether the joint between two bones (F, 2, 3) bends to another side than it did."""
    sides = []
    for ways in (old, new):
        upper, lower = (ways / np.maximum(np.linalg.norm(ways, axis=-1, keepdims=True), 1e-9)).transpose(1, 0, 2)
        sides.append(np.cross(upper, lower))
    bent = np.min([np.linalg.norm(side, axis=-1) for side in sides], axis=0) > BENT
    return bent & ((sides[0] * sides[1]).sum(axis=-1) < 0)


def _summary(values):
    return {"mean": _round(values.mean()), "p95": _round(np.percentile(values, 95)), "max": _round(values.max())}


def _round(value):
    return round(float(value), 4)
