# SPDX-License-Identifier: GPL-3.0-or-later
"""The root: where the character is on the ground and which way it faces, as joint 0 above all others."""

from dataclasses import replace

import numpy as np

from ..errors import MotionError
from ..motion import quat
from ..motion.clip import Clip
from ..motion.skeleton import Skeleton, backward
from .contacts import find_contacts
from .recipe import Recipe

# A root bone is left behind if it moves less than this share of what the hips do, where they go further than this (in
# ways from hips to feet) or turn by more (radians).
LEFT, AWAY, TURNED = 0.1, 0.6, 1.0
LEVEL = 0.05  # how much of a unit direction must lie in the ground plane to tell a facing


def add_root(clip, character, recipe, left_behind=False):
    """The clip with the root as joint 0: on the ground (z = 0), upright, X right, Y forward. All other joints keep
    their place in the world.

    With a root bone (recipe.root "bone", or "auto" where there is one) that bone becomes joint 0, and joints that were
    above it hang on it. Otherwise a new joint is put above all others.

    left_behind: with "auto" the root bone goes where a made root would, as this clip has it stay behind.
    """
    kind = _kind(character, recipe)
    character = replace(character, skeleton=clip.skeleton)
    if kind == "bone":
        return _from_bone(clip, character, recipe, left_behind and recipe.root == "auto")
    if kind in ("made", "adaptive"):
        return _made(clip, character, recipe, still=kind == "adaptive")
    raise MotionError(f'"{recipe.root}" is not a kind of root: choose auto, bone, made or adaptive.')


def _kind(character, recipe):
    return recipe.root if recipe.root != "auto" else "bone" if character.has("root") else "made"


def stays_behind(clip, character, recipe):
    """Whether the root is a bone, and that does not move in a clip in which the hips go or turn away from it."""
    character = replace(character, skeleton=clip.skeleton)
    if _kind(character, recipe) != "bone" or not all(map(character.has, (
            "root", "hips", "left_foot", "left_thigh", "right_thigh"))):
        return False
    positions, rotations = clip.globals()
    bone, hips, foot = (character.joint(role) for role in ("root", "hips", "left_foot"))
    reach = np.linalg.norm(positions[0, hips] - positions[0, foot])
    gone, went = (np.linalg.norm(np.ptp(positions[:, joint, :2], axis=0)) for joint in (bone, hips))
    if went > max(AWAY * reach, gone / LEFT):
        return True
    if gone > LEFT * reach:
        return False  # it goes along, and faces where the character does, however the hips are twisted
    axis = _axis(character.forward or find_forward(clip, character))
    facing = (quat.rotate(rotations[:, bone], axis), _facing(positions, character, "hips"))
    turned, did = (np.ptp(_yaw(way, "")) if _is_level(way) else 0.0 for way in facing)
    return bool(did > max(TURNED, turned / LEFT))


def rooted(character, recipe=None):
    """A character with the root as joint 0, as clips have it after add_root()."""
    recipe = recipe or Recipe()
    if _kind(character, recipe) == "bone":
        clip = _at_rest(character.skeleton)
        tree = _tree_of_bone(character, _axis(character.forward or find_forward(clip, character)))[1]
    else:
        tree = _tree_above(character, recipe)
    skeleton = _with_rest(*tree)
    skeleton = replace(skeleton, ends=character.skeleton.ends)
    root = skeleton.names[0]
    return replace(character, skeleton=skeleton, roles={**character.roles, "root": root},
                   mirror={**character.mirror, root: root}, forward="+Y")


def find_forward(clip, character):
    """The axis of the root bone ("+X", "-X", "+Y" …) that points where the hips face, on average over the clip."""
    character = replace(character, skeleton=clip.skeleton)
    positions, rotations = clip.globals()
    facing = _level(_facing(positions, character, "hips"))
    towards = quat.inv_rotate(rotations[:, character.joint("root")], facing).mean(axis=0)
    best = int(np.abs(towards).argmax())
    return ("+" if towards[best] > 0 else "-") + "XYZ"[best]


def root_path(clip):
    """Where the root of a clean clip is, (F, 2), and its yaw (F,), without jumps."""
    return clip.positions[:, 0, :2].astype(np.float64), np.unwrap(quat.to_yaw(clip.rotations[:, 0].astype(np.float64)))


