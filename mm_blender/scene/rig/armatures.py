# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature object as the engine's skeleton, in metres, in the world as seen from the ground that it stands on."""

from itertools import pairwise

import numpy as np
from mathutils import Matrix

from ...errors import MotionError
from ...limits import FURTHEST
from ...motion import quat
from ...motion.character import FORE_LEG, LEG
from ...motion.families import SIDES
from ...motion.skeleton import Skeleton, backward
from .. import actions

# An object that is lifted by less than this share of the character's height stands on the ground all the same: artists
# bring soles to the ground like that.
LIFT = 0.1
# Bones lie in the same place that are no further apart than this share of the armature.
SAME_PLACE = 6e-5


def bones_of(ob):
    """The names of the bones that make up the character: those that deform, parents first.

    Control rigs have hundreds of bones; only the deforming ones are seen. A bone that several of them hang from is
    added when they would have no common root. Loose bones beside the character (IK targets, props, a sword) are left
    out: see loose_bones().
    """
    body = _body(ob)
    return _ordered(body, _parents(ob, body), ob)


def loose_bones(ob):
    """The names of bones that deform something but do not belong to the character, such as a sword that has a root of
    its own. They keep their pose."""
    trees, near = _trees(ob)
    return [name for top, below in trees.items() if top not in near for name in below]


def _body(ob, parents_of=None):
    """The names of the bones of the character, in any order."""
    trees, near = _trees(ob, parents_of)
    chosen = [name for top in near for name in trees[top]]
    if len(near) > 1:
        above = _above(ob)
        lines = [set(_line(above, top)) for top in near[1:]]
        chosen.append(next(name for name in _line(above, near[0]) if all(name in line for line in lines)))
    return list(dict.fromkeys(chosen))


def _trees(ob, parents_of=None):
    """The trees that the bones that deform make up, the name of the first bone → those of all; and the first bones of
    those that are the character's: the largest, and all that hang from the same bone as that."""
    every = _bones(ob)
    names = [bone.name for bone in every if bone.use_deform] or [bone.name for bone in every]
    parents, above = (parents_of or _parents)(ob, names), _above(ob)
    trees = {name: _below(name, parents) for name in names if parents[name] is None}
    main = max(trees, key=lambda top: len(trees[top]))
    trunk = _line(above, main)[-1]
    return trees, [main, *(top for top in trees if top != main and _line(above, top)[-1] == trunk)]


def whole_skeleton(ob):
    """The skeleton of all bones that deform, as the armature is built, in which roles are looked for: what belongs to
    no body, perhaps feet that are led by IK, hangs from the first bone of the character."""
    trees, near = _trees(ob, _built)
    body = _body(ob, _built)
    parents = _built(ob, body)
    first = next(name for name in body if parents[name] is None)
    for top, below in trees.items():
        if top not in near:
            parents |= {name: above or first for name, above in _built(ob, below).items()}
    return skeleton_of(ob, list(parents), parents)


def skeleton_of(ob, bones=None, parents=None):
    """The skeleton made of these bones (bones_of() unless given) with the object's place, turn and scale in it.

    A bone's parent, unless parents (name → name or None) are given, is the nearest of its ancestors that takes part.
    Where none does, it is the bone that lies exactly where an ancestor lies: Rigify's deforming bones hang from their
    invisible doubles.
    """
    names = _known(ob, bones) if bones is not None else bones_of(ob)
    parents = _parents(ob, names) if parents is None else parents
    tops = [name for name in names if parents[name] is None]
    if len(tops) > 1:
        named = ", ".join(f'"{name}"' for name in tops)
        raise MotionError(f'The chosen bones of "{ob.name}" have no common root: {named}. '
                          "Choose the bone that they all hang from too.")
    names = _ordered(names, parents, ob)
    return _skeleton(ob, {name: parents[name] for name in names}, rest_matrices(ob, names))


def part_of(ob, names):
    """skeleton_of(ob) with only those of its bones that are named: each hangs from the nearest of them that is above
    it, and what lies between them is as it is posed."""
    whole, kept, bones, rest = skeleton_of(ob), {*names}, ob.data.bones, {}
    lines = ([whole.names[up] for up in whole.ancestors(joint)] for joint in range(len(whole)))
    parents = {line[0]: next((up for up in line[1:] if up in kept), None) for line in lines if line[0] in kept}
    for name, above in parents.items():
        rest[name] = rest[above] @ hung(ob, bones[name], bones[above]) if above else bones[name].matrix_local
    return _skeleton(ob, parents, np.array(list(rest.values()), dtype=np.float64).reshape(-1, 4, 4))


def hung(ob, bone, above):
    """The Matrix with which a bone at rest hangs from another one, or from the armature (None); what lies between them
    is as it is posed."""
    between = bones_between(bone, above)
    if above is not None and above not in bone.parent_recursive:  # it hangs from an invisible double
        return at_rest(bone, above)
    matrix, below = Matrix(), bone
    for each in between:
        matrix = ob.pose.bones[each.name].matrix_basis @ at_rest(below, each) @ matrix
        below = each
    return at_rest(below, above) @ matrix


