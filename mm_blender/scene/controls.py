# SPDX-License-Identifier: GPL-3.0-or-later
"""Control rigs: the bones that an artist animates by hand, as a skeleton that can be driven.

What a control really hangs from is not its parent: helper bones, constraints and drivers lie between. So the rig is
asked. All controls are turned at random, Blender works out the pose, and each one's place tells which of the others
it has gone along with. Then everything is put back.
"""

import fnmatch
from dataclasses import dataclass, field, replace

import bpy
import numpy as np
from mathutils import Matrix

from ..errors import MotionError
from ..motion import quat
from ..motion.character import Character
from ..motion.roles import rest_forward
from ..motion.sides import find_pairs
from . import rig
from .before import ArmatureBefore

# So far a control may be from where it would be if it hung from another one, as a share of the rig's height.
NEAR = 2e-4
# Controls are turned by at most so many radians, and that twice, so that no two agree by chance.
TURN, TIMES = 0.4, 2


@dataclass(eq=False)
class Controls:
    """What of a control rig is driven.

    roles     role → control
    parents   control → the one that it really hangs from, None for the first
    switches  {(bone, custom property): value} with which the rig listens to these controls
    still     other bones that would carry some of the controls away: they are at rest while driving
    """

    roles: dict
    parents: dict
    switches: dict = field(default_factory=dict)
    still: tuple = ()

    def skeleton(self, ob):
        """The controls as joints, in the world and in metres."""
        return rig.skeleton_of(ob, list(self.parents), self.parents)

    def character(self, ob):
        skeleton = self.skeleton(ob)
        at = {role: skeleton.index(name) for role, name in self.roles.items()}
        return Character(skeleton, dict(self.roles), find_pairs(skeleton.names), rest_forward(skeleton, at))

    def renamed(self, before, now):
        """The same after bones were renamed: both lists of names are in the order of the bones."""
        new = {None: None, **dict(zip(before, now))}
        return Controls({role: new[name] for role, name in self.roles.items()},
                        {new[name]: new[above] for name, above in self.parents.items()},
                        {(new[bone], prop): value for (bone, prop), value in self.switches.items()},
                        tuple(new[name] for name in self.still))

    def switch(self, ob):
        """Let the rig listen to the controls."""
        for (bone, prop), value in self.switches.items():
            owner = ob.pose.bones.get(bone)
            if owner is not None and owner.get(prop, value) != value:
                owner[prop] = value


def find(ob, roles, between=(), switches=()):
    """The Controls of a rig of which these bones play roles, and others lie between them (of the spine, say).

    switches  (pattern of bone names, custom property, value) with which the rig listens to them
    """
    bones = ob.pose.bones
    if not ob.visible_get():
        raise MotionError(f'"{ob.name}" is hidden: show it, so that its controls can be tried.')
    found = Controls({role: name for role, name in roles.items() if name in bones}, {}, {
        (bone.name, prop): type(bone[prop])(value) for pattern, prop, value in switches for bone in bones
        if prop in bone.keys() and fnmatch.fnmatchcase(bone.name, pattern)})
    names = list(dict.fromkeys([*found.roles.values(), *(name for name in between if name in bones)]))
    before, position = ArmatureBefore(ob, found.switches), ob.data.pose_position
    try:
        ob.data.pose_position = "POSE"
        found.switch(ob)
        still = _carriers(ob, names)
        found = replace(found, parents=_parents(ob, names), still=still)
    finally:
        ob.data.pose_position = position
        before.restore_pose(ob)
        bpy.context.view_layer.update()
    _check(ob, names, found.parents)
    return found


def _parents(ob, names):
    """{control: what it hangs from, None for the armature itself}; one that goes along with nothing is absent."""
    for bone in ob.pose.bones:
        bone.matrix_basis = Matrix()
    rng, rest, possible = np.random.default_rng(6), rig.rest_matrices(ob, names), True
    for _ in range(TIMES):
        bases = np.tile(np.eye(4), (len(names), 1, 1))
        bases[:, :3, :3] = quat.to_matrix(quat.exp(rng.uniform(-TURN, TURN, (len(names), 3)) / 2))
        posed = _posed(ob, names, bases)
        # Where each control would be if it hung from each of them (rows), or from the armature (the last row).
        carried = np.concatenate([posed @ np.linalg.inv(rest), np.eye(4)[None]])[:, None] @ (rest @ bases)
        near = _apart(carried, posed, rest) < NEAR
        possible = possible & near & ~np.eye(*near.shape, dtype=bool)
    above = [*names, None]
    return {name: above[possible[:, index].argmax()] for index, name in enumerate(names) if possible[:, index].any()}


def _carriers(ob, names):
    """Posed bones beside the controls that carry some of them away: half by half, since there may be hundreds."""
    others = {bone.name: bone.matrix_basis.copy() for bone in ob.pose.bones if bone.name not in names}
    rest, still = rig.rest_matrices(ob, names), np.tile(np.eye(4), (len(names), 1, 1))

    def search(some):
        for name, basis in others.items():
            ob.pose.bones[name].matrix_basis = basis if name in some else Matrix()
        if not some or (_apart(_posed(ob, names, still), rest, rest) < NEAR).all():
            return ()
        half = len(some) // 2
        return search(some[:half]) + search(some[half:]) if half else tuple(some)
    return search([name for name, basis in others.items() if basis != Matrix()])


def _posed(ob, names, bases):
    """(N, 4, 4) where bones are in the armature's space with these bases, as Blender works it out."""
    for name, basis in zip(names, bases):
        ob.pose.bones[name].matrix_basis = Matrix(basis)
    ob.update_tag()
    bpy.context.view_layer.update()
    return np.array([ob.pose.bones[name].matrix for name in names])


def _apart(places, others, rest):
    """How far (…) matrices (…, 4, 4) are from each other, in turns and in shares of the height of the rest pose."""
    apart = np.abs(places - others)
    apart[..., :3, 3] /= np.ptp(rest[:, :3, 3], axis=0).max()
    return apart.max((-2, -1))


def _check(ob, names, parents):
    tops = [name for name, above in parents.items() if above is None]
    lost = [name for name in names if name not in parents] or tops[1:]
    if lost:
        raise MotionError(f'The control "{lost[0]}" of "{ob.name}" does not go along with the others: choose another '
                          "one in the Character panel.")
