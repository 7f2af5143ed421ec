# SPDX-License-Identifier: GPL-3.0-or-later
"""Showing what is played on the armature, frame by frame, with the fastest calls that Blender has."""

import cmath
import math
from itertools import pairwise

import numpy as np
from mathutils import Matrix, Quaternion, Vector

from ...motion import quat
from ...motion.clip import Clip
from ..reading import keyframes
from ..rig import armatures, controls
from . import takes

SAME = 1e-4  # a basis that differs by less is the same: Blender reads and writes them a little off
# The ten pairs of a quaternion's components; what each of them, the place x, y, z and a one add to a transposed matrix.
_FIRST, _SECOND = np.triu_indices(4)
_TO_COLUMNS = np.zeros((14, 4, 4))
# A matrix is a sum over the pairs, and one: (a + b)² - a² - b² is what the pair ab has, and of aa it is twice that.
_ONES = np.eye(4)
_OF_PAIRS = (quat.to_matrix(_ONES[_FIRST] + _ONES[_SECOND]) - quat.to_matrix(_ONES[_FIRST])
             - quat.to_matrix(_ONES[_SECOND]) + np.eye(3))
_TO_COLUMNS[:10, :3, :3] = (_OF_PAIRS / np.where(_FIRST == _SECOND, 2, 1)[:, None, None]).swapaxes(1, 2)
_TO_COLUMNS[10:13, 3, :3], _TO_COLUMNS[13] = np.eye(3), np.eye(4)


class Poser:
    """How poses of a database's skeleton are shown on one armature. Bones may be renamed or deleted meanwhile.

    layout    how the joints lie on the bones; None where bones follow what they hang from in a way of their own: then
              they are worked out one by one, as for keyframes
    controls  the armature's Controls, if it is posed by these
    size      how many times as large the armature is as the database's skeleton
    floor     how high in the world the ground is from which the heights of characters are counted
    settled   False when somebody may have changed more than the pose of driven bones: put() sees to that, too, then
    """

    def __init__(self, ob, database, before=None):
        """before: the Poser of this armature until now; its bones may have been renamed since the database fitted."""
        self.database = database
        # The names that bones had when the database fitted them; those that they had last, and in which armature.
        self._names, self._last, self._armature = (
            (before._names, before._last, before._armature) if before else ([], [], None))
        self._look_at(ob)

    def look(self, ob):
        """Look at the armature again if it has changed."""
        same = self._seen == _seen(ob) and self._world == ob.matrix_world
        if not (same and (self.settled or self._is_as_seen(ob))):
            self._look_at(ob)

    def put(self, ob, bases):
        """Give the bones the bases (N, 16) of their joints. Bones that are no joints keep their pose."""
        if not self.settled:
            self._settle(ob)
        bones = ob.pose.bones
        if self._overrides:
            for at, basis in zip(self.layout.at.tolist(), bases):
                bones[at].matrix_basis = Matrix(basis.reshape(4, 4).T)
            return  # which has tagged it, too
        if len(bases) < self._count:
            found = np.empty((self._count, 16), dtype=np.float32)
            bones.foreach_get("matrix_basis", found.ravel())
            found[self.layout.at] = bases
            bases = found
        bones.foreach_set("matrix_basis", bases.ravel())
        # The pose comes along with the object; with the tag DATA Blender would copy all bones of the armature, too.
        ob.update_tag(refresh={"OBJECT"})

    def put_one_by_one(self, ob, place, yaw, height, positions, rotations):
        """The same for one character: its root, positions (M, 3) of the moving joints and rotations (J, 4)."""
        places, turns = self.database.fixed.copy(), rotations.copy()
        places[_below_root(self.database)], places[0] = positions, (place.real, place.imag, height)
        turns[0] = quat.from_yaw(yaw)
        frame = Clip("frame", self.skeleton(ob), self.database.rate, places[None], turns[None])
        for bone, location, rotation in keyframes.bases(ob, takes.on_rig(ob, frame)):
            ob.pose.bones[bone.name].matrix_basis = Matrix(_matrix(location[0], rotation[0]))
        ob.update_tag()

    def skeleton(self, ob):
        """The database's skeleton, with the names that the armature's bones have now."""
        return takes.renamed(self.database.skeleton, self._names, ob.data.bones.keys())

    def _settle(self, ob):
        """See to all that hardly ever changes."""
        self.settled = True
        if self.controls is not None:
            self.controls.switch(ob)
            for at in self._still:
                ob.pose.bones[at].matrix_basis = Matrix()

    def _is_as_seen(self, ob):
        bones = ob.pose.bones
        return self._last == ob.data.bones.keys() and all(
            name in bones and np.allclose(bones[name].matrix_basis, basis, atol=SAME) for name, basis in self._between)

    def _look_at(self, ob):
        """All that depends on the rest pose and on where the object is."""
        now = ob.data.bones.keys()
        if self._armature != ob.data.session_uid and self._last != now:  # what is another's was not renamed
            self._names = now
        self._last, self._armature, self._seen = now, ob.data.session_uid, _seen(ob)
        self._world, self._count, self.floor = ob.matrix_world.copy(), len(ob.pose.bones), armatures.floor(ob)
        # Of a library override Blender takes matrices one by one only: all at once they are lost without a word.
        self._overrides = ob.override_library is not None
        baked = self.skeleton(ob)
        skeleton = takes.skeleton_for(ob, baked)
        bones = [*(ob.data.bones[name] for name in skeleton.names), None]  # the last is what the first one hangs from
        lines = [(bone, _hangs_from(bone, bones[above], skeleton)) for bone, above in zip(bones, skeleton.parents)]
        self.controls = controls.of(ob, skeleton)
        self._still, self._between, self.settled = [], [], False
        if self.controls is not None:
            self._still = [ob.data.bones.find(name) for name in self.controls.still]
            lines = [(bone, bones[above]) for bone, above in zip(bones, skeleton.parents)]
            hung = [armatures.at_rest(*line) for line in lines]
        else:
            between = {each.name for line in lines for each in armatures.bones_between(*line)}
            self._between = [(name, ob.pose.bones[name].matrix_basis.copy()) for name in between]
            hung = [armatures.hung(ob, *line) for line in lines]
        below = [name for name in skeleton.names if name != baked.names[0]]  # a root may be anywhere under them
        self.size = _extent(skeleton, below) / max(_extent(baked, below), 1e-9)
        alike = self.controls is not None or _follow_as_usual(lines)
        above = [None if parent is None else baked.index(parent.name) for _, parent in lines]
        self.layout = JointsOnBones(ob, skeleton, hung, baked, self.database, above) if alike else None