def at_rest(bone, above):
    """The Matrix from another bone, or from the armature (None), to a bone, both at rest."""
    return above.matrix_local.inverted() @ bone.matrix_local if above is not None else bone.matrix_local


def bones_between(bone, above):
    """The bones above a bone, nearest first, up to another one of them (not included), or all of them (None)."""
    line = bone.parent_recursive
    return line[:line.index(above)] if above in line else line


def with_ancestors(ob, names):
    """The bones with these names and all that they hang from, parents first."""
    above = _above(ob)
    wanted = {name for bone in names for name in _line(above, bone)}
    return [bone for bone in _bones(ob) if bone.name in wanted]


def rest_matrices(ob, names):
    """(names, 4, 4) the rest pose of bones in the armature's space."""
    every = np.empty(len(ob.data.bones) * 16, dtype=np.float32)
    ob.data.bones.foreach_get("matrix_local", every)
    at = [ob.data.bones.find(name) for name in names]
    return every.reshape(-1, 4, 4).swapaxes(1, 2)[at].astype(np.float64)


def world_matrix(ob):
    """(4, 4) where the object is, above its floor()."""
    matrix = _in_world(ob)
    matrix[2, 3] -= floor(ob)
    return matrix


def floor(ob):
    """How high in the world the ground is that an armature stands on, where no other one is chosen: as high as the
    object, if its rest pose stands there and its Actions do not lift it, or else 0."""
    matrix = _in_world(ob)
    height = matrix[2, 3]
    if not height:
        return 0.0
    names = [bone.name for bone in ob.data.bones if bone.use_deform] or ob.data.bones.keys()
    heights = rest_matrices(ob, names)[:, :3, 3] @ matrix[2, :3] + height
    lowest, size = heights.min(initial=height), np.ptp(heights) if len(heights) else 0.0
    stands = abs(lowest - height) < abs(lowest) and abs(height) > LIFT * size
    return float(height) if stands and not _is_lifted(ob) else 0.0


def _in_world(ob):
    """(4, 4) where the object is. Without parent and constraints it is right even before Blender has updated."""
    return np.array(ob.matrix_world if ob.parent is not None or len(ob.constraints) else ob.matrix_basis)


def names_now(before, now):
    """What bones are called now that had other names before, {name: name}: of the same bones, all of them in order."""
    if len(before) != len(now):
        return {}
    gone, new = {*before} - {*now}, {*now} - {*before}
    return {old: name for old, name in zip(before, now) if old in gone and name in new}


def placement(matrices, name):
    """Scale (…), rotation (…, 4) and location (…, 3) of the object's matrices (…, 4, 4); uneven scale is refused."""
    if not np.isfinite(matrices).all():
        raise MotionError(f'The armature object "{name}" has a location, rotation or scale that is not a number: clear '
                          "them with Alt+G, Alt+R and Alt+S.")
    if np.abs(matrices).max() > FURTHEST:
        raise MotionError(f'The armature object "{name}" is further away than {FURTHEST:,.0f} m, or scaled by more: '
                          "clear its location and scale with Alt+G and Alt+S.")
    axes = matrices[..., :3, :3]
    gram = np.swapaxes(axes, -1, -2) @ axes
    square = np.trace(gram, axis1=-2, axis2=-1) / 3
    if (square < 1e-18).any():
        raise MotionError(f'The armature object "{name}" has a scale of zero: apply its scale with Ctrl+A.')
    if (np.abs(gram - square[..., None, None] * np.eye(3)).max((-2, -1)) > 2e-4 * square).any():
        raise MotionError(f'The armature object "{name}" is scaled unevenly: apply its scale with Ctrl+A.')
    if (np.linalg.det(axes) < 0).any():
        raise MotionError(f'The armature object "{name}" has a negative scale: apply its scale with Ctrl+A.')
    return np.sqrt(square), rotation_of(axes), matrices[..., :3, 3]


def rotation_of(axes):
    """Rotations (…, 4) of matrices (…, 3, 3) that may be scaled and sheared: the bone's direction Y is kept."""
    x, y = axes[..., 0], axes[..., 1]
    y, flat = _unit(y)
    x, thin = _unit(x - y * (x * y).sum(-1, keepdims=True))
    rotation = quat.from_matrix(np.stack([x, y, quat.cross(x, y)], axis=-1))
    return np.where((flat | thin)[..., None], quat.identity(), rotation)


def _is_lifted(ob):
    """Whether Actions have keys for the height of the object itself: what it plays, and its clips."""
    bound, found = ob.animation_data, {clip.action for clip in ob.mm.clips if clip.source in (None, ob)}
    if bound is not None:
        found |= {bound.action, *(strip.action for track in bound.nla_tracks for strip in track.strips)}
    return any(actions.lifts(action, ob) for action in found - {None})


