# SPDX-License-Identifier: GPL-3.0-or-later
"""Showing what is played on the armature, frame by frame, with the fastest calls that Blender has."""

import numpy as np
from mathutils import Matrix

from ..motion import quat
from ..motion.clip import Clip
from ..playback.legs import TO_FRAME
from . import keys, rig, takes

# What each pair of a quaternion's components adds to a transposed matrix.
_TO_COLUMNS = TO_FRAME.reshape(16, 4, 4).swapaxes(1, 2).reshape(16, 16).astype(np.float32)


class Poser:
    """Writes poses of a database's skeleton to one armature. Bones may be renamed or deleted meanwhile.

    What a joint's local transform differs from rest is the basis of its bone: one product of matrices for all bones,
    transposed as Blender has them in memory. Where bones hang from each other in another way than joints do, they are
    worked out one by one as for keyframes.
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
        if self._world != ob.matrix_world or self._count != len(ob.data.bones):
            self._look_at(ob)
        if not self._alike:
            self._write_one_by_one(ob, root, positions, rotations)
        else:
            locals_, bones = self._turned(rotations), ob.pose.bones
            locals_[self._moved, 3, :3] = positions[self._there] * self._unscaled
            # The first bone stands in the world: a root bone, or the hips, that hang from a root that was made.
            top = locals_[self._top] if self._made_root else self._own
            locals_[self._top] = top.dot(_standing(root * self._unscaled, rotations[0]))
            if len(self._at) == len(self._bases):
                np.matmul(locals_, self._before, out=self._bases)
            else:  # bones that are no joints stay as they are
                bones.foreach_get("matrix_basis", self._flat)
                self._bases[self._at] = locals_ @ self._before
            bones.foreach_set("matrix_basis", self._flat)
        ob.update_tag()

    def skeleton(self, ob):
        """The database's skeleton, with the names that the armature's bones have now."""
        now = ob.data.bones.keys()
        if now == self.names or len(now) != len(self.names):
            return self.database.skeleton
        return takes.renamed(self.database.skeleton, self.names, now)

    def _turned(self, rotations):
        """(B, 4, 4) the joints' local transforms with these rotations, as if none of them moved."""
        mine = rotations.take(self._joints, axis=0)
        pairs = mine[:, :, None] * mine[:, None, :]
        found = pairs.reshape(-1, 16).dot(_TO_COLUMNS)
        found += self._still
        return found.reshape(-1, 4, 4)

    def _look_at(self, ob):
        """All that depends on the rest pose and on where the object is."""
        self._world, self._count = ob.matrix_world.copy(), len(ob.data.bones)
        baked = self.skeleton(ob)
        skeleton = takes.skeleton_for(ob, baked)
        joints = np.array([baked.index(name) for name in skeleton.names])
        self._made_root = baked.names[0] not in skeleton.names
        bones = [ob.data.bones[name] for name in skeleton.names]
        self._alike = _hang_alike(bones, skeleton, baked)
        if not self._alike:
            return
        scale, turn, place = rig.placement(rig.world_matrix(ob), ob.name)
        self._unscaled = np.float32(1 / scale)
        own = np.eye(4)
        if not self._made_root:
            place_of_root, turn_of_root = takes.root_bone(skeleton, baked)
            own = _matrix(place_of_root * self._unscaled, turn_of_root)
        # A basis is (what comes before)⁻¹ times the joint: the rest, and for the first bone the object itself.
        before = [np.array(bone.matrix_local if bone.parent is None
                           else bone.parent.matrix_local.inverted() @ bone.matrix_local) for bone in bones]
        before[0] = _matrix(place * self._unscaled, turn) @ before[0]
        for index, joint in enumerate(joints):
            if index and baked.parents[joint] == 0:
                before[index] = own @ before[index]
        # From here on joints are in the order of the armature's bones, and matrices are transposed.
        at = np.array([ob.data.bones.find(bone.name) for bone in bones])
        order = at.argsort()
        self._at, self._joints, self._top = at[order], joints[order], int(order.argmin())
        self._own = own.T.astype(np.float32)
        self._before = np.linalg.inv(before)[order].swapaxes(1, 2).astype(np.float32, order="C")
        still = np.tile(np.eye(4, dtype=np.float32), (len(joints), 1, 1))
        still[:, 3, :3] = self.database.fixed[self._joints] * self._unscaled
        self._still = still.reshape(-1, 16)
        # Which of the moving joints are bones, and which bones they are.
        self._there, self._moved = np.nonzero(self._moving[:, None] == self._joints)
        self._bases = np.empty((len(ob.data.bones), 4, 4), dtype=np.float32)
        self._flat = self._bases.ravel()

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


def _standing(place, turn):
    """The transposed matrix of something that stands upright."""
    (x, y, z), (w, _, _, v) = place.tolist(), turn.tolist()
    cos, sin = w * w - v * v, 2 * w * v
    return np.array(((cos, sin, 0, 0), (-sin, cos, 0, 0), (0, 0, 1, 0), (x, y, z, 1)), dtype=np.float32)


def _matrix(place, turn):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = quat.to_matrix(np.asarray(turn, dtype=np.float64)), place
    return matrix
