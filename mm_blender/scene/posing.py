# SPDX-License-Identifier: GPL-3.0-or-later
"""Showing what is played on the armature, frame by frame, with the fastest calls that Blender has."""

import numpy as np
from mathutils import Matrix

from ..motion import quat
from ..motion.clip import Clip
from ..playback.legs import TO_FRAME
from . import controls, keys, rig, takes

# The ten pairs of a quaternion's components; what each of them, the place x, y, z and a one add to a transposed matrix.
_FIRST, _SECOND = np.triu_indices(4)
_TO_COLUMNS = np.zeros((14, 4, 4))
_TO_COLUMNS[:10] = TO_FRAME.reshape(4, 4, 4, 4)[_FIRST, _SECOND].swapaxes(1, 2)
_TO_COLUMNS[:10][_FIRST != _SECOND] *= 2  # either may come first
_TO_COLUMNS[10:13, 3, :3], _TO_COLUMNS[13] = np.eye(3), np.eye(4)


class Poser:
    """Writes poses of a database's skeleton to one armature. Bones may be renamed or deleted meanwhile.

    What a joint's local transform differs from rest is the basis of its bone: one product for all bones, transposed as
    Blender has them in memory. Where bones hang from each other in another way than joints do, they are worked out one
    by one as for keyframes.

    controls  the armature's Controls, if it is posed by these
    """

    def __init__(self, ob, database, names=None):
        """names: those that the bones had when the database fitted them, if they may have been renamed since."""
        self.database = database
        self.names = names or ob.data.bones.keys()
        self._moving = database.moving[database.moving != 0]
        self._look_at(ob)

    def write(self, ob, root, positions, rotations):
        """Pose the armature: root (3,) in the world, positions (M, 3) of the moving joints below it, rotations (J, 4),
        of which the first is the root's own. The object is tagged; Blender shows it with the next update."""
        bones = ob.pose.bones
        if self._world != ob.matrix_world or self._count != len(bones):
            self._look_at(ob)
        if not self._alike:
            self._write_one_by_one(ob, root, positions, rotations)
        else:
            turns = rotations.copy()
            places = [*positions.tolist(), self._fixed]
            for at, column in self._moved:
                self._places[at] = places[column]
            # The first bone stands in the world: a root bone, or the hips, that hang from a root that was made.
            place, turn = self._own or (places[self._hips], turns[self._first].tolist())
            self._places[self._top], turns[self._first] = _standing(root.tolist(), rotations[0].tolist(), place, turn)
            turns = turns.ravel()
            np.multiply(turns.take(self._left), turns.take(self._right), out=self._pairs)
            if len(self._at) == len(self._bases):
                np.matmul(self._rows, self._to_basis, out=self._bases)
            else:  # bones that are no joints stay as they are
                bones.foreach_get("matrix_basis", self._flat)
                self._bases[self._at] = self._rows @ self._to_basis
                self._bases[self._still] = np.eye(4).ravel()
            bones.foreach_set("matrix_basis", self._flat)
            if self.controls is not None:
                self.controls.switch(ob)
        ob.update_tag()

    def skeleton(self, ob):
        """The database's skeleton, with the names that the armature's bones have now."""
        now = ob.data.bones.keys()
        if now == self.names or len(now) != len(self.names):
            return self.database.skeleton
        return takes.renamed(self.database.skeleton, self.names, now)

    def _look_at(self, ob):
        """All that depends on the rest pose and on where the object is."""
        self._world, self._count = ob.matrix_world.copy(), len(ob.pose.bones)
        baked = self.skeleton(ob)
        skeleton = takes.skeleton_for(ob, baked)
        joints = np.array([baked.index(name) for name in skeleton.names])
        made_root = baked.names[0] not in skeleton.names
        bones = [ob.data.bones[name] for name in skeleton.names]
        self.controls = controls.of(ob, skeleton)
        self._alike = self.controls is not None or _hang_alike(bones, skeleton, baked)
        if not self._alike:
            return
        scale, turn, place = rig.placement(rig.world_matrix(ob), ob.name)
        own_place, own_turn = takes.root_bone(skeleton, baked) if not made_root else (np.zeros(3), quat.identity())
        own = _matrix(own_place / scale, own_turn)
        # A basis is (what comes before)⁻¹ times the joint: the rest, and for the first bone the object itself.
        before = [np.array(bone.matrix_local if above < 0 else bones[above].matrix_local.inverted() @ bone.matrix_local)
                  for bone, above in zip(bones, skeleton.parents)]
        before[0] = _matrix(place / scale, turn) @ before[0]
        for index, joint in enumerate(joints):
            if index and baked.parents[joint] == 0:
                before[index] = own @ before[index]
        # From here on joints are in the order of the armature's bones, and matrices are transposed.
        at = np.array([ob.data.bones.find(bone.name) for bone in bones])
        order = at.argsort()
        self._at, self._joints, self._top, self._first = at[order], joints[order], int(order.argmin()), int(joints[0])
        to_basis = _TO_COLUMNS @ np.linalg.inv(before)[order].swapaxes(1, 2)[:, None]
        to_basis[:, 10:13] /= scale
        self._to_basis = to_basis.reshape(-1, 14, 16).astype(np.float32)
        # Which of the moving joints are bones, and which bones they are.
        self._moved = np.argwhere(self._joints[:, None] == self._moving).tolist()
        # The first bone, if it is a root bone, or else where it hangs: as one of those, or as fixed.
        self._own = None if made_root else (own_place.tolist(), own_turn.tolist())
        self._hips, self._fixed = dict(self._moved).get(self._top, -1), self.database.fixed[joints[0]].tolist()
        self._rows = np.ones((len(joints), 1, 14), dtype=np.float32)  # of each joint what _TO_COLUMNS takes
        self._pairs, self._places = self._rows[:, 0, :10], self._rows[:, 0, 10:13]
        # Where in all rotations both components of each pair are: much faster than products of such short rows.
        self._left, self._right = (4 * self._joints[:, None] + each for each in (_FIRST, _SECOND))
        self._places[:] = self.database.fixed[self._joints]
        self._bases = np.empty((self._count, 1, 16), dtype=np.float32)
        self._flat = self._bases.ravel()
        self._still = [ob.data.bones.find(name) for name in self.controls.still] if self.controls is not None else []

    def _write_one_by_one(self, ob, root, positions, rotations):
        places = self.database.fixed.copy()
        places[self._moving], places[0] = positions, root
        frame = Clip("frame", self.skeleton(ob), self.database.rate, places[None], rotations[None])
        for bone, location, rotation in keys.bases(ob, takes.on_rig(ob, frame)):
            ob.pose.bones[bone.name].matrix_basis = Matrix(_matrix(location[0], rotation[0]))


def _hang_alike(bones, skeleton, baked):
    """Whether bones hang from each other as the joints do, and follow their parents in the usual way."""
    for bone, above in zip(bones, skeleton.parents):
        parent = baked.parents[baked.index(bone.name)]
        joint_above = baked.names[parent] if parent >= 0 else None
        if above >= 0 and (joint_above != skeleton.names[above] or bone.parent != bones[above]):
            return False
        if above < 0 and (parent > 0 or bone.parent is not None):
            return False
        if not (bone.use_inherit_rotation and bone.use_local_location):
            return False
    return True


def _standing(root, upright, place, turn):
    """Place and rotation in the world of what is seen from a root, whose own rotation is upright."""
    (x, y, z), (cos, _, _, sin), (right, forward, up), (a, b, c, d) = root, upright, place, turn
    way = complex(cos, sin) ** 2 * complex(right, forward)
    return ((x + way.real, y + way.imag, z + up),
            (cos * a - sin * d, cos * b - sin * c, cos * c + sin * b, cos * d + sin * a))


def _matrix(place, turn):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = quat.to_matrix(np.asarray(turn, dtype=np.float64)), place
    return matrix