def _skeleton(ob, parents, rest):
    """The Skeleton of bones, name → that of the parent or None, which are there at rest (J, 4, 4) in the armature."""
    names = list(parents)
    scale, turn, place = placement(world_matrix(ob), ob.name)
    positions = place + scale * quat.rotate(turn, rest[:, :3, 3])
    rotations = quat.mul(turn, rotation_of(rest[:, :3, :3]))
    plain = Skeleton(names, [-1 if above is None else names.index(above) for above in parents.values()],
                     positions, rotations)
    positions, rotations = backward(plain, positions[None], rotations[None])
    # Blender's bones lie along their own Y axis, and have an end where nothing hangs from them, too.
    last = [name for joint, name in enumerate(names) if not (plain.parents == joint).any()]
    ends = {name: (0.0, float(scale) * ob.data.bones[name].length, 0.0) for name in last}
    return Skeleton(names, plain.parents, positions[0], rotations[0], ends)


def _unit(v):
    length = np.sqrt((v * v).sum(-1, keepdims=True))
    none = length < 1e-12
    return v / np.where(none, 1, length), none[..., 0]


def _bones(ob):
    if ob is None or ob.type != "ARMATURE":
        named = f'"{ob.name}" is not an armature' if ob is not None else "There is no active object"
        raise MotionError(f"{named}: select the character's armature.")
    if not len(ob.data.bones):
        raise MotionError(f'The armature "{ob.name}" has no bones.')
    return list(ob.data.bones)  # Blender walks the tree: parents come first


def _known(ob, names):
    every = {bone.name for bone in _bones(ob)}
    missing = [name for name in names if name not in every]
    if missing:
        raise MotionError(f'The armature "{ob.name}" has no bone "{missing[0]}".')
    if not names:
        raise MotionError(f'No bones of the armature "{ob.name}" were chosen.')
    return list(dict.fromkeys(names))


def _parents(ob, names):
    """Each name's parent among the names, or None."""
    parents = _built(ob, names)
    _hang_limbs(ob, parents)
    return parents


def _built(ob, names):
    """The same, as the armature is built."""
    chosen, above = set(names), _above(ob)
    place = {} if len(names) == len(above) else _places(ob)  # where all take part nobody needs a double
    doubles = {}
    for name in names:
        doubles.setdefault(place.get(name), name)
    parents = {}
    for name in names:
        candidates = (up if up in chosen else doubles.get(place[up]) for up in _line(above, name)[1:])
        parents[name] = next((found for found in candidates if found not in (None, name)), None)
    if place:
        _hang_tops(names, parents, above, place)
    return parents


def _hang_limbs(ob, parents):
    """Hang hands and feet that are led by IK, and hang from the armature's root for that, from their forearm or shin:
    seen from there they move as little as any hand or foot. By the roles in the armature's settings."""
    settings = getattr(ob, "mm", None)  # there while the extension is
    bones = {entry.name: entry.bone for entry in settings.roles if entry.bone in parents} if settings else {}
    for side in SIDES:
        for line in (LEG, FORE_LEG):
            for upper, lower in pairwise([bones.get(f"{side}_{part}") for part in line]):
                if upper and lower and upper not in _line(parents, lower) and lower not in _line(parents, upper):
                    parents[lower] = upper


def _hang_tops(names, parents, above, place):
    """Hang chains that have nothing in common with the largest tree from the bone that begins where one of their
    ancestors begins: Rigify's tails hang from a control at the hips."""
    trees = {name: _below(name, parents) for name in names if parents[name] is None}
    trunk = _line(above, max(trees, key=lambda top: len(trees[top])))[-1]
    starts = {}
    for name in names:
        starts.setdefault(place[name][:3], name)
    for top, below in trees.items():
        line = _line(above, top)
        if len(below) > 1 and line[-1] != trunk:
            found = (starts.get(place[up][:3]) for up in line[1:])
            parents[top] = next((up for up in found if up is not None and up not in below), None)


def _places(ob):
    """Where each bone lies, in steps of a tenth of a millimetre of a person's size."""
    ends = {bone.name: (*bone.head_local, *bone.tail_local) for bone in ob.data.bones}
    step = max(max(map(abs, place)) for place in ends.values()) * SAME_PLACE
    return {name: tuple(round(value / step) for value in place) if step else place for name, place in ends.items()}


def _above(ob):
    """The name of each bone's parent, or None."""
    return {bone.name: bone.parent.name if bone.parent is not None else None for bone in ob.data.bones}


def _line(above, name):
    """A bone's name and those of its ancestors, nearest first."""
    line = []
    while name is not None:
        line.append(name)
        name = above[name]
    return line


def _below(top, parents):
    """The names of a bone and of all that hang from it."""
    found = [top]
    for name in found:
        found.extend(child for child, parent in parents.items() if parent == name)
    return found


def _ordered(names, parents, ob):
    """The names with parents before children, otherwise in the armature's order."""
    chosen = set(names)
    waiting, done, ordered = [bone.name for bone in _bones(ob) if bone.name in chosen], {None}, []
    while waiting:
        ready = [name for name in waiting if parents[name] in done]
        if not ready:
            raise MotionError(f'The bones of "{ob.name}" hang from each other in a circle at "{waiting[0]}".')
        ordered += ready
        done.update(ready)
        waiting = [name for name in waiting if name not in done]
    return ordered
