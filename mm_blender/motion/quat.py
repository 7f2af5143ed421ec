# SPDX-License-Identifier: GPL-3.0-or-later
"""Quaternions (w, x, y, z) and the other ways to write a rotation, on arrays of any shape with components last."""

import numpy as np

AXES = np.eye(3, dtype=np.float32)


def identity(shape=()):
    """Rotations that do nothing, as an array of shape (*shape, 4)."""
    q = np.zeros((*shape, 4), dtype=np.float32)
    q[..., 0] = 1.0
    return q


def mul(a, b):
    """The rotation b followed by a: rotate(mul(a, b), v) == rotate(a, rotate(b, v))."""
    a, b = np.asarray(a), np.asarray(b)
    aw, ax, ay, az = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bw, bx, by, bz = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    out = np.empty((*np.broadcast_shapes(a.shape, b.shape)[:-1], 4), dtype=np.result_type(a, b))
    out[..., 0] = aw * bw - ax * bx - ay * by - az * bz
    out[..., 1] = aw * bx + ax * bw + ay * bz - az * by
    out[..., 2] = aw * by - ax * bz + ay * bw + az * bx
    out[..., 3] = aw * bz + ax * by - ay * bx + az * bw
    return out


def inv(q):
    """The opposite rotation of a unit quaternion."""
    return np.asarray(q) * np.array([1, -1, -1, -1], dtype=np.float32)


def inv_mul(a, b):
    """The rotation that leads from a to b, in a's own frame."""
    return mul(inv(a), b)


def rotate(q, v):
    """The vectors v (…, 3) turned by q (…, 4)."""
    q, v = np.asarray(q), np.asarray(v)
    axis = q[..., 1:]
    t = 2.0 * cross(axis, v)
    return v + q[..., :1] * t + cross(axis, t)


def inv_rotate(q, v):
    """The vectors v turned back by q."""
    return rotate(inv(q), v)


def normalize(q, eps=1e-12):
    """Unit quaternions; a zero quaternion becomes the identity."""
    q = np.asarray(q)
    length = np.sqrt((q * q).sum(-1, keepdims=True))
    safe = np.where(length > eps, length, 1)
    return np.where(length > eps, q / safe, identity().astype(q.dtype))


def absolute(q):
    """The same rotations, written with w ≥ 0."""
    return np.where(np.asarray(q)[..., :1] < 0, -np.asarray(q), q)


def unroll(q):
    """The same rotations with signs chosen so that neighbours along the first axis do not jump."""
    q = np.asarray(q)
    if len(q) < 2:
        return q.copy()
    flips = (q[1:] * q[:-1]).sum(-1) < 0
    signs = np.where(np.logical_xor.accumulate(flips, axis=0), -1, 1).astype(q.dtype)
    return np.concatenate([q[:1], q[1:] * signs[..., None]])


def between(a, b):
    """The shortest rotation that turns the direction a into the direction b."""
    a, b = _unit(a), _unit(b)
    dot = (a * b).sum(-1, keepdims=True)
    q = np.concatenate([1 + dot, cross(a, b)], axis=-1)
    # Opposite directions: half a turn about any axis that is perpendicular to a.
    least = AXES[np.abs(a).argmin(-1)]
    half_turn = np.concatenate([np.zeros_like(dot), _unit(cross(a, least))], axis=-1)
    return normalize(np.where(dot < -0.9999995, half_turn, q))


def from_angle_axis(angle, axis):
    """Rotations by angle (…) in radians about the unit axis (…, 3)."""
    return exp(np.asarray(angle)[..., None] / 2 * np.asarray(axis))


def exp(v, eps=1e-8):
    """The quaternion of half a scaled angle axis."""
    v = np.asarray(v)
    half = np.sqrt((v * v).sum(-1, keepdims=True))
    sinc = np.where(half < eps, 1 - half * half / 6, np.sin(half) / np.where(half < eps, 1, half))
    return np.concatenate([np.cos(half), sinc * v], axis=-1)


def log(q, eps=1e-8):
    """Half of the scaled angle axis of a unit quaternion."""
    q = np.asarray(q)
    length = np.sqrt((q[..., 1:] ** 2).sum(-1, keepdims=True))
    half = np.arctan2(length, q[..., :1])
    return np.where(length < eps, 1.0, half / np.where(length < eps, 1, length)) * q[..., 1:]


def from_scaled_angle_axis(v):
    """Rotations from axis times angle in radians (…, 3)."""
    return exp(np.asarray(v) / 2)


def to_scaled_angle_axis(q):
    """Axis times angle in radians (…, 3). Pass absolute(q) for the shorter way round."""
    return 2 * log(q)


def slerp(a, b, t):
    """The rotation a fraction t (…) of the shortest way from a to b."""
    a, b, t = np.asarray(a), np.asarray(b), np.asarray(t)[..., None]
    dot = (a * b).sum(-1, keepdims=True)
    b = np.where(dot < 0, -b, b)
    angle = np.arccos(np.clip(np.abs(dot), 0, 1))
    near = angle < 1e-4
    sin = np.where(near, 1, np.sin(angle))
    wa = np.where(near, 1 - t, np.sin((1 - t) * angle) / sin)
    wb = np.where(near, t, np.sin(t * angle) / sin)
    return normalize(wa * a + wb * b)


def angular_velocity(q, dt):
    """Scaled angle axis per second between neighbours of q (F, …, 4): shape (F - 1, …, 3), in the parent's frame."""
    return to_scaled_angle_axis(absolute(mul(q[1:], inv(q[:-1])))) / dt


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
    """Euler angles in radians (…, 3) for from_euler(angles, order); the second angle lies in ±90 degrees."""
    i, j, k = ("XYZ".index(axis) for axis in order)
    parity = 1.0 if (j - i) % 3 == 1 else -1.0
    m = to_matrix(q)
    second = np.arcsin(np.clip(-parity * m[..., k, i], -1, 1))
    locked = np.abs(m[..., k, i]) > 0.999999
    first = np.where(locked, np.arctan2(-parity * m[..., j, k], m[..., j, j]),
                     np.arctan2(parity * m[..., k, j], m[..., k, k]))
    third = np.where(locked, 0, np.arctan2(parity * m[..., j, i], m[..., i, i]))
    return np.stack([first, second, third], axis=-1)


def to_matrix(q):
    """Rotation matrices (…, 3, 3)."""
    w, x, y, z = np.moveaxis(np.asarray(q), -1, 0)
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
    return _about("Z", np.asarray(angle))


def yaw(direction):
    """The angle (…) by which the root's forward axis Y is turned towards direction (…, 2 or 3)."""
    direction = np.asarray(direction)
    return np.arctan2(-direction[..., 0], direction[..., 1])


def cross(a, b):
    """Cross product of vectors (…, 3)."""
    # np.cross is several times slower on large arrays.
    a, b = np.broadcast_arrays(a, b)
    out = np.empty(a.shape, dtype=np.result_type(a, b))
    out[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    out[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    out[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return out


def _about(axis, angle):
    q = np.zeros((*np.shape(angle), 4), dtype=np.result_type(angle, np.float32))
    q[..., 0] = np.cos(angle / 2)
    q[..., 1 + "XYZ".index(axis)] = np.sin(angle / 2)
    return q


def _unit(v, eps=1e-12):
    v = np.asarray(v)
    length = np.sqrt((v * v).sum(-1, keepdims=True))
    return v / np.where(length > eps, length, 1)
