# SPDX-License-Identifier: GPL-3.0-or-later
"""A skeleton as a new armature, and clips brought from a skeleton's joints to an armature's bones."""

from contextlib import contextmanager

import bpy
import numpy as np
from mathutils import Vector

from ...errors import MotionError
from ...motion import quat
from ...motion.skeleton import Skeleton
from .armatures import placement, skeleton_of, world_matrix
from .restore import objects_in

SHORTEST = 0.01  # of the character's size: Blender deletes bones without a length
NAME_BYTES = 63  # longer names are cut off by Blender
ALIKE = 15.0  # degrees by which bones may point elsewhere in two rest poses that are meant to be the same
MOVES = 0.005  # metres within which a joint counts as fixed in its parent
SAME_FRAMES = 1.0  # degrees: bones that were built by the same rule
SAME_LENGTH = 0.005  # by which share bones may be longer before the difference is worth a word


def build_armature(skeleton, name):
    """A new armature object in the scene with a bone for every joint, at rest where the skeleton is.

    Bones begin at their joints and point to what hangs from them. Blender's bones lie along their own Y axis, so a
    bone's frame is a joint's frame with a constant turn: on_bones() brings clips over.
    """
    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(ob)
    heads, rotations = skeleton.rest
    tails = bone_tails(skeleton)
    with editing(ob):
        bones = [ob.data.edit_bones.new(joint) for joint in skeleton.names]
        for joint, bone in enumerate(bones):
            bone.head, bone.tail = heads[joint], tails[joint]
            # The least turn away from the joint's own frame: equal joints get equal rolls.
            along = quat.inv_rotate(rotations[joint], tails[joint] - heads[joint])
            turn = quat.mul(rotations[joint], quat.between([0, 1.0, 0], along))
            bone.align_roll(Vector(quat.rotate(turn, np.array([0, 0, 1.0])).tolist()))
            if skeleton.parents[joint] >= 0:
                bone.parent = bones[skeleton.parents[joint]]
    return ob


def bone_tails(skeleton):
    """(J, 3) where bones end in the rest pose: at the one joint that hangs from theirs, or amid several.

    A bone without one ends where that is known, or goes on in its parent's direction for a little way.
    """
    heads = skeleton.rest[0].astype(np.float64)
    shortest = max(SHORTEST * np.ptp(heads, axis=0).max(), 1e-3)
    tails = heads.copy()
    for joint in range(len(skeleton)):
        parent, below = skeleton.parents[joint], heads[skeleton.children(joint)] - heads[joint]
        lengths = np.linalg.norm(below, axis=-1)
        along = below.mean(axis=0) if len(below) else _end(skeleton, joint)
        if len(below) and np.linalg.norm(along) < lengths.max() / 4:  # they point away from each other
            along = below[lengths.argmax()]
        if np.linalg.norm(along) < shortest:
            before = heads[joint] - heads[parent] if parent >= 0 else np.zeros(3)
            if np.linalg.norm(before) < shortest:
                before = tails[parent] - heads[parent] if parent >= 0 else np.array([0, 0, 1.0])
            length = np.linalg.norm(before)
            along = before / length * max(length / 2 if not len(below) else 0, shortest)
        tails[joint] = heads[joint] + along
    return tails


def _end(skeleton, joint):
    """From the joint to where its bone ends, in the rest pose; nowhere if that is not known."""
    end = skeleton.ends.get(skeleton.names[joint], (0.0, 0.0, 0.0))
    return quat.rotate(skeleton.rest[1][joint], np.array(end))


def blender_names(skeleton):
    """The skeleton with names that Blender can keep: cut where they are too long, and still different."""
    names = []
    for name in skeleton.names:
        short, number = _cut(name, NAME_BYTES), 0
        while short in names:
            number += 1
            short = _cut(name, NAME_BYTES - 4) + f".{number:03}"
        names.append(short)
    ends = {name: skeleton.ends[old] for name, old in zip(names, skeleton.names) if old in skeleton.ends}
    return Skeleton(names, skeleton.parents, skeleton.positions, skeleton.rotations, ends)


def on_bones(ob, clip, bone_frames=False):
    """The clip as motion of an armature's bones, for keys.write_action(), and a word on what does not quite fit.

    MotionError where the armature cannot show it. The object's own place and heading carry the motion along. Bones
    keep the armature's lengths; where the clip's character is of another size, its path is scaled.

    bone_frames  the clip's joints are bones of another armature: where both lie the same way in their bones' frames,
                 these frames mean the same, and the two rest poses may be different ones
    """
    target = _ordered_like(clip.skeleton, ob)
    still = np.ptp(clip.positions, axis=0).max(axis=-1) < MOVES
    still[0] = False
    factor, word = _size(clip.skeleton, target, still)
    clip = clip.scaled(factor)
    source, (heading, place) = clip.skeleton, carried(ob)
    turns = _turns(ob, source, target, still, heading, place, bone_frames)
    above = turns[source.parents]
    # A joint that moves about in its parent (hips on a root) is where it is, whatever the rest poses say.
    positions = quat.rotate(quat.inv(above), clip.positions - still[:, None] * source.positions)
    positions += still[:, None] * target.positions
    rotations = quat.mul(quat.mul(quat.inv(above), clip.rotations), turns)
    positions[:, 0] = place + quat.rotate(heading, clip.positions[:, 0])
    rotations[:, 0] = quat.mul(quat.mul(heading, clip.rotations[:, 0]), turns[0])
    return clip.with_changes(skeleton=target, positions=positions, rotations=quat.unroll(rotations)), word


