# SPDX-License-Identifier: GPL-3.0-or-later
"""Quaternions (w, x, y, z) and the other ways to write a rotation, on arrays of any shape with components last."""

import numpy as np

AXES = np.eye(3, dtype=np.float32)
# Added to squares before their root is taken, so that zero can be divided by; too small to change any other.
TINY = 1e-36
# Arrays of fewer numbers cost by the call: then one product of matrices replaces many sums. Components that come first
# stay together in it, so that it pays for more of them.
SMALL, SMALL_FIRST = 1024, 6144


def identity(shape=()):
    """Rotations that do nothing, as an array of shape (*shape, 4)."""
    q = np.zeros((*shape, 4), dtype=np.float32)
    q[..., 0] = 1.0
    return q


def mul(a, b, axis=-1):
    """The rotation b followed by a: rotate(mul(a, b), v) == rotate(a, rotate(b, v)).

    Components may come first (axis=0): large arrays are several times faster that way.
    """
    a, b = np.asarray(a), np.asarray(b)
    if axis == -1 and a.size < SMALL and b.size < SMALL:
        pairs = a[..., :, None] * b[..., None, :]
        return _summed(pairs, _PRODUCT).reshape(pairs.shape[:-1])
    if axis == 0 and a.ndim == b.ndim and max(a.size, b.size) < SMALL_FIRST:
        pairs = a[:, None] * b
        return _for_type(_PRODUCT_FIRST, pairs).dot(pairs.reshape(16, -1)).reshape(pairs.shape[1:])
    return _mul(a, b, axis)


def inv(q, axis=-1):
    """The opposite rotation of a unit quaternion; axis as for mul()."""
    q = np.asarray(q)
    opposite = -q
    w = (0, ...) if axis == 0 else (..., 0)
    opposite[w] = q[w]
    return opposite


def inv_mul(a, b):
    """The rotation that leads from a to b, in a's own frame."""
    return mul(inv(a), b)


def rotate(q, v, axis=-1):
    """The vectors v (…, 3) turned by q (…, 4); axis as for mul()."""
    q, v = np.asarray(q), np.asarray(v)
    w, x, y, z = _parts(q, axis)
    a, b, c = _parts(v, axis)
    ta, tb, tc = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    batch = np.broadcast_shapes(w.shape, a.shape)
    out = np.empty((3, *batch) if axis == 0 else (*batch, 3), np.result_type(q, v))
    ra, rb, rc = _parts(out, axis)
    ra[...] = a + w * ta + (y * tc - z * tb)
    rb[...] = b + w * tb + (z * ta - x * tc)
    rc[...] = c + w * tc + (x * tb - y * ta)
    return out


def inv_rotate(q, v):
    """The vectors v turned back by q."""
    return rotate(inv(q), v)


def normalize(q, eps=1e-12):
    """Unit quaternions; a zero quaternion becomes the identity."""
    q = np.asarray(q)
    length = np.sqrt(_dot(q, q))
    unit = q / np.where(length > eps, length, 1)
    unit[length[..., 0] <= eps] = (1, 0, 0, 0)
    return unit


def absolute(q):
    """The same rotations, written with w ≥ 0."""
    return np.where(np.asarray(q)[..., :1] < 0, -np.asarray(q), q)


def unroll(q):
    """The same rotations with signs chosen so that neighbours along the first axis do not jump."""
    q = np.asarray(q)
    if len(q) < 2:
        return q.copy()
    flips = _dot(q[1:], q[:-1])[..., 0] < 0
    signs = np.where(np.logical_xor.accumulate(flips, axis=0), -1, 1).astype(q.dtype)
    return np.concatenate([q[:1], q[1:] * signs[..., None]])


def between(a, b):
    """The shortest rotation that turns the direction a into the direction b."""
    dtype = np.result_type(np.asarray(a).dtype, np.asarray(b).dtype, np.float32)
    a, b = np.broadcast_arrays(_unit(np.asarray(a, np.float64)), _unit(np.asarray(b, np.float64)))
    dot = _dot(a, b)
    q = np.concatenate([1 + dot, cross(a, b)], axis=-1)
    # Opposite directions: half a turn about any axis that is perpendicular to a.
    least = AXES[np.abs(a).argmin(-1)]
    half_turn = np.concatenate([np.zeros_like(dot), _unit(cross(a, least))], axis=-1)
    return normalize(np.where(dot < 1e-14 - 1, half_turn, q)).astype(dtype)


def from_angle_axis(angle, axis):
    """Rotations by angle (…) in radians about the unit axis (…, 3)."""
    return exp(np.asarray(angle)[..., None] / 2 * np.asarray(axis))


def exp(v, axis=-1):
    """The quaternion of half a scaled angle axis; axis as for mul()."""
    v = np.asarray(v)
    half = np.sqrt(np.add.reduce(v * v, initial=TINY) if axis == 0 else _dot(v, v) + TINY)
    q = np.empty((4, *v.shape[1:]) if axis == 0 else (*v.shape[:-1], 4), dtype=half.dtype)
    w, xyz = (q[0], q[1:]) if axis == 0 else (q[..., :1], q[..., 1:])
    np.cos(half, out=w)
    np.multiply(np.sin(half) / half, v, out=xyz)
    return q