def rounds(path, yaw, around):
    """The path (F, 2) and the facing (F,) of a loop, with so many frames of further rounds before and after it: each
    begins where the one before it ended."""
    places, last = path[:, 0] + 1j * path[:, 1], len(path) - 1
    turn = np.exp(1j * (yaw[-1] - yaw[0]))
    number, frame = np.divmod(np.arange(-around, len(path) + around), last)
    first, most = int(number.min()), int(number.max())
    ways = (places[-1] - places[0]) * turn ** np.arange(first, most + 1)
    began = np.concatenate([[0], ways.cumsum()])
    began += places[0] - began[-first]
    places = began[number - first] + (places[frame] - places[0]) * turn ** number
    return np.stack([places.real, places.imag], axis=-1), yaw[frame] + (yaw[-1] - yaw[0]) * number


def savgol(values, width, order=3):
    """Savitzky–Golay smoothing of values (F, …) over windows of about `width` frames.

    Each frame becomes the middle of a polynomial fitted to the frames around it; at both ends, where a window would
    reach beyond, the polynomial of the outermost window is used. A clip shorter than the window is one window.
    """
    count = len(values)
    half = min(int(width / 2), (count - 1) // 2)
    order = min(order, 2 * half)
    if half == 0:
        return np.array(values, dtype=np.float64)
    # Row i holds the weights of the window's frames in the fitted polynomial's value at frame i of the window.
    powers = np.vander(np.arange(-half, half + 1) / half, order + 1)
    weights = powers @ np.linalg.pinv(powers)
    flat = np.asarray(values, dtype=np.float64).reshape(count, -1)
    size = 2 * half + 1
    smooth = np.stack([np.convolve(column, weights[half][::-1], "same") for column in flat.T], axis=-1)
    smooth[:half] = weights[:half] @ flat[:size]
    smooth[count - half:] = weights[half + 1:] @ flat[count - size:]
    return smooth.reshape(np.shape(values))


# The rig's own root bone

def _from_bone(clip, character, recipe, left_behind):
    bone = character.joint("root")
    forward = character.forward or find_forward(clip, character)
    axis = _axis(forward)
    positions, rotations = clip.globals()
    order, tree = _tree_of_bone(character, axis)
    if left_behind:
        place, yaw = _path(clip, character, recipe, positions)
        rest = character.skeleton.rest[0]
        apart = rest[bone] - rest[_trunk(character)].mean(axis=0)
        turn = quat.from_yaw(yaw - _rest_yaw(_facing(rest[None], character, recipe.facing)[0]))
        place = place + quat.rotate(turn, apart)[:, :2]
    else:
        place = positions[:, bone]
        yaw = _yaw(quat.rotate(rotations[:, bone], axis),
                   f'Clip "{clip.name}" has no facing: the axis "{forward}" of its root bone '
                   f'"{clip.skeleton.names[bone]}" points straight up or down; choose another one.')
    positions[:, bone], rotations[:, bone] = _upright(place, yaw)
    return _with_tree(clip, tree, positions[:, order], rotations[:, order])


def _tree_of_bone(character, axis):
    """The joints in the order in which the root bone comes first, and the tree: names, parents and the rest pose."""
    skeleton, bone = character.skeleton, character.joint("root")
    order = np.array([bone, *(joint for joint in range(len(skeleton)) if joint != bone)])
    above = skeleton.parents[order]
    parents = np.where(above < 0, 0, np.argsort(order)[above])
    parents[0] = -1
    positions, rotations = (part.copy() for part in skeleton.rest)
    facing = quat.rotate(rotations[bone], axis)
    positions[bone], rotations[bone] = _upright(positions[bone], _rest_yaw(facing))
    return order, ([skeleton.names[joint] for joint in order], parents, positions[order], rotations[order])


def _axis(text):
    if len(text) != 2 or text[0] not in "+-" or text[1] not in "XYZ":
        raise MotionError(f'"{text}" is not an axis: the forward axis of the root bone is one of +X -X +Y -Y +Z -Z.')
    return quat.AXES["XYZ".index(text[1])] * (1 if text[0] == "+" else -1)


# A root made from hips and spine

def _made(clip, character, recipe, still):
    positions, rotations = clip.globals()
    root = _upright(*_path(clip, character, recipe, positions, still))
    return _with_tree(clip, _tree_above(character, recipe), np.concatenate([root[0][:, None], positions], axis=1),
                      np.concatenate([root[1][:, None], rotations], axis=1))


def _path(clip, character, recipe, positions, still=False):
    """Where (F, 2) and in which direction (F,) the hips go, with the spine, smoothed."""
    yaw = _yaw(_facing(positions, character, recipe.facing),
               f'Clip "{clip.name}" has no facing: the bones "{character.roles["left_thigh"]}" and '
               f'"{character.roles["right_thigh"]}" lie in the same place or straight above each other.')
    path = positions[:, _trunk(character), :2].mean(axis=1)
    path_width, yaw_width = recipe.root_position * clip.rate, recipe.root_facing * clip.rate
    if still:
        planted = find_contacts(clip, character, recipe).all(axis=1)
        return (_settle(path, path_width, _standing(planted, path, clip.rate, SLOW_PATH)),
                _settle(yaw, yaw_width, _standing(planted, yaw, clip.rate, SLOW_TURN)))
    around = int(max(path_width, yaw_width) / 2) + 1 if clip.loop and len(path) > 1 else 0
    if around:
        path, yaw = rounds(path, yaw, around)
    inside = slice(around, len(path) - around)
    return savgol(path, path_width)[inside], savgol(yaw, yaw_width)[inside]


def _tree_above(character, recipe):
    """The tree with a new root above all: names, parents and the rest pose."""
    skeleton = character.skeleton
    positions, rotations = skeleton.rest
    yaw = _rest_yaw(_facing(positions[None], character, recipe.facing)[0])
    root = _upright(positions[_trunk(character)].mean(axis=0), yaw)
    return ([_unused_name(skeleton.names), *skeleton.names], np.concatenate([[-1], skeleton.parents + 1]),
            np.concatenate([root[0][None], positions]), np.concatenate([root[1][None], rotations]))


def _trunk(character):
    return [character.joint(role) for role in ("hips", "spine") if role == "hips" or character.has(role)]


def _facing(positions, character, facing):
    """Directions (F, 3) in which the character faces, from which side its thighs (and upper arms) are on."""
    parts = ("thigh", "upper_arm") if facing == "hips_shoulders" else ("thigh",)
    total = 0
    for part in parts:
        right = positions[:, character.joint(f"right_{part}")] - positions[:, character.joint(f"left_{part}")]
        length = np.linalg.norm(right, axis=-1, keepdims=True)
        total = total + right / np.where(length > 1e-6, length, 1)
    return quat.cross(quat.AXES[2], total)


def _unused_name(names):
    name, number = "root", 1
    while name in names:
        name, number = f"root.{number:03d}", number + 1
    return name


# The adaptive root: still while the character stands

STAND = 0.3  # seconds at least; a walk's double support is shorter
NOISE = 0.15  # seconds of smoothing before speeds are measured; more would carry motion into the standing
SLOW_PATH = 0.15  # m/s
SLOW_TURN = 0.5  # radians per second


def _standing(planted, values, rate, slow):
    """(F,) whether the feet are planted and values (F, …) move slower than `slow` per second, both for a while."""
    if len(values) < 2:
        return planted
    values = savgol(values, NOISE * rate).reshape(len(values), -1)
    speed = np.linalg.norm(np.gradient(values, 1 / rate, axis=0), axis=-1)
    edges = np.flatnonzero(np.diff(planted & (speed < slow), prepend=False, append=False))
    stands = np.zeros(len(values), dtype=bool)
    for start, stop in edges.reshape(-1, 2):
        stands[start:stop] = stop - start >= STAND * rate
    return stands


def _settle(values, width, still):
    """The smoothest curve close to values (F, …) that does not move while `still` (F,) holds.

    It minimises the squared distance plus the squared third differences (jerk), with one unknown for every moving frame
    and one for every still span. The stiffness lets through what a Savitzky–Golay filter of that many frames does.
    """
    values, stiffness = np.asarray(values, dtype=np.float64), (width / 9) ** 6
    begins = np.concatenate([[True], ~(still[1:] & still[:-1])])
    group = begins.cumsum() - 1
    bands = np.zeros((4, group[-1] + 1))
    np.add.at(bands[0], group, 1.0)
    jerk = (-1, 3, -3, 1)
    columns = [group[k:len(group) - 3 + k] for k in range(4 if len(group) > 3 else 0)]
    for i, right in enumerate(columns):
        for j, left in enumerate(columns[:i + 1]):
            twice = np.where((right == left) & (i != j), 2, 1)  # below and above the diagonal fall together on it
            np.add.at(bands, (right - left, left), stiffness * jerk[i] * jerk[j] * twice)
    return _solve(bands, np.add.reduceat(values, np.flatnonzero(begins), axis=0))[group]


def _solve(bands, values):
    """Solve a symmetric positive definite system for values (N, …); bands (4, N): the diagonal and three below it."""
    count = len(values)
    # L D Lᵀ with three bands in L; plain floats are much faster here than arrays, as every row needs those before it.
    main, first, second, third = bands.tolist()
    d, e, f, g = ([0.0] * (count + 3) for _ in range(4))  # [-1] to [-3] stand for rows before the first
    for i in range(count):
        de, df, dg = d[i - 1] * e[i - 1], d[i - 2] * f[i - 2], d[i - 3] * g[i - 3]
        d[i] = main[i] - de * e[i - 1] - df * f[i - 2] - dg * g[i - 3]
        e[i] = (first[i] - de * f[i - 1] - df * g[i - 2]) / d[i]
        f[i] = (second[i] - de * g[i - 1]) / d[i]
        g[i] = third[i] / d[i]
    solved = []
    for column in values.reshape(count, -1).T.tolist():
        x = [*column, 0.0, 0.0, 0.0]
        for i in range(count):
            x[i] -= e[i - 1] * x[i - 1] + f[i - 2] * x[i - 2] + g[i - 3] * x[i - 3]
        for i in reversed(range(count)):
            x[i] = x[i] / d[i] - e[i] * x[i + 1] - f[i] * x[i + 2] - g[i] * x[i + 3]
        solved.append(x[:count])
    return np.array(solved).T.reshape(values.shape)


# What both share

def _level(directions):
    level = directions * np.array([1, 1, 0])
    length = np.linalg.norm(level, axis=-1, keepdims=True)
    return level / np.where(length > 1e-6, length, 1)


def _yaw(facing, without):
    """The unwrapped angle (F,) of directions (F, 3); frames in which they are steep take it from their neighbours."""
    clear = np.linalg.norm(facing[:, :2], axis=-1) > LEVEL
    if not clear.any():
        raise MotionError(without)
    frames = np.arange(len(facing))
    return np.interp(frames, frames[clear], np.unwrap(quat.yaw(facing[clear].astype(np.float64))))


def _is_level(facing):
    return bool((np.linalg.norm(facing[:, :2], axis=-1) > LEVEL).any())


def _rest_yaw(facing):
    return quat.yaw(facing) if np.linalg.norm(facing[:2]) > LEVEL else 0.0


def _upright(positions, yaw):
    """Positions (…, 2 or 3) and angles (…) as transforms on the ground."""
    on_ground = np.zeros((*np.shape(positions)[:-1], 3), dtype=np.float32)
    on_ground[..., :2] = np.asarray(positions)[..., :2]
    return on_ground, quat.unroll(quat.from_yaw(yaw)) if np.ndim(yaw) else quat.from_yaw(yaw)


def _with_tree(clip, tree, positions, rotations):
    """The clip on a tree of other parents, from transforms in the world."""
    skeleton = replace(_with_rest(*tree), ends=clip.skeleton.ends)
    positions, rotations = backward(skeleton, positions, rotations)
    return clip.with_changes(skeleton=skeleton, positions=positions, rotations=rotations)


def _with_rest(names, parents, positions, rotations):
    """A skeleton from its rest pose in the character's space."""
    local = backward(Skeleton(names, parents, positions, rotations), positions[None], rotations[None])
    return Skeleton(names, parents, local[0][0], local[1][0])


def _at_rest(skeleton):
    return Clip("rest pose", skeleton, 60.0, skeleton.positions[None], skeleton.rotations[None])