class JointsOnBones:
    """How joints lie on the bones of an armature, in the order of its bones.

    at        (N,) which bones they are
    joints    (N,) which joints they are
    to_basis  (N, 14, 16) what makes the basis of each bone, transposed, of its row: see _TO_COLUMNS
    fixed     (N, 3) where they are in their parents' frames
    top       which one is the first bone, that has no other above it; and which joint that is: first
    moved     [(which one, which of the moving joints it is)] of the others
    outside   [(which one, its joint, the joint of the bone that it hangs from, or None for the armature)] of those that
              hang from another bone than the joint does: feet that IK leads
    """

    def __init__(self, ob, skeleton, hung, baked, database, above):
        """hung: the Matrix with which each bone at rest hangs from the bone of the joint `above`, or from the armature
        (None)."""
        joints = np.array([baked.index(name) for name in skeleton.names])
        made_root = baked.names[0] not in skeleton.names
        scale, turn, place = armatures.placement(armatures.world_matrix(ob), ob.name)
        own_place, own_turn = takes.root_bone(skeleton, baked) if not made_root else (np.zeros(3), quat.identity())
        own = _matrix(own_place / scale, own_turn)
        # A basis is (what comes before)⁻¹ times the joint: the rest, and for the first bone the object itself.
        before = [np.array(matrix) for matrix in hung]
        for index, parent in enumerate(above):
            if parent is None:
                before[index] = _matrix(place / scale, turn) @ before[index]
            elif index and parent == 0:
                before[index] = own @ before[index]
        # From here on joints are in the order of the armature's bones, and matrices are transposed.
        at = np.array([ob.data.bones.find(name) for name in skeleton.names])
        order = at.argsort()
        self.at, self.joints, self.top, self.first = at[order], joints[order], int(order.argmin()), int(joints[0])
        to_basis = _TO_COLUMNS @ np.linalg.inv(before)[order].swapaxes(1, 2)[:, None]
        to_basis[:, 10:13] /= scale
        self.to_basis = to_basis.reshape(-1, 14, 16).astype(np.float32)
        self.fixed = database.fixed[self.joints]
        moved = np.argwhere(self.joints[:, None] == _below_root(database)).tolist()
        above = [above[index] for index in order]
        self.outside = [(row, joint, parent) for row, (joint, parent) in enumerate(zip(self.joints.tolist(), above))
                        if row != self.top and parent != baked.parents[joint]]
        beyond = {self.top, *(row for row, *_ in self.outside)}
        self.moved = [each for each in moved if each[0] not in beyond]
        # The joints that those outside, and what they hang from, are carried by, parents first.
        self._carriers = sorted({up for _, *both in self.outside for joint in both if joint
                                 for up in baked.ancestors(joint)} - {0})
        self._parents, self._columns = baked.parents.tolist(), {
            joint: column for column, joint in enumerate(_below_root(database).tolist())}
        self._fixed = database.fixed.tolist()
        # The first bone, if it is a root bone, or else where it hangs: as one of the moving joints, or as fixed.
        self._own = None if made_root else (own_place.tolist(), own_turn.tolist())
        self._hips, self._hang = dict(moved).get(self.top), self.fixed[self.top].tolist()

    def standing(self, place, yaw, height, positions, rotations):
        """What a row has of the first bone, which stands in the world: a root bone, or the hips, that hang from a root
        that was made. positions [M], rotations (J, 4): of the moving joints, and of all"""
        hang, turn = self._own or (self._hang if self._hips is None else positions[self._hips],
                                   rotations[self.first].tolist())
        cos, sin, way = math.cos(yaw / 2), math.sin(yaw / 2), place + cmath.rect(1, yaw) * complex(hang[0], hang[1])
        a, b, c, d = turn
        turn = cos * a - sin * d, cos * b - sin * c, cos * c + sin * b, cos * d + sin * a
        return _row(turn, (way.real, way.imag, height + hang[2]))

    def beyond(self, place, yaw, height, positions, rotations):
        """What the rows have of the bones outside, one after the other."""
        root = Vector((place.real, place.imag, height)), Quaternion((math.cos(yaw / 2), 0, 0, math.sin(yaw / 2)))
        found, rows = {0: (Vector(), Quaternion())}, []
        for joint in self._carriers:
            column = self._columns.get(joint)
            place = self._fixed[joint] if column is None else positions[column]
            found[joint] = _carried(found[self._parents[joint]], place, rotations[joint])
        for _, joint, parent in self.outside:
            if parent is None:
                at, turn = _carried(root, *found[joint])
            else:
                before, back = found[parent][0], found[parent][1].inverted()
                at, turn = back @ (found[joint][0] - before), back @ found[joint][1]
            rows += _row(turn, at)
        return rows