def carried(ob):
    """The turn about the vertical (4,) and the place (3,) that an object gives to whatever its armature does.

    How it is tilted and scaled belongs to the rig: importers leave Y-up rigs in centimetres like that.
    """
    _, turn, place = placement(world_matrix(ob), ob.name)
    return quat.normalize(turn * np.array([1, 0, 0, 1])), place


@contextmanager
def object_mode():
    """Object Mode; the active object, its mode and the selection are as before afterwards."""
    layer = bpy.context.view_layer
    active, selected = layer.objects.active, [ob for ob in objects_in(layer) if ob.select_get()]
    mode = active.mode if active is not None else "OBJECT"
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    try:
        yield
    finally:
        for ob in objects_in(layer):
            ob.select_set(ob in selected)
        layer.objects.active = active
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode=mode)


@contextmanager
def editing(ob):
    with object_mode():
        bpy.context.view_layer.objects.active = ob
        bpy.ops.object.mode_set(mode="EDIT")
        try:
            yield
        finally:
            bpy.ops.object.mode_set(mode="OBJECT")


def _cut(name, size):
    return name.encode()[:size].decode(errors="ignore")


def _ordered_like(skeleton, ob):
    """The armature's skeleton with its joints in the order of another one."""
    missing = [name for name in skeleton.names if name not in ob.data.bones]
    if missing:
        raise MotionError(f'The armature "{ob.name}" has no bone "{missing[0]}".')
    found = skeleton_of(ob, skeleton.names)
    order = np.array([found.index(name) for name in skeleton.names])
    parents = np.where(found.parents[order] < 0, -1, np.argsort(order)[found.parents[order]])
    if not np.array_equal(parents, skeleton.parents):
        other = skeleton.names[int((parents != skeleton.parents).argmax())]
        raise MotionError(f'In the armature "{ob.name}" the bone "{other}" hangs from another one.')
    return Skeleton(skeleton.names, parents, found.positions[order], found.rotations[order])


def _turns(ob, source, target, still, heading, place, bone_frames):
    """(J, 4) from each joint's frame to its bone's; told from the joints that stay where they are in their parents."""
    if bone_frames and _angles(source.positions[still], target.positions[still]).max(initial=0) < SAME_FRAMES:
        return quat.identity((len(source),))
    rests = source.rest[0], quat.inv_rotate(heading, target.rest[0] - place)
    angles = _angles(*((rest - rest[source.parents])[still] for rest in rests))
    if angles.max(initial=0) > ALIKE:
        worst = source.names[np.flatnonzero(still)[angles.argmax()]]
        raise MotionError(f'The armature "{ob.name}" has another rest pose: "{worst}" lies {angles.max():.0f}° apart.')
    return quat.inv_mul(quat.mul(heading, source.rest[1]), target.rest[1])


def _angles(one, other):
    """(J,) degrees between bones (J, 3) of two rest poses; 0 where one is too short to have a direction."""
    lengths = [np.linalg.norm(bones, axis=-1) for bones in (one, other)]
    clear = np.all([length > SHORTEST * length.sum() / 4 for length in lengths], axis=0)
    cosine = (one * other).sum(-1) / np.where(clear, lengths[0] * lengths[1], 1)
    return np.where(clear, np.degrees(np.arccos(np.clip(cosine, -1, 1))), 0)


def _size(source, target, still):
    """How much larger the target is, and a word on bones that differ; (1, "") for the same character."""
    one, other = (np.linalg.norm(one.positions[still].astype(np.float64), axis=-1) for one in (source, target))
    if not one.sum() or not other.sum():
        return 1.0, ""
    whole = one.sum() * SAME_LENGTH
    if (np.abs(one - other) < whole / 10).all():
        return 1.0, ""
    factor = float(other.sum() / one.sum())
    worst = int(np.abs(one * factor - other).argmax())
    word = "its bones have other lengths"
    if abs(factor - 1) > SAME_LENGTH:
        word = f"its character is {1 / factor:.3g} times as large, and its path was scaled"
    if np.abs(one * factor - other)[worst] > whole:
        word += f' ("{source.names[np.flatnonzero(still)[worst]]}" differs most)'
    return factor, word