def log(q, axis=-1):
    """Half of the scaled angle axis of a unit quaternion; axis as for mul()."""
    q = np.asarray(q)
    w, v = (q[0], q[1:]) if axis == 0 else (q[..., :1], q[..., 1:])
    length = np.sqrt(np.add.reduce(v * v, initial=TINY) if axis == 0 else _dot(v, v) + TINY)
    return np.arctan2(length, w) / length * v


def from_scaled_angle_axis(v):
    """Rotations from axis times angle in radians (…, 3)."""
    return exp(np.asarray(v) / 2)


def to_scaled_angle_axis(q):
    """Axis times angle in radians (…, 3). Pass absolute(q) for the shorter way round."""
    return 2 * log(q)


def shortest_turn(a, b):
    """Axis times angle (…, 3), in the parent's frame, of the shorter way from rotations a to b."""
    q = mul(b, inv(a))
    length = np.sqrt(_dot(q[..., 1:], q[..., 1:]) + TINY)
    # Unlike arctan2, arctan takes a rotation and its negative for the same.
    return 2 * np.arctan(length / (q[..., :1] + TINY)) / length * q[..., 1:]


def slerp(a, b, t):
    """The rotation a fraction t (…) of the shortest way from a to b."""
    a, b = np.asarray(a), np.asarray(b)
    t = np.asarray(t, dtype=np.result_type(a, b))[..., None]
    dot = _dot(a, b)
    b = np.where(dot < 0, -b, b)
    angle = np.arccos(np.clip(np.abs(dot), 0, 1))
    near = angle < 1e-4
    sin = np.where(near, 1, np.sin(angle))
    wa = np.where(near, 1 - t, np.sin((1 - t) * angle) / sin)
    wb = np.where(near, t, np.sin(t * angle) / sin)
    return normalize(wa * a + wb * b)


def angular_velocity(q, dt):
    """Scaled angle axis per second between neighbours of q (F, …, 4): shape (F - 1, …, 3), in the parent's frame."""
    return shortest_turn(q[:-1], q[1:]) / dt


def from_euler(angles, order):
    """Rotations from Euler angles in radians (…, 3), applied in the order written: "XYZ" turns about X first.

    Each turn is about the fixed axes of the parent, as Blender's rotation modes are. A BVH file lists its channels the
    other way round: "Zrotation Yrotation Xrotation" is the order "XYZ" here. Fewer angles than three are fine too.
    """
    angles = np.asarray(angles)
    q = _about(order[0], angles[..., 0])
    for k in range(1, len(order)):
        q = mul(_about(order[k], angles[..., k]), q)
    return q


def to_euler(q, order):
    """Euler angles in radians (…, 3) for from_euler(angles, order); the second angle lies in ±90 degrees.

    The third angle is found first and taken out, and the others are read from what is left: so the three make up the
    rotation also near ±90 degrees, where first and third turn about the same axis.
    """
    i, j, k = ("XYZ".index(axis) for axis in order)
    parity = 1.0 if (j - i) % 3 == 1 else -1.0
    m = to_matrix(np.asarray(q, dtype=np.float64))
    locked = np.hypot(m[..., i, i], m[..., j, i]) < 1e-7
    third = np.where(locked, 0, np.arctan2(parity * m[..., j, i], m[..., i, i]))
    cos, sin = np.cos(third), parity * np.sin(third)
    second = np.arctan2(-parity * m[..., k, i], cos * m[..., i, i] + sin * m[..., j, i])
    first = np.arctan2(parity * (sin * m[..., i, k] - cos * m[..., j, k]), cos * m[..., j, j] - sin * m[..., i, j])
    return np.stack([first, second, third], axis=-1).astype(np.asarray(q).dtype)


def to_matrix(q, axis=-1):
    """Rotation matrices (…, 3, 3); (3, 3, …) of few whose components come first (axis=0)."""
    q = np.asarray(q)
    if axis == 0:
        pairs = (q[:, None] * q).reshape(16, -1)
        return (_for_type(_MATRIX, pairs).T.dot(pairs) + AXES.reshape(9, 1)).reshape(3, 3, *q.shape[1:])
    if q.size < SMALL:
        return _summed(q[..., :, None] * q[..., None, :], _MATRIX).reshape(*q.shape[:-1], 3, 3) + AXES
    return _to_matrix(q)


def from_matrix(m):
    """Quaternions from rotation matrices (…, 3, 3): through the largest component, so none is divided by near zero."""
    m = np.asarray(m)
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    # Row r of the table is the quaternion times four times its own component r.
    a, b, c = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    d, e, f = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    table = np.stack([
        np.stack([1 + xx + yy + zz, a, b, c], -1),
        np.stack([a, 1 + xx - yy - zz, d, e], -1),
        np.stack([b, d, 1 - xx + yy - zz, f], -1),
        np.stack([c, e, f, 1 - xx - yy + zz], -1)], -2)
    largest = np.stack([table[..., r, r] for r in range(4)], -1).argmax(-1)
    return normalize(np.take_along_axis(table, largest[..., None, None], axis=-2)[..., 0, :])