class GroupPoser:
    """Armatures that are posed together, since but for a few numbers it is the same work for all of them.

    What a joint's local transform differs from rest is the basis of its bone: one product for the bones of all, which
    lie one after the other, transposed as Blender has them in memory.
    """

    def __init__(self):
        self._posed = []

    def write(self, posed, roots, heights, positions, rotations):
        """Pose armatures, [(Poser, armature, which of the characters it shows)], as Live.shown() has the characters.
        They are tagged; Blender shows them with the next update."""
        layouts = [(poser.layout, index) for poser, _, index in posed]
        if layouts != self._posed:
            self._posed = layouts
            self._arrange(rotations.shape[1])
        if self._layouts:
            self._work_out(roots, heights, positions, rotations)
        for (poser, ob, index), bases in zip(posed, self._parts):
            if bases is not None:
                poser.put(ob, bases)
            else:
                poser.put_one_by_one(ob, *roots[index], heights[index], positions[index], rotations[index])

    def _arrange(self, joints):
        """Tables for characters that have so many joints."""
        self._layouts = layouts = [each for each in self._posed if each[0] is not None]
        starts = np.cumsum([0, *(len(layout.joints) for layout, _ in layouts)]).tolist()
        self._rows = np.ones((starts[-1], 1, 14), dtype=np.float32)  # of each joint what _TO_COLUMNS takes
        self._pairs, self._bases = self._rows[:, 0, :10], np.empty((starts[-1], 1, 16), dtype=np.float32)
        bases = (self._bases[start:end, 0] for start, end in pairwise(starts))
        self._parts = [layout and next(bases) for layout, _ in self._posed]
        if not layouts:
            return
        self._to_basis = np.concatenate([layout.to_basis for layout, _ in layouts])
        self._rows[:, 0, 10:13] = np.concatenate([layout.fixed for layout, _ in layouts])
        # Where in all rows and rotations the numbers are that change: much faster than short rows.
        self._changing = np.concatenate([
            part.ravel() for (layout, _), start in zip(layouts, starts)
            for part in (_numbers(start + layout.top, 14, range(13)),
                         _numbers([start + row for row, *_ in layout.outside], 14, range(13)),
                         _numbers([start + row for row, _ in layout.moved], 14, range(10, 13)))])
        turning = np.concatenate([index * joints + layout.joints for layout, index in layouts])
        self._left, self._right = _numbers(turning, 4, _FIRST), _numbers(turning, 4, _SECOND)

    def _work_out(self, roots, heights, positions, rotations):
        """The bases of all bones."""
        np.multiply(rotations.take(self._left), rotations.take(self._right), out=self._pairs)
        moving, numbers = positions.tolist(), []
        for layout, index in self._layouts:
            places = moving[index]
            numbers += layout.standing(*roots[index], heights[index], places, rotations[index])
            if layout.outside:
                numbers += layout.beyond(*roots[index], heights[index], places, rotations[index])
            for _, column in layout.moved:
                numbers += places[column]
        self._rows.put(self._changing, numbers)
        np.matmul(self._rows, self._to_basis, out=self._bases)


