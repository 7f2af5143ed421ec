# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters made from others: what retargeting is tested with."""

from dataclasses import replace

import numpy as np

from mm_blender.motion import quat
from mm_blender.motion.character import Character
from mm_blender.motion.skeleton import Skeleton, backward

SIDES = ("left", "right")


def renamed_and_rolled(character, seed=0):
    """The same bones with other names, each turned about its joint in any way."""
    chance, skeleton = np.random.default_rng(seed), character.skeleton
    rolls = quat.normalize(chance.normal(size=(len(skeleton), 4)))
    rolls[0] = (1, 0, 0, 0)
    positions, rotations = skeleton.rest
    names = [skeleton.names[0], *(f"bone {joint}" for joint in range(1, len(skeleton)))]
    return _posed(character, positions, quat.mul(rotations, rolls), names)


def at_rest_with(character, turns):
    """The same bones in another rest pose. turns: role → a turn in the character's space of all that hangs there."""
    skeleton = character.skeleton
    positions, rotations = (np.array(part, dtype=np.float64) for part in skeleton.rest)
    for role, turn in turns.items():
        top = character.joint(role)
        below = [joint for joint in range(len(skeleton)) if top in skeleton.ancestors(joint)]
        positions[below] = positions[top] + quat.rotate(turn, positions[below] - positions[top])
        rotations[below] = quat.mul(turn, rotations[below])
    toes = [character.joint(f"{side}_toe") for side in SIDES]
    positions[1:, 2] += skeleton.rest[0][toes, 2].mean() - positions[toes, 2].mean()  # where the ground is
    return _posed(character, positions, rotations, skeleton.names)


def a_pose(character, arms=45, legs=8):
    """Arms that hang by so many degrees more, legs that are apart by so many more; feet flat on the ground."""
    across = character.skeleton.rest[0][character.joint("left_thigh")] - character.skeleton.rest[0][
        character.joint("right_thigh")]
    ahead = np.array([-across[1], across[0], 0]) / np.linalg.norm(across[:2])  # backwards, in fact: up × left
    turns = {}
    for side, sign in zip(SIDES, (1, -1)):
        turns[f"{side}_upper_arm"] = quat.from_angle_axis(np.radians(-arms * sign), -ahead)
        turns[f"{side}_thigh"] = quat.from_angle_axis(np.radians(legs * sign), -ahead)
        turns[f"{side}_foot"] = quat.from_angle_axis(np.radians(-legs * sign), -ahead)
    return at_rest_with(character, turns)


def with_lengths(character, size=1.0, **parts):
    """The same character in another size, and some joints (without their side) further from or nearer to what they hang
    from on top of that."""
    positions = character.skeleton.positions * size
    for part, factor in parts.items():
        for role in (part, *(f"{side}_{part}" for side in SIDES)):
            if character.has(role):
                positions[character.joint(role)] *= factor
    other = replace(character, skeleton=replace(character.skeleton, positions=positions))
    toes = [character.joint(f"{side}_toe") for side in SIDES]
    up = size * character.skeleton.rest[0][toes, 2].mean() - other.skeleton.rest[0][toes, 2].mean()
    positions[character.joint("hips"), 2] += up  # it stands on the ground
    return replace(character, skeleton=replace(character.skeleton, positions=positions))


def without(character, *roles):
    """The character without the bones of some roles; what hung from them hangs from what they hung from."""
    skeleton = character.skeleton
    gone = {character.joint(role) for role in roles}
    kept = [joint for joint in range(len(skeleton)) if joint not in gone]
    above = [next((other for other in skeleton.ancestors(joint)[1:] if other not in gone), -1) for joint in kept]
    parents = [kept.index(joint) if joint >= 0 else -1 for joint in above]
    names = [skeleton.names[joint] for joint in kept]
    positions, rotations = (part[kept] for part in skeleton.rest)
    bare = Skeleton(names, parents, positions, rotations)
    local = [part[0] for part in backward(bare, positions[None], rotations[None])]
    return Character(Skeleton(names, parents, *local), {role: name for role, name in character.roles.items()
                                                        if name in names},
                     {name: other for name, other in character.mirror.items() if {name, other} <= set(names)}, "+Y")


def _posed(character, positions, rotations, names):
    skeleton, old = character.skeleton, character.skeleton.names
    local = [part[0].astype(np.float32) for part in backward(skeleton, positions[None], rotations[None])]
    called = dict(zip(old, names))
    return Character(Skeleton(names, skeleton.parents, *local),
                     {role: called[name] for role, name in character.roles.items()},
                     {called[name]: called[other] for name, other in character.mirror.items()}, "+Y")