def to_two_axis(q):
    """The first two columns of the rotation matrix (…, 3, 2): the form in which networks see rotations."""
    return to_matrix(q)[..., :2]


def from_two_axis(m):
    """Quaternions from two columns (…, 3, 2) that need not be perpendicular or of unit length."""
    x = _unit(m[..., 0])
    z = _unit(cross(x, m[..., 1]))
    return from_matrix(np.stack([x, cross(z, x), z], axis=-1))


def from_yaw(angle):
    """Turns about the vertical by angle (…) in radians."""
    return _about("Z", angle)


def to_yaw(q):
    """The angles (…) of turns (…, 4) about the vertical, which have jumps of whole turns."""
    return 2 * np.arctan2(q[..., 3], q[..., 0])


def yaw(direction):
    """The angle (…) by which the root's forward axis Y is turned towards direction (…, 2 or 3)."""
    direction = np.asarray(direction)
    # Of copies: between numbers that lie apart the last bit depends on where in the memory they are.
    return np.arctan2(-direction[..., 0], +direction[..., 1])


def cross(a, b, axis=-1):
    """Cross product of vectors (…, 3); axis as for mul()."""
    # np.cross is several times slower on large arrays.
    a, b = np.asarray(a), np.asarray(b)
    ax, ay, az = _parts(a, axis)
    bx, by, bz = _parts(b, axis)
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), np.result_type(a, b))
    x, y, z = _parts(out, axis)
    x[...] = ay * bz - az * by
    y[...] = az * bx - ax * bz
    z[...] = ax * by - ay * bx
    return out


def _about(axis, angle):
    angle = np.asarray(angle)
    q = np.zeros((*angle.shape, 4), dtype=np.result_type(angle.dtype, np.float32))
    q[..., 0] = np.cos(angle / 2)
    q[..., 1 + "XYZ".index(axis)] = np.sin(angle / 2)
    return q


def _unit(v, eps=1e-12):
    v = np.asarray(v)
    length = np.sqrt(_dot(v, v))
    return v / np.where(length > eps, length, 1)


def _dot(a, b):
    if a.size < SMALL:
        products = a * b
        return products.dot(_ONES.get(products.dtype.char, _ONES["d"])[:products.shape[-1]])[..., None]
    return np.einsum("...i,...i->...", a, b)[..., None]


def _parts(a, axis):
    """Views of the components, one by one."""
    return [a[k, ...] if axis == 0 else a[..., k] for k in range(a.shape[axis])]


def _mul(a, b, axis):
    aw, ax, ay, az = _parts(a, axis)
    bw, bx, by, bz = _parts(b, axis)
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), np.result_type(a, b))
    w, x, y, z = _parts(out, axis)
    w[...] = aw * bw - ax * bx - ay * by - az * bz
    x[...] = aw * bx + ax * bw + ay * bz - az * by
    y[...] = aw * by - ax * bz + ay * bw + az * bx
    z[...] = aw * bz + ax * by - ay * bx + az * bw
    return out


def _to_matrix(q):
    w, x, y, z = np.moveaxis(q, -1, 0)
    m = np.empty((*w.shape, 3, 3), dtype=w.dtype)
    m[..., 0, 0] = 1 - 2 * (y * y + z * z)
    m[..., 0, 1] = 2 * (x * y - w * z)
    m[..., 0, 2] = 2 * (x * z + w * y)
    m[..., 1, 0] = 2 * (x * y + w * z)
    m[..., 1, 1] = 1 - 2 * (x * x + z * z)
    m[..., 1, 2] = 2 * (y * z - w * x)
    m[..., 2, 0] = 2 * (x * z - w * y)
    m[..., 2, 1] = 2 * (y * z + w * x)
    m[..., 2, 2] = 1 - 2 * (x * x + y * y)
    return m


def _summed(pairs, table):
    """The products (…, 4, 4) of components with each other, summed as a table of their signs has it."""
    return pairs.reshape(pairs.size // 16, 16).dot(_for_type(table, pairs))


def _for_type(table, numbers):
    return table.get(numbers.dtype.char, table["d"])


def _for_each_type(table):
    return {char: table.astype(char) for char in "fd"}


# What each of the 16 pairs of components adds to a product and to a rotation matrix: the formulas of unit quaternions.
_ONES = _for_each_type(np.ones(4))
_ONE = np.eye(4)
_PRODUCT = _for_each_type(_mul(_ONE[:, None], _ONE, -1).reshape(16, 4))
_PRODUCT_FIRST = {char: np.ascontiguousarray(table.T) for char, table in _PRODUCT.items()}
_MATRIX = _for_each_type((_to_matrix(_ONE[:, None] + _ONE) - _to_matrix(_ONE)[:, None] - _to_matrix(_ONE) + np.eye(3))
                         .reshape(16, 9) / 2)
