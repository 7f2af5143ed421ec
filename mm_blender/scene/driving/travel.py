# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bone carries a kept take over the ground: a root bone where the rig has one, or one that the artist names."""

import numpy as np

from ...errors import MotionError
from ...motion import quat
from ...motion.clip import Clip
from ...motion.roles import ROOT_WORDS
from ...motion.skeleton import backward
from ..rig import armatures, controls


def usual(ob):
    """The bone that carries takes where none is named: the one with the role Root, or the one above all others, if it
    is called so. "" where there is none: then it is the hips."""
    if controls.is_control_rig(ob):
        return ""
    line = _line(ob, _hips(ob, ob.data.bones.keys()))
    entry = ob.mm.roles.get("root")
    if entry is not None and entry.bone in line[1:]:
        return entry.bone
    return line[-1] if len(line) > 1 and line[-1].lower() in ROOT_WORDS else ""


def trouble(ob, name):
    """Why a bone cannot carry an armature's takes, as a sentence; empty if it can, and if none is named."""
    if not name:
        return ""
    if name not in ob.data.bones:
        return f'"{ob.name}" has no bone "{name}": choose another one in Take.'
    if controls.is_control_rig(ob):
        return f'The controls of "{ob.name}" have a root of their own: clear Travel On.'
    hips = _hips(ob, ob.data.bones.keys())
    if name not in _line(ob, hips):
        return f'The bone "{name}" does not carry "{hips}": choose one that it hangs from in Take.'
    return ""


def carried(ob, take, clip, name=""):
    """A take with an armature's joints, of a clip with the root as joint 0, whose travel lies on the bone with a name,
    or on the usual one. All other joints stay where they are in the world."""
    if sentence := trouble(ob, name):
        raise MotionError(sentence)
    own = clip.skeleton.names[0]
    if own in take.skeleton.names:  # a root bone that the clip has: it carries the take already
        name = "" if name == own else name
    else:
        name = name or usual(ob)
    if not name:
        return take
    hips = _hips(ob, take.skeleton.names)
    line = _line(ob, hips)
    skeleton = _with_line(ob, take.skeleton, line)
    rest, start = _rest(skeleton), _root_at_rest(skeleton, clip.skeleton, hips)
    positions, rotations = take.globals()
    known = {joint: (positions[:, index], rotations[:, index]) for index, joint in enumerate(take.skeleton.names)}
    for above, joint in enumerate(line[1:], start=1):
        if above <= line.index(name):
            known[joint] = _moved((clip.positions[:, 0], clip.rotations[:, 0]), _seen(start, rest[joint]))
        else:
            known[joint] = [np.broadcast_to(part, (len(clip), len(part))) for part in rest[joint]]
    parts = (np.stack(each, axis=1) for each in zip(*(known[joint] for joint in skeleton.names)))
    positions, rotations = backward(skeleton, *parts)
    return Clip(take.name, skeleton, take.rate, positions, quat.unroll(rotations), contacts=take.contacts)


def stand_of(ob, clip):
    """Where the root of a clip is while an armature is at rest, x + yi and a yaw: on the ground under it, facing as it
    does."""
    baked = clip.skeleton
    if controls.is_control_rig(ob):  # its clips have the rest pose that it has now
        place, turn = _rest(baked)[baked.names[0]]
    else:
        skeleton = armatures.part_of(ob, baked.names)
        place, turn = _root_at_rest(skeleton, baked, _hips(ob, skeleton.names))
    return complex(*place[:2]), float(quat.yaw(quat.rotate(turn, np.array([0.0, 1.0, 0.0]))))


def _hips(ob, names):
    """The bone with the role Hips; where none of the names has it, the first joint from which several hang."""
    entry = ob.mm.roles.get("hips")
    if entry is not None and entry.bone in names:
        return entry.bone
    bone = ob.data.bones[names[0]]
    while len(below := [child for child in bone.children if child.name in names]) == 1:
        bone = below[0]
    return bone.name


def _line(ob, hips):
    """The hips and the bones that carry them, nearest first."""
    return [hips, *(bone.name for bone in ob.data.bones[hips].parent_recursive)]


def _with_line(ob, skeleton, line):
    """A skeleton with all of a line of bones, each of which hangs from the next."""
    parents = {joint: skeleton.names[above] if above >= 0 else line[-1]
               for joint, above in zip(skeleton.names, skeleton.parents.tolist())}
    parents.update(zip(line, [*line[1:], None]))
    return armatures.skeleton_of(ob, list(parents), parents)


def _rest(skeleton):
    """Joint → where it is at rest, its place and turn."""
    return dict(zip(skeleton.names, zip(*skeleton.rest)))


def _root_at_rest(skeleton, baked, hips):
    """Where the root of a database is while an armature's bones are at rest."""
    return _moved(_rest(skeleton)[hips], _seen(_rest(baked)[hips], _rest(baked)[baked.names[0]]))


def _seen(origin, place):
    """Where something is seen from an origin."""
    return quat.inv_rotate(origin[1], place[0] - origin[0]), quat.inv_mul(origin[1], place[1])


def _moved(origin, place):
    """Where something is that has a place as seen from an origin, or from each of many."""
    return origin[0] + quat.rotate(origin[1], place[0]), quat.mul(origin[1], place[1])
