# SPDX-License-Identifier: GPL-3.0-or-later
"""Control rigs: the bones that an artist animates by hand, as a skeleton that can be driven.

What a control really hangs from is not its parent: helper bones, constraints and drivers lie between. So the rig is
asked. All controls are turned at random, Blender works out the pose, and each one's place tells which of the others
it has gone along with. Then everything is put back.
"""

from dataclasses import dataclass, field

import bpy
import numpy as np
from mathutils import Matrix

from ...errors import MotionError
from ...motion import families, quat
from ...motion.roles import find_character
from .. import actions
from ..actions import bone_of
from . import armatures
from .restore import ArmatureBefore

# So far a control may be from where it would be if it hung from another one, as a share of the rig's height.
NEAR = 2e-4
# The limb whose plane the pole of a knee or elbow lies in.
POLES = {"shin": ("thigh", "shin", "foot"), "forearm": ("upper_arm", "forearm", "hand")}
# Controls are turned by at most so many radians, and that twice, so that no two agree by chance.
TURN, TIMES = 0.4, 2


@dataclass(eq=False)
class Controls:
    """What of a control rig is driven.

    parents   control → the one that it really hangs from, None for the first
    switches  {(bone, custom property): value} with which the rig listens to these controls
    still     other bones, posed or animated, that would carry some of the controls away: they are at rest while driving
    ik        IK control → (the control that it stands for, what it hangs from), or with two more, of the joints below,
              for the pole of a knee or elbow
    poles     {(bone, custom property): value} with which IK, when it is on, listens to them
    """

    parents: dict
    switches: dict = field(default_factory=dict)
    still: tuple = ()
    ik: dict = field(default_factory=dict)
    poles: dict = field(default_factory=dict)

    def skeleton(self, ob):
        """The controls as joints, in the world and in metres."""
        return armatures.skeleton_of(ob, list(self.parents), self.parents)

    def character(self, ob):
        return find_character(self.skeleton(ob))

    def renamed(self, before, now):
        """The same after bones were renamed: both lists of names are in the order of the bones."""
        new = {None: None, **dict(zip(before, now))}
        return Controls({new[name]: new[above] for name, above in self.parents.items()},
                        {(new[bone], prop): value for (bone, prop), value in self.switches.items()},
                        tuple(new[name] for name in self.still),
                        {new[name]: tuple(new[other] for other in others) for name, others in self.ik.items()},
                        {(new[bone], prop): value for (bone, prop), value in self.poles.items()})

    def switch(self, ob):
        """Let the rig listen to the controls."""
        for (bone, prop), value in self.switches.items():
            owner = ob.pose.bones.get(bone)
            if owner is not None and owner.get(prop, value) != value:
                owner[prop] = value
                ob.update_tag()  # drivers listen to it


_found = {}  # session_uid of an armature → the names of its bones, and the Controls that were found with them


def is_control_rig(ob):
    """Whether an armature has controls that are known."""
    return families.find_controls(ob.data.bones.keys()) is not None


def find(ob):
    """The Controls of a control rig. They are tried, and everything is as before afterwards."""
    known = families.find_controls(ob.data.bones.keys())
    if not ob.visible_get():
        raise MotionError(f'"{ob.name}" is hidden: show it, so that its controls can be tried.')
    bones = ob.pose.bones
    switches, poles = ({(bone, prop): type(bones[bone][prop])(value) for bone, prop, value in properties
                        if bones[bone].get(prop) is not None} for properties in (known.properties, known.ik_properties))
    found, before, position = Controls({}, switches), ArmatureBefore(ob, switches), ob.data.pose_position
    try:
        ob.data.pose_position = "POSE"
        found.switch(ob)
        posed = _animated(ob) | {bone.name: bone.matrix_basis.copy() for bone in bones if bone.matrix_basis != Matrix()}
        parents = _parents(ob, [*known.bones, *known.ik.values()])
        found.parents = _trunk_and_limbs({name: parents[name] for name in known.bones if name in parents}, known.roles)
        found.ik, found.poles = _ik(known, parents, found.parents), poles
        found.still = _carriers(ob, list(found.parents), posed)
    finally:
        ob.data.pose_position = position
        before.restore_pose(ob)
        bpy.context.view_layer.update()
    _check(ob, known.roles.values(), found.parents)
    _found[ob.session_uid] = ob.data.bones.keys(), found
    return found


def of(ob, skeleton):
    """The Controls of an armature that were found last, if a skeleton is made of them; otherwise None. Fails if one of
    them is gone since."""
    names, known = _found.get(ob.session_uid, ((), None))
    if known is None:
        return None
    now = ob.data.bones.keys()
    if now != names and len(now) == len(names):
        known = known.renamed(names, now)
    if not set(known.parents) <= {*skeleton.names}:
        return None
    if gone := [name for name in known.parents if name not in ob.data.bones]:
        raise MotionError(f'The control "{gone[0]}" of "{ob.name}" is gone, without which it is not driven: undo that.')
    return known


def forget():
    _found.clear()


def _trunk_and_limbs(parents, roles):
    """Controls that play roles, and those between them; others, such as fingers, stay as the artist has them.

    What lies between hips and legs stays, too: there Rigify's spine goes down, and the hips have one place only.
    """
    def line(name):
        return [name, *(line(parents[name]) if parents.get(name) is not None else ())]

    legs = {name for role, name in roles.items() if role.endswith(("thigh", "shin", "foot", "toe"))}
    kept = {*roles.values(), *(above for name in {*roles.values()} - legs for above in line(name))}
    return {name: next((above for above in line(name)[1:] if above in kept), None)
            for name in parents if name in kept}


def _ik(known, parents, driven):
    """IK controls as Controls have them; those that go along with no control are left alone."""
    found, possible = {}, {*driven, *known.ik.values()}
    for role, name in known.ik.items():
        side, part = role.split("_", 1)
        limb = [known.roles.get(f"{side}_{other}") for other in POLES.get(part, (part,))]
        above = parents.get(name)
        while above is not None and above not in possible:
            above = parents.get(above)
        if None not in limb and above is not None:
            found[name] = (limb[0], above, *limb[1:])
    return found


def _parents(ob, names):
    """{control: what it hangs from, None for the armature itself}; one that goes along with nothing is absent."""
    _rest(ob)
    rng, rest, possible = np.random.default_rng(6), armatures.rest_matrices(ob, names), True
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


def _carriers(ob, names, posed):
    """Of posed bones (name → basis) beside the controls those that carry some of them away: half by half, since there
    may be hundreds."""
    _rest(ob)
    others = {name: basis for name, basis in posed.items() if name not in names}
    rest, still = armatures.rest_matrices(ob, names), np.tile(np.eye(4), (len(names), 1, 1))

    def search(some):
        for name, basis in others.items():
            ob.pose.bones[name].matrix_basis = basis if name in some else Matrix()
        if not some or (_apart(_posed(ob, names, still), rest, rest) < NEAR).all():
            return ()
        half = len(some) // 2
        return search(some[:half]) + search(some[half:]) if half else tuple(some)
    return search(list(others))


def _animated(ob):
    """Bones that have curves in the armature's Action, and a basis that these may give them: turned."""
    action = ob.animation_data.action if ob.animation_data is not None else None
    names = {bone_of(curve.data_path)[0] for curve in actions.fcurves(action, ob)} if action is not None else ()
    return {name: Matrix.Rotation(TURN, 4, (1, 1, 1)) for name in names if name in ob.pose.bones}


def _rest(ob):
    for bone in ob.pose.bones:
        bone.matrix_basis = Matrix()


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