def _seen(ob):
    """What differs, most often, after the bones of an armature object were edited, or exchanged for others; the last
    bone would take longer to find."""
    armature, count = ob.data, len(ob.pose.bones)
    return count, armature.session_uid, armature.bones[0].as_pointer() if count else 0


def _numbers(rows, width, columns):
    """Where in a table of such a width some columns of some rows are: (rows, columns)."""
    return np.asarray(rows, dtype=int).reshape(-1, 1) * width + np.asarray(columns)


def _below_root(database):
    """The moving joints but for the root, as a Player has their positions."""
    return database.moving[database.moving != 0]


def _extent(skeleton, names):
    """How far joints of a skeleton at rest lie apart."""
    places = skeleton.rest[0][[skeleton.index(name) for name in names]]
    return float(np.linalg.norm(np.ptp(places, axis=0)))


def _hangs_from(bone, above, skeleton):
    """The bone that is a joint from which a bone hangs in Blender: mostly that of the joint above it; None for the
    armature itself."""
    if above is None or above in bone.parent_recursive:
        return above
    return next((up for up in bone.parent_recursive if up.name in skeleton.names), None)


def _follow_as_usual(lines):
    """Whether bones (each with the one that it hangs from) follow it in the usual way."""
    return all(each.use_inherit_rotation and each.use_local_location
               for bone, above in lines for each in (bone, *armatures.bones_between(bone, above)))


def _carried(above, place, turn):
    """A place and a turn as seen from where what is above is seen from."""
    return above[0] + above[1] @ Vector(place), above[1] @ Quaternion(turn)


def _row(turn, place):
    """Thirteen of the numbers that _TO_COLUMNS takes."""
    w, x, y, z = turn
    return w * w, w * x, w * y, w * z, x * x, x * y, x * z, y * y, y * z, z * z, *place


def _matrix(place, turn):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = quat.to_matrix(np.asarray(turn, dtype=np.float64)), place
    return matrix
